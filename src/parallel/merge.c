/* SPDX-License-Identifier: MIT */
/* Merging two sorted arrays. The longer one is cut in the middle, the shorter one where the element
 * in that middle belongs. Then there are two pairs of arrays to merge. */
#include "core/misuse.h"
#include "parallel/split.h"
#include "weft/parallel.h"

enum { SHORTEST = 32 }; /* a pair has at least so many elements */

struct merging {
    const weft_merger_ *merger; /* made by WEFT_MERGE_SORTED_DEFINE, or the one below */
    void *arg;
    weft__key *key; /* the function on which the cost of an element depends */
};

struct part {
    const struct merging *all;
    const char *a, *b;
    size_t a_n, b_n;
    char *out;
};

/* How many of the n sorted elements come before `element`. With `equal`, elements that are equal to
 * it come before it, too. */
static size_t count_before(const struct merging *all, const char *sorted, size_t n,
                           const char *element, bool equal)
{
    const weft_merger_ *merger = all->merger;
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        const char *there = sorted + middle * merger->size;
        if (equal ? !merger->less(element, there, all->arg)
                  : merger->less(there, element, all->arg))
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static size_t elements(const void *arg)
{
    const struct part *part = arg;
    return part->a_n + part->b_n;
}

static bool merge_here(weft *w, void *arg)
{
    const struct part *part = arg;
    const struct merging *all = part->all;
    (void)w;
    if (part->a_n && part->b_n)
        all->merger->merge(part->a, part->a_n, part->b, part->b_n, part->out, all->arg);
    else if (elements(part) > 0)
        memcpy(part->out, part->a_n ? part->a : part->b, elements(part) * all->merger->size);
    return true;
}

/* The right part begins with an element of the longer array. Of equal elements, those of `a` come
 * first. */
static void cut(weft *w, void *arg, void *other)
{
    struct part *part = arg, *right = other;
    const struct merging *all = part->all;
    size_t a_n = part->a_n / 2, b_n = part->b_n / 2, size = all->merger->size;
    (void)w;
    if (part->a_n >= part->b_n)
        b_n = count_before(all, part->b, part->b_n, part->a + a_n * size, false);
    else
        a_n = count_before(all, part->a, part->a_n, part->b + b_n * size, true);
    *right = (struct part){all,
                           part->a + a_n * size,
                           part->b + b_n * size,
                           part->a_n - a_n,
                           part->b_n - b_n,
                           part->out + (a_n + b_n) * size};
    part->a_n = a_n;
    part->b_n = b_n;
}

static weft__split_fn split;

static void run_part(weft *w, void *arg)
{
    struct part part = *(struct part *)arg;
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, part.all->key, elements(&part), SHORTEST);
    split(w, &pacer, &part);
}

static void split(weft *w, struct weft__pacer *pacer, void *part)
{
    struct part right;
    static const struct weft__splitting loop = {
        .split = split,
        .elements = elements,
        .run = merge_here,
        .cut = cut,
        .take = run_part,
        .size = sizeof right,
    };
    weft__split(w, pacer, part, &right, &loop);
}

static void run(weft *w, struct part part)
{
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, part.all->key, elements(&part), SHORTEST);
    WEFT__MUST_RETURN(weft__callee_threw, split(w, &pacer, &part));
}

void weft_merge_sorted_by_(weft *w, const void *a, size_t a_n, const void *b, size_t b_n,
                           const weft_merger_ *merger, void *arg, void *out)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(merger, "a merger");
    WEFT__NEEDS_ARRAY(a, a_n, merger->size);
    WEFT__NEEDS_ARRAY(b, b_n, merger->size);
    WEFT__NEEDS_ARRAY(out, a_n + b_n, merger->size);
    const struct merging all = {merger, arg, WEFT__KEY(merger->merge)};
    run(w, (struct part){&all, a, b, a_n, b_n, out});
}

/* ---- Elements of any size ---- */

struct compared {
    size_t size;
    weft_compare_fn *compare;
    void *arg;
};

static bool less_any(const void *a, const void *b, void *arg)
{
    const struct compared *elements = arg;
    return elements->compare(a, b, elements->arg) < 0;
}

WEFT__ALWAYS_INLINE void merge_size(const char *a, size_t a_n, const char *b, size_t b_n, char *out,
                                    const struct compared *elements, size_t size)
{
    const struct compared all = *elements; /* compare can't change the copy */
    const char *a_end = a + a_n * size, *b_end = b + b_n * size;
    for (; a < a_end && b < b_end; out += size) {
        bool take_b = all.compare(b, a, all.arg) < 0;
        memcpy(out, take_b ? b : a, size);
        *(take_b ? &b : &a) += size;
    }
    if (a < a_end)
        memcpy(out, a, (size_t)(a_end - a));
    if (b < b_end)
        memcpy(out, b, (size_t)(b_end - b));
}

static void merge_any(const void *a, size_t a_n, const void *b, size_t b_n, void *out, void *arg)
{
    const struct compared *all = arg;
    switch (all->size) {
    case 4:
        merge_size(a, a_n, b, b_n, out, all, 4);
        break;
    case 8:
        merge_size(a, a_n, b, b_n, out, all, 8);
        break;
    default:
        merge_size(a, a_n, b, b_n, out, all, all->size);
    }
}

void weft_merge_sorted(weft *w, const void *a, size_t a_n, const void *b, size_t b_n, size_t size,
                       weft_compare_fn *compare, void *arg, void *out)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(a, a_n, size);
    WEFT__NEEDS_ARRAY(b, b_n, size);
    WEFT__NEEDS(compare, "a comparison");
    WEFT__NEEDS_ARRAY(out, a_n + b_n, size);
    struct compared compared = {size, compare, arg};
    const weft_merger_ merger = {size, less_any, merge_any};
    const struct merging all = {&merger, &compared, WEFT__KEY(compare)};
    run(w, (struct part){&all, a, b, a_n, b_n, out});
}
