/* SPDX-License-Identifier: MIT */
/* Reductions with one accumulator for each thread that takes part: for accumulators that own
 * memory, of which there should be few.
 *
 * The accumulators are states of a loop (state.h); `result` is that of the caller's context, and
 * the oldest in the list. When the loop is over, the others are combined in pairs, by forks, and
 * what remains goes into `result`. An accumulator that was combined is not `is_made` any more. So
 * whatever was skipped, because the computation has failed or an actor ends, the end of the loop
 * drops what is left, and nothing twice. */
#include "parallel/gather.h"

#include "core/misuse.h"
#include "parallel/for.h"
#include "parallel/reduce.h"
#include "parallel/state.h"

struct gathering {
    struct weft__states states;
    const weft_reducer *reducer;
    void *arg;
    struct atomic_bool halted;
};

static void make(weft *w, void *accumulator, void *arg)
{
    const struct gathering *all = arg;
    weft__reducer_make(w, all->reducer, accumulator, all->arg);
}

static void drop(weft *w, void *accumulator, void *arg)
{
    const struct gathering *all = arg;
    if (all->reducer->drop)
        all->reducer->drop(w, accumulator, all->arg);
}

/* relaxed, here and below: a hint. What another thread folds meanwhile counts as well. */
static bool is_over(size_t begin, size_t end, void *arg)
{
    struct gathering *all = arg;
    (void)begin;
    (void)end;
    return atomic_load_relaxed(&all->halted);
}

static void run_range(weft *w, size_t begin, size_t end, void *arg)
{
    struct gathering *all = arg;
    const weft_reducer *reducer = all->reducer;
    struct weft__kept *kept = weft__state_take(w, &all->states);
    if (!kept)
        return;
    reducer->fold(w, begin, end, kept->state, all->arg);
    if (reducer->halt && reducer->halt(w, kept->state, all->arg))
        atomic_store_relaxed(&all->halted, true);
    weft__state_give(kept);
}

/* ---- When all is folded ---- */

static void combine(weft *w, const struct gathering *all, struct weft__kept *left,
                    struct weft__kept *right)
{
    const weft_reducer *reducer = all->reducer;
    if (weft__is_cancelled(w))
        return;
    if (!reducer->move)
        reducer->combine(w, left->state, right->state, all->arg);
    right->is_made = false;
    if (reducer->move)
        reducer->move(w, left->state, right->state, all->arg);
    else
        drop(w, right->state, (void *)(uintptr_t)all);
}

/* `n` accumulators in the order of the list. All go into the first. */
struct row {
    const struct gathering *all;
    struct weft__kept *first;
    size_t n;
};

static void combine_row(weft *w, void *arg)
{
    const struct row *row = arg;
    if (row->n < 2)
        return;
    struct row left = {row->all, row->first, row->n / 2};
    struct row right = {row->all, row->first, row->n - left.n};
    for (size_t i = 0; i < left.n; i++)
        right.first = right.first->next;
    weft *in = weft_fork(w, combine_row, &right);
    combine_row(in, &left);
    if (!weft_merge(w))
        combine_row(w, &right);
    combine(w, row->all, left.first, right.first);
}

static void combine_all(weft *w, struct gathering *all, struct weft__kept *result)
{
    struct weft__kept *newest = atomic_load_acquire(&all->states.list); /* acquire S1 */
    struct row others = {all, newest, 0};
    for (struct weft__kept *kept = newest; kept != result; kept = kept->next)
        others.n++;
    if (others.n == 0)
        return;
    combine_row(w, &others);
    combine(w, all, result, newest);
}

void weft__gather(weft *w, size_t begin, size_t end, const weft_reducer *reducer, void *arg,
                  void *result, weft__key *key)
{
    const weft_state kind = {reducer->size, make, drop};
    struct gathering all = {.states = {.kind = &kind, .arg = &all}, .reducer = reducer, .arg = arg};
    struct weft__kept whole = {.context = weft__context_of(w), .state = result, .is_callers = true};
    const struct weft__loop loop = {
        .body = run_range, .arg = &all, .key = key, .is_over = reducer->halt ? is_over : NULL};
    weft__states_begin(w, &all.states);
    WEFT__MUST_RETURN(weft__callee_threw, make(w, result, &all));
    whole.is_made = true;
    atomic_store_relaxed(&all.states.list, &whole); /* relaxed: the first fork publishes it */
    if (begin < end)
        weft__for(w, begin, end, &loop);
    WEFT__MUST_RETURN(weft__callee_threw, combine_all(w, &all, &whole));
    whole.is_made = false; /* from here on it is the caller's */
    weft__states_end(w, &all.states);
}
