/* SPDX-License-Identifier: MIT */
/* Stable sorting: a merge sort whose halves are forked, and whose large merges are split. */
#include "core/fiber.h"
#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/sort.h"

#include <errno.h>

struct sort {
    struct weft__cleanup cleanup;
    char *other; /* an array of the same size */
    const weft_sorter_ *sorter;
    void *arg;
    size_t share; /* a merge of more elements is split, since some workers have nothing to do */
};

static bool less(const struct sort *s, const char *a, const char *b)
{
    return s->sorter->less(a, b, s->arg);
}

/* ---- Merging ---- */

/* `done`: if a right side is skipped after a failure, its place is not written. Then the elements
 * are copied as they are, so that none is lost. */
struct merge {
    const struct sort *sort;
    const char *left, *right;
    size_t nl, nr;
    char *to;
    bool done;
};

static void merge_copy(const struct merge *m)
{
    size_t size = m->sort->sorter->size;
    memcpy(m->to, m->left, m->nl * size);
    memcpy(m->to + m->nl * size, m->right, m->nr * size);
}

/* How many of the first k merged elements come from the left run. */
static size_t merge_rank(const struct merge *m, size_t k)
{
    size_t size = m->sort->sorter->size;
    size_t low = k > m->nr ? k - m->nr : 0, high = k < m->nl ? k : m->nl;
    while (low < high) {
        size_t i = low + (high - low) / 2;
        if (less(m->sort, m->right + (k - i - 1) * size, m->left + i * size))
            high = i;
        else
            low = i + 1;
    }
    return low;
}

static void merge_wide(weft *w, struct merge *m);

static void merge_run(weft *w, void *arg)
{
    merge_wide(w, arg);
}

static void merge_split(weft *w, const struct merge *m)
{
    size_t size = m->sort->sorter->size, half = (m->nl + m->nr) / 2;
    size_t i = merge_rank(m, half), j = half - i;
    struct merge left = *m, right = *m;
    left.nl = i;
    left.nr = j;
    right.left += i * size;
    right.right += j * size;
    right.nl -= i;
    right.nr -= j;
    right.to += half * size;
    merge_wide(weft_fork(w, merge_run, &right), &left);
    if (!weft_merge(w) || !right.done)
        merge_wide(w, &right);
}

static bool merge_is_small(const struct merge *m)
{
    size_t n = m->nl + m->nr;
    return n <= SORT_LEAF || n <= m->sort->share;
}

static void merge_wide(weft *w, struct merge *m)
{
    const weft_sorter_ *sorter = m->sort->sorter;
    if (m->nl + m->nr > SORT_LEAF && weft_cancelled(w))
        merge_copy(m);
    else if (merge_is_small(m))
        sorter->merge(m->left, m->nl, m->right, m->nr, m->to, m->sort->arg);
    else
        merge_split(w, m);
    m->done = true;
}

/* ---- Sorting ---- */

struct piece {
    const struct sort *sort;
    char *from, *other; /* this piece in both arrays */
    size_t n;
    bool over; /* the result is to be in `other` */
    bool done; /* as in struct merge */
};

static void reverse(const struct piece *p)
{
    size_t size = p->sort->sorter->size;
    for (char *a = p->from, *b = p->from + (p->n - 1) * size; a < b; a += size, b -= size)
        sort_swap(a, b, size);
}

/* Is it sorted, upwards or strictly downwards? If downwards, it is reversed. */
static bool was_sorted(const struct piece *p)
{
    size_t size = p->sort->sorter->size;
    const char *a = p->from, *end = p->from + p->n * size;
    bool down = less(p->sort, a + size, a);
    do
        a += size;
    while (a + size < end && less(p->sort, a + size, a) == down);
    if (a + size < end)
        return false;
    if (down)
        reverse(p);
    return true;
}

static void stay(const struct piece *p)
{
    if (p->over)
        memcpy(p->other, p->from, p->n * p->sort->sorter->size);
}

static void merge_halves(weft *w, const struct piece *p, size_t half)
{
    size_t size = p->sort->sorter->size;
    const char *halves = p->over ? p->from : p->other;
    char *to = p->over ? p->other : p->from;
    const char *right = halves + half * size;
    struct merge m = {p->sort, halves, right, half, p->n - half, to, false};
    if (less(p->sort, right, right - size))
        merge_wide(w, &m);
    else
        merge_copy(&m);
}

static void sort_piece(weft *w, struct piece *p);

static void sort_run(weft *w, void *arg)
{
    sort_piece(w, arg);
}

static void sort_halves(weft *w, const struct piece *p)
{
    size_t size = p->sort->sorter->size, half = p->n / 2;
    struct piece left = *p, right = *p;
    left.n = half;
    right.n -= half;
    right.from += half * size;
    right.other += half * size;
    left.over = right.over = !p->over;
    if (p->n <= SORT_LEAF) {
        sort_piece(w, &left);
        sort_piece(w, &right);
    } else {
        sort_piece(weft_fork(w, sort_run, &right), &left);
        if (!weft_merge(w) || !right.done)
            sort_piece(w, &right);
    }
    merge_halves(w, p, half);
}

static void sort_piece(weft *w, struct piece *p)
{
    const weft_sorter_ *sorter = p->sort->sorter;
    if (p->n <= sorter->few)
        sorter->small(p->from, p->over ? p->other : p->from, p->n, p->sort->arg);
    else if ((p->n > SORT_LEAF && weft_cancelled(w)) || was_sorted(p))
        stay(p);
    else
        sort_halves(w, p);
    p->done = true;
}

static void free_other(struct weft__cleanup *sort, weft *w)
{
    (void)w;
    weft__free(((struct sort *)sort)->other);
}

void weft_sort_stable_by_(weft *w, void *base, size_t n, const weft_sorter_ *sorter, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(sorter, "a sorter");
    WEFT__NEEDS_ARRAY(base, n, sorter->size);
    struct sort s = {.sorter = sorter, .arg = arg, .share = sort_share(w, n)};
    struct piece all = {&s, base, NULL, n, false, false};
    weft__poll(w);
    bool sorted = false;
    if (n > sorter->few)
        WEFT__MUST_RETURN(weft__callee_threw, sorted = was_sorted(&all));
    if (sorted)
        return;
    if (n > sorter->few) {
        all.other = s.other = weft__scratch(n * sorter->size);
        if (!all.other) {
            weft_fail(w, -ENOMEM);
            return;
        }
    }
    weft__cleanup_push(w, &s.cleanup, free_other);
    WEFT__MUST_RETURN(weft__callee_threw, sort_piece(w, &all));
    weft__cleanup_pop(w, &s.cleanup);
    weft__free(s.other);
}
