/* SPDX-License-Identifier: MIT */
/* pipeline: blocks that are read, worked on and written, all in memory, beside a plain loop of the
 * three steps. Reading and writing keep the order. */
#ifndef BENCH_PIPELINE_H
#define BENCH_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PIPELINE_WORDS = 512 }; /* of a block: a page */

struct pipeline_block {
    uint64_t words[PIPELINE_WORDS];
};

struct pipeline {
    size_t count, read, written; /* blocks */
    struct pipeline_block *in, *out;
};

/* The steps, the same functions for all contenders. Work takes some 15 us. */
bool pipeline_read(struct pipeline *p, struct pipeline_block *block); /* false: no more */
void pipeline_work(struct pipeline_block *block);
void pipeline_write(struct pipeline *p, const struct pipeline_block *block);

#ifdef __cplusplus
}
#endif

#endif
