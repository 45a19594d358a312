/* SPDX-License-Identifier: MIT */
/* flame.h: time by stacks: which label inside which, summed over all threads and all of the time. A
 * tree. When it has 4096 nodes it is full, and the time of a new one counts for the node around it,
 * or for node FLAME_FULL where that is the root: sums stay right, and the tree is less deep. The
 * root's own time is idle time. */
#ifndef TRACE_FLAME_H
#define TRACE_FLAME_H

#include "table.h"

enum { FLAME_ROOT, FLAME_FULL };

struct flame_node {
    unsigned parent, label;
    uint64_t count, self;
};

struct flame {
    struct flame_node *nodes;
    unsigned count;
    struct table numbers;
    uint64_t without; /* how often there was no place for a node */
};

bool flame_make(struct flame *flame); /* false: no memory */
void flame_free(struct flame *flame);

/* The node of `label` inside `parent`. */
unsigned flame_enter(struct flame *flame, unsigned parent, unsigned label);

#endif
