/* SPDX-License-Identifier: MIT */
/* peer.h: other runtimes, each a program of its own (bench/peers/): two of them can't live in
 * one process. It is started once for a benchmark and a number of workers,
 *     PEER BENCHMARK SIZE WORKERS
 * says "ready" when its data is, and then, for each line "go" on standard input, runs once and
 * answers with wall time, CPU time, checksum and, if the kernel tells them, the times of the parts,
 * at most PEER_TIMES_MAX. Between its turns it is stopped (SIGSTOP), for
 * some runtimes spin for a while after their work is done. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "turn.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { PEERS = 5, PEER_TIMES_MAX = 1000 };

struct peer_kind {
    const char *name, *help;
    const char *packages; /* what Debian calls it */
};

extern const struct peer_kind peer_kinds[PEERS];

enum { PEER_EXIT_UNKNOWN = 77 }; /* it has no such benchmark */

struct peer {
    const char *name;
    pid_t pid; /* 0: not started */
    FILE *socket;
};

bool peer_built(const char *name); /* beside this program */

/* Starts it and waits until it is ready. False if it does not have this benchmark, or, with a
 * message and `failed` set, if something went wrong. */
bool peer_start(struct peer *peer, const char *name, const char *benchmark, unsigned size,
                unsigned workers, bool *failed);

/* False, with a message, if it broke down. */
bool peer_turn(struct peer *peer, struct turn *turn);

/* Ends it; nothing to do if it was not started. */
void peer_stop(struct peer *peer);

#endif
