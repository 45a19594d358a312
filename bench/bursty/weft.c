/* SPDX-License-Identifier: MIT */
#include "bursty.h"

#include "../clock.h"
#include "../contest.h"

struct part {
    uint64_t lo, hi, result;
};

static void burst_run(weft *w, void *arg);

static uint64_t burst(weft *w, uint64_t lo, uint64_t hi)
{
    if (hi - lo == 1)
        return bursty_leaf(lo);
    uint64_t middle = lo + (hi - lo) / 2;
    struct part right;
    right.lo = middle;
    right.hi = hi;
    weft *in = weft_fork(w, burst_run, &right);
    uint64_t left = burst(in, lo, middle);
    return left + (weft_merge(w) ? right.result : burst(w, middle, hi));
}

static void burst_run(weft *w, void *arg)
{
    struct part *part = arg;
    part->result = burst(w, part->lo, part->hi);
}

static void run(weft_pool *pool, void *data)
{
    struct bursty *b = data;
    for (unsigned i = 0; i < b->bursts; i++) {
        uint64_t lo = (uint64_t)i * BURSTY_LEAVES;
        struct part all = {lo, lo + BURSTY_LEAVES, 0};
        weft_run(pool, burst_run, &all);
        b->result += all.result;
        clock_rest(BURSTY_PAUSE);
    }
}

const struct contest bursty_contest = {
    .kernel = &bursty_kernel,
    .weft = run,
    .what = "SIZE times 50 us of work in 511 forks, and a pause of 1 ms",
    .operation = "burst",
    .size = 300,
    .quick = 20,
    .most = 1000000,
    .reps = 9,
    .mostly_asleep = true,
    .claims = {.times_twin_cpu = 1.3, .times_twin_wall = 1.0},
};
