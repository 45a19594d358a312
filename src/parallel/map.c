/* SPDX-License-Identifier: MIT */
/* One call for each element of an array. */
#include "core/misuse.h"
#include "parallel/element.h"
#include "parallel/for.h"
#include "parallel/state.h"

struct elements {
    weft_element_fn *fn;
    void *arg;
    char *base;
    ptrdiff_t stride;
};

static void each(weft *w, size_t begin, size_t end, void *arg)
{
    const struct elements all = *(const struct elements *)arg; /* fn can't change the copy */
    char *element = all.base + (ptrdiff_t)begin * all.stride;
    for (size_t i = begin; i < end; i++, element += all.stride)
        all.fn(w, element, all.arg);
}

void weft_for_each(weft *w, void *base, size_t n, ptrdiff_t stride, weft_element_fn *fn, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, stride);
    WEFT__NEEDS(fn, "a function");
    struct elements all = {fn, arg, base, stride};
    weft__for_keyed(w, n, each, &all, WEFT__KEY(fn));
}

struct loop {
    struct weft__states states;
    weft_element_state_fn *fn;
    void *arg;
    char *base;
    ptrdiff_t stride;
};

static void each_with(weft *w, size_t begin, size_t end, void *arg)
{
    struct loop *loop = arg;
    struct weft__kept *kept = weft__state_take(w, &loop->states);
    if (!kept)
        return;
    char *element = loop->base + (ptrdiff_t)begin * loop->stride;
    for (size_t i = begin; i < end; i++, element += loop->stride)
        loop->fn(w, element, kept->state, loop->arg);
    weft__state_give(kept);
}

void weft_for_each_with(weft *w, void *base, size_t n, ptrdiff_t stride, const weft_state *state,
                        weft_element_state_fn *fn, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, stride);
    WEFT__NEEDS(state, "a state");
    WEFT__NEEDS(fn, "a function");
    struct loop loop = {{.kind = state, .arg = arg}, fn, arg, base, stride};
    weft__states_begin(w, &loop.states);
    weft__for_keyed(w, n, each_with, &loop, WEFT__KEY(fn));
    weft__states_end(w, &loop.states);
}

struct mapping {
    weft_map_fn *fn;
    void *arg;
    char *out;
    const char *in;
    size_t out_size, in_size;
};

WEFT__ALWAYS_INLINE void map_sizes(weft *w, size_t begin, size_t end, const struct mapping *mapping,
                                   size_t out_size, size_t in_size)
{
    const struct mapping all = *mapping; /* as above */
    const char *in = all.in + begin * in_size;
    char *out = all.out + begin * out_size;
    for (size_t n = end - begin; n > 0; n--, out += out_size, in += in_size)
        all.fn(w, in, out, all.arg);
}

static void map_any(weft *w, size_t begin, size_t end, void *arg)
{
    const struct mapping *all = arg;
    map_sizes(w, begin, end, all, all->out_size, all->in_size);
}

/* With sizes that are known, all that the loop needs stays in registers. */
static void map_4(weft *w, size_t begin, size_t end, void *arg)
{
    map_sizes(w, begin, end, arg, 4, 4);
}

static void map_8(weft *w, size_t begin, size_t end, void *arg)
{
    map_sizes(w, begin, end, arg, 8, 8);
}

void weft_map(weft *w, const void *in, size_t n, size_t in_size, weft_map_fn *fn, void *arg,
              void *out, size_t out_size)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(in, n, in_size);
    WEFT__NEEDS(fn, "a function");
    WEFT__NEEDS_ARRAY(out, n, out_size);
    struct mapping all = {fn, arg, out, in, out_size, in_size};
    size_t both = out_size == in_size ? in_size : 0;
    weft__for_keyed(w, n, both == 4 ? map_4 : both == 8 ? map_8 : map_any, &all, WEFT__KEY(fn));
}
