/* SPDX-License-Identifier: MIT */
/* How many elements there are of each kind. Every part that a thread takes has counts of its own.
 */
#include "parallel/reduce.h"

#include "core/fiber.h"
#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/unordered.h"

#include <string.h>

enum {
    MOST_BINS = 1024,     /* of more bins, one table at a time fits into the first cache */
    ELEMENTS_FOR_BIN = 16 /* fewer are not worth several tables */
};

struct histogram {
    const char *in;
    size_t bins, lanes;
    weft_tally_fn_ *tally; /* the loop that WEFT_HISTOGRAM_DEFINE has made; or NULL, and these: */
    size_t size;
    weft_bin_fn *bin;
    void *arg;
};

static void count(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const struct histogram *all = arg;
    (void)w;
    all->tally(begin, end, accumulator, all->bins, all->lanes, all->in);
}

static void count_by_calls(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const struct histogram all = *(const struct histogram *)arg; /* bin can't change the copy */
    const char *element = all.in + begin * all.size;
    size_t *counts = accumulator;
    for (size_t n = end - begin; n > 0; n--, element += all.size) {
        size_t bin = all.bin(w, element, all.arg);
        if (bin < all.bins)
            counts[bin]++;
    }
}

static void add_counts(size_t *counts, const size_t *more, size_t n)
{
    for (size_t i = 0; i < n; i++)
        counts[i] += more[i];
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    const struct histogram *all = arg;
    (void)w;
    add_counts(left, right, all->bins * all->lanes);
}

static void reduce(weft *w, size_t n, struct histogram *all, size_t *counts)
{
    if (all->bins == 0)
        return; /* `counts` may be NULL */
    const weft_reducer reducer = {
        .size = all->bins * all->lanes * sizeof counts[0],
        .fold = all->tally ? count : count_by_calls,
        .combine = add,
    };
    weft__key *key = all->tally ? WEFT__KEY(all->tally) : WEFT__KEY(all->bin);
    weft__reduce_unordered(w, 0, n, &reducer, all, counts, key);
}

struct tables {
    struct weft__cleanup cleanup;
    size_t *counts;
};

static void free_tables(struct weft__cleanup *tables, weft *w)
{
    (void)w;
    weft__free(((struct tables *)tables)->counts);
}

static void reduce_in_lanes(weft *w, size_t n, struct histogram *all, struct tables *tables,
                            size_t *counts)
{
    weft__cleanup_push(w, &tables->cleanup, free_tables);
    all->lanes = WEFT_TABLES_;
    reduce(w, n, all, tables->counts);
    memcpy(counts, tables->counts, all->bins * sizeof counts[0]);
    for (size_t lane = 1; lane < WEFT_TABLES_; lane++)
        add_counts(counts, tables->counts + lane * all->bins, all->bins);
    weft__cleanup_pop(w, &tables->cleanup);
    weft__free(tables->counts);
}

/* Without memory for several tables, there is one. */
void weft_histogram_by_(weft *w, const void *in, size_t n, weft_tally_fn_ *tally, size_t *counts,
                        size_t bins)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(tally, "a function");
    WEFT__NEEDS_ARRAY(in, n, 1);
    WEFT__NEEDS_ARRAY(counts, bins, sizeof counts[0]);
    struct histogram all = {.in = in, .bins = bins, .lanes = 1, .tally = tally};
    struct tables tables = {.counts = NULL};
    if (bins > 0 && bins <= MOST_BINS && n / ELEMENTS_FOR_BIN >= bins)
        tables.counts = weft__small(bins * WEFT_TABLES_ * sizeof counts[0]);
    if (tables.counts)
        reduce_in_lanes(w, n, &all, &tables, counts);
    else
        reduce(w, n, &all, counts);
}

void weft_histogram(weft *w, const void *in, size_t n, size_t size, weft_bin_fn *bin, void *arg,
                    size_t *counts, size_t bins)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(in, n, size);
    WEFT__NEEDS(bin, "a function");
    WEFT__NEEDS_ARRAY(counts, bins, sizeof counts[0]);
    struct histogram all = {
        .in = in, .bins = bins, .lanes = 1, .size = size, .bin = bin, .arg = arg};
    reduce(w, n, &all, counts);
}
