/* SPDX-License-Identifier: MIT */
#include "property.h"

#include "watchdog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed; /* of the input that is tried now */

uint64_t dice_roll(struct dice *dice)
{
    uint64_t z = dice->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

size_t dice_below(struct dice *dice, size_t n)
{
    return n ? (size_t)(dice_roll(dice) % n) : 0;
}

size_t dice_size(struct dice *dice, size_t most)
{
    return dice_below(dice, (most >> dice_below(dice, 8)) + 1);
}

void dice_fill(struct dice *dice, void *to, size_t size)
{
    unsigned char *bytes = to;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)dice_roll(dice);
}

struct trial {
    property_fn *property;
    struct dice dice;
};

static void try_once(weft *w, void *arg)
{
    struct trial *trial = arg;
    trial->property(w, &trial->dice);
}

static void try_seed(weft_pool *pool, property_fn *property, uint64_t with)
{
    struct trial trial = {property, {with}};
    seed = with;
    CHECK(weft_run(pool, try_once, &trial) == 0);
    watchdog_kick();
}

void property_holds(property_fn *property, unsigned times)
{
    static const unsigned workers[] = {1, 2, 3, 8};
    static uint64_t next = 1;
    const char *only = getenv("TEST_SEED");
    for (size_t i = 0; i < sizeof workers / sizeof workers[0]; i++) {
        weft_pool *pool = pool_make(workers[i], i % 2 ? 0 : WEFT_NO_GUESTS);
        for (unsigned t = 0; t < (only ? 1 : times); t++)
            try_seed(pool, property, only ? strtoull(only, NULL, 0) : next++);
        pool_drop(pool);
    }
}

void property_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "TEST_SEED=%" PRIu64 ", road \"%s\": ", seed, road->name);
    check_failed(file, line, what);
}

void dawdle(size_t i)
{
    uint64_t hash = (i + seed) * 0x9e3779b97f4a7c15u >> 40;
    if (hash % 64 == 0)
        sched_yield();
    else if (hash % 32 == 0)
        for (uint64_t until = weft_now() + hash % 20000; weft_now() < until;)
            ;
}
