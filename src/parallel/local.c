/* SPDX-License-Identifier: MIT */
/* A value for each thread of a pool. No two threads have the same index in a pool at a time, and a
 * thread that gets the index of another comes after it (the guests' lock). So a cell belongs to
 * the thread that has its index, and needs no atomic access. Cells are in segments, each twice as
 * large as the one before, which are never moved. */
#include "weft/local.h"

#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "os/fatal.h"
#include "os/memory.h"

#include <errno.h>

enum { FIRST_LOG = 4, FIRST = 1 << FIRST_LOG, SEGMENTS = 16 };

struct local {
    struct atomic_ptr pool; /* struct weft_pool: its only one; or NULL before the first use */
    weft_state kind;
    void *arg;
    void *first[FIRST];                   /* the values of the first threads; NULL: not made */
    struct atomic_ptr segments[SEGMENTS]; /* void *[FIRST << i]: those of the next */
};

_Static_assert(sizeof(struct local) <= sizeof(weft_local), "weft_local is too small");

static struct local *local_of(weft_local *local)
{
    return (struct local *)(void *)local;
}

void weft_local_init(weft_local *local, const weft_state *kind, void *arg)
{
    WEFT__NEEDS(local, "an object");
    WEFT__NEEDS(kind, "a kind of value");
    *local_of(local) = (struct local){.kind = *kind, .arg = arg};
}

static void **segment_make(struct local *local, unsigned i)
{
    void **made = weft__alloc(((size_t)FIRST << i) * sizeof *made), *there = NULL;
    if (!made)
        return NULL;
    if (atomic_cas_acq_rel(&local->segments[i], &there, made)) /* acq_rel S2 */
        return made;
    weft__free(made); /* another thread was faster */
    return there;
}

/* The cell of a thread that is not one of the first; NULL: no memory. */
static void **find_cell(struct local *local, unsigned index)
{
    unsigned i = 31 - FIRST_LOG - (unsigned)__builtin_clz(index);
    void **segment = atomic_load_acquire(&local->segments[i]); /* acquire S2: the cells are NULL */
    if (!segment)
        segment = segment_make(local, i);
    return segment ? segment + (index - ((unsigned)FIRST << i)) : NULL;
}

static void expect_pool(struct local *local, struct weft_pool *pool)
{
    void *known = atomic_load_relaxed(&local->pool); /* relaxed, both: it is compared only */
    if (known == pool || (!known && atomic_cas_relaxed(&local->pool, &known, pool)) ||
        known == pool)
        return;
    weft__fatal("weft_local_get: the values belong to another pool, that of the first job that got "
                "one");
}

struct making {
    struct weft__cleanup cleanup;
    void *value;
};

static void free_value(struct weft__cleanup *of, weft *w)
{
    (void)w;
    weft__free(((struct making *)of)->value);
}

/* If an actor ends in `make`, the memory is not lost. */
static void *value_make(weft *w, const struct local *local)
{
    struct making making = {.value = weft__alloc(local->kind.size)};
    if (!making.value || !local->kind.make)
        return making.value;
    weft__cleanup_push(w, &making.cleanup, free_value);
    WEFT__MUST_RETURN(weft__callee_threw, local->kind.make(w, making.value, local->arg));
    weft__cleanup_pop(w, &making.cleanup);
    return making.value;
}

static void drop(weft *w, void *value, void *arg)
{
    const struct local *local = arg;
    if (local->kind.drop)
        local->kind.drop(w, value, local->arg);
    weft__free(value);
}

/* `make` may wait: then its thread may have made a value in another job meanwhile; and an actor may
 * be on another thread. So the thread that `make` returns on keeps the value, if it has none. */
static void *value_keep(weft *w, struct local *local, void *value)
{
    unsigned index = weft__worker_of(w)->index;
    void **cell = index < FIRST ? &local->first[index] : find_cell(local, index);
    if (cell && !*cell)
        return *cell = value;
    WEFT__MUST_RETURN(weft__callee_threw, drop(w, value, local));
    return cell ? *cell : NULL;
}

/* Not inlined: the usual case needs no frame. */
__attribute__((noinline)) static void *get_slowly(weft *w, struct local *local)
{
    struct weft__worker *me = weft__worker_of(w);
    expect_pool(local, me->pool);
    if (me->index >= FIRST) {
        void **cell = find_cell(local, me->index);
        if (cell && *cell)
            return *cell;
    }
    void *value = value_make(w, local);
    value = value ? value_keep(w, local, value) : NULL;
    if (!value)
        weft_fail(w, -ENOMEM);
    return value;
}

void *weft_local_get(weft *w, weft_local *local)
{
    WEFT__EXPECT_OWN(w);
    WEFT__NEEDS(local, "an object");
    struct local *all = local_of(local);
    const struct weft__worker *me = weft__worker_of(w);
    /* relaxed: it is compared only. */
    if (me->index < FIRST && atomic_load_relaxed(&all->pool) == me->pool && all->first[me->index])
        return all->first[me->index];
    return get_slowly(w, all);
}

/* ---- All of them ---- */

static void visit_cells(weft *w, void **cells, size_t n, weft_local_fn *visit, void *arg)
{
    for (size_t i = 0; i < n; i++)
        if (cells[i])
            visit(w, cells[i], arg);
}

static void visit_all(weft *w, struct local *local, weft_local_fn *visit, void *arg)
{
    visit_cells(w, local->first, FIRST, visit, arg);
    for (unsigned i = 0; i < SEGMENTS; i++) {
        void **segment = atomic_load_acquire(&local->segments[i]); /* acquire S2 */
        if (segment)
            visit_cells(w, segment, (size_t)FIRST << i, visit, arg);
    }
}

void weft_local_visit(weft *w, weft_local *local, weft_local_fn *visit, void *arg)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    WEFT__NEEDS(local, "an object");
    WEFT__NEEDS(visit, "a function");
    WEFT__MUST_RETURN(weft__callee_threw, visit_all(w, local_of(local), visit, arg));
}

void weft_local_destroy(weft *w, weft_local *local)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    WEFT__NEEDS(local, "an object");
    struct local *all = local_of(local);
    WEFT__MUST_RETURN(weft__callee_threw, visit_all(w, all, drop, all));
    for (unsigned i = 0; i < SEGMENTS; i++)
        weft__free(atomic_load_relaxed(&all->segments[i])); /* relaxed: as above */
    *all = (struct local){.kind = all->kind, .arg = all->arg};
}
