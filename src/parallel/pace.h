/* SPDX-License-Identifier: MIT */
/* pace.h: how many elements of a loop make a stretch, and when it is worth while to split.
 *
 * A stretch is what one call of a body should take: long enough that the call, a fork and a
 * look at the clock don't matter, shorter than a quantum. How many elements that are, only
 * experience tells; so it is remembered for each body, for the whole process. A body is taken
 * to be as slow as it was lately: one slow stretch counts at once, fast ones little by little.
 *
 * What was learnt may be wrong today: the same body may do something else, for another `arg`. So no
 * loop is ever one call. A short one is two, and a longer one begins with an eighth at most, with
 * the rest forked. Worst case: whoever looks for work finds half of a loop that is taken to be
 * short, and seven eighths of another; what a thief takes is timed from its first call on. */
#ifndef WEFT_PARALLEL_PACE_H
#define WEFT_PARALLEL_PACE_H

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/loopfork.h"
#include "os/atomic.h"

enum {
    WEFT__STRETCH_NS = 20000,
    WEFT__BRIEF_STRETCHES = 3, /* what is over after so many, wakes nobody */
    WEFT__OPEN_STRETCHES = 5,  /* right sides that take so many need not wait for a quantum */
    WEFT__PACES_LOG = 10,
    WEFT__PACES = 1 << WEFT__PACES_LOG,
    WEFT__TIMED_TURN = 64, /* of loops that are not worth it, one in so many is timed */
};

/* One word, so that both halves are of one body: its elements in a stretch, and its tag. Written
 * by whoever has timed a leaf, every few microseconds, so that nobody waits for a cache line. A
 * body is in its place or the one beside that. */
extern struct atomic_u64 weft__paces[WEFT__PACES];

typedef void weft__key(void); /* any function: what the elements' cost depends on */
#define WEFT__KEY(function) ((weft__key *)(function))

static inline uint64_t weft__pace_hash(weft__key *key)
{
    return (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
}

static inline size_t weft__pace_place(uint64_t hash)
{
    return hash >> (64 - WEFT__PACES_LOG);
}

/* 0: not known, or an element takes longer than that. */
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

/* Is it this one's turn to be timed? By chance, because among loops that are run by turns, a
 * counter might never come to some of them. */
static inline bool weft__pace_is_turn(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random < UINT32_MAX / WEFT__TIMED_TURN;
}

/* Is this so short that it is not worth a look at the clock? Of loops that are, some are timed all
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
    size_t leaf;      /* elements that are not split any more: about a stretch */
    size_t least;     /* and never fewer */
    uint64_t started; /* 0: at the first leaf */
    uint64_t since;   /* the end of the leaf before; 0: something else came in between */
    unsigned open;    /* the next forks are so long that they can be taken at once */
    bool untimed;     /* all of it is short, as far as anybody knows */
    bool quiet;       /* it is likely to be over before anybody could come: forks wake nobody */
};

/* A whole loop of so many elements, of which a call of the body gets `min` at least; 0 or 1:
 * any. */
void weft__pacer_start(struct weft__pacer *pacer, weft *w, weft__key *key, size_t elements,
                       size_t min);

/* The part of one that a thief took. */
void weft__pacer_take_up(struct weft__pacer *pacer, weft *w, weft__key *key, size_t elements,
                         size_t min);

/* What both do, while so many search for work. */
void weft__pacer_plan(struct weft__pacer *pacer, weft__key *key, size_t elements, size_t min,
                      unsigned hungry);

/* Before a leaf, and after it, if it has done all these elements. */
void weft__pacer_leaf(struct weft__pacer *pacer, weft *w);
void weft__pacer_ran(struct weft__pacer *pacer, weft *w, size_t elements);

/* Instead, if it has stopped early; and if something else came in between: waiting for a thief,
 * most likely. */
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
