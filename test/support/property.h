/* SPDX-License-Identifier: MIT */
/* property.h: the same property for many random inputs. A failure says with which seed;
 * TEST_SEED=... tries that one alone. */
#ifndef TEST_PROPERTY_H
#define TEST_PROPERTY_H

#include "pools.h"

struct dice {
    uint64_t state;
};

uint64_t dice_roll(struct dice *dice);                    /* 64 random bits */
size_t dice_below(struct dice *dice, size_t n);           /* 0 to n - 1 */
size_t dice_size(struct dice *dice, size_t most);         /* 0 to most; small ones are likelier */
void dice_fill(struct dice *dice, void *to, size_t size); /* random bytes */

/* Runs property(w, dice) `times` times, each with a seed of its own, in pools of 1, 2, 3 and
 * 8 workers on the road that is tried now. */
typedef void property_fn(weft *w, struct dice *dice);
void property_holds(property_fn *property, unsigned times);

#define HOLDS(condition) ((condition) ? (void)0 : property_failed(__FILE__, __LINE__, #condition))
void property_failed(const char *file, int line, const char *what);

/* For bodies: now and then takes a while, so that others come and take what is left. */
void dawdle(size_t i);

#endif
