/* SPDX-License-Identifier: MIT */
/* futex.h: sleep until a word changes. Parking places rest on this and not on condition
 * variables: Debian 12's C library can lose a signal (glibc bug 25847). */
#ifndef WEFT_OS_FUTEX_H
#define WEFT_OS_FUTEX_H

#include "os/atomic.h"

/* Sleeps while *word == value. May return at any time, for no reason: callers loop. */
void weft__futex_wait(struct atomic_u32 *word, uint32_t value);

/* The same, but not for longer than so many nanoseconds. */
void weft__futex_wait_for(struct atomic_u32 *word, uint32_t value, uint64_t ns);

/* Wakes up to n sleepers. Uses the word's address only, never the memory, so the word
 * may be gone already. Another thread that sleeps at the same address then wakes for nothing. */
void weft__futex_wake(struct atomic_u32 *word, unsigned n);

#define WEFT__WAKE_ALL 0x7fffffffu

#endif
