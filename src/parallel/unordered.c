/* SPDX-License-Identifier: MIT */
/* Reductions in which a thread folds all its elements into one accumulator, until a thief takes a
 * part. Only a thief makes another accumulator, for the part that it has taken. */
#include "parallel/unordered.h"

#include "core/misuse.h"
#include "parallel/gather.h"
#include "parallel/part.h"
#include "parallel/reduce.h"

struct reduction {
    const weft_reducer *reducer;
    void *arg;
    weft__key *key;            /* the function on which the cost of an element depends */
    struct atomic_size halted; /* the beginning of the first leaf known to have halted */
};

/* The value is the accumulator. */
struct part {
    struct weft__part base;
    struct reduction *all;
    bool has_halted;
};

/* Elements of a part that are still to be folded. */
struct remaining {
    struct weft__range range;
    struct part *to;
};

static bool is_over(weft *w, const void *arg)
{
    const struct remaining *remaining = arg;
    /* relaxed: a short cut. A part to the left that has halted ignores this one. */
    return weft__is_cancelled(w) || remaining->to->has_halted ||
           atomic_load_relaxed(&remaining->to->all->halted) < remaining->range.begin;
}

static void note_halt(struct reduction *all, size_t begin)
{
    size_t known = atomic_load_relaxed(&all->halted); /* relaxed, both: as above */
    while (begin < known && !atomic_cas_relaxed(&all->halted, &known, begin))
        ;
}

static bool run_leaf(weft *w, void *arg)
{
    const struct remaining *remaining = arg;
    struct part *to = remaining->to;
    struct reduction *all = to->all;
    const weft_reducer *reducer = all->reducer;
    reducer->fold(w, remaining->range.begin, remaining->range.end, to->base.value, all->arg);
    to->has_halted = reducer->halt && reducer->halt(w, to->base.value, all->arg);
    if (to->has_halted)
        note_halt(all, remaining->range.begin);
    return !to->has_halted;
}

static void join(weft *w, struct part *to, const struct part *right)
{
    if (!right->base.value || to->has_halted)
        return;
    to->all->reducer->combine(w, to->base.value, right->base.value, to->all->arg);
    to->has_halted = right->has_halted;
}

static void cut(weft *w, void *arg, void *other)
{
    struct remaining *remaining = arg;
    struct part *right = other;
    *right = (struct part){.all = remaining->to->all};
    weft__part_cut(w, &remaining->range, &right->base);
}

static bool merged(weft *w, void *arg, void *other, bool taken)
{
    struct remaining *remaining = arg;
    struct part *right = other;
    if (taken)
        join(w, remaining->to, right);
    return weft__part_merged(w, &remaining->range, &right->base, taken);
}

static weft__split_fn split;

static void run_part(weft *w, void *arg)
{
    struct part *part = arg;
    const weft_reducer *reducer = part->all->reducer;
    if (!weft__part_make(&part->base, reducer->size))
        return;
    weft__reducer_begin(reducer, part->base.value);
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, part->all->key, weft__range_elements(&part->base.range), 1);
    split(w, &pacer, &(struct remaining){part->base.range, part});
}

static void split(weft *w, struct weft__pacer *pacer, void *remaining)
{
    struct part right;
    static const struct weft__splitting loop = {
        .split = split,
        .elements = weft__range_elements,
        .is_over = is_over,
        .run = run_leaf,
        .cut = cut,
        .take = run_part,
        .merged = merged,
    };
    weft__split(w, pacer, remaining, &right, &loop);
}

void weft__reduce_unordered(weft *w, size_t begin, size_t end, const weft_reducer *reducer,
                            void *arg, void *result, weft__key *key)
{
    if (weft__reducer_owns(reducer)) {
        weft__gather(w, begin, end, reducer, arg, result, key);
        return;
    }
    weft__reducer_begin(reducer, result);
    if (end <= begin)
        return;
    struct reduction all = {reducer, arg, key, {SIZE_MAX}};
    struct part whole = {.base = {.range = {begin, end}, .value = result}, .all = &all};
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, key, end - begin, 1);
    WEFT__MUST_RETURN(weft__callee_threw,
                      split(w, &pacer, &(struct remaining){whole.base.range, &whole}));
}

void weft_reduce_unordered(weft *w, size_t begin, size_t end, const weft_reducer *reducer,
                           void *arg, void *result)
{
    WEFT__EXPECT_CONTEXT(w);
    weft__expect_reducer(reducer, result, __func__);
    weft__reduce_unordered(w, begin, end, reducer, arg, result, WEFT__KEY(reducer->fold));
}
