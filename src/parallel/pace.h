/* SPDX-License-Identifier: MIT */
/* pace.h: how many elements of a loop make a stretch, and when a split is worth its cost.
 *
 * A stretch is the time that one call of a body should take: long enough that the call, a fork and
 * a look at the clock don't matter, and shorter than a quantum. How many elements make a stretch is
 * measured, and remembered for each body, for the whole process. A body is taken to be as slow as
 * it was lately: one slow stretch counts at once, fast ones little by little.
 *
 * What was learnt may be wrong today: the same body may do something else, for another `arg`. So no
 * loop is ever one call. A short loop is two calls; a longer loop begins with an eighth at most,
 * and forks the rest. Worst case: a thief finds half of a loop that is taken to be short, or seven
 * eighths of another loop. What it takes is timed from its first call on. */
#ifndef WEFT_PARALLEL_PACE_H
#define WEFT_PARALLEL_PACE_H

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/loopfork.h"
#include "os/atomic.h"

enum {
    WEFT__STRETCH_NS = 20000,
    WEFT__BRIEF_STRETCHES = 3, /* a loop that is over after so many wakes no worker */
    WEFT__OPEN_STRETCHES = 5,  /* right sides that take so many can be stolen at once */
    WEFT__PACES_LOG = 10,
    WEFT__PACES = 1 << WEFT__PACES_LOG,
    WEFT__TIMED_TURN = 64, /* one in so many of the short loops is timed */
};

/* Each word has two halves: how many elements of a body make a stretch, and a tag, by which the
 * body is known. A thread that has timed a leaf writes it, every few microseconds at most, so that
 * no thread waits for a cache line. A body is in its own place or in the place beside that. */
extern struct atomic_u64 weft__paces[WEFT__PACES];

typedef void weft__key(void); /* any function: the cost of an element depends on it */
#define WEFT__KEY(function) ((weft__key *)(function))

static inline uint64_t weft__pace_hash(weft__key *key)
{
    return (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
}

static inline size_t weft__pace_place(uint64_t hash)
{
    return hash >> (64 - WEFT__PACES_LOG);
}

/* How many elements make a stretch. 0: not known, or one element takes longer. */
static inline size_t weft__pace_stretch(weft__key *key)
{
    uint64_t hash = weft__pace_hash(key);
    size_t i = weft__pace_place(hash);
    uint64_t pace = atomic_load_relaxed(&weft__paces[i]); /* relaxed, both: a guess */
    if (__builtin_expect((uint32_t)pace != (uint32_t)hash, 0))
        pace = atomic_load_relaxed(&weft__paces[i ^ 1]);
    return (uint32_t)pace == (uint32_t)hash ? pace >> 32 : 0;
}

void weft__pace_learn(weft__key *key, size_t elements, uint64_t ns);

/* Is this loop to be timed? It is decided by chance: if a program runs several loops in turn, a
 * counter might never select some of them. */
static inline bool weft__pace_is_turn(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random < UINT32_MAX / WEFT__TIMED_TURN;
}

/* Is the loop so short that it is not worth a look at the clock? Some of these loops are timed all
 * the same, because the same body may do something else today. */
static inline bool weft__pace_is_short(weft *w, size_t elements, weft__key *key)
{
    return elements <= weft__pace_stretch(key) / 4 &&
           !weft__pace_is_turn(&weft__worker_of(w)->short_loops) &&
           !weft__group_alarm(weft__context_of(w)->group);
}

/* ---- A thread on its way through a loop ---- */

struct weft__pacer {
    weft__key *key;
    size_t leaf;      /* a part of so many elements is not split: about a stretch */
    size_t least;     /* `leaf` is never smaller */
    uint64_t started; /* when the first leaf began; 0: not yet */
    uint64_t since;   /* the end of the leaf before; 0: unknown, the next leaf reads the clock */
    unsigned open;    /* so many of the next forks can be stolen at once */
    bool untimed;     /* the whole loop is taken to be short: the clock is not read */
    bool quiet;       /* the loop is likely to be over before a worker could come: its forks wake
                         none */
};

/* Begins a whole loop of so many elements. A call of the body gets `min` at least; 0 or 1: any
 * number. */
void weft__pacer_start(struct weft__pacer *pacer, weft *w, weft__key *key, size_t elements,
                       size_t min);

/* Begins the part of a loop that a thief has taken. */
void weft__pacer_take_up(struct weft__pacer *pacer, weft *w, weft__key *key, size_t elements,
                         size_t min);

/* The common part of both. `hungry`: so many workers search for work. */
void weft__pacer_plan(struct weft__pacer *pacer, weft__key *key, size_t elements, size_t min,
                      unsigned searchers);

/* Before a leaf; and after it, if it has done all its elements. */
void weft__pacer_leaf(struct weft__pacer *pacer, weft *w);
void weft__pacer_ran(struct weft__pacer *pacer, weft *w, size_t elements);

/* After a leaf that has stopped early; and if the time since the last leaf does not count, as after
 * a wait for a thief. */
static inline void weft__pacer_lost(struct weft__pacer *pacer)
{
    pacer->since = 0;
}

static inline weft *weft__pacer_fork(struct weft__pacer *pacer, weft *w, weft_fn *right, void *arg)
{
    if (pacer->open > 0) {
        pacer->open--;
        return weft__fork_openly(w, right, arg);
    }
    return pacer->quiet ? weft__fork_quietly(w, right, arg) : weft_fork(w, right, arg);
}

#endif
