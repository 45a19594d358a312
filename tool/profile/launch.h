/* SPDX-License-Identifier: MIT */
/* launch.h: runs a program to its end, as a shell would: its files are those of this process, and
 * so are the signals that it ignores or blocks.
 *
 * This process survives what ends the program. Signals that a terminal sends reach both; what
 * somebody sends to this process alone is passed on. Worst case: who sends to the whole group
 * sends twice to the program. */
#ifndef PROFILE_LAUNCH_H
#define PROFILE_LAUNCH_H

#include <sys/types.h>

enum {
    LAUNCH_FAILED = 125,      /* this process failed, not the program: as env(1) has it */
    LAUNCH_NOT_STARTED = 126, /* the program is there */
    LAUNCH_NOT_FOUND = 127,
    LAUNCH_SIGNAL = 128, /* plus its number: the program was killed */
    LAUNCH_TICK_MS = 250,
};

struct launch {
    char **argv;
    /* Called every LAUNCH_TICK_MS while the program runs. */
    void (*tick)(void *arg, pid_t pid);
    void *arg;
    /* What came of it: */
    pid_t pid;  /* 0: it was not started, and why has been said */
    int status; /* for exit() */
    int signal; /* that killed it, or 0 */
    int core;   /* there is a core file */
};

void launch(struct launch *launch);

#endif
