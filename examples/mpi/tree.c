/* SPDX-License-Identifier: MIT */
/* tree.c: counts the nodes of a tree of which nobody knows beforehand where they are, on any number
 * of machines: some subtrees have a million nodes, most have none. A bag has nodes that were found
 * and not yet looked at. Ranks that have none get some from others, by weft_mpi_bag_run().
 *
 *     mpirun -n 4 tree [T1|T2|T3|T5] [--stats]        exit code 1: not the published numbers */
#include "uts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/mpi.h>

struct bag {
    struct node *nodes;
    size_t n, room;
};

static atomic_ullong done_here; /* by this rank, for --stats */

static int reserve(struct bag *bag, size_t more)
{
    if (bag->n + more <= bag->room)
        return 0;
    size_t room = 2 * (bag->n + more);
    struct node *nodes = realloc(bag->nodes, room * sizeof *nodes);
    if (!nodes)
        return -ENOMEM;
    bag->nodes = nodes;
    bag->room = room;
    return 0;
}

static bool process(weft *w, void *items, size_t n, void *sum, void *tree)
{
    struct bag *bag = items;
    struct count *result = sum;
    size_t done = 0;
    for (; done < n && bag->n > 0; done++) {
        struct node node = bag->nodes[--bag->n];
        uint32_t children = count_children(tree, &node);
        if (reserve(bag, children)) {
            weft_fail(w, -ENOMEM);
            return false;
        }
        for (uint32_t i = 0; i < children; i++)
            bag->nodes[bag->n++] = child_of(&node, i);
        result->leaves += children == 0;
        result->depth = node.depth > result->depth ? node.depth : result->depth;
    }
    result->nodes += done;
    atomic_fetch_add_explicit(&done_here, done, memory_order_relaxed);
    return bag->n > 0;
}

/* Every other node, with the first, which is likely to have most below it. */
static int split(weft *w, void *items, void *to, void *tree)
{
    (void)w, (void)tree;
    struct bag *bag = items, *half = to;
    if (bag->n < 2)
        return 0;
    if (reserve(half, (bag->n + 1) / 2))
        return -ENOMEM;
    size_t kept = 0;
    for (size_t i = 0; i < bag->n; i++)
        *(i % 2 ? &bag->nodes[kept++] : &half->nodes[half->n++]) = bag->nodes[i];
    bag->n = kept;
    return 1;
}

static int64_t pack(weft *w, const void *items, void *to, size_t room, void *tree)
{
    (void)w, (void)tree;
    const struct bag *bag = items;
    size_t size = bag->n * sizeof *bag->nodes;
    if (size <= room)
        memcpy(to, bag->nodes, size);
    return (int64_t)size;
}

static int unpack(weft *w, void *items, const void *from, size_t size, void *tree)
{
    (void)w, (void)tree;
    struct bag *bag = items;
    if (reserve(bag, size / sizeof *bag->nodes))
        return -ENOMEM;
    memcpy(bag->nodes + bag->n, from, size);
    bag->n += size / sizeof *bag->nodes;
    return 0;
}

static int merge(weft *w, void *items, void *from, void *tree)
{
    struct bag *other = from;
    int error = unpack(w, items, other->nodes, other->n * sizeof *other->nodes, tree);
    if (!error)
        other->n = 0;
    return error;
}

static void clear(weft *w, void *items, void *tree)
{
    (void)w, (void)tree;
    free(((struct bag *)items)->nodes);
}

static void combine(weft *w, void *left, const void *right, void *tree)
{
    (void)w, (void)tree;
    struct count *a = left;
    const struct count *b = right;
    a->nodes += b->nodes;
    a->leaves += b->leaves;
    a->depth = a->depth > b->depth ? a->depth : b->depth;
}

int main(int argc, char **argv)
{
    int level, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const weft_mpi_bag kind = {.size = sizeof(struct bag),
                               .result_size = sizeof(struct count),
                               .process = process,
                               .split = split,
                               .merge = merge,
                               .pack = pack,
                               .unpack = unpack,
                               .clear = clear,
                               .combine = combine};
    const struct tree *tree = find_tree(argc > 1 ? argv[1] : "T1");
    struct node root = root_of(tree);
    struct bag mine = {&root, 1, 1}; /* is only read */
    struct count all = {0};
    int error =
        weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &kind, rank ? NULL : &mine, (void *)tree, &all);
    if (error)
        fprintf(stderr, "tree: %s\n", weft_strerror(error));
    else if (rank == 0)
        printf("%" PRIu64 " nodes, %" PRIu64 " leaves, depth %" PRIu64 "\n", all.nodes, all.leaves,
               all.depth);
    if (argc > 1 && strcmp(argv[argc - 1], "--stats") == 0)
        printf("rank %d: %llu nodes\n", rank, (unsigned long long)done_here);
    MPI_Finalize();
    return error || memcmp(&all, &tree->published, sizeof all) != 0;
}
