/* SPDX-License-Identifier: MIT */
/* stats.h: the statistics page, which other processes of the same user may read at any moment; see
 * weft/stats_format.h.
 *
 * Workers and actors count in records of the page itself, in the place of memory of their own. So
 * the page costs no instruction where something was counted before, and nobody has to copy
 * anything: it is right also if all threads stand still. What finds no record counts in its own
 * memory, and is not seen.
 *
 * The page is a memory file. It is made with the first pool, has all its memory from the beginning,
 * can't be made shorter, and ends with the process, however that ends. It is reached by its
 * descriptor, /proc/PID/fd/N: the kernel asks there whether the reader may trace the process. A
 * program that closes all descriptors hides its page from all but root.
 *
 * Worst case: 50 KB of memory, and two looks at the clock for each sleep and each wait that
 * blocks. */
#ifndef WEFT_OS_STATS_H
#define WEFT_OS_STATS_H

#include "os/atomic.h"

#include <weft/stats_format.h>

/* Makes the page, if there is none. Not if WEFT_STATS=0, nor in a program that has more rights than
 * its user. */
void weft__stats_prepare(void);
void weft__stats_forked(void); /* in a forked child: the page is the parent's */

/* A record of zeros, without an id, for a pool or a worker; NULL: there is none. And its end. */
void *weft__stats_take(enum weft_stats_kind kind);
void weft__stats_give(enum weft_stats_kind kind, void *record); /* NULL: nothing was taken */

/* The same for an actor; what comes after the id is not zero. */
void *weft__stats_take_actor(void);
void weft__stats_give_actor(void *record);

/* The record is complete. */
void weft__stats_show(struct atomic_u64 *id);

/* The number of a pool's record, from 1 on; and how many jobs are in the queue of that pool. */
uint16_t weft__stats_number(const void *pool);
void weft__stats_queued(uint16_t number, size_t length);

/* ---- Phases ---- */

/* The atomic form of struct weft_stats_phases. One writer: the worker's thread. */
struct weft__phases {
    struct atomic_u32 sequence, phase;
    struct atomic_u64 since, times[WEFT_STATS_PHASES - 1], outside, left;
};

void weft__stats_phase(struct weft__phases *phases, enum weft_stats_phase phase, uint64_t now);
void weft__stats_phase_now(struct weft__phases *phases, enum weft_stats_phase phase);

/* The thread goes outside, and comes in. */
void weft__stats_out(struct weft__phases *phases);
void weft__stats_in(struct weft__phases *phases);

/* ---- Waits ---- */

/* In words, and for what. The atomic form of the fields that begin with `waits` in a record. */
struct weft__waits {
    struct atomic_u64 words, object, name[3];
};

void weft__stats_waits(struct weft__waits *waits, const char *words, uint64_t object,
                       const char *name);

/* What only readers of the page want to know. */
static inline void weft__stats_note(struct atomic_u64 *where, uint64_t value)
{
    atomic_store_relaxed(where, value); /* relaxed: a hint */
}
static inline void weft__stats_kind(struct atomic_u32 *where, uint32_t value)
{
    atomic_store_relaxed(where, value); /* relaxed: a hint */
}

/* ---- Words, holders, reports ---- */

enum { WEFT__WORDS_KNOWN = 64 };
extern struct atomic_ptr weft__words_known[WEFT__WORDS_KNOWN];
void weft__stats_add_words(const char *words);

/* Static words, which a record is about to name by their address. */
static inline void weft__stats_words(const char *words)
{
    struct atomic_ptr *known = &weft__words_known[((uintptr_t)words >> 3) % WEFT__WORDS_KNOWN];
    if (__builtin_expect(atomic_load_relaxed(known) != words, 0)) /* relaxed: a hint */
        weft__stats_add_words(words);
}

/* Under the object's lock, or after it was taken: who holds an object for which threads wait. */
void weft__stats_holder(const void *object, uintptr_t holder);

void weft__stats_report(const void *pool, const char *text);

#endif
