/* SPDX-License-Identifier: MIT */
/* stats.h: the model has no statistics page: it decides nothing. */
#ifndef CHECK_STATS_H
#define CHECK_STATS_H

#include "os/atomic.h"

#include <weft/stats_format.h>

struct weft__phases {
    struct atomic_u32 sequence, phase;
    struct atomic_u64 since, times[WEFT_STATS_PHASES - 1], outside, left;
};

struct weft__waits {
    struct atomic_u64 words, object, name[3];
};

static inline void weft__stats_prepare(void)
{
}

static inline void weft__stats_forked(void)
{
}

static inline void *weft__stats_take(enum weft_stats_kind kind)
{
    (void)kind;
    return NULL;
}

static inline void weft__stats_give(enum weft_stats_kind kind, void *record)
{
    (void)kind, (void)record;
}

static inline void *weft__stats_take_actor(void)
{
    return NULL;
}

static inline void weft__stats_give_actor(void *record)
{
    (void)record;
}

static inline void weft__stats_show(struct atomic_u64 *id)
{
    (void)id;
}

static inline uint16_t weft__stats_number(const void *pool)
{
    (void)pool;
    return 0;
}

static inline void weft__stats_queued(uint16_t number, size_t length)
{
    (void)number, (void)length;
}

static inline void weft__stats_phase(struct weft__phases *phases, enum weft_stats_phase phase,
                                     uint64_t now)
{
    (void)phases, (void)phase, (void)now;
}

static inline void weft__stats_phase_now(struct weft__phases *phases, enum weft_stats_phase phase)
{
    (void)phases, (void)phase;
}

static inline void weft__stats_out(struct weft__phases *phases)
{
    (void)phases;
}

static inline void weft__stats_in(struct weft__phases *phases)
{
    (void)phases;
}

static inline void weft__stats_waits(struct weft__waits *waits, const char *words, uint64_t object,
                                     const char *name)
{
    (void)waits, (void)words, (void)object, (void)name;
}

static inline void weft__stats_note(struct atomic_u64 *where, uint64_t value)
{
    (void)where, (void)value;
}
static inline void weft__stats_kind(struct atomic_u32 *where, uint32_t value)
{
    (void)where, (void)value;
}

static inline void weft__stats_words(const char *words)
{
    (void)words;
}

static inline void weft__stats_holder(const void *object, uintptr_t holder)
{
    (void)object, (void)holder;
}

static inline void weft__stats_report(const void *pool, const char *text)
{
    (void)pool, (void)text;
}

#endif
