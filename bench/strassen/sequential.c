/* SPDX-License-Identifier: MIT */
#include "strassen.h"

#include "../kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void multiply(const struct product *product)
{
    if (product->n <= STRASSEN_LEAF) {
        strassen_leaf(product);
        return;
    }
    struct strassen_node node;
    strassen_split(product, &node);
    for (int i = 0; i < STRASSEN_PRODUCTS; i++)
        multiply(&node.products[i]);
    strassen_combine(product, &node);
}

static void sequential(void *data)
{
    struct product whole = strassen_whole(data);
    multiply(&whole);
}

static void release(void *data)
{
    struct strassen *s = data;
    free(s->a);
    free(s->b);
    free(s->c);
    free(s);
}

static void *prepare(unsigned size)
{
    struct strassen *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n = (size_t)1 << size;
    s->a = calloc(s->n * s->n, sizeof *s->a);
    s->b = calloc(s->n * s->n, sizeof *s->b);
    s->c = calloc(s->n * s->n, sizeof *s->c);
    if (!s->a || !s->b || !s->c) {
        release(s);
        return NULL;
    }
    uint64_t random = 1;
    for (size_t i = 0; i < s->n * s->n; i++) {
        s->a[i] = (double)(kernel_random(&random) % 1000) / 1000;
        s->b[i] = (double)(kernel_random(&random) % 1000) / 1000;
    }
    return s;
}

static void reset(void *data)
{
    struct strassen *s = data;
    memset(s->c, 0, s->n * s->n * sizeof *s->c);
}

/* All do the same additions, so the bits are the same. */
static uint64_t checksum(const void *data)
{
    const struct strassen *s = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < s->n * s->n; i++) {
        uint64_t bits;
        memcpy(&bits, &s->c[i], sizeof bits);
        sum = sum * 31 + bits;
    }
    return sum;
}

/* Products that are leaves. */
static double operations(const void *data)
{
    const struct strassen *s = data;
    double levels = log2((double)s->n / STRASSEN_LEAF);
    return pow(STRASSEN_PRODUCTS, levels > 0 ? levels : 0);
}

const struct kernel strassen_kernel = {
    .name = "strassen",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
