/* SPDX-License-Identifier: MIT */
/* unwind.h: members that end before they return.
 *
 * A member is unwound when its actor is killed, past its limit or past its stack. A delegate is
 * also unwound if its victim, or a victim of that, is: its result is not needed any more. In this
 * order:
 *
 *   all its delegates have answered   they use its frames
 *   cleanups run, the newest first    those of the library, in its frames, and what the program
 *                                     has deferred; the frames are still there. A scope that is
 *                                     open is a cleanup, too: it waits for its children in other
 *                                     pools, unless the member holds a mutex
 *   mutexes that it holds are unlocked
 *   the scopes that it opened end, and have waited for those children at the latest
 *   a jump to where it was entered */
#ifndef WEFT_ACTOR_UNWIND_H
#define WEFT_ACTOR_UNWIND_H

#include "actor/actor.h"

#include <errno.h>

/* Ends the topmost member; `first_free`: its first free slot. */
_Noreturn void weft__unwind(weft *first_free, enum member_outcome outcome);

/* As a negative errno; 0: it has returned, or runs. */
static inline int weft__outcome_reason(enum member_outcome outcome)
{
    switch (outcome) {
    case OUTCOME_KILLED:
        return -ECANCELED;
    case OUTCOME_NO_MEMORY:
        return -ENOMEM;
    case OUTCOME_OVERFLOW:
        return -EOVERFLOW;
    default:
        return 0;
    }
}

/* By the fiber: unwinds the topmost member if its result is not needed. While it holds a mutex it
 * goes on, unless `at_once`. */
void weft__check_ending(struct weft__fiber *fiber, bool at_once);

/* The member has returned or is being unwound: it is not unwound again. */
static inline bool weft__is_unwinding(const struct weft__member *member)
{
    return atomic_load_relaxed(&member->outcome) != OUTCOME_RUNS; /* relaxed: own */
}

/* Is the result of the topmost member not needed? True also while it goes on because it holds a
 * mutex: its waits end, and return -ECANCELED where they can. */
bool weft__is_ending(const struct weft__fiber *fiber);

/* The first slot from w on that is free. */
weft *weft__first_free(weft *w);

/* What a member that has returned has deferred is handed over, and adopted by its victim. */
struct weft__cleanup *weft__cleanups_hand_over(struct weft__member *member);
void weft__cleanups_adopt(struct weft__fiber *fiber, struct weft__cleanup *cleanups);

/* Runs all cleanups of the topmost member, in w. */
void weft__cleanups_run(struct weft__member *member, weft *w);

#endif
