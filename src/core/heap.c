/* SPDX-License-Identifier: MIT */
#include "core/heap.h"

/* Both are first in their heaps, or NULL. The later one goes below the earlier one. */
static struct weft__moment *meld(struct weft__moment *a, struct weft__moment *b)
{
    if (!a || !b)
        return a ? a : b;
    struct weft__moment *top = b->when < a->when ? b : a;
    struct weft__moment *below = top == a ? b : a;
    below->prev = top;
    below->next = top->child;
    if (top->child)
        top->child->prev = below;
    top->child = below;
    return top;
}

/* Takes the first of a list of siblings out of it. Returns the others. */
static struct weft__moment *part(struct weft__moment *moment)
{
    struct weft__moment *others = moment->next;
    moment->next = moment->prev = NULL;
    return others;
}

/* Makes one heap of siblings. In pairs first: so taking out costs no more than the logarithm of the
 * size, on average. */
static struct weft__moment *meld_all(struct weft__moment *siblings)
{
    struct weft__moment *pairs = NULL, *all = NULL;
    while (siblings) {
        struct weft__moment *a = siblings, *b = part(a);
        siblings = b ? part(b) : NULL;
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
    }
    while (pairs) {
        struct weft__moment *pair = pairs;
        pairs = part(pair);
        all = meld(all, pair);
    }
    return all;
}

void weft__heap_put(struct weft__heap *heap, struct weft__moment *moment)
{
    moment->child = moment->next = moment->prev = NULL;
    heap->first = meld(heap->first, moment);
}

void weft__heap_take(struct weft__heap *heap, struct weft__moment *moment)
{
    struct weft__moment *below = meld_all(moment->child);
    moment->child = NULL;
    if (heap->first == moment) {
        heap->first = below;
        return;
    }
    if (moment->prev->child == moment)
        moment->prev->child = moment->next;
    else
        moment->prev->next = moment->next;
    if (moment->next)
        moment->next->prev = moment->prev;
    moment->next = moment->prev = NULL;
    heap->first = meld(heap->first, below);
}
