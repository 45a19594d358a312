/* SPDX-License-Identifier: MIT */
/* The range is halved until what is left takes a stretch; of each two halves, the right one
 * is forked and the left one done. A fork costs about a nanosecond if nobody wants it, and
 * there is one for each stretch. Thieves take the oldest, and so the longest, that is left. */
#include "parallel/for.h"

#include "core/fatal.h"

#undef weft_for

struct part {
    const struct weft__loop *loop;
    size_t begin, end;
};

static bool is_over(weft *w, const struct weft__loop *loop, size_t begin, size_t end)
{
    return weft__is_cancelled(w) || (loop->is_over && loop->is_over(begin, end, loop->arg));
}

/* If the element that would come last is not needed any more, it may not have been reached. */
static bool stopped_early(const struct weft__loop *loop, size_t begin, size_t end)
{
    if (!loop->is_over)
        return false;
    size_t last = loop->backwards ? begin : end - 1;
    return loop->is_over(last, last + 1, loop->arg);
}

static void run_leaf(weft *w, const struct weft__loop *loop, struct weft__pacer *pacer,
                     size_t begin, size_t end)
{
    weft__pacer_leaf(pacer, w);
    loop->body(w, begin, end, loop->arg);
    if (stopped_early(loop, begin, end))
        weft__pacer_lost(pacer);
    else
        weft__pacer_ran(pacer, w, end - begin);
}

static void split(weft *w, struct weft__pacer *pacer, struct part part);

static void run_part(weft *w, void *arg)
{
    struct part *part = arg;
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, part->loop->key, part->end - part->begin, part->loop->min);
    split(w, &pacer, *part);
}

/* Which half is done first is the only difference that a direction makes. */
static struct part near_part(struct part part, size_t middle)
{
    bool backwards = part.loop->backwards;
    return (struct part){part.loop, backwards ? middle : part.begin, backwards ? part.end : middle};
}

static struct part far_part(struct part part, size_t middle)
{
    bool backwards = part.loop->backwards;
    return (struct part){part.loop, backwards ? part.begin : middle, backwards ? middle : part.end};
}

static void split(weft *w, struct weft__pacer *pacer, struct part part)
{
    while (!is_over(w, part.loop, part.begin, part.end)) {
        size_t n = part.end - part.begin, middle = part.begin + n / 2;
        if (n <= pacer->leaf) {
            run_leaf(w, part.loop, pacer, part.begin, part.end);
            return;
        }
        struct part right = far_part(part, middle);
        weft *in = weft__pacer_fork(pacer, w, run_part, &right);
        split(in, pacer, near_part(part, middle));
        if (weft_merge(w)) {
            weft__pacer_lost(pacer);
            return;
        }
        part = right;
    }
}

void weft__for(weft *w, size_t begin, size_t end, const struct weft__loop *loop)
{
    run_part(w, &(struct part){loop, begin, end});
}

/* Apart, so that short loops need no frame. */
__attribute__((noinline)) static void for_long(weft *w, size_t begin, size_t end, size_t min,
                                               weft_range_fn *body, void *arg)
{
    const struct weft__loop loop = {.body = body, .arg = arg, .key = WEFT__KEY(body), .min = min};
    weft__for(w, begin, end, &loop);
}

static inline void for_min(weft *w, size_t begin, size_t end, size_t min, weft_range_fn *body,
                           void *arg)
{
    if (end <= begin)
        return;
    if (weft__pace_is_short(w, end - begin, WEFT__KEY(body)))
        body(w, begin, end, arg);
    else
        for_long(w, begin, end, min, body, arg);
}

void weft_for_min(weft *w, size_t begin, size_t end, size_t min, weft_range_fn *body, void *arg)
{
    for_min(w, begin, end, min, body, arg);
}

void weft_for(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg)
{
    for_min(w, begin, end, 1, body, arg);
}

void weft_for_checked(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg,
                      const char *where)
{
    if (!w || !body)
        weft__fatal("%s: weft_for needs a context and a function", where);
    if (end < begin)
        weft__fatal("%s: weft_for with a range that ends before it begins", where);
    weft_for(w, begin, end, body, arg);
}
