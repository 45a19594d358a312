/* SPDX-License-Identifier: MIT */
/* stock.h: memory of spawned jobs, to be used again.
 *
 * A thread that frees nodes which another thread has taken would collect more and more of them, and
 * the other thread would have to ask for memory each time. So a worker keeps at most two chains of
 * WEFT__CHAIN nodes. A full chain more goes to the pool, and a worker without nodes takes a chain
 * from there before it asks for memory: one lock for WEFT__CHAIN nodes. So a pool has as many nodes
 * as were in use at one time, plus at most 2 x WEFT__CHAIN for each worker, guest and spare, and
 * asks for more only to exceed that. They are freed with the pool. */
#ifndef WEFT_CORE_STOCK_H
#define WEFT_CORE_STOCK_H

#include "core/job.h"
#include "os/lock.h"

struct weft__worker;

enum { WEFT__CHAIN = 64 };

/* There are nodes of two sizes. */
enum weft__stock_size { STOCK_PLAIN, STOCK_ROOMY, STOCK_SIZES };

/* Of a worker; owner only. The nodes of a chain are linked by `next`. */
struct weft__stock {
    struct weft__node *some; /* fewer than WEFT__CHAIN */
    struct weft__node *full; /* a chain, or NULL */
    unsigned count;          /* of `some` */
};

/* Of a pool. The first nodes of chains are linked by `prev`. */
struct weft__depot {
    struct weft__lock lock;
    struct weft__node *chains; /* under the lock */
};

struct weft__node *weft__stock_refill(struct weft__worker *me, enum weft__stock_size size);
void weft__stock_store(struct weft__worker *me, enum weft__stock_size size);

void weft__stock_free(struct weft__stock *stock);
void weft__depot_free(struct weft__depot *depot);

#endif
