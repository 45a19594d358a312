/* SPDX-License-Identifier: MIT */
/* Reductions in which every thread goes on collecting in one accumulator for as long as nobody
 * takes anything from it. Only who takes a part makes an accumulator for it. */
#include "parallel/unordered.h"

#include "core/fiber.h"
#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/reduce.h"

struct reduction {
    const weft_reducer *reducer;
    void *arg;
    weft__key *key;            /* what an element costs depends on this function */
    struct atomic_size halted; /* where the first leaf known to have halted begins */
};

struct part {
    struct weft__cleanup cleanup; /* of its owner, if an actor ends before it is joined */
    struct reduction *all;
    size_t begin, end;
    void *accumulator; /* NULL: nobody has taken it, or there was no memory */
    bool no_memory, has_halted;
};

static bool is_over(weft *w, const struct part *part)
{
    /* relaxed: a short cut. What is left out is decided by who has halted to the left of it. */
    return weft__is_cancelled(w) || atomic_load_relaxed(&part->all->halted) < part->begin;
}

static void note_halt(struct reduction *all, size_t begin)
{
    size_t known = atomic_load_relaxed(&all->halted); /* relaxed, both: as above */
    while (begin < known && !atomic_cas_relaxed(&all->halted, &known, begin))
        ;
}

/* True: it has halted. */
static bool run_leaf(weft *w, struct weft__pacer *pacer, const struct part *part)
{
    struct reduction *all = part->all;
    const weft_reducer *reducer = all->reducer;
    weft__pacer_leaf(pacer, w);
    reducer->fold(w, part->begin, part->end, part->accumulator, all->arg);
    if (reducer->halt && reducer->halt(w, part->accumulator, all->arg)) {
        weft__pacer_lost(pacer);
        note_halt(all, part->begin);
        return true;
    }
    weft__pacer_ran(pacer, w, part->end - part->begin);
    return false;
}

static bool split(weft *w, struct weft__pacer *pacer, struct part part);

static void run_part(weft *w, void *arg)
{
    struct part *part = arg;
    const weft_reducer *reducer = part->all->reducer;
    part->accumulator = weft__small(reducer->size);
    part->no_memory = !part->accumulator;
    if (part->no_memory)
        return; /* then it is the owner's after all */
    weft__reducer_begin(reducer, part->accumulator);
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, part->all->key, part->end - part->begin, 1);
    part->has_halted = split(w, &pacer, *part);
}

static void join(weft *w, const struct part *left, const struct part *right)
{
    if (right->accumulator && !left->has_halted)
        left->all->reducer->combine(w, left->accumulator, right->accumulator, left->all->arg);
}

static void free_accumulator(struct weft__cleanup *part, weft *w)
{
    (void)w;
    weft__free(((struct part *)part)->accumulator);
}

/* True: it has halted. */
static bool split(weft *w, struct weft__pacer *pacer, struct part part)
{
    while (!is_over(w, &part)) {
        size_t n = part.end - part.begin;
        if (n <= pacer->leaf)
            return run_leaf(w, pacer, &part);
        struct part left = part, right = {.all = part.all, .end = part.end};
        left.end = right.begin = part.begin + n / 2;
        weft__cleanup_push(w, &right.cleanup, free_accumulator);
        weft *in = weft__pacer_fork(pacer, w, run_part, &right);
        left.has_halted = split(in, pacer, left);
        bool taken = weft_merge(w);
        if (taken)
            join(w, &left, &right);
        weft__cleanup_pop(w, &right.cleanup);
        weft__free(right.accumulator);
        if (taken) {
            weft__pacer_lost(pacer);
            if (!right.no_memory)
                return left.has_halted || right.has_halted;
        }
        if (left.has_halted)
            return true;
        part.begin = right.begin;
    }
    return false;
}

void weft__reduce_unordered(weft *w, size_t begin, size_t end, const weft_reducer *reducer,
                            void *arg, void *result, weft__key *key)
{
    weft__reducer_begin(reducer, result);
    if (end <= begin)
        return;
    size_t n = end - begin;
    struct reduction all = {reducer, arg, key, {SIZE_MAX}};
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, key, n, 1);
    WEFT__MUST_RETURN(
        weft__callee_threw,
        split(w, &pacer,
              (struct part){.all = &all, .begin = begin, .end = end, .accumulator = result}));
}

void weft_reduce_unordered(weft *w, size_t begin, size_t end, const weft_reducer *reducer,
                           void *arg, void *result)
{
    WEFT__EXPECT_CONTEXT(w);
    weft__expect_reducer(reducer, result, __func__);
    weft__reduce_unordered(w, begin, end, reducer, arg, result, WEFT__KEY(reducer->fold));
}
