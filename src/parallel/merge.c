/* SPDX-License-Identifier: MIT */
/* Merging two sorted arrays. The longer one is cut in the middle, the shorter one where the element
 * in that middle belongs. Then there are two pairs of arrays to merge. */
#include "core/misuse.h"
#include "parallel/split.h"
#include "weft/parallel.h"

enum { SHORTEST = 32 }; /* a pair has at least so many elements */

struct merging {
    size_t size;
    weft_compare_fn *compare;
    void *arg;
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
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        int order = all->compare(sorted + middle * all->size, element, all->arg);
        if (order < 0 || (equal && order == 0))
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
    const char *a = part->a, *a_end = a + part->a_n * all->size;
    const char *b = part->b, *b_end = b + part->b_n * all->size;
    char *out = part->out;
    (void)w;
    for (; a < a_end && b < b_end; out += all->size) {
        bool take_b = all->compare(b, a, all->arg) < 0;
        weft__copy(out, take_b ? b : a, all->size);
        *(take_b ? &b : &a) += all->size;
    }
    if (a < a_end)
        memcpy(out, a, (size_t)(a_end - a));
    if (b < b_end)
        memcpy(out, b, (size_t)(b_end - b));
    return true;
}

/* The right part begins with an element of the longer array. Of equal elements, those of `a` come
 * first. */
static void cut(weft *w, void *arg, void *other)
{
    struct part *part = arg, *right = other;
    const struct merging *all = part->all;
    size_t a_n = part->a_n / 2, b_n = part->b_n / 2, size = all->size;
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
    weft__pacer_take_up(&pacer, w, WEFT__KEY(part.all->compare), elements(&part), SHORTEST);
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

void weft_merge_sorted(weft *w, const void *a, size_t a_n, const void *b, size_t b_n, size_t size,
                       weft_compare_fn *compare, void *arg, void *out)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(a, a_n, size);
    WEFT__NEEDS_ARRAY(b, b_n, size);
    WEFT__NEEDS(compare, "a comparison");
    WEFT__NEEDS_ARRAY(out, a_n + b_n, size);
    const struct merging all = {size, compare, arg};
    struct part part = {&all, a, b, a_n, b_n, out};
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, WEFT__KEY(compare), a_n + b_n, SHORTEST);
    WEFT__MUST_RETURN(weft__callee_threw, split(w, &pacer, &part));
}
