/* SPDX-License-Identifier: MIT */
/* The range is halved until what is left takes a stretch; of each two halves, the right one
 * is forked and the left one done. A fork costs about a nanosecond if nobody wants it, and
 * there is one for each stretch. Thieves take the oldest, and so the longest, that is left. */
#include "parallel/for.h"

#include "core/misuse.h"
#include "os/fatal.h"

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
    weft__pacer_take_up(&pacer, w, part->loop->key, part->end - part->begin, part->loop->min);
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
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, loop->key, end - begin, loop->min);
    WEFT__MUST_RETURN(weft__callee_threw, split(w, &pacer, (struct part){loop, begin, end}));
}

/* ---- Short loops: one fork, and no look at the clock ---- */

struct rest {
    weft_range_fn *body;
    void *arg;
    weft__key *key;
    size_t begin, end;
};

/* It was not that short, if somebody has taken it. */
static void run_rest(weft *w, void *arg)
{
    const struct rest *rest = arg;
    const struct weft__loop loop = {.body = rest->body, .arg = rest->arg, .key = rest->key};
    run_part(w, &(struct part){&loop, rest->begin, rest->end});
}

void weft__for_short(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg,
                     weft__key *key)
{
    size_t middle = begin + (end - begin) / 2;
    if (middle == begin) {
        WEFT__MUST_RETURN(weft__callee_threw, body(w, begin, end, arg));
        return;
    }
    struct rest rest = {body, arg, key, middle, end};
    weft *in = weft__fork_quietly(w, run_rest, &rest);
    WEFT__MUST_RETURN(weft__callee_threw, body(in, begin, middle, arg));
    if (!weft_merge(w))
        WEFT__MUST_RETURN(weft__callee_threw, body(w, middle, end, arg));
}

void weft_for_min(weft *w, size_t begin, size_t end, size_t min, weft_range_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(body, "a function");
    const struct weft__loop loop = {.body = body, .arg = arg, .key = WEFT__KEY(body), .min = min};
    if (end > begin)
        weft__for(w, begin, end, &loop);
}

void weft_for(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(body, "a function");
    if (end <= begin)
        return;
    if (weft__pace_is_short(w, end - begin, WEFT__KEY(body)))
        weft__for_short(w, begin, end, body, arg, WEFT__KEY(body));
    else
        weft_for_min(w, begin, end, 1, body, arg);
}

void weft_for_checked_(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg,
                       const char *where)
{
    if (!w || !body)
        weft__fatal("%s: weft_for needs a context and a function", where);
    weft__expect_context(w, where);
    if (end < begin)
        weft__fatal("%s: weft_for with a range that ends before it begins", where);
    weft_for(w, begin, end, body, arg);
}
