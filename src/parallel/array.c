/* SPDX-License-Identifier: MIT */
/* Reductions of arrays by a function for two elements. */
#include "parallel/reduce.h"

#include "core/misuse.h"

#include <string.h>

enum {
    PARTS = 512, /* an array has about so many blocks, or more */
    MOST = 256,  /* elements of a block at most: combining it costs next to nothing then */
};

struct array {
    const char *in;
    size_t in_size, size;
    weft_map_fn *map; /* NULL: the elements themselves */
    weft_combine_fn *combine;
    weft_halt_fn *halt;
    void *arg;
};

/* There is no identity, so an accumulator says whether it has a value. */
struct accumulator {
    bool is_full;
    _Alignas(max_align_t) char value[];
};

static bool has_halted(weft *w, const void *accumulator, void *arg)
{
    const struct accumulator *a = accumulator;
    const struct array *all = arg;
    return a->is_full && all->halt(w, a->value, all->arg);
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    struct accumulator *l = left;
    const struct accumulator *r = right;
    const struct array *all = arg;
    if (l->is_full && r->is_full)
        all->combine(w, l->value, r->value, all->arg);
    else if (r->is_full)
        memcpy(l, r, sizeof *l + all->size);
}

/* The element, or what the map makes of it, written to `space`. */
static const void *mapped(weft *w, const struct array *all, size_t i, void *space)
{
    const char *in = all->in + i * all->in_size;
    if (__builtin_expect(!all->map, 1)) /* a jump is nothing next to the call */
        return in;
    all->map(w, in, space, all->arg);
    return space;
}

static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    struct accumulator *a = accumulator;
    const struct array *all = arg;
    void *space = __builtin_alloca_with_align(all->size + 1, 8 * _Alignof(max_align_t));
    const void *first = mapped(w, all, begin, a->value);
    if (first != a->value)
        memcpy(a->value, first, all->size);
    a->is_full = true;
    for (size_t i = begin + 1; i < end; i++) {
        if (all->halt && all->halt(w, a->value, all->arg))
            return;
        all->combine(w, a->value, mapped(w, all, i, space), all->arg);
    }
}

/* Depends on n alone, so that the result does. */
static size_t block(size_t n)
{
    return n / PARTS < MOST ? n / PARTS + 1 : MOST;
}

static void reduce(weft *w, size_t n, struct array *all, void *result)
{
    if (n == 0)
        return;
    size_t size = (sizeof(struct accumulator) + all->size + 15) / 16 * 16;
    struct accumulator *whole = __builtin_alloca_with_align(size, 8 * _Alignof(struct accumulator));
    const weft_reducer reducer = {
        .size = size,
        .fold = fold,
        .combine = combine,
        .block = block(n),
        .halt = all->halt ? has_halted : NULL,
    };
    weft__reduce(w, 0, n, &reducer, all, whole,
                 all->map ? WEFT__KEY(all->map) : WEFT__KEY(all->combine));
    if (whole->is_full)
        WEFT__MUST_RETURN(weft__callee_threw, all->combine(w, result, whole->value, all->arg));
}

static void reduce_until(weft *w, size_t n, struct array *all, void *result)
{
    bool halted = false;
    if (all->halt)
        WEFT__MUST_RETURN(weft__callee_threw, halted = all->halt(w, result, all->arg));
    if (!halted)
        reduce(w, n, all, result);
}

/* The arguments that both kinds need. These functions can't return an error. */
static void expect(const struct array *all, size_t n, const void *result, const char *function)
{
    if (!all->in && n > 0 && all->in_size > 0)
        weft__lacks(function, "an array", "in");
    if (!all->combine)
        weft__lacks(function, "a function", "combine");
    if (!result)
        weft__lacks(function, "a place for the result", "result");
}

void weft_array_reduce(weft *w, const void *in, size_t n, size_t size, weft_combine_fn *combine_fn,
                       void *arg, void *result)
{
    struct array all = {in, size, size, NULL, combine_fn, NULL, arg};
    WEFT__EXPECT_CONTEXT(w);
    expect(&all, n, result, __func__);
    reduce(w, n, &all, result);
}

void weft_array_reduce_until(weft *w, const void *in, size_t n, size_t size,
                             weft_combine_fn *combine_fn, weft_halt_fn *halt, void *arg,
                             void *result)
{
    struct array all = {in, size, size, NULL, combine_fn, halt, arg};
    WEFT__EXPECT_CONTEXT(w);
    expect(&all, n, result, __func__);
    reduce_until(w, n, &all, result);
}

void weft_map_reduce(weft *w, const void *in, size_t n, size_t in_size, weft_map_fn *map,
                     weft_combine_fn *combine_fn, void *arg, void *result, size_t size)
{
    struct array all = {in, in_size, size, map, combine_fn, NULL, arg};
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(map, "a function");
    expect(&all, n, result, __func__);
    reduce(w, n, &all, result);
}

void weft_map_reduce_until(weft *w, const void *in, size_t n, size_t in_size, weft_map_fn *map,
                           weft_combine_fn *combine_fn, weft_halt_fn *halt, void *arg, void *result,
                           size_t size)
{
    struct array all = {in, in_size, size, map, combine_fn, halt, arg};
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(map, "a function");
    expect(&all, n, result, __func__);
    reduce_until(w, n, &all, result);
}
