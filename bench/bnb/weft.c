/* SPDX-License-Identifier: MIT */
#include "bnb.h"

#include "../contest.h"

struct rest {
    struct bnb *b;
    size_t i;
    int64_t value, room;
};

static void search_run(weft *w, void *arg);

/* With the item first, as the twin does; without it by whoever has time. */
static inline void search(weft *w, struct bnb *b, size_t i, int64_t value, int64_t room)
{
    if (i == b->n) {
        bnb_offer(b, value);
        return;
    }
    if (bnb_is_hopeless(b, i, value, room))
        return;
    if (!bnb_fits(b, i, room)) {
        search(w, b, i + 1, value, room);
        return;
    }
    struct rest without = {b, i + 1, value, room};
    weft *in = weft_fork(w, search_run, &without);
    search(in, b, i + 1, value + b->items[i].value, room - b->items[i].weight);
    if (!weft_merge(w))
        search(w, b, i + 1, value, room);
}

static void search_run(weft *w, void *arg)
{
    const struct rest *rest = arg;
    search(w, rest->b, rest->i, rest->value, rest->room);
}

static void run(weft_pool *pool, void *data)
{
    struct bnb *b = data;
    weft_run(pool, search_run, &(struct rest){b, 0, 0, b->capacity});
}

const struct contest bnb_contest = {
    .kernel = &bnb_kernel,
    .weft = run,
    .what = "branch and bound, a knapsack and SIZE items, a fork for each that fits",
    .operation = "branch",
    .size = 60,
    .quick = 32,
    .most = 1000,
    .reps = 15,
    .claims = {.times_faster_than_peers = 5},
};
