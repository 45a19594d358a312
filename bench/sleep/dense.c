/* SPDX-License-Identifier: MIT */
#include "dense.h"

#include "../increment-all/increment.h"

#define PULL_LEAF 4 /* bodies: some 20 ns */
#include "../nbody/pull.h"

enum {
    DENSE_LEAF = 16, /* elements: some 10 ns */
    DENSE_REPS = 25,
};

/* ---- increment-all ---- */

struct range {
    uint64_t *elements;
    size_t count;
};

static void increment_run(weft *w, void *arg);

static void increment(weft *w, uint64_t *elements, size_t count)
{
    if (count <= DENSE_LEAF) {
        increment_range(elements, count);
        return;
    }
    size_t half = count / 2;
    struct range right = {elements + half, count - half};
    weft *in = weft_fork(w, increment_run, &right);
    increment(in, elements, half);
    if (!weft_merge(w))
        increment(w, right.elements, right.count);
}

static void increment_run(weft *w, void *arg)
{
    struct range *range = arg;
    increment(w, range->elements, range->count);
}

static void increment_all(weft *w, void *data)
{
    struct numbers *all = data;
    for (int i = 0; i < INCREMENT_TIMES; i++)
        increment(w, all->elements, all->count);
}

static void run_increment(weft_pool *pool, void *data)
{
    weft_run(pool, increment_all, data);
}

const struct contest dense_increment = {
    .kernel = &increment_kernel,
    .weft = run_increment,
    .size = 20,
    .quick = 14,
    .reps = DENSE_REPS,
};

/* ---- nbody-parreduce ---- */

/* The bodies one after the other: all forks are those of the sum. */
static void all_ticks(weft *w, void *data)
{
    struct nbody *n = data;
    for (int tick = 0; tick < NBODY_TICKS; tick++) {
        for (size_t i = 0; i < n->count; i++)
            n->next[i] = nbody_move(n->now[i], pull(w, n->now, 0, n->count, n->now[i].position));
        nbody_swap(n);
    }
}

static void run_nbody(weft_pool *pool, void *data)
{
    weft_run(pool, all_ticks, data);
}

const struct contest dense_nbody = {
    .kernel = &nbody_kernel,
    .weft = run_nbody,
    .size = 1000,
    .quick = 100,
    .reps = DENSE_REPS,
};
