/* SPDX-License-Identifier: MIT */
/* Sorting elements of any size with a comparison called through a pointer. A few sizes have sorters
 * of their own. For other sizes, and for arrays that are not aligned for these, pointers are
 * sorted, and each element is then moved once, to where it belongs. */
#include "core/fiber.h"
#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/sort.h"

#include <errno.h>

struct order {
    weft_compare_fn *compare;
    void *arg;
};

static inline bool comes_first(const void *a, const void *b, const void *order)
{
    const struct order *o = order;
    return o->compare(a, b, o->arg) < 0;
}

/* Aligned as strictly as any type of this size can be: comparisons see copies of it. */
#define UNIT(name, bytes, alignment)                     \
    struct __attribute__((may_alias)) name {             \
        _Alignas(alignment) unsigned char opaque[bytes]; \
    };                                                   \
    WEFT_SORTER_(name, struct name, comes_first(a_, b_, arg_))

UNIT(unit4, 4, 4)
UNIT(unit8, 8, 8)
UNIT(unit12, 12, 4)
UNIT(unit16, 16, 16)
UNIT(unit20, 20, 4)
UNIT(unit24, 24, 8)
UNIT(unit32, 32, 32)
UNIT(unit40, 40, 8)
UNIT(unit48, 48, 16)

typedef char *element;
WEFT_SORTER_(pointers, element, comes_first(*a_, *b_, arg_))

static const weft_sorter_ *sorter_for(const void *base, size_t size)
{
    static const weft_sorter_ *const sorters[] = {
        &unit4_sorter_,  &unit8_sorter_,  &unit12_sorter_, &unit16_sorter_, &unit20_sorter_,
        &unit24_sorter_, &unit32_sorter_, &unit40_sorter_, &unit48_sorter_};
    if ((uintptr_t)base % (size & -size) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof sorters / sizeof sorters[0]; i++)
        if (sorters[i]->size == size)
            return sorters[i];
    return NULL;
}

/* ---- By pointers ---- */

struct table {
    struct weft__cleanup cleanup;
    char *base;
    size_t n, size;
    char **pointers; /* n of them, then room for an element */
};

static bool table_make(struct table *t)
{
    if (t->n > (SIZE_MAX - t->size) / sizeof t->pointers[0])
        return false;
    t->pointers = weft__scratch(t->n * sizeof t->pointers[0] + t->size);
    for (size_t i = 0; t->pointers && i < t->n; i++)
        t->pointers[i] = t->base + i * t->size;
    return t->pointers;
}

/* Moves the element that belongs at i there. Then the place that it came from is free, and so on,
 * until the circle is closed. */
static void move_circle(const struct table *t, size_t i)
{
    char *saved = (char *)(t->pointers + t->n), *to = t->base + i * t->size;
    memcpy(saved, to, t->size);
    for (;;) {
        char *from = t->pointers[i];
        t->pointers[i] = to;
        i = (size_t)(from - t->base) / t->size;
        if (t->pointers[i] == from) /* it is where the circle began */
            break;
        memcpy(to, from, t->size);
        to = from;
    }
    memcpy(to, saved, t->size);
}

static void table_apply(const struct table *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->pointers[i] != t->base + i * t->size)
            move_circle(t, i);
}

static void table_free(struct weft__cleanup *table, weft *w)
{
    (void)w;
    weft__free(((struct table *)table)->pointers);
}

/* False: there was no memory, and nothing was done. */
static bool sort_pointers(weft *w, struct table *t, struct order *order, bool stable)
{
    if (!table_make(t))
        return false;
    weft__cleanup_push(w, &t->cleanup, table_free);
    if (stable)
        weft_sort_stable_by_(w, t->pointers, t->n, &pointers_sorter_, order);
    else
        weft_sort_by_(w, t->pointers, t->n, &pointers_sorter_, order);
    weft__cleanup_pop(w, &t->cleanup);
    table_apply(t);
    weft__free(t->pointers);
    return true;
}

/* ---- Public ---- */

static bool less_any(const void *a, const void *b, void *order)
{
    return comes_first(a, b, order);
}

void weft_sort(weft *w, void *base, size_t n, size_t size, weft_compare_fn *compare, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, size);
    WEFT__NEEDS(compare, "a comparison");
    if (n < 2 || size == 0)
        return;
    struct order order = {compare, arg};
    struct table table = {.base = base, .n = n, .size = size};
    const weft_sorter_ *sorter = sorter_for(base, size);
    const weft_sorter_ bare = {.size = size, .less = less_any};
    if (sorter)
        weft_sort_by_(w, base, n, sorter, &order);
    else if (!sort_pointers(w, &table, &order, false))
        WEFT__MUST_RETURN(weft__callee_threw, weft__sort_heap(base, n, &bare, &order));
}

void weft_sort_stable(weft *w, void *base, size_t n, size_t size, weft_compare_fn *compare,
                      void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, size);
    WEFT__NEEDS(compare, "a comparison");
    if (n < 2 || size == 0)
        return;
    struct order order = {compare, arg};
    struct table table = {.base = base, .n = n, .size = size};
    const weft_sorter_ *sorter = sorter_for(base, size);
    if (sorter)
        weft_sort_stable_by_(w, base, n, sorter, &order);
    else if (!sort_pointers(w, &table, &order, true))
        weft_fail(w, -ENOMEM);
}
