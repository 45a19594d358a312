/* SPDX-License-Identifier: MIT */
/* nbody-parreduce: gravity between all pairs of bodies. Parallel over the bodies, and within
 * each over what pulls it. */
#ifndef BENCH_NBODY_H
#define BENCH_NBODY_H

#include <math.h>
#include <stddef.h>

enum {
    NBODY_TICKS = 3,
    NBODY_LEAF = 256, /* pulls summed up without a fork: about a microsecond */
};

struct vector {
    double x, y, z;
};

struct body {
    struct vector position, velocity;
    double mass;
};

struct nbody {
    size_t count;
    struct body *now, *next; /* a tick reads one and writes the other */
    struct body *first;      /* where they started */
};

static inline struct vector vector_add(struct vector a, struct vector b)
{
    struct vector sum = {a.x + b.x, a.y + b.y, a.z + b.z};
    return sum;
}

static inline struct vector vector_scale(struct vector a, double factor)
{
    struct vector scaled = {a.x * factor, a.y * factor, a.z * factor};
    return scaled;
}

/* What the bodies from lo to hi pull at `place`. Softened, so that a body's own pull is zero. */
static inline struct vector nbody_pull(const struct body *bodies, size_t lo, size_t hi,
                                       struct vector place)
{
    struct vector pull = {0, 0, 0};
    for (size_t i = lo; i < hi; i++) {
        double x = bodies[i].position.x - place.x;
        double y = bodies[i].position.y - place.y;
        double z = bodies[i].position.z - place.z;
        double square = x * x + y * y + z * z + 1e-4;
        double factor = bodies[i].mass / (square * sqrt(square));
        pull.x += x * factor;
        pull.y += y * factor;
        pull.z += z * factor;
    }
    return pull;
}

static inline struct body nbody_move(struct body body, struct vector pull)
{
    const double tick = 1e-3;
    body.velocity = vector_add(body.velocity, vector_scale(pull, tick));
    body.position = vector_add(body.position, vector_scale(body.velocity, tick));
    return body;
}

static inline void nbody_swap(struct nbody *n)
{
    struct body *now = n->now;
    n->now = n->next;
    n->next = now;
}

#endif
