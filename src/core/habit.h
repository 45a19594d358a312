/* SPDX-License-Identifier: MIT */
/* habit.h: do jobs of this kind usually take long? Waking a worker for a job that is over
 * before the worker runs is a waste, and nothing but experience tells. A pool remembers,
 * for a few pairs of a job's function and what it forks first, how many times in a row they
 * took little time.
 *
 * Worst case: a job that takes long after brief ones. Its first right side waits for one nap of
 * the look-out and two quanta (../sleep/sleep.h); where there is no look-out, nothing is guessed.
 */
#ifndef WEFT_CORE_HABIT_H
#define WEFT_CORE_HABIT_H

#include "core/context.h"

struct weft__habits {
    struct {
        struct atomic_uptr kind; /* relaxed, both: a guess, and losing one costs nothing */
        struct atomic_u32 brief; /* runs in a row that took little time */
    } known[64];
};

bool weft__habit_is_brief(struct weft__habits *habits, weft_fn *job, weft_fn *right);
void weft__habit_learn(struct weft__habits *habits, weft_fn *job, weft_fn *right, bool brief);

#endif
