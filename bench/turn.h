/* SPDX-License-Identifier: MIT */
/* turn.h: one repetition of one contender. */
#ifndef BENCH_TURN_H
#define BENCH_TURN_H

#include "samples.h"

#include <stdint.h>

struct turn {
    double seconds, cpu; /* wall time; CPU time of all its threads */
    uint64_t checksum;
    struct samples *times; /* of its parts, if the benchmark tells them; NULL: not wanted */
};

#endif
