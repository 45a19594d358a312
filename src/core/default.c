/* SPDX-License-Identifier: MIT */
#include "core/default.h"

#include "core/pool.h"
#include "os/memory.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static struct {
    struct weft__lock making; /* held while the default pool is made */
    struct atomic_ptr pool;   /* the default pool, or NULL */
    struct weft__lock lock;   /* for `kept` */
    struct weft_pool *kept;   /* memory of destroyed default pools */
} standard;

void weft__default_release(struct weft_pool *pool)
{
    weft__lock_take(&standard.lock);
    pool->next_kept = standard.kept;
    standard.kept = pool;
    weft__lock_drop(&standard.lock);
}

/* Memory for a pool. It is zero, except for `pending`, which says that no thread may enter. */
static struct weft_pool *get_memory(void)
{
    weft__lock_take(&standard.lock);
    struct weft_pool *pool = standard.kept;
    if (pool)
        standard.kept = pool->next_kept;
    weft__lock_drop(&standard.lock);
    if (!pool) {
        pool = weft__alloc(sizeof *pool);
        if (pool)
            atomic_store_relaxed(&pool->pending, POOL_CLOSED); /* relaxed: Y1 publishes it */
        return pool;
    }
    char *before = (char *)pool, *after = (char *)(&pool->pending + 1);
    memset(before, 0, offsetof(struct weft_pool, pending));
    memset(after, 0, (size_t)(before + sizeof *pool - after));
    return pool;
}

/* If the system does not let it have all its threads, it is made anew, with fewer or none; see
 * default.h. Without memory there is no pool: the next thread that asks tries again. */
static struct weft_pool *make_default(void)
{
    unsigned threads = UINT_MAX, most;
    struct weft_pool *pool;
    int error;
    do {
        pool = get_memory();
        if (!pool)
            return NULL;
        pool->is_default = true;
        most = threads;
        error = weft__pool_make(pool, NULL, &threads);
    } while (error && error != -ENOMEM && threads < most);
    if (error)
        return NULL;
    atomic_store_release(&pool->pending, 0); /* release Y2: the pool is made, and open */
    return pool;
}

weft_pool *weft_pool_default(void)
{
    struct weft_pool *pool = atomic_load_acquire(&standard.pool); /* acquire Y1 */
    if (pool)
        return pool;
    weft__lock_take(&standard.making);
    pool = atomic_load_relaxed(&standard.pool); /* relaxed: under the lock */
    if (!pool && (pool = make_default()))
        atomic_store_release(&standard.pool, pool); /* release Y1: the pool is made */
    weft__lock_drop(&standard.making);
    return pool;
}

struct weft_pool *weft__pool_enter_default(void)
{
    struct weft_pool *pool = atomic_load_acquire(&standard.pool); /* acquire Y1 */
    return pool && !weft__pool_enter_known(pool) ? pool : NULL;
}

void weft__default_forget(struct weft_pool *pool)
{
    void *known = pool;
    atomic_cas_relaxed(&standard.pool, &known, NULL); /* relaxed: nothing follows it */
}

void weft__default_forked(void)
{
    standard.making = standard.lock = (struct weft__lock){0};
    atomic_store_relaxed(&standard.pool, NULL);
}
