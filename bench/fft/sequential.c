/* SPDX-License-Identifier: MIT */
#include "fft.h"

#include "../kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void sequential(void *data)
{
    struct fft_part whole = fft_whole(data);
    fft_transform(&whole);
}

static void release(void *data)
{
    struct fft *fft = data;
    free(fft->in);
    free(fft->out);
    free(fft->roots);
    free(fft);
}

static void *prepare(unsigned size)
{
    struct fft *fft = calloc(1, sizeof *fft);
    if (!fft)
        return NULL;
    fft->n = (size_t)1 << size;
    fft->in = calloc(fft->n, sizeof *fft->in);
    fft->out = calloc(fft->n, sizeof *fft->out);
    fft->roots = calloc(fft->n / 2 + 1, sizeof *fft->roots);
    if (!fft->in || !fft->out || !fft->roots) {
        release(fft);
        return NULL;
    }
    uint64_t random = 1;
    for (size_t i = 0; i < fft->n; i++) {
        fft->in[i].re = (double)(kernel_random(&random) % 1000) / 1000;
        fft->in[i].im = (double)(kernel_random(&random) % 1000) / 1000;
    }
    for (size_t k = 0; k < fft->n / 2; k++) {
        double angle = -2 * acos(-1) * (double)k / (double)fft->n;
        fft->roots[k] = (struct fft_number){cos(angle), sin(angle)};
    }
    return fft;
}

static void reset(void *data)
{
    struct fft *fft = data;
    memset(fft->out, 0, fft->n * sizeof *fft->out);
}

/* All do the same additions, so the bits are the same. */
static uint64_t checksum(const void *data)
{
    const struct fft *fft = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < fft->n; i++) {
        uint64_t bits[2];
        memcpy(bits, &fft->out[i], sizeof bits);
        sum = (sum * 31 + bits[0]) * 31 + bits[1];
    }
    return sum;
}

/* Pairs that are put together. */
static double operations(const void *data)
{
    const struct fft *fft = data;
    return (double)fft->n / 2 * log2((double)fft->n);
}

const struct kernel fft_kernel = {
    .name = "fft",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
