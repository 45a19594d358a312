/* SPDX-License-Identifier: MIT */
/* Reductions in which a thread folds all its elements into one accumulator, until a thief takes a
 * part. Only a thief makes another accumulator, for the part that it has taken. */
#include "parallel/unordered.h"

#include "core/fiber.h"
#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/gather.h"
#include "parallel/reduce.h"
#include "parallel/split.h"

struct reduction {
    const weft_reducer *reducer;
    void *arg;
    weft__key *key;            /* the function on which the cost of an element depends */
    struct atomic_size halted; /* the beginning of the first leaf known to have halted */
};

struct part {
    struct weft__cleanup cleanup; /* of the owner, if its actor ends before the part is joined */
    struct reduction *all;
    struct weft__range range;
    void *accumulator; /* NULL: no thief has taken the part, or there was no memory */
    bool no_memory, has_halted;
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
    reducer->fold(w, remaining->range.begin, remaining->range.end, to->accumulator, all->arg);
    to->has_halted = reducer->halt && reducer->halt(w, to->accumulator, all->arg);
    if (to->has_halted)
        note_halt(all, remaining->range.begin);
    return !to->has_halted;
}

static void join(weft *w, struct part *to, const struct part *right)
{
    if (!right->accumulator || to->has_halted)
        return;
    to->all->reducer->combine(w, to->accumulator, right->accumulator, to->all->arg);
    to->has_halted = right->has_halted;
}

static void free_accumulator(struct weft__cleanup *part, weft *w)
{
    (void)w;
    weft__free(((struct part *)part)->accumulator);
}

static void cut(weft *w, void *arg, void *other)
{
    struct remaining *remaining = arg;
    struct part *right = other;
    *right =
        (struct part){.all = remaining->to->all, .range = weft__range_halve(&remaining->range)};
    weft__cleanup_push(w, &right->cleanup, free_accumulator);
}

/* If the thief had no memory, the owner does the part after all. */
static bool merged(weft *w, void *arg, void *other, bool taken)
{
    struct remaining *remaining = arg;
    struct part *right = other;
    if (taken)
        join(w, remaining->to, right);
    weft__cleanup_pop(w, &right->cleanup);
    weft__free(right->accumulator);
    remaining->range = right->range;
    return taken && !right->no_memory;
}

static weft__split_fn split;

static void run_part(weft *w, void *arg)
{
    struct part *part = arg;
    const weft_reducer *reducer = part->all->reducer;
    part->accumulator = weft__small(reducer->size);
    part->no_memory = !part->accumulator;
    if (part->no_memory)
        return;
    weft__reducer_begin(reducer, part->accumulator);
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, part->all->key, weft__range_elements(&part->range), 1);
    split(w, &pacer, &(struct remaining){part->range, part});
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
    struct part whole = {.all = &all, .range = {begin, end}, .accumulator = result};
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, key, end - begin, 1);
    WEFT__MUST_RETURN(weft__callee_threw,
                      split(w, &pacer, &(struct remaining){whole.range, &whole}));
}

void weft_reduce_unordered(weft *w, size_t begin, size_t end, const weft_reducer *reducer,
                           void *arg, void *result)
{
    WEFT__EXPECT_CONTEXT(w);
    weft__expect_reducer(reducer, result, __func__);
    weft__reduce_unordered(w, begin, end, reducer, arg, result, WEFT__KEY(reducer->fold));
}
