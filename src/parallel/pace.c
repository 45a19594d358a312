/* SPDX-License-Identifier: MIT */
#include "parallel/pace.h"

#include "core/pool.h"
#include "os/clock.h"

enum {
    CLOCK_NS = 500, /* of a shorter time, reading the clock is too large a part */
    FARTHEST = 8,   /* no more than so many times the timed elements are taken for a stretch */
};

struct atomic_u64 weft__paces[WEFT__PACES];

/* How many elements would have made a stretch, if so many took `ns`. */
static size_t in_a_stretch(size_t elements, uint64_t ns)
{
    double fitting = (double)elements * (double)WEFT__STRETCH_NS / (double)(ns ? ns : 1);
    return fitting < (double)SIZE_MAX ? (size_t)fitting : SIZE_MAX;
}

/* A faster leaf counts little, and only for a few times as many elements as were timed: a body that
 * has found what it looks for may have done nothing for most of them. */
static size_t correct(size_t before, size_t elements, uint64_t ns)
{
    size_t now = in_a_stretch(elements, ns);
    if (now > UINT32_MAX)
        now = UINT32_MAX; /* half of a word */
    if (now < before)
        return ns < CLOCK_NS ? before : now;
    if (elements < now / FARTHEST)
        now = elements * FARTHEST;
    if (before == 0 || now < before)
        return before ? before : now;
    return before + (now - before + 7) / 8;
}

/* The place where the body stands. If it is in neither, it gets its own place, and the body that
 * stood there moves to the place beside it. */
static struct atomic_u64 *find_place(uint64_t hash)
{
    struct atomic_u64 *own = &weft__paces[weft__pace_place(hash)];
    struct atomic_u64 *beside = &weft__paces[weft__pace_place(hash) ^ 1];
    uint64_t there = atomic_load_relaxed(own); /* relaxed, here and below: a guess */
    if ((uint32_t)there == (uint32_t)hash)
        return own;
    if ((uint32_t)atomic_load_relaxed(beside) == (uint32_t)hash)
        return beside;
    atomic_store_relaxed(beside, there);
    atomic_store_relaxed(own, (uint32_t)hash);
    return own;
}

void weft__pace_learn(weft__key *key, size_t elements, uint64_t ns)
{
    uint64_t hash = weft__pace_hash(key);
    struct atomic_u64 *place = find_place(hash);
    uint64_t old = atomic_load_relaxed(place);
    uint64_t pace = (uint64_t)correct(old >> 32, elements, ns) << 32 | (uint32_t)hash;
    if (pace != old)
        atomic_store_relaxed(place, pace);
}

/* Each fork takes half of what remains. How many of the first forks have a right side of
 * WEFT__OPEN_STRETCHES or more? */
static unsigned open_forks(size_t elements, size_t stretch)
{
    size_t times = stretch ? elements / stretch / (2 * WEFT__OPEN_STRETCHES) : 0;
    return times ? 64 - (unsigned)__builtin_clzll(times) : 0;
}

/* How many of the first forks the workers that search now can steal at once, if the loop takes a
 * stretch or more. */
static unsigned forks_for(unsigned searchers, size_t elements, size_t stretch)
{
    return searchers && stretch && elements >= stretch ? 32 - (unsigned)__builtin_clz(searchers)
                                                       : 0;
}

void weft__pacer_plan(struct weft__pacer *pacer, weft__key *key, size_t elements, size_t min,
                      unsigned searchers)
{
    enum { FIRST = 8 }; /* the first leaf is at most one part in so many */
    size_t stretch = weft__pace_stretch(key);
    size_t leaf = stretch < elements / FIRST ? stretch : elements / FIRST;
    /* A part that is longer than this has two halves of at least `min`. */
    size_t least = min > SIZE_MAX / 2 ? SIZE_MAX : min ? 2 * min - 1 : 1;
    unsigned open = open_forks(elements, stretch),
             at_once = forks_for(searchers, elements, stretch);
    *pacer = (struct weft__pacer){
        .key = key,
        .least = least,
        .leaf = leaf > least ? leaf : least,
        .open = open > at_once ? open : at_once,
        .quiet = elements / WEFT__BRIEF_STRETCHES < stretch,
    };
}

void weft__pacer_take_up(struct weft__pacer *pacer, weft *w, weft__key *key, size_t elements,
                         size_t min)
{
    unsigned searchers = weft__sleep_searchers(&weft__worker_of(w)->pool->sleep);
    weft__pacer_plan(pacer, key, elements, min, searchers);
}

void weft__pacer_start(struct weft__pacer *pacer, weft *w, weft__key *key, size_t elements,
                       size_t min)
{
    weft__pacer_take_up(pacer, w, key, elements, min);
    if (!weft__pace_is_short(w, elements, key))
        return;
    pacer->untimed = true;
    size_t half = elements - elements / 2;
    pacer->leaf = half > pacer->least ? half : pacer->least;
}

void weft__pacer_leaf(struct weft__pacer *pacer, weft *w)
{
    weft__poll(w);
    if (pacer->since || pacer->untimed)
        return;
    pacer->since = weft__clock_now();
    if (!pacer->started)
        pacer->started = pacer->since;
}

void weft__pacer_ran(struct weft__pacer *pacer, weft *w, size_t elements)
{
    if (pacer->untimed)
        return;
    uint64_t now = weft__clock_now(), ns = now - pacer->since;
    pacer->since = now;
    if (weft__is_cancelled(w))
        return; /* a body that has noticed it did nothing */
    weft__pace_learn(pacer->key, elements, ns);
    /* Leaves get longer in small steps, since the next elements may be slower; shorter at once. */
    size_t leaf = in_a_stretch(elements, ns), most = pacer->leaf * 2;
    if (most > pacer->leaf && leaf > most)
        leaf = most;
    pacer->leaf = leaf > pacer->least ? leaf : pacer->least;
    uint64_t so_far = now - pacer->started;
    if (so_far >= WEFT__BRIEF_STRETCHES * WEFT__STRETCH_NS)
        pacer->quiet = false;
    if (so_far >= WEFT__LITTLE_NS)
        weft__context_is_long(weft__context_of(w));
}
