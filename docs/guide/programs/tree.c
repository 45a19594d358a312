/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

struct node {
    struct node *left, *right;
    long value;
};

/* A tree of n nodes that leans to one side. */
static struct node *grow(long n)
{
    if (n == 0)
        return NULL;
    struct node *node = malloc(sizeof *node);
    if (!node)
        abort();
    long left = (n - 1) * 3 / 4;
    *node = (struct node){grow(left), grow(n - 1 - left), 1};
    return node;
}

static void fell(struct node *node)
{
    if (!node)
        return;
    fell(node->left);
    fell(node->right);
    free(node);
}

/* [sum] */
static long sum(weft *w, const struct node *node);
WEFT_FORKABLE(long, sum, const struct node *node;, sum(w, a->node))

static long sum(weft *w, const struct node *node)
{
    if (!node)
        return 0;
    WEFT_FORK(w, sum, right, node->right);
    long left = sum(right_in, node->left);
    return left + WEFT_MERGE(w, sum, right) + node->value;
}
/* [end] */

struct walk {
    struct node *root;
    long sum;
};

static void run(weft *w, void *arg)
{
    struct walk *walk = arg;
    walk->sum = sum(w, walk->root);
}

int main(void)
{
    struct walk walk = {grow(100000), 0};
    if (weft_run(NULL, run, &walk))
        return 1;
    printf("%ld\n", walk.sum);
    fell(walk.root);
}
