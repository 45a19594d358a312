/* SPDX-License-Identifier: MIT */
/* unwind.h: members that end before they return, and what is done then.
 *
 * A member ends so when its actor is killed, past its limit or past its stack; and a delegate also
 * if whoever would merge its right side ends so: nobody needs it any more. Whatever else it has
 * begun ends before that:
 *
 *   all its delegates have answered   they use its frames
 *   cleanups run, the newest first    those of the library, in its frames, and what the program
 *                                     has deferred; the frames are still there
 *   mutexes that it holds are unlocked
 *   the scopes that it opened end
 *   a jump to where it was entered */
#ifndef WEFT_ACTOR_UNWIND_H
#define WEFT_ACTOR_UNWIND_H

#include "actor/actor.h"

/* Of the topmost member; `first_free`: its first free slot. */
_Noreturn void weft__unwind(weft *first_free, enum member_outcome outcome);

/* In a fiber: ends the topmost member here if it has to, and holds no mutex; at once: also then. */
void weft__check_ending(struct weft__fiber *fiber, bool at_once);

/* Its cleanups run: it can't end once more. */
static inline bool weft__is_unwinding(const struct weft__member *member)
{
    return atomic_load_relaxed(&member->outcome) != OUTCOME_RUNS; /* relaxed: own */
}

/* The same where it would not end yet, because it holds a mutex: waits end there, and say so. */
bool weft__is_ending(const struct weft__fiber *fiber);

/* The first slot from w on that is free. */
weft *weft__first_free(weft *w);

/* What a member that has returned has deferred, and its victim's has become. */
struct weft__cleanup *weft__cleanups_hand_over(struct weft__member *member);
void weft__cleanups_adopt(struct weft__fiber *fiber, struct weft__cleanup *cleanups);

/* All of the topmost member's run, in w. */
void weft__cleanups_run(struct weft__member *member, weft *w);

#endif
