/* SPDX-License-Identifier: MIT */
/* naps.h: how long the engine's thread naps between two looks. Without threads and MPI.
 *
 * Naps begin anew with each wait: short at first, and later a third of the time waited. At worst
 * the end of a wait is noticed a third too late, and never more than LAST. A nap and a look cost
 * some CPU time, which is measured: in the first 6 ms naps are so long that this is a twentieth of
 * it at most, but no longer than a third; later a 1000th.
 *
 * If both sides of a long message nap long, either finds what the other one has left for it, but
 * neither sees that data moves. So they meet: long naps end when the clock, which all processes of
 * a machine share, is a multiple of MEET. There some looks follow with short naps between them, at
 * the same time on both sides. Between machines there is no such clock; but there a look copies
 * more. */
#ifndef WEFT_MPI_NAPS_H
#define WEFT_MPI_NAPS_H

#include <stddef.h>
#include <stdint.h>

enum {
    WEFT__NAPS_FIRST = 20000, /* ns, all of them */
    WEFT__NAPS_LONG = 200000, /* a new wait ends a nap of at least so long */
    WEFT__NAPS_LAST = 64000000,
    WEFT__NAPS_MEET = 256000000,
};

struct weft__naps {
    uint64_t anew; /* when naps began anew */
    uint64_t busy; /* until then data surely moves */
    int64_t cost;  /* CPU time of a look and a nap */
    int meeting;   /* looks that follow at a meeting */
};

void weft__naps_begin_anew(struct weft__naps *naps, uint64_t now);

/* So many bytes move from now on; and they are there. If others still move, their naps are longer
 * from then on. */
void weft__naps_expect(struct weft__naps *naps, uint64_t now, size_t bytes);
void weft__naps_arrived(struct weft__naps *naps);

/* A look and a nap have taken so much CPU time. */
void weft__naps_learn(struct weft__naps *naps, int64_t cost);

/* How long the next nap is. */
int64_t weft__naps_next(struct weft__naps *naps, uint64_t now);

#endif
