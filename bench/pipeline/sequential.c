/* SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

static void plain(void *data)
{
    struct pipeline *p = data;
    struct pipeline_block block;
    while (pipeline_read(p, &block)) {
        pipeline_work(&block);
        pipeline_write(p, &block);
    }
}

/* ---- The data ---- */

static void release(void *data)
{
    struct pipeline *p = data;
    free(p->in);
    free(p->out);
    free(p);
}

static void *prepare(unsigned size)
{
    struct pipeline *p = malloc(sizeof *p);
    uint64_t state = 1;
    if (!p)
        return NULL;
    *p = (struct pipeline){
        .count = size, .in = malloc(size * sizeof *p->in), .out = malloc(size * sizeof *p->out)};
    if (!p->in || !p->out) {
        release(p);
        return NULL;
    }
    for (size_t i = 0; i < size; i++)
        for (int j = 0; j < PIPELINE_WORDS; j++)
            p->in[i].words[j] = kernel_random(&state);
    return p;
}

static void reset(void *data)
{
    struct pipeline *p = data;
    p->read = p->written = 0;
    memset(p->out, 0, p->count * sizeof *p->out);
}

static uint64_t checksum(const void *data)
{
    const struct pipeline *p = data;
    uint64_t sum = p->written;
    for (size_t i = 0; i < p->count; i++)
        for (int j = 0; j < PIPELINE_WORDS; j++)
            sum = sum * 31 + p->out[i].words[j];
    return sum;
}

static double blocks(const void *data)
{
    const struct pipeline *p = data;
    return (double)p->count;
}

const struct kernel pipeline_kernel = {
    .name = "pipeline",
    .prepare = prepare,
    .reset = reset,
    .sequential = plain,
    .checksum = checksum,
    .operations = blocks,
    .release = release,
};
