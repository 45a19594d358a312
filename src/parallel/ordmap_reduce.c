/* SPDX-License-Identifier: MIT */
/* A reduction of a map's entries. At a large node, its left side is added to the accumulator, while
 * the node and its right side make a second accumulator, which is then added to the first. The tree
 * alone decides which nodes are large, and so what is combined with what: in a map of few entries,
 * all that have a few nodes below them, because each entry may take long; in a map of many, there
 * are enough parts without the small ones.
 *
 * An accumulator that has halted takes nothing of what is to its right, whichever thread has
 * computed that. So the tree also decides where a reduction halts. */
#include "parallel/ordmap.h"

#include "core/misuse.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "parallel/element.h"
#include "parallel/pace.h"

#include <errno.h>

enum {
    LARGE = 4096,       /* accumulators larger than that are not put on the stack */
    MANY = 2048,        /* entries of a map, of which */
    LARGE_OF_MANY = 32, /* nodes are a large tree; see also WEFT__TREE_LARGE_CALLS */
};

struct reduction {
    const struct weft__tree_kind *kind;
    size_t size;
    weft_ordmap_map_fn *fn; /* NULL: values are what is combined */
    weft_combine_fn *combine;
    weft_halt_fn *halt; /* NULL: never */
    void *arg;
    size_t large;              /* trees of so many nodes are folded in two */
    struct atomic_size halted; /* the smallest rank known to have halted; SIZE_MAX: none */
};

enum fold_outcome {
    LEFT_OUT, /* it was left out or cut short, and the accumulator means nothing: there was no
                 memory, it was cancelled, or an entry to the left has halted */
    DONE,
    HALTED
};

/* A node and its right side, which make one value. */
struct tail {
    struct reduction *all;
    const struct weft__tree *tree;
    size_t rank; /* of the node */
    void *accumulator;
    enum fold_outcome outcome;
};

#define SPACE(all) ((all)->size > LARGE ? weft__small((all)->size) : WEFT__SPACE((all)->size))

/* Space that is not on the stack is freed if an actor ends meanwhile. */
struct space {
    struct weft__cleanup cleanup;
    void *memory;
};

static void free_space(struct weft__cleanup *cleanup, weft *w)
{
    (void)w;
    weft__free(((struct space *)cleanup)->memory);
}

static void space_begin(weft *w, const struct reduction *all, struct space *space)
{
    if (all->size > LARGE)
        weft__cleanup_push(w, &space->cleanup, free_space);
}

static void space_end(weft *w, const struct reduction *all, struct space *space)
{
    if (all->size <= LARGE)
        return;
    weft__cleanup_pop(w, &space->cleanup);
    weft__free(space->memory);
}

/* Is what begins at this rank not needed? If an entry to the left of it has halted, the result will
 * be ignored. */
static bool is_over(weft *w, struct reduction *all, size_t rank)
{
    /* relaxed: a short cut. The nodes decide what counts, not this. */
    return weft__is_cancelled(w) || atomic_load_relaxed(&all->halted) < rank;
}

static enum fold_outcome halts_or_done(weft *w, struct reduction *all, size_t rank,
                                       const void *accumulator)
{
    if (!all->halt || !all->halt(w, accumulator, all->arg))
        return DONE;
    size_t known = atomic_load_relaxed(&all->halted); /* relaxed, both: as above */
    while (rank < known && !atomic_cas_relaxed(&all->halted, &known, rank))
        ;
    return HALTED;
}

static void begin_with(weft *w, const struct reduction *all, const struct weft__tree *tree,
                       void *accumulator)
{
    const void *value = weft__tree_look(all->kind, tree);
    if (all->fn)
        all->fn(w, weft__tree_key(tree), value, accumulator, all->arg);
    else
        weft__copy(accumulator, value, all->size);
}

/* What is combined: the value itself, or what the function makes of it, in `space`. */
static const void *value_of(weft *w, const struct reduction *all, const struct weft__tree *tree,
                            void *space)
{
    const void *value = weft__tree_look(all->kind, tree);
    if (!all->fn)
        return value;
    all->fn(w, weft__tree_key(tree), value, space, all->arg);
    return space;
}

/* Entry by entry, without forks. `space`: for one value. */
static void fold_all(weft *w, const struct reduction *all, const struct weft__tree *tree,
                     void *accumulator, void *space)
{
    for (; tree; tree = tree->child[WEFT__RIGHT]) {
        if (tree->child[WEFT__LEFT])
            fold_all(w, all, tree->child[WEFT__LEFT], accumulator, space);
        all->combine(w, accumulator, value_of(w, all, tree, space), all->arg);
    }
}

/* The same until it halts. */
static enum fold_outcome fold_until(weft *w, struct reduction *all, const struct weft__tree *tree,
                                    size_t rank, void *accumulator, void *space)
{
    for (; tree; tree = tree->child[WEFT__RIGHT]) {
        const struct weft__tree *left = tree->child[WEFT__LEFT];
        if (fold_until(w, all, left, rank, accumulator, space) == HALTED)
            return HALTED;
        all->combine(w, accumulator, value_of(w, all, tree, space), all->arg);
        if (halts_or_done(w, all, rank, accumulator) == HALTED)
            return HALTED;
    }
    return DONE;
}

static enum fold_outcome fold_here(weft *w, struct reduction *all, const struct weft__tree *tree,
                                   size_t rank, void *accumulator, void *space)
{
    if (all->halt)
        return fold_until(w, all, tree, rank, accumulator, space);
    fold_all(w, all, tree, accumulator, space);
    return DONE;
}

static enum fold_outcome fold(weft *w, struct reduction *all, const struct weft__tree *tree,
                              size_t rank, void *accumulator);

static void fold_tail(weft *w, void *arg)
{
    struct tail *tail = arg;
    begin_with(w, tail->all, tail->tree, tail->accumulator);
    tail->outcome = halts_or_done(w, tail->all, tail->rank, tail->accumulator);
    if (tail->outcome == DONE)
        tail->outcome =
            fold(w, tail->all, tail->tree->child[WEFT__RIGHT], tail->rank + 1, tail->accumulator);
}

static enum fold_outcome fold_in_two(weft *w, struct reduction *all, const struct weft__tree *tree,
                                     size_t rank, void *accumulator, void *space)
{
    const struct weft__tree *left = tree->child[WEFT__LEFT];
    struct tail tail = {all, tree, rank + weft__tree_size(left), space, LEFT_OUT};
    weft *in = weft_fork(w, fold_tail, &tail);
    enum fold_outcome outcome = fold(in, all, left, rank, accumulator);
    if (!weft_merge(w) && outcome == DONE)
        fold_tail(w, &tail);
    if (outcome != DONE)
        return outcome;
    if (tail.outcome == LEFT_OUT)
        return LEFT_OUT;
    all->combine(w, accumulator, space, all->arg);
    return tail.outcome == HALTED ? HALTED : halts_or_done(w, all, rank, accumulator);
}

static enum fold_outcome fold(weft *w, struct reduction *all, const struct weft__tree *tree,
                              size_t rank, void *accumulator)
{
    if (!tree)
        return DONE;
    struct space space = {.memory = is_over(w, all, rank) ? NULL : SPACE(all)};
    if (!space.memory)
        return LEFT_OUT;
    space_begin(w, all, &space);
    enum fold_outcome outcome = tree->size < all->large
                                    ? fold_here(w, all, tree, rank, accumulator, space.memory)
                                    : fold_in_two(w, all, tree, rank, accumulator, space.memory);
    space_end(w, all, &space);
    return outcome;
}

static void expect(const weft_ordmap *map, const struct reduction *all, const void *result,
                   const char *function)
{
    if (!map)
        weft__lacks(function, "a map", "map");
    if (!all->combine)
        weft__lacks(function, "a function", "combine");
    if (!result)
        weft__lacks(function, "a place for the result", "result");
    if (!all->fn && all->size != map->kind.given.value_size)
        weft__fatal("%s without a function has a result of %zu bytes, and values of %zu", function,
                    all->size, map->kind.given.value_size);
}

static void reduce(weft *w, const weft_ordmap *map, struct reduction *all, void *result)
{
    enum fold_outcome outcome;
    all->kind = &map->kind;
    all->large = weft__tree_size(map->root) < MANY ? WEFT__TREE_LARGE_CALLS : LARGE_OF_MANY;
    WEFT__MUST_RETURN(weft__callee_threw, outcome = fold(w, all, map->root, 0, result));
    if (outcome == LEFT_OUT && !weft_cancelled(w))
        weft_fail(w, -ENOMEM);
}

void weft_ordmap_reduce(weft *w, const weft_ordmap *map, weft_ordmap_map_fn *fn,
                        weft_combine_fn *combine, void *arg, void *result, size_t size)
{
    struct reduction all = {NULL, size, fn, combine, NULL, arg, 0, {SIZE_MAX}};
    WEFT__EXPECT_CONTEXT(w);
    expect(map, &all, result, __func__);
    reduce(w, map, &all, result);
}

void weft_ordmap_reduce_until(weft *w, const weft_ordmap *map, weft_ordmap_map_fn *fn,
                              weft_combine_fn *combine, weft_halt_fn *halt, void *arg, void *result,
                              size_t size)
{
    struct reduction all = {NULL, size, fn, combine, halt, arg, 0, {SIZE_MAX}};
    bool has_halted = false;
    WEFT__EXPECT_CONTEXT(w);
    expect(map, &all, result, __func__);
    if (halt)
        WEFT__MUST_RETURN(weft__callee_threw, has_halted = halt(w, result, arg));
    if (!has_halted)
        reduce(w, map, &all, result);
}
