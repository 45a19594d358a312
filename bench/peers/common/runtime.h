/* SPDX-License-Identifier: MIT */
/* runtime.h: what a peer written in C or C++ provides. main.c speaks the protocol of
 * bench/peer.h for it. The forks are those of weft's version, in the peer's own words. */
#ifndef BENCH_PEERS_RUNTIME_H
#define BENCH_PEERS_RUNTIME_H

#include "../../kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct runtime_benchmark {
    const struct kernel *kernel; /* NULL ends the list */
    void (*run)(void *data);
};

extern const struct runtime_benchmark runtime_benchmarks[];

/* Called once, before anything runs. */
void runtime_open(unsigned workers);

#ifdef __cplusplus
}
#endif

#endif
