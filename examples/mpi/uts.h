/* SPDX-License-Identifier: MIT */
/* uts.h: the trees of the Unbalanced Tree Search of Olivier et al. (2006). A node is the SHA-1 of
 * its parent and of its own number, and how many children it has follows from these 20 bytes. */
#ifndef UTS_H
#define UTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

struct count {
    uint64_t nodes, leaves, depth;
};

struct tree {
    const char *name;
    enum { FIXED, LINEAR, CYCLIC, BINOMIAL } shape;
    double branches; /* of the root, about */
    uint32_t depth, seed;
    struct count published;
};

static const struct tree trees[] = {
    {"T1", FIXED, 4, 10, 19, {4130071, 3305118, 10}},
    {"T2", CYCLIC, 6, 16, 502, {4117769, 2342762, 81}},
    {"T3", BINOMIAL, 2000, 0, 42, {4112897, 3599034, 1572}},
    {"T5", LINEAR, 4, 20, 34, {4147582, 2181318, 20}},
};

/* The first, if there is none of that name. */
static const struct tree *find_tree(const char *name)
{
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        if (strcmp(trees[i].name, name) == 0)
            return &trees[i];
    return trees;
}

struct node {
    uint32_t state[5], depth;
};

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/* SHA-1 of n numbers, at most 13: they fit into one block. */
static void sha1(const uint32_t *in, unsigned n, uint32_t out[5])
{
    uint32_t s[80] = {0}, a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476,
             e = 0xc3d2e1f0;
    memcpy(s, in, n * sizeof *s);
    s[n] = 0x80000000;
    s[15] = 32 * n;
    for (int i = 16; i < 80; i++)
        s[i] = rotate(s[i - 3] ^ s[i - 8] ^ s[i - 14] ^ s[i - 16], 1);
    for (int i = 0; i < 80; i++) {
        uint32_t sum = rotate(a, 5) + e + s[i];
        if (i < 20)
            sum += ((b & c) | (~b & d)) + 0x5a827999;
        else if (i < 40)
            sum += (b ^ c ^ d) + 0x6ed9eba1;
        else if (i < 60)
            sum += ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
        else
            sum += (b ^ c ^ d) + 0xca62c1d6;
        e = d, d = c, c = rotate(b, 30), b = a, a = sum;
    }
    out[0] = 0x67452301 + a, out[1] = 0xefcdab89 + b, out[2] = 0x98badcfe + c;
    out[3] = 0x10325476 + d, out[4] = 0xc3d2e1f0 + e;
}

static struct node root_of(const struct tree *tree)
{
    struct node root = {.depth = 0};
    sha1((const uint32_t[5]){0, 0, 0, 0, tree->seed}, 5, root.state);
    return root;
}

static struct node child_of(const struct node *parent, uint32_t number)
{
    struct node child = {.depth = parent->depth + 1};
    uint32_t in[6];
    memcpy(in, parent->state, sizeof parent->state);
    in[5] = number;
    sha1(in, 6, child.state);
    return child;
}

/* How many children a node at this depth has on average. */
static double branches_at(const struct tree *tree, uint32_t depth)
{
    double b = tree->branches;
    if (depth == 0)
        return b;
    if (tree->shape == FIXED)
        return depth < tree->depth ? b : 0;
    if (tree->shape == LINEAR)
        return b * (1 - (double)depth / tree->depth);
    return depth > 5 * tree->depth ? 0 : pow(b, sin(2 * acos(-1) * depth / tree->depth));
}

static uint32_t count_children(const struct tree *tree, const struct node *node)
{
    double chance = (node->state[4] & 0x7fffffff) / 2147483648.0;
    if (tree->shape == BINOMIAL)
        return node->depth == 0 ? (uint32_t)tree->branches : chance < 0.124875 ? 8 : 0;
    double mean = branches_at(tree, node->depth);
    if (mean <= 0)
        return 0;
    double n = floor(log(1 - chance) / log(1 - 1 / (1 + mean)));
    return n < 100 ? (uint32_t)n : 100;
}

#endif
