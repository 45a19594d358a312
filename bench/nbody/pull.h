/* SPDX-License-Identifier: MIT */
/* pull.h: what pulls one body, as a sum that forks. The file that includes it says PULL_LEAF, how
 * many pulls are summed up without a fork, so that the compiler knows that number. */
#ifndef BENCH_NBODY_PULL_H
#define BENCH_NBODY_PULL_H

#include "nbody.h"

#include <weft.h>

struct pull {
    const struct body *bodies;
    size_t lo, hi;
    struct vector place, result;
};

static void pull_run(weft *w, void *arg);

static struct vector pull(weft *w, const struct body *bodies, size_t lo, size_t hi,
                          struct vector place)
{
    if (hi - lo <= PULL_LEAF)
        return nbody_pull(bodies, lo, hi, place);
    size_t middle = lo + (hi - lo) / 2;
    struct pull right = {.bodies = bodies, .lo = middle, .hi = hi, .place = place};
    weft *in = weft_fork(w, pull_run, &right);
    struct vector left = pull(in, bodies, lo, middle, place);
    if (!weft_merge(w))
        right.result = pull(w, bodies, middle, hi, place);
    return vector_add(left, right.result);
}

static void pull_run(weft *w, void *arg)
{
    struct pull *p = arg;
    p->result = pull(w, p->bodies, p->lo, p->hi, p->place);
}

#endif
