/* SPDX-License-Identifier: MIT */
#include "naps.h"

enum {
    SHARE = 3,       /* of the time waited so far */
    EARLY = 6000000, /* ns: until then */
    EARLY_COST = 20, /* times the cost, if that is less */
    COST = 1000,
    MEET_LOOKS = 3,
    MEET_NAP = 30000, /* ns */
    BYTE_NS = 10,     /* what a slow network needs */
};

void weft__naps_begin_anew(struct weft__naps *naps, uint64_t now)
{
    naps->anew = now;
}

void weft__naps_expect(struct weft__naps *naps, uint64_t now, size_t bytes)
{
    uint64_t until = now + (uint64_t)bytes * BYTE_NS;
    if (until > naps->busy)
        naps->busy = until;
}

void weft__naps_arrived(struct weft__naps *naps)
{
    naps->busy = 0;
}

void weft__naps_learn(struct weft__naps *naps, int64_t cost)
{
    naps->cost = (3 * naps->cost + cost) / 4;
}

static int64_t shorter(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t meet(struct weft__naps *naps, uint64_t now, int64_t nap)
{
    int64_t left = WEFT__NAPS_MEET - (int64_t)(now % WEFT__NAPS_MEET);
    if (naps->meeting > 0) {
        naps->meeting--;
        return shorter(nap, MEET_NAP);
    }
    if (nap < WEFT__NAPS_LONG || left > nap)
        return nap;
    naps->meeting = MEET_LOOKS;
    return left;
}

/* A message may need several looks on both sides until it is there, so that delays add up: early
 * naps are short, even if looks cost something. */
int64_t weft__naps_next(struct weft__naps *naps, uint64_t now)
{
    if (now < naps->busy)
        return WEFT__NAPS_FIRST;
    int64_t waited = (int64_t)(now - naps->anew);
    int64_t limit = naps->cost * (waited < EARLY ? EARLY_COST : COST);
    int64_t nap = shorter(shorter(waited / SHARE, limit), WEFT__NAPS_LAST);
    nap = meet(naps, now, nap);
    return nap < WEFT__NAPS_FIRST ? WEFT__NAPS_FIRST : nap;
}
