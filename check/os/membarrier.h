/* SPDX-License-Identifier: MIT */
/* membarrier.h: as in the library, but the barrier has a place in the source, so that it can be
 * left out. */
#ifndef CHECK_OS_MEMBARRIER_H
#define CHECK_OS_MEMBARRIER_H

#include "../../src/os/membarrier.h"

extern bool model_forbids_barriers; /* a harness says so */

#define weft__membarrier()      \
    (!model_forbids_barriers && \
     (model_barrier_everywhere(CHECK_SITE("membarrier", OP_FENCE, SEQ_CST)), true))

#endif
