/* SPDX-License-Identifier: MIT */
/* Sorting in place: quicksort whose parts are forked. SORTING.md says why it is never slow. */
#include "parallel/sort.h"

#include "core/misuse.h"

enum {
    SORT_LOPSIDED = 8, /* a split is bad if its smaller part is less than an eighth */
};

/* The same for all parts of one sort. */
struct sort {
    const weft_sorter_ *sorter;
    void *arg;
    size_t share; /* a larger part is split by several workers, since some have no part yet */
};

struct part {
    const struct sort *sort;
    char *base;
    size_t n;
    bool first;      /* no pivot stands before it. If one does, no element is less than that */
    unsigned bad;    /* how many more splits may be bad */
    uint64_t random; /* not 0. The same in each run, so that results are, until a split is bad */
};

static bool less(const struct sort *s, const void *a, const void *b)
{
    return s->sorter->less(a, b, s->arg);
}

static char *at(const struct part *p, size_t i)
{
    return p->base + i * p->sort->sorter->size;
}

static void swap(const struct part *p, size_t i, size_t j)
{
    if (i != j)
        sort_swap(at(p, i), at(p, j), p->sort->sorter->size);
}

/* ---- When all else fails: a heap ---- */

static void sift(const struct part *p, size_t i, size_t n)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && less(p->sort, at(p, child), at(p, child + 1)))
            child++;
        if (!less(p->sort, at(p, i), at(p, child)))
            return;
        swap(p, i, child);
    }
}

static void heap_sort(const struct part *p)
{
    for (size_t i = p->n / 2; i-- > 0;)
        sift(p, i, p->n);
    for (size_t n = p->n; n-- > 1;) {
        swap(p, 0, n);
        sift(p, 0, n);
    }
}

void weft__sort_heap(void *base, size_t n, const weft_sorter_ *sorter, void *arg)
{
    struct sort s = {sorter, arg, n};
    heap_sort(&(struct part){.sort = &s, .base = base, .n = n});
}

/* ---- The pivot ---- */

/* A random index in [0, n): regular places could meet regular patterns. */
static size_t anywhere(struct part *p, size_t n)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (size_t)((p->random >> 40) * n >> 24);
}

/* The median of three medians of three medians, and so on. */
static size_t median_of(struct part *p, size_t begin, size_t n, unsigned levels)
{
    if (levels == 0)
        return begin + anywhere(p, n);
    size_t third = n / 3;
    size_t i = median_of(p, begin, third, levels - 1);
    size_t j = median_of(p, begin + third, third, levels - 1);
    size_t k = median_of(p, begin + 2 * third, third, levels - 1);
    return p->sort->sorter->median(p->base, i, j, k, p->sort->arg);
}

/* The median of 3, 9, 27, 81 or 243 elements: at most about the square root of the part's size. */
static size_t choose(struct part *p)
{
    unsigned levels = 1;
    for (size_t n = 128; levels < 5 && n <= p->n; n *= 16)
        levels++;
    return median_of(p, 0, p->n, levels);
}

/* ---- Splitting, by several workers if it is large ---- */

struct swaps {
    char *a, *b;
    size_t n, size;
};

/* Each side has whole elements: if the computation is cancelled, a right side may be skipped. */
static void swap_wide(weft *w, void *arg)
{
    struct swaps s = *(struct swaps *)arg;
    while (s.n * s.size > SORT_GRAIN && s.n > 1) {
        size_t half = s.n / 2;
        struct swaps left = {s.a, s.b, half, s.size};
        struct swaps right = {s.a + half * s.size, s.b + half * s.size, s.n - half, s.size};
        swap_wide(weft_fork(w, swap_wide, &right), &left);
        if (weft_merge(w))
            return;
        s = right;
    }
    sort_swap(s.a, s.b, s.n * s.size);
}

struct split {
    const struct sort *sort;
    char *base;
    size_t n, grain;
    const char *pivot;
    size_t less; /* result */
};

static size_t split_wide(weft *w, const struct split *s);

static void split_run(weft *w, void *arg)
{
    struct split *s = arg;
    s->less = split_wide(w, s);
}

/* Each half is split by itself. Then the smaller elements of the right half change places with as
 * many of the larger elements of the left half. (If the computation is cancelled, the right half
 * may not have been split; then the order does not matter any more.) */
static size_t split_wide(weft *w, const struct split *s)
{
    const weft_sorter_ *sorter = s->sort->sorter;
    if (s->n <= s->grain)
        return sorter->split_less(s->base, s->n, s->pivot, s->sort->arg);
    struct split left = *s, right = *s;
    left.n = s->n / 2;
    right.n = s->n - left.n;
    right.base = s->base + left.n * sorter->size;
    weft *in = weft_fork(w, split_run, &right);
    left.less = split_wide(in, &left);
    if (!weft_merge(w))
        right.less = split_wide(w, &right);
    size_t rest = left.n - left.less, swapped = rest < right.less ? rest : right.less;
    struct swaps swaps = {s->base + left.less * sorter->size,
                          right.base + (right.less - swapped) * sorter->size, swapped,
                          sorter->size};
    swap_wide(w, &swaps);
    return left.less + right.less;
}

/* The pivot is the first element. Returns the index where it belongs. */
static size_t split(weft *w, struct part *p)
{
    const struct sort *s = p->sort;
    const weft_sorter_ *sorter = s->sorter;
    if (p->n <= s->share || p->n * sorter->size <= SORT_GRAIN)
        return sorter->split_less(at(p, 1), p->n - 1, p->base, s->arg);
    size_t grain = s->share < SORT_LEAF ? SORT_LEAF : s->share;
    struct split wide = {s, at(p, 1), p->n - 1, grain, p->base, 0};
    return split_wide(w, &wide);
}

/* ---- Quicksort ---- */

/* An array may be made for bad splits, since pivots are taken from known places. After a bad split
 * the clock is mixed in, so that the places can't be known. */
static void note_bad(struct part *p, size_t middle)
{
    size_t after = p->n - 1 - middle, smaller = middle < after ? middle : after;
    if (smaller >= p->n / SORT_LOPSIDED)
        return;
    p->bad--;
    p->random ^= weft_now() << 1 | 1;
    if (p->random == 0)
        p->random = 1;
}

/* If the pivot is not greater than the pivot before the part, then all elements that are not
 * greater than it are equal to it, and are in their places after the split. */
static bool skip_equal(struct part *p)
{
    const struct sort *s = p->sort;
    if (p->first || less(s, at(p, 0) - s->sorter->size, at(p, 0)))
        return false;
    size_t equal = 1 + s->sorter->split_least(at(p, 1), p->n - 1, at(p, 0), s->arg);
    p->base = at(p, equal);
    p->n -= equal;
    p->first = true;
    return true;
}

static void sort_part(weft *w, struct part *p);

static void sort_run(weft *w, void *arg)
{
    struct part part = *(struct part *)arg; /* it may have to be done again: see weft_alloc(3) */
    sort_part(w, &part);
}

/* True: both sides are done. False: the right side is still to be done. */
static bool sort_left(weft *w, struct part *left, struct part *right)
{
    if (left->n + right->n < SORT_LEAF) {
        sort_part(w, left);
        return false;
    }
    weft *in = weft_fork(w, sort_run, right);
    if (!weft_cancelled(in))
        sort_part(in, left);
    return weft_merge(w);
}

/* Uses *p for the part that is still to be sorted. */
static void sort_part(weft *w, struct part *p)
{
    const struct sort *s = p->sort;
    while (p->n > s->sorter->few) {
        if (p->bad == 0) {
            heap_sort(p);
            return;
        }
        swap(p, 0, choose(p));
        if (skip_equal(p))
            continue;
        size_t middle = split(w, p);
        swap(p, 0, middle);
        note_bad(p, middle);
        struct part left = *p;
        left.n = middle;
        p->base = at(p, middle + 1);
        p->n -= middle + 1;
        p->first = false;
        if (sort_left(w, &left, p))
            return;
    }
    s->sorter->small(p->base, p->base, p->n, s->arg);
}

/* ---- Already sorted? ---- */

static void reverse(const struct part *p)
{
    for (size_t i = 0, j = p->n; i < j; i++)
        swap(p, i, --j);
}

/* Is it sorted, upwards or downwards? If downwards, it is reversed. */
static bool was_sorted(const struct part *p)
{
    size_t i = 1;
    while (i < p->n && !less(p->sort, at(p, i), at(p, i - 1)))
        i++;
    if (i == p->n)
        return true;
    if (less(p->sort, at(p, 0), at(p, i - 1)))
        return false;
    while (i < p->n && !less(p->sort, at(p, i - 1), at(p, i)))
        i++;
    if (i == p->n)
        reverse(p);
    return i == p->n;
}

static unsigned log2_of(size_t n)
{
    unsigned bits = 0;
    while (n >>= 1)
        bits++;
    return bits;
}

static void sort_all(weft *w, struct part *all)
{
    if (!was_sorted(all))
        sort_part(w, all);
}

void weft_sort_by_(weft *w, void *base, size_t n, const weft_sorter_ *sorter, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(sorter, "a sorter");
    WEFT__NEEDS_ARRAY(base, n, sorter->size);
    struct sort s = {sorter, arg, sort_share(w, n)};
    struct part all = {&s, base, n, true, log2_of(n) + 1, n};
    weft__poll(w); /* short sorts don't fork, and so don't poll by that */
    if (n > 1)
        WEFT__MUST_RETURN(weft__callee_threw, sort_all(w, &all));
}
