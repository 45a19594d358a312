/* SPDX-License-Identifier: MIT */
/* lookout.h: the look-out, the one sleeper that looks around after each nap, while the pool is in
 * use and for a second longer. It takes work that no other worker takes; see README.md. */
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

/* Takes the sleeper off duty, if it is the look-out. Called by its waker, or by the sleeper when it
 * is awake. False: it was not the look-out. */
bool weft__lookout_relieve(struct weft__sleep *sleep, struct weft__park *park);

/* After a second of silence the look-out goes off duty. False: it stays, the pool is in use again.
 */
bool weft__lookout_leaves(struct weft__lookout *lookout);

#endif
