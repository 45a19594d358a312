/* SPDX-License-Identifier: MIT */
/* bnb: branch and bound. What fits into a knapsack and is worth most, of items in the order of
 * their worth per weight. A fork at each item: with it, or without. What can't become better than
 * the best so far, which all threads share, is left out. The result is always the same; how many
 * branches are looked at depends on when good ones are found. A runtime that runs the second side
 * first would look at many times as many, and the contest would say nothing about forks. So all
 * start with what a good guess would give: one less than the best. */
#ifndef BENCH_BNB_H
#define BENCH_BNB_H

#include <stddef.h>
#include <stdint.h>

struct bnb_item {
    int64_t value, weight;
};

struct bnb {
    size_t n;
    struct bnb_item *items; /* and one behind the last, of no value */
    int64_t capacity, guess;
    int64_t best;    /* atomic */
    double branches; /* in the sequential order */
};

/* Can no branch from item i on become better than the best so far? A value of the best that is out
 * of date only costs time. */
static inline int bnb_is_hopeless(const struct bnb *b, size_t i, int64_t value, int64_t room)
{
    int64_t best = __atomic_load_n(&b->best, __ATOMIC_RELAXED);
    return room * b->items[i].value <= (best - value) * b->items[i].weight;
}

static inline void bnb_offer(struct bnb *b, int64_t value)
{
    int64_t best = __atomic_load_n(&b->best, __ATOMIC_RELAXED);
    while (best < value && !__atomic_compare_exchange_n(&b->best, &best, value, 1, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED))
        ;
}

static inline int bnb_fits(const struct bnb *b, size_t i, int64_t room)
{
    return b->items[i].weight <= room;
}

#endif
