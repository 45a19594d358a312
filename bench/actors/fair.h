/* SPDX-License-Identifier: MIT */
/* fair: small requests that come from outside, alone or beside a greedy computation, which forks
 * without end. The client is the same for all runtimes; each brings a way to start either. */
#ifndef BENCH_ACTORS_FAIR_H
#define BENCH_ACTORS_FAIR_H

#include "../kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FAIR_LEAVES = 128,  /* of a request; a millisecond together */
    FAIR_ROUNDS = 5000, /* of such a leaf: 8 microseconds */
    FAIR_GREEDY_ROUNDS = 600,
    FAIR_GREEDY_LEVELS = 60, /* which is without end */
};

struct fair;

struct fair_request {
    struct fair *fair;
    uint64_t seed, result;
    double sent, took; /* seconds */
};

struct fair {
    unsigned count;
    double every; /* seconds between two; 0: all at once */
    int greedy;   /* beside a greedy one */
    int stop;     /* for that; atomic, as what follows */
    unsigned done, greedy_over;
    struct fair_request *requests;
    double *took; /* in the order of requests */
};

extern const struct kernel fair_stream_kernel, fair_stream_greedy_kernel, fair_together_kernel,
    fair_together_greedy_kernel;

static inline uint64_t fair_rounds(uint64_t x, int rounds)
{
    for (int i = 0; i < rounds; i++)
        x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u;
    return x;
}

static inline uint64_t fair_leaf(uint64_t seed, unsigned leaf)
{
    return fair_rounds(seed + leaf, FAIR_ROUNDS);
}

static inline int fair_stopped(const struct fair *fair)
{
    return __atomic_load_n(&fair->stop, __ATOMIC_RELAXED);
}

/* What the greedy one does between two forks. */
static inline void fair_greedy_leaf(uint64_t seed)
{
    volatile uint64_t result = fair_rounds(seed, FAIR_GREEDY_ROUNDS);
    (void)result;
}

/* The last touch of both: called by whoever computed it. */
void fair_request_over(struct fair_request *request, uint64_t result);
void fair_greedy_over(struct fair *fair);

struct fair_runtime {
    void (*request)(struct fair_request *request, void *data); /* starts one, and returns */
    void (*greedy)(struct fair *fair, void *data);
    void *data;
};

/* Sends all, waits for all. If they don't come to an end beside the greedy one, that is stopped
 * after FAIR_PATIENCE seconds. */
#define FAIR_PATIENCE 0.5
void fair_client(struct fair *fair, const struct fair_runtime *runtime);

#ifdef __cplusplus
}
#endif

#endif
