/* SPDX-License-Identifier: MIT */
/* roster.h: all pools of the process, for debuggers. tool/gdb/weft-gdb.py begins here; the library
 * itself only writes it. */
#ifndef WEFT_OS_ROSTER_H
#define WEFT_OS_ROSTER_H

#include "os/lock.h"

/* Part of a pool. */
struct weft__listed {
    struct weft__listed *next, **link; /* link NULL: it is not in the list */
};

struct weft__roster {
    unsigned version; /* WEFT_VERSION: the script knows the structures of one version */
    struct weft__lock lock;
    struct weft__listed *first; /* the newest */
};

extern struct weft__roster weft__roster;

void weft__roster_add(struct weft__listed *entry);
void weft__roster_remove(struct weft__listed *entry); /* nothing if it is not there */
void weft__roster_forked(void); /* in a forked child: no other thread has the lock */

#endif
