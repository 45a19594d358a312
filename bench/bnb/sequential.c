/* SPDX-License-Identifier: MIT */
#include "bnb.h"

#include "../kernel.h"

#include <stdlib.h>

static void search(struct bnb *b, size_t i, int64_t value, int64_t room)
{
    if (i == b->n) {
        bnb_offer(b, value);
        return;
    }
    if (bnb_is_hopeless(b, i, value, room))
        return;
    if (bnb_fits(b, i, room))
        search(b, i + 1, value + b->items[i].value, room - b->items[i].weight);
    search(b, i + 1, value, room);
}

static void sequential(void *data)
{
    search(data, 0, 0, ((struct bnb *)data)->capacity);
}

static void reset(void *data)
{
    struct bnb *b = data;
    b->best = b->guess;
}

static double branches(struct bnb *b, size_t i, int64_t value, int64_t room)
{
    if (i == b->n) {
        bnb_offer(b, value);
        return 1;
    }
    if (bnb_is_hopeless(b, i, value, room))
        return 1;
    double with = bnb_fits(b, i, room)
                      ? branches(b, i + 1, value + b->items[i].value, room - b->items[i].weight)
                      : 0;
    return 1 + with + branches(b, i + 1, value, room);
}

static int by_density(const void *x, const void *y)
{
    const struct bnb_item *a = x, *b = y;
    int64_t left = a->value * b->weight, right = b->value * a->weight;
    if (left != right)
        return left > right ? -1 : 1;
    return a->weight < b->weight ? -1 : a->weight > b->weight;
}

static void make_items(struct bnb *b)
{
    enum { LIGHTEST = 1000, RANGE = 1000, MORE = 100 };
    uint64_t random = 1;
    int64_t all = 0;
    for (size_t i = 0; i < b->n; i++) {
        int64_t weight = LIGHTEST + (int64_t)(kernel_random(&random) % RANGE);
        int64_t more = (int64_t)(kernel_random(&random) % MORE);
        b->items[i] = (struct bnb_item){weight + more, weight};
        all += weight;
    }
    b->capacity = all / 2;
    qsort(b->items, b->n, sizeof *b->items, by_density);
    b->items[b->n] = (struct bnb_item){0, 1};
}

static void release(void *data)
{
    struct bnb *b = data;
    free(b->items);
    free(b);
}

static void *prepare(unsigned size)
{
    struct bnb *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->n = size;
    b->items = calloc(b->n + 1, sizeof *b->items);
    if (!b->items) {
        release(b);
        return NULL;
    }
    make_items(b);
    search(b, 0, 0, b->capacity);
    b->guess = b->best - 1;
    reset(b);
    b->branches = branches(b, 0, 0, b->capacity);
    return b;
}

static uint64_t checksum(const void *data)
{
    const struct bnb *b = data;
    return (uint64_t)b->best;
}

static double operations(const void *data)
{
    const struct bnb *b = data;
    return b->branches;
}

const struct kernel bnb_kernel = {
    .name = "bnb",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
