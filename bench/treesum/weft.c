/* SPDX-License-Identifier: MIT */
#include "treesum.h"

#include "../contest.h"

struct part {
    const struct node *node;
    long result;
};

static void sum_run(weft *w, void *arg);

static inline long sum(weft *w, const struct node *node)
{
    if (!node->left)
        return node->value;
    const struct node *right_node = node->right;
    struct part right;
    right.node = right_node;
    weft *in = weft_fork(w, sum_run, &right);
    long left = node->value + sum(in, node->left);
    return left + (weft_merge(w) ? right.result : sum(w, right_node));
}

static void sum_run(weft *w, void *arg)
{
    struct part *part = arg;
    part->result = sum(w, part->node);
}

static void run(weft_pool *pool, void *data)
{
    struct treesum *t = data;
    struct part root = {t->nodes, 0};
    weft_run(pool, sum_run, &root);
    t->result = root.result;
}

const struct contest treesum_contest = {
    .kernel = &treesum_kernel,
    .weft = run,
    .what = "the sum over a tree of 2^SIZE - 1 nodes, a fork at each inner one",
    .operation = "node",
    .size = 24,
    .quick = 14,
    .most = 32,
    .reps = 25,
    .claims = {.times_twin = 1.15, .share = 0.9},
};
