/* SPDX-License-Identifier: MIT */
/* Reductions whose result does not depend on which thread computes what.
 *
 * The range is cut into blocks of a fixed length. A block is folded by one call, beginning with
 * the identity, and the blocks are the leaves of a binary tree: the number of blocks on the left
 * side of a node is the largest power of two that leaves something for the right side. So the tree,
 * and with it the order in which everything is combined, depends on the number of blocks alone.
 * Which thread computes a node is decided as in split.h: the right side is forked, unless the node
 * takes a stretch or less. But a node is not done when its right side is: the two sides are
 * combined afterwards. So each node needs a frame until then, and there is no loop as in
 * weft__split(). */
#include "parallel/reduce.h"

#include "core/fiber.h"
#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/split.h"

#include <errno.h>

enum { LARGE = 8192 }; /* accumulators larger than that are not put on the stack */

struct reduction {
    const weft_reducer *reducer;
    void *arg;
    weft__key *key; /* the function on which the cost of an element depends */
    size_t begin, end, block;
    struct atomic_size halted; /* the first block known to have halted; SIZE_MAX: none */
};

/* An accumulator: the result; or one on the stack or, if it is large, in memory of its own. If an
 * actor ends meanwhile, it is dropped, and its memory is freed. */
struct space {
    struct weft__cleanup cleanup;
    const struct reduction *all;
    void *accumulator;
    bool is_made; /* it has begun, and has to be dropped in the end */
};

/* A node, of the blocks from first to last - 1. */
struct node {
    struct reduction *all;
    size_t first, last;
    struct space *space;
    bool is_done, has_halted;
};

static bool is_over(weft *w, struct reduction *all, size_t first)
{
    /* relaxed: a short cut. The nodes decide what counts, not this. */
    return weft__is_cancelled(w) || atomic_load_relaxed(&all->halted) < first;
}

static void note_halt(struct reduction *all, size_t block)
{
    size_t known = atomic_load_relaxed(&all->halted); /* relaxed, both: as above */
    while (block < known && !atomic_cas_relaxed(&all->halted, &known, block))
        ;
}

static void space_make(weft *w, struct space *space)
{
    weft__reducer_make(w, space->all->reducer, space->accumulator, space->all->arg);
    space->is_made = true;
}

/* True: it has halted. */
static bool fold_block(weft *w, struct reduction *all, size_t i, struct space *space)
{
    const weft_reducer *reducer = all->reducer;
    size_t begin = all->begin + i * all->block;
    size_t n = all->end - begin < all->block ? all->end - begin : all->block;
    space_make(w, space);
    if (is_over(w, all, i))
        return false;
    reducer->fold(w, begin, begin + n, space->accumulator, all->arg);
    if (!reducer->halt || !reducer->halt(w, space->accumulator, all->arg))
        return false;
    note_halt(all, i);
    return true;
}

/* The largest power of two below n, which is at least 2. */
static size_t left_side(size_t n)
{
    return (size_t)1 << (8 * sizeof(long long) - 1 - (size_t)__builtin_clzll(n - 1));
}

/* Where a node collects its right side. */
#define RIGHT_ACCUMULATOR(all)               \
    ((all)->reducer->size > LARGE            \
         ? weft__small((all)->reducer->size) \
         : __builtin_alloca_with_align((all)->reducer->size + 1, 8 * _Alignof(max_align_t)))

static void drop_space(struct weft__cleanup *cleanup, weft *w)
{
    struct space *space = (struct space *)cleanup;
    const weft_reducer *reducer = space->all->reducer;
    bool is_made = space->is_made;
    space->is_made = false;
    if (is_made && reducer->drop)
        reducer->drop(w, space->accumulator, space->all->arg);
}

static void free_space(struct weft__cleanup *cleanup, weft *w)
{
    struct space *space = (struct space *)cleanup;
    drop_space(cleanup, w);
    if (space->all->reducer->size > LARGE)
        weft__free(space->accumulator);
}

static bool has_end(const struct reduction *all)
{
    return all->reducer->size > LARGE || all->reducer->drop;
}

static void space_begin(weft *w, struct space *space)
{
    if (has_end(space->all))
        weft__cleanup_push(w, &space->cleanup, free_space);
}

static void space_end(weft *w, struct space *space)
{
    if (!has_end(space->all))
        return;
    weft__cleanup_pop(w, &space->cleanup);
    free_space(&space->cleanup, w);
}

static void combine(weft *w, const struct reduction *all, struct space *left, struct space *right)
{
    const weft_reducer *reducer = all->reducer;
    if (!reducer->move) {
        reducer->combine(w, left->accumulator, right->accumulator, all->arg);
        return;
    }
    right->is_made = false;
    reducer->move(w, left->accumulator, right->accumulator, all->arg);
}

/* Does all of a node, without forks. True: it has halted. */
static bool fold_blocks(weft *w, struct reduction *all, size_t first, size_t last,
                        struct space *space)
{
    if (last - first == 1 || is_over(w, all, first))
        return fold_block(w, all, first, space);
    size_t middle = first + left_side(last - first);
    if (fold_blocks(w, all, first, middle, space))
        return true;
    struct space right = {.all = all, .accumulator = RIGHT_ACCUMULATOR(all)};
    if (!right.accumulator) {
        weft_fail(w, -ENOMEM);
        return false;
    }
    space_begin(w, &right);
    bool has_halted = fold_blocks(w, all, middle, last, &right);
    combine(w, all, space, &right);
    space_end(w, &right);
    return has_halted;
}

static size_t elements(const struct node *node)
{
    const struct reduction *all = node->all;
    size_t begin = node->first * all->block, n = all->end - all->begin;
    size_t blocks = node->last - node->first;
    return (n - begin) / all->block < blocks ? n - begin : blocks * all->block;
}

static void run_leaf(weft *w, struct weft__pacer *pacer, struct node *node)
{
    weft__pacer_leaf(pacer, w);
    node->has_halted = fold_blocks(w, node->all, node->first, node->last, node->space);
    if (node->has_halted || is_over(w, node->all, node->last - 1))
        weft__pacer_lost(pacer);
    else
        weft__pacer_ran(pacer, w, elements(node));
}

static weft__split_fn split;

static void run_node(weft *w, void *arg)
{
    struct node *node = arg;
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, node->all->key, elements(node), 1);
    split(w, &pacer, node);
}

/* Combines the left side with the right side. If the left side has halted, the right side is
 * ignored. If the computation is cancelled, the right side may not have been computed. */
static void join(weft *w, struct node *node, const struct node *left, const struct node *right)
{
    node->has_halted = left->has_halted;
    if (left->has_halted || !right->is_done)
        return;
    combine(w, node->all, left->space, right->space);
    node->has_halted = right->has_halted;
}

static void split_in_two(weft *w, struct weft__pacer *pacer, struct node *node, struct space *space)
{
    size_t middle = node->first + left_side(node->last - node->first);
    struct node left = {node->all, node->first, middle, node->space, false, false};
    struct node right = {node->all, middle, node->last, space, false, false};
    bool taken = weft__split_in_two(w, pacer, split, &left, run_node, &right);
    if (!taken && !left.has_halted)
        split(w, pacer, &right);
    join(w, node, &left, &right);
}

static void split(weft *w, struct weft__pacer *pacer, void *arg)
{
    struct node *node = arg;
    struct reduction *all = node->all;
    node->is_done = true;
    if (node->last - node->first == 1 || elements(node) <= pacer->leaf ||
        is_over(w, all, node->first)) {
        run_leaf(w, pacer, node);
        return;
    }
    struct space right = {.all = all, .accumulator = RIGHT_ACCUMULATOR(all)};
    if (!right.accumulator) {
        weft_fail(w, -ENOMEM);
        space_make(w, node->space);
        return;
    }
    space_begin(w, &right);
    split_in_two(w, pacer, node, &right);
    space_end(w, &right);
}

static void reduce(weft *w, struct reduction *all, struct space *result)
{
    size_t n = all->begin < all->end ? all->end - all->begin : 0;
    if (n > all->block) {
        struct weft__pacer pacer;
        weft__pacer_start(&pacer, w, all->key, n, 1);
        split(w, &pacer, &(struct node){all, 0, (n - 1) / all->block + 1, result, false, false});
        return;
    }
    space_make(w, result);
    if (n > 0 && !weft__is_cancelled(w))
        all->reducer->fold(w, all->begin, all->end, result->accumulator, all->arg);
}

void weft__reduce(weft *w, size_t begin, size_t end, const weft_reducer *reducer, void *arg,
                  void *result, weft__key *key)
{
    size_t block = reducer->block ? reducer->block : WEFT_REDUCE_BLOCK;
    struct reduction all = {reducer, arg, key, begin, end, block, {SIZE_MAX}};
    struct space whole = {.all = &all, .accumulator = result};
    if (reducer->drop)
        weft__cleanup_push(w, &whole.cleanup, drop_space);
    WEFT__MUST_RETURN(weft__callee_threw, reduce(w, &all, &whole));
    if (reducer->drop)
        weft__cleanup_pop(w, &whole.cleanup);
}

void weft_reduce(weft *w, size_t begin, size_t end, const weft_reducer *reducer, void *arg,
                 void *result)
{
    WEFT__EXPECT_CONTEXT(w);
    weft__expect_reducer(reducer, result, __func__);
    weft__reduce(w, begin, end, reducer, arg, result, WEFT__KEY(reducer->fold));
}
