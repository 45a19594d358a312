/* SPDX-License-Identifier: MIT */
/* The range is halved until a part takes a stretch. Of each two halves, the right one is forked and
 * the left one is done. There is one fork for each stretch, and a fork that no thief takes costs
 * about a nanosecond. Thieves take the oldest right side, and so the longest. */
#include "parallel/for.h"

#include "core/misuse.h"
#include "os/fatal.h"
#include "parallel/split.h"

#undef weft_for

struct part {
    struct weft__range range;
    const struct weft__loop *loop;
};

static bool is_over(weft *w, const void *arg)
{
    const struct part *part = arg;
    const struct weft__loop *loop = part->loop;
    return weft__is_cancelled(w) ||
           (loop->is_over && loop->is_over(part->range.begin, part->range.end, loop->arg));
}

/* If the element that would come last is not needed any more, the body may have stopped before
 * it. */
static bool stopped_early(const struct weft__loop *loop, struct weft__range range)
{
    if (!loop->is_over)
        return false;
    size_t last = loop->backwards ? range.begin : range.end - 1;
    return loop->is_over(last, last + 1, loop->arg);
}

static bool run_leaf(weft *w, void *arg)
{
    const struct part *part = arg;
    const struct weft__loop *loop = part->loop;
    loop->body(w, part->range.begin, part->range.end, loop->arg);
    return !stopped_early(loop, part->range);
}

/* A loop that goes backwards differs only in which half is done first. */
static void cut(weft *w, void *arg, void *far)
{
    struct part *part = arg, *right = far;
    (void)w;
    right->loop = part->loop;
    right->range = weft__range_halve(&part->range);
    if (part->loop->backwards) {
        struct weft__range last = right->range;
        right->range = part->range;
        part->range = last;
    }
}

static weft__split_fn split;

static void run_part(weft *w, void *arg)
{
    struct part part = *(struct part *)arg;
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, part.loop->key, weft__range_elements(&part), part.loop->min);
    split(w, &pacer, &part);
}

static void split(weft *w, struct weft__pacer *pacer, void *part)
{
    struct part right;
    static const struct weft__splitting loop = {
        .split = split,
        .elements = weft__range_elements,
        .is_over = is_over,
        .run = run_leaf,
        .cut = cut,
        .take = run_part,
        .size = sizeof right,
    };
    weft__split(w, pacer, part, &right, &loop);
}

void weft__for(weft *w, size_t begin, size_t end, const struct weft__loop *loop)
{
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, loop->key, end - begin, loop->min);
    WEFT__MUST_RETURN(weft__callee_threw, split(w, &pacer, &(struct part){{begin, end}, loop}));
}

/* ---- Short loops: one fork, and no look at the clock ---- */

struct remaining {
    weft_range_fn *body;
    void *arg;
    weft__key *key;
    size_t begin, end;
};

/* If a thief has taken it, the loop was not so short: from here on it is split and timed. */
static void run_remaining(weft *w, void *arg)
{
    const struct remaining *remaining = arg;
    const struct weft__loop loop = {
        .body = remaining->body, .arg = remaining->arg, .key = remaining->key};
    run_part(w, &(struct part){{remaining->begin, remaining->end}, &loop});
}

void weft__for_short(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg,
                     weft__key *key)
{
    size_t middle = begin + (end - begin) / 2;
    if (middle == begin) {
        WEFT__MUST_RETURN(weft__callee_threw, body(w, begin, end, arg));
        return;
    }
    struct remaining remaining = {body, arg, key, middle, end};
    weft *in = weft__fork_quietly(w, run_remaining, &remaining);
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
