/* SPDX-License-Identifier: MIT */
/* habit.h: do jobs of this kind usually take long? It is a waste to wake a worker for a job that is
 * over before the worker runs. So a pool remembers, for a few pairs of a job's function and the
 * function that it forks first, how many times in a row they took little time.
 *
 * Worst case: a long job after brief ones. Its first right side waits for one nap of the look-out
 * and two quanta (../sleep/sleep.h). Where there is no look-out, nothing is guessed. */
#ifndef WEFT_CORE_HABIT_H
#define WEFT_CORE_HABIT_H

#include "core/context.h"

struct weft__habits {
    struct {
        /* relaxed, both: a guess, and a lost one costs nothing. */
        struct atomic_uptr kind; /* made of the two functions */
        struct atomic_u32 brief; /* how many runs in a row took little time */
    } known[64];
};

bool weft__habit_is_brief(struct weft__habits *habits, weft_fn *job, weft_fn *right);
void weft__habit_learn(struct weft__habits *habits, weft_fn *job, weft_fn *right, bool brief);

#endif
