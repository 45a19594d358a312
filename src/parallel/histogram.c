/* SPDX-License-Identifier: MIT */
/* How many elements there are of each kind. Every thread that takes part has counts of its own. */
#include "parallel/reduce.h"

#include "core/misuse.h"
#include "parallel/unordered.h"

struct histogram {
    const char *in;
    size_t size, bins;
    weft_bin_fn *bin;
    void *arg;
};

static void count(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const struct histogram *all = arg;
    size_t *counts = accumulator;
    for (size_t i = begin; i < end; i++) {
        size_t bin = all->bin(w, all->in + i * all->size, all->arg);
        if (bin < all->bins)
            counts[bin]++;
    }
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    const struct histogram *all = arg;
    size_t *counts = left;
    const size_t *more = right;
    (void)w;
    for (size_t i = 0; i < all->bins; i++)
        counts[i] += more[i];
}

void weft_histogram(weft *w, const void *in, size_t n, size_t size, weft_bin_fn *bin, void *arg,
                    size_t *counts, size_t bins)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(in, n, size);
    WEFT__NEEDS(bin, "a function");
    WEFT__NEEDS_ARRAY(counts, bins, sizeof counts[0]);
    struct histogram all = {in, size, bins, bin, arg};
    const weft_reducer reducer = {.size = bins * sizeof counts[0], .fold = count, .combine = add};
    weft__reduce_unordered(w, 0, n, &reducer, &all, counts, WEFT__KEY(bin));
}
