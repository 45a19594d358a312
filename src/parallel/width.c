/* SPDX-License-Identifier: MIT */
/* A loop on at most so many threads. The caller forks as many runners as there may be, but one, and
 * is the last one itself. Each runner takes stretches from the front of what is left, until nothing
 * is. A runner that no thief took finds nothing left when the caller comes to it.
 *
 * A stretch is as long as pace.h says, but no more than a part of what is left, PARTS for each
 * runner: so the last ones are short. Worst case: elements that were fast so far are slow at once;
 * then a thread does one stretch, 1 / (PARTS * width) of the loop at most, alone. */
#include "core/misuse.h"
#include "core/pool.h"
#include "parallel/pace.h"
#include "weft/parallel.h"

enum { PARTS = 8 };

struct shared {
    weft_range_fn *body;
    void *arg;
    size_t begin, n;
    size_t runners;
    struct atomic_size taken; /* elements, from the front */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Takes `most` elements at most. False: nothing is left. */
static bool take(struct shared *shared, size_t most, size_t *from, size_t *length)
{
    /* relaxed, both: the runner that changes it has the stretch alone; what the body reads and
     * writes is ordered by the fork and the merge. */
    size_t taken = atomic_load_relaxed(&shared->taken);
    do {
        size_t left = shared->n - taken;
        if (left == 0)
            return false;
        *length = least(most, (left - 1) / (PARTS * shared->runners) + 1);
    } while (!atomic_cas_relaxed(&shared->taken, &taken, taken + *length));
    *from = shared->begin + taken;
    return true;
}

static void run(weft *w, void *arg)
{
    struct shared *shared = arg;
    struct weft__pacer pacer;
    size_t from, length;
    weft__pacer_take_up(&pacer, w, WEFT__KEY(shared->body), shared->n, 1);
    while (!weft__is_cancelled(w) && take(shared, pacer.leaf, &from, &length)) {
        weft__pacer_leaf(&pacer, w);
        shared->body(w, from, from + length, shared->arg);
        weft__pacer_ran(&pacer, w, length);
    }
}

static void run_all(weft *w, struct shared *shared, struct weft__pacer *pacer, size_t runners)
{
    if (runners == 1) {
        run(w, shared);
        return;
    }
    weft *in = weft__pacer_fork(pacer, w, run, shared);
    run_all(in, shared, pacer, runners - 1);
    if (!weft_merge(w))
        run(w, shared);
}

void weft_for_width(weft *w, size_t begin, size_t end, unsigned width, weft_range_fn *body,
                    void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(body, "a function");
    if (width == 0) {
        weft_for(w, begin, end, body, arg);
        return;
    }
    if (end <= begin)
        return;
    struct shared shared = {.body = body, .arg = arg, .begin = begin, .n = end - begin};
    size_t threads = weft_pool_workers(weft_pool_of(w)) + 1; /* the caller may be a guest */
    shared.runners = least(least(width, threads), shared.n);
    struct weft__pacer pacer; /* for the forks */
    weft__pacer_start(&pacer, w, WEFT__KEY(body), shared.n, 1);
    WEFT__MUST_RETURN(weft__callee_threw, run_all(w, &shared, &pacer, shared.runners));
}
