/* SPDX-License-Identifier: MIT */
#include "fair.h"

#include "../clock.h"

#include <stdlib.h>

#define EVERY 3e-3  /* seconds */
#define SETTLE 0.02 /* until the greedy one is everywhere */

void fair_request_over(struct fair_request *request, uint64_t result)
{
    struct fair *fair = request->fair;
    request->result = result;
    request->took = clock_now() - request->sent;
    __atomic_fetch_add(&fair->done, 1, __ATOMIC_RELEASE);
}

void fair_greedy_over(struct fair *fair)
{
    __atomic_store_n(&fair->greedy_over, 1, __ATOMIC_RELEASE);
}

/* ---- The client ---- */

static void rest_until(double when)
{
    for (double now; (now = clock_now()) < when;)
        clock_rest(when - now);
}

static int all_done(const struct fair *fair)
{
    return __atomic_load_n(&fair->done, __ATOMIC_ACQUIRE) == fair->count;
}

void fair_client(struct fair *fair, const struct fair_runtime *runtime)
{
    if (fair->greedy) {
        runtime->greedy(fair, runtime->data);
        clock_rest(SETTLE);
    }
    double start = clock_now();
    for (unsigned i = 0; i < fair->count; i++) {
        struct fair_request *request = &fair->requests[i];
        rest_until(start + i * fair->every);
        request->sent = fair->every > 0 ? clock_now() : start;
        runtime->request(request, runtime->data);
    }
    double give_up = clock_now() + FAIR_PATIENCE;
    while (!all_done(fair) && clock_now() < give_up)
        clock_rest(1e-3);
    __atomic_store_n(&fair->stop, 1, __ATOMIC_RELAXED);
    while (!all_done(fair) ||
           (fair->greedy && !__atomic_load_n(&fair->greedy_over, __ATOMIC_ACQUIRE)))
        clock_rest(1e-3);
}

/* ---- The data ---- */

static void *prepare(unsigned count, double every, int greedy)
{
    struct fair *fair = calloc(1, sizeof *fair);
    if (!fair)
        return NULL;
    *fair = (struct fair){.count = count, .every = every, .greedy = greedy};
    fair->requests = calloc(count, sizeof *fair->requests);
    fair->took = calloc(count, sizeof *fair->took);
    if (!fair->requests || !fair->took) {
        free(fair->requests);
        free(fair->took);
        free(fair);
        return NULL;
    }
    return fair;
}

static void *prepare_stream(unsigned count)
{
    return prepare(count, EVERY, 0);
}

static void *prepare_stream_greedy(unsigned count)
{
    return prepare(count, EVERY, 1);
}

static void *prepare_together(unsigned count)
{
    return prepare(count, 0, 0);
}

static void *prepare_together_greedy(unsigned count)
{
    return prepare(count, 0, 1);
}

static void reset(void *data)
{
    struct fair *fair = data;
    fair->stop = 0;
    fair->done = fair->greedy_over = 0;
    for (unsigned i = 0; i < fair->count; i++)
        fair->requests[i] = (struct fair_request){.fair = fair, .seed = i * FAIR_LEAVES};
}

/* One after the other; a greedy one would never let them in. */
static void sequential(void *data)
{
    struct fair *fair = data;
    for (unsigned i = 0; i < fair->count; i++) {
        struct fair_request *request = &fair->requests[i];
        uint64_t sum = 0;
        request->sent = clock_now();
        for (unsigned leaf = 0; leaf < FAIR_LEAVES; leaf++)
            sum += fair_leaf(request->seed, leaf);
        fair_request_over(request, sum);
    }
}

static uint64_t checksum(const void *data)
{
    const struct fair *fair = data;
    uint64_t sum = 0;
    for (unsigned i = 0; i < fair->count; i++)
        sum += fair->requests[i].result;
    return sum;
}

static double operations(const void *data)
{
    const struct fair *fair = data;
    return fair->count;
}

static const double *times(const void *data, unsigned *count)
{
    const struct fair *fair = data;
    *count = fair->count;
    for (unsigned i = 0; i < fair->count; i++)
        fair->took[i] = fair->requests[i].took;
    return fair->took;
}

static void release(void *data)
{
    struct fair *fair = data;
    free(fair->requests);
    free(fair->took);
    free(fair);
}

#define KERNEL(kernel_name, by)                                                             \
    {                                                                                       \
        .name = (kernel_name), .prepare = (by), .reset = reset, .sequential = sequential,   \
        .checksum = checksum, .operations = operations, .times = times, .release = release, \
    }

const struct kernel fair_stream_kernel = KERNEL("fair-stream", prepare_stream);
const struct kernel fair_stream_greedy_kernel = KERNEL("fair-stream-greedy", prepare_stream_greedy);
const struct kernel fair_together_kernel = KERNEL("fair-together", prepare_together);
const struct kernel fair_together_greedy_kernel =
    KERNEL("fair-together-greedy", prepare_together_greedy);
