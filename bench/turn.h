/* SPDX-License-Identifier: MIT */
/* turn.h: one repetition of one contender. */
#ifndef BENCH_TURN_H
#define BENCH_TURN_H

#include <stdint.h>

struct turn {
    double seconds, cpu; /* wall time; CPU time of all its threads */
    uint64_t checksum;
};

#endif
