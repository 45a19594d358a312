/* SPDX-License-Identifier: MIT */
/* lookout.h: the one sleeper that looks up now and then, while the pool is in use and for a second
 * longer, and takes what nobody else comes for; see README.md. */
#ifndef WEFT_SLEEP_LOOKOUT_H
#define WEFT_SLEEP_LOOKOUT_H

#include "sleep/common.h"

/* How a sleeper looks out, if it does. The caller is counted as sleeping, and has a
 * fence behind it. */
struct weft__lookout {
    struct weft__sleep *sleep;
    struct weft__idle *idle;
    struct weft__park *park;
};
struct weft__naps weft__lookout_naps(struct weft__lookout *lookout);

/* Takes the one who sleeps there off duty, if it is on duty: by its waker, or itself when it is
 * awake. False: it was not. */
bool weft__lookout_relieve(struct weft__sleep *sleep, struct weft__park *park);

/* After a second of silence: it goes off duty. False: not at all, the pool is in use again. */
bool weft__lookout_leaves(struct weft__lookout *lookout);

#endif
