/* SPDX-License-Identifier: MIT */
/* lookout.h: the look-out, the one sleeper that looks around after each nap, while the pool is in
 * use and for 10 ms longer. It takes work that no other worker takes; see README.md.
 *
 *   asleep -take duty-> look-out -10 ms without use-> rests -a second without use-> asleep */
#ifndef WEFT_SLEEP_LOOKOUT_H
#define WEFT_SLEEP_LOOKOUT_H

#include "sleep/common.h"

/* How a sleeper sleeps: as the look-out, if the pool is in use and has none. The caller is counted
 * as sleeping, and has passed a fence after that. */
struct weft__lookout {
    struct weft__sleep *sleep;
    struct weft__idle *idle;
    struct weft__park *park;
};
struct weft__naps weft__lookout_naps(struct weft__lookout *lookout);

/* Takes the sleeper off duty, if it is the look-out. Called by its waker, or by the sleeper. False:
 * it was not the look-out. */
bool weft__lookout_relieve(struct weft__sleep *sleep, struct weft__park *park);

/* The sleeper is awake: it is neither the look-out any more, nor does it rest. */
void weft__lookout_got_up(struct weft__sleep *sleep, struct weft__park *park);

/* The pool was not in use for a while, and the look-out goes off duty. False: it stays, the pool is
 * in use again. True also if its waker has taken it off duty. */
bool weft__lookout_leaves(struct weft__lookout *lookout);

#endif
