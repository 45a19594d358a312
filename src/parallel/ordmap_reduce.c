/* SPDX-License-Identifier: MIT */
/* A reduction of a map's entries. At a node, its left side is added to the accumulator, while its
 * right side makes a second accumulator, which is then added to the first. In a map of few entries,
 * leaves are cut in two in the same way, because each entry may take long; in a map of many, there
 * are enough leaves. So the tree alone decides what is combined with what.
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
    LARGE = 4096, /* accumulators larger than that are not put on the stack */
    MANY = 2048,  /* in a map of so many entries, leaves are not cut; in others, */
    CUT = 4,      /* parts of so many entries are */
};

struct reduction {
    const struct weft__tree_kind *kind;
    size_t size;
    weft_ordmap_map_fn *fn; /* NULL: values are what is combined */
    weft_combine_fn *combine;
    weft_halt_fn *halt; /* NULL: never */
    void *arg;
    size_t cut;                /* parts of a leaf are cut if they have so many entries */
    struct atomic_size halted; /* the smallest rank known to have halted; SIZE_MAX: none */
};

enum fold_outcome {
    LEFT_OUT, /* it was left out or cut short, and the accumulator means nothing: there was no
                 memory, it was cancelled, or an entry to the left has halted */
    DONE,
    HALTED
};

/* A part of the map, and the rank of its first entry. */
struct part {
    struct weft__slice of;
    size_t rank;
};

/* The right side of a part, which makes one value. */
struct tail {
    struct reduction *all;
    struct part part;
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

/* The first entry. */
static void begin_with(weft *w, const struct reduction *all, const struct weft__slice *leaf,
                       void *accumulator)
{
    const char *value = weft__leaf_value(all->kind, leaf->tree, leaf->begin);
    if (all->fn)
        all->fn(w, weft__leaf_key(all->kind, leaf->tree, leaf->begin), value, accumulator,
                all->arg);
    else
        weft__copy(accumulator, value, all->size);
}

/* Entry by entry. What is combined is the value itself, or what the function makes of it, in
 * `space`. */
static void fold_all(weft *w, const struct reduction *all, const struct weft__slice *leaf,
                     void *accumulator, void *space)
{
    const struct reduction in = {
        .kind = all->kind, .fn = all->fn, .combine = all->combine, .arg = all->arg};
    size_t key_size = in.kind->given.key_size, value_size = in.kind->given.value_size;
    const char *key = weft__leaf_key(in.kind, leaf->tree, leaf->begin);
    const char *value = weft__leaf_value(in.kind, leaf->tree, leaf->begin);
    for (size_t n = weft__slice_size(leaf); n > 0; n--) {
        if (in.fn)
            in.fn(w, key, value, space, in.arg);
        in.combine(w, accumulator, in.fn ? space : value, in.arg);
        key += key_size;
        value += value_size;
    }
}

/* The same until it halts. */
static enum fold_outcome fold_until(weft *w, struct reduction *all, const struct part *part,
                                    void *accumulator, void *space)
{
    struct weft__slice one = part->of;
    for (; one.begin < part->of.end; one.begin++) {
        one.end = one.begin + 1;
        fold_all(w, all, &one, accumulator, space);
        if (halts_or_done(w, all, part->rank, accumulator) == HALTED)
            return HALTED;
    }
    return DONE;
}

/* Without forks. */
static enum fold_outcome fold_here(weft *w, struct reduction *all, const struct part *part,
                                   bool has_begun, void *accumulator, void *space)
{
    struct part rest = *part;
    if (!has_begun) {
        begin_with(w, all, &part->of, accumulator);
        if (halts_or_done(w, all, part->rank, accumulator) == HALTED)
            return HALTED;
        rest.of.begin++;
    }
    if (all->halt)
        return fold_until(w, all, &rest, accumulator, space);
    fold_all(w, all, &rest.of, accumulator, space);
    return DONE;
}

/* The sides of a node, or the halves of a part of a leaf. */
static void cut(const struct part *part, struct part *left, struct part *right)
{
    const struct weft__tree *tree = part->of.tree;
    *left = *right = *part;
    if (weft__tree_is_leaf(tree))
        left->of.end = right->of.begin = part->of.begin + weft__slice_size(&part->of) / 2;
    else {
        left->of = weft__slice_all(tree->child[WEFT__LEFT]);
        right->of = weft__slice_all(tree->child[WEFT__RIGHT]);
    }
    right->rank += weft__slice_size(&left->of);
}

static enum fold_outcome fold(weft *w, struct reduction *all, const struct part *part,
                              bool has_begun, void *accumulator);

static void fold_tail(weft *w, void *arg)
{
    struct tail *tail = arg;
    tail->outcome = fold(w, tail->all, &tail->part, false, tail->accumulator);
}

static enum fold_outcome fold_in_two(weft *w, struct reduction *all, const struct part *part,
                                     bool has_begun, void *accumulator, void *space)
{
    struct part left;
    struct tail tail = {.all = all, .accumulator = space, .outcome = LEFT_OUT};
    cut(part, &left, &tail.part);
    weft *in = weft_fork(w, fold_tail, &tail);
    enum fold_outcome outcome = fold(in, all, &left, has_begun, accumulator);
    if (!weft_merge(w) && outcome == DONE)
        fold_tail(w, &tail);
    if (outcome != DONE)
        return outcome;
    if (tail.outcome == LEFT_OUT)
        return LEFT_OUT;
    all->combine(w, accumulator, space, all->arg);
    return tail.outcome == HALTED ? HALTED : halts_or_done(w, all, part->rank, accumulator);
}

/* `has_begun`: there is something in the accumulator already. */
static enum fold_outcome fold(weft *w, struct reduction *all, const struct part *part,
                              bool has_begun, void *accumulator)
{
    struct space space = {.memory = is_over(w, all, part->rank) ? NULL : SPACE(all)};
    if (!space.memory)
        return LEFT_OUT;
    space_begin(w, all, &space);
    bool is_whole = weft__tree_is_leaf(part->of.tree) && weft__slice_size(&part->of) < all->cut;
    enum fold_outcome outcome =
        (is_whole ? fold_here : fold_in_two)(w, all, part, has_begun, accumulator, space.memory);
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
    const struct part part = {weft__slice_all(map->root), 0};
    enum fold_outcome outcome = DONE;
    all->kind = &map->kind;
    all->cut = part.of.end < MANY ? CUT : SIZE_MAX;
    if (map->root)
        WEFT__MUST_RETURN(weft__callee_threw, outcome = fold(w, all, &part, true, result));
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
