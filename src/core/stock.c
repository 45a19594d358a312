/* SPDX-License-Identifier: MIT */
#include "core/stock.h"

#include "core/pool.h"
#include "os/memory.h"

static const size_t sizes[STOCK_SIZES] = {WEFT__CACHE_LINE, 2 * WEFT__CACHE_LINE};

static struct weft__node *take_chain(struct weft__depot *depot)
{
    weft__lock_take(&depot->lock);
    struct weft__node *chain = depot->chains;
    if (chain)
        depot->chains = chain->prev;
    weft__lock_drop(&depot->lock);
    return chain;
}

/* `some` is empty. */
struct weft__node *weft__stock_refill(struct weft__worker *me, enum weft__stock_size size)
{
    struct weft__stock *stock = &me->stocks[size];
    struct weft__node *chain = stock->full ? stock->full : take_chain(&me->pool->depots[size]);
    stock->full = NULL;
    if (!chain)
        return weft__scratch(sizes[size]);
    stock->some = chain->next;
    stock->count = WEFT__CHAIN - 1;
    return chain;
}

/* `some` is a full chain now. */
void weft__stock_store(struct weft__worker *me, enum weft__stock_size size)
{
    struct weft__stock *stock = &me->stocks[size];
    struct weft__depot *depot = &me->pool->depots[size];
    struct weft__node *chain = stock->full;
    stock->full = stock->some;
    stock->some = NULL;
    stock->count = 0;
    if (!chain)
        return;
    weft__lock_take(&depot->lock);
    chain->prev = depot->chains;
    depot->chains = chain;
    weft__lock_drop(&depot->lock);
}

static void free_chain(struct weft__node *node)
{
    while (node) {
        struct weft__node *next = node->next;
        weft__free(node);
        node = next;
    }
}

void weft__stock_free(struct weft__stock *stock)
{
    free_chain(stock->some);
    free_chain(stock->full);
}

void weft__depot_free(struct weft__depot *depot)
{
    struct weft__node *chain = depot->chains;
    while (chain) {
        struct weft__node *older = chain->prev;
        free_chain(chain);
        chain = older;
    }
    depot->chains = NULL; /* a default pool is used again */
}
