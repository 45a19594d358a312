/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include "../kernel.h"

#include <stdlib.h>

static void visit(struct walk *walk, size_t folder)
{
    walk_wait();
    walk_read(walk, folder);
    for (size_t i = 0, child; i < WALK_CHILDREN && (child = walk_child(walk, folder, i)); i++)
        visit(walk, child);
}

static void sequential(void *data)
{
    visit(data, 0);
}

static void *prepare(unsigned size)
{
    struct walk *walk = calloc(1, sizeof *walk);
    if (walk)
        walk->folders = size;
    return walk;
}

static void reset(void *data)
{
    struct walk *walk = data;
    walk->names = 0;
}

static uint64_t checksum(const void *data)
{
    const struct walk *walk = data;
    return walk->names;
}

static double operations(const void *data)
{
    const struct walk *walk = data;
    return (double)walk->folders;
}

const struct kernel walk_kernel = {
    .name = "walk",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = free,
};
