/* SPDX-License-Identifier: MIT */
#include "../contest.h"

#define PULL_LEAF NBODY_LEAF
#include "pull.h"

struct move {
    struct nbody *n;
    size_t lo, hi;
};

static void move_run(weft *w, void *arg);

static void move(weft *w, struct nbody *n, size_t lo, size_t hi)
{
    if (hi - lo == 1) {
        n->next[lo] = nbody_move(n->now[lo], pull(w, n->now, 0, n->count, n->now[lo].position));
        return;
    }
    size_t middle = lo + (hi - lo) / 2;
    struct move right = {n, middle, hi};
    weft *in = weft_fork(w, move_run, &right);
    move(in, n, lo, middle);
    if (!weft_merge(w))
        move(w, n, middle, hi);
}

static void move_run(weft *w, void *arg)
{
    struct move *m = arg;
    move(w, m->n, m->lo, m->hi);
}

static void all_ticks(weft *w, void *data)
{
    struct nbody *n = data;
    for (int tick = 0; tick < NBODY_TICKS; tick++) {
        move(w, n, 0, n->count);
        nbody_swap(n);
    }
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, all_ticks, data);
}

const struct contest nbody_contest = {
    .kernel = &nbody_kernel,
    .weft = run,
    .what = "SIZE bodies that pull each other, 3 ticks, a parallel sum for each body",
    .operation = "pull",
    .size = 4096,
    .quick = 300,
    .most = 100000,
    .reps = 15,
    .claims = {.times_twin = 1.03, .share = 0.9},
};
