/* SPDX-License-Identifier: MIT */
/* ready.h: runs things that get ready one after the other: nodes of a graph, tasks of a flow.
 *
 * A thread that ends one item gets those that are ready now. It runs one of them itself, and forks
 * the others: so a chain of items is a loop, and an item that no thief takes costs a fork. Items
 * that get ready together are a tree, whose root runs first, and whose subtrees are halves: a fork
 * is a subtree, and a thief, which takes the oldest fork, takes many items at once.
 *
 * A thief does not run what it took inside the fork: the owner would wait for all that follows from
 * it, and run other items above that wait, and so on; stacks would grow with the number of thefts.
 * The thief spawns it, and the fork is over. */
#ifndef WEFT_PARALLEL_READY_H
#define WEFT_PARALLEL_READY_H

#include "weft.h"

struct weft__ready {
    struct weft__crew *crew;
    /* Written by the thread that found it ready, and by the thread that runs it. */
    struct weft__ready *child;   /* the first subtree, the largest one */
    struct weft__ready *sibling; /* the next subtree of the same root */
};

/* What the items belong to. All of it is written before the first item runs. */
struct weft__crew {
    weft_scope *scope; /* open, in the frame of the job that runs all this: that is still there when
                          an actor ends, and its cleanups have run */
    /* Runs the item, and returns a tree of those that are ready then; NULL: none is. */
    struct weft__ready *(*run)(weft *w, struct weft__ready *item);
};

/* Runs the tree, and what gets ready by it; some of it may still run on other threads. */
void weft__ready_run(weft *w, struct weft__ready *tree);

/* The same as a job, for weft_spawn(). */
void weft__ready_job(weft *w, void *tree);

/* Calls fn(w, arg) as if it was an item of its own. */
void weft__ready_call(weft *w, weft_fn *fn, void *arg);

/* Collects items that are ready. Starts as zero. The `trees` have sizes that are powers
 * of two, like the digits of `count`, the smallest first; to add one is to carry. If no thief
 * comes, the item that was added last runs first, and so on. */
struct weft__forest {
    struct weft__ready *trees;
    size_t count;
};

static inline void weft__forest_add(struct weft__forest *forest, struct weft__ready *item)
{
    item->child = NULL;
    for (size_t digits = forest->count++; digits & 1; digits >>= 1) {
        struct weft__ready *older = forest->trees;
        forest->trees = older->sibling;
        older->sibling = item->child;
        item->child = older;
    }
    item->sibling = forest->trees;
    forest->trees = item;
}

/* All that was added, as one tree; NULL: nothing was. */
static inline struct weft__ready *weft__forest_tree(const struct weft__forest *forest)
{
    struct weft__ready *root = forest->trees, *next;
    for (struct weft__ready *tree = root ? root->sibling : NULL; tree; tree = next) {
        next = tree->sibling;
        tree->sibling = root->child;
        root->child = tree;
    }
    return root;
}

#endif
