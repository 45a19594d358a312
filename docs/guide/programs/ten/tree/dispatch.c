/* SPDX-License-Identifier: MIT */
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t x)
{
    for (int i = 0; i < 200; i++) {
        x ^= x >> 31;
        x *= 0x9e3779b97f4a7c15u;
    }
    return x ^ x >> 29;
}

static atomic_long nodes;
static dispatch_group_t group; /* counts; no block waits, so no thread is blocked */

struct node {
    uint64_t seed;
    int depth;
};

static void walk(void *arg)
{
    struct node node = *(struct node *)arg;
    free(arg);
    uint64_t x = mix(node.seed);
    uint64_t children = node.depth < 26 ? x % 4 : 0;
    atomic_fetch_add(&nodes, 1);
    for (uint64_t i = 0; i < children; i++) {
        struct node *child = malloc(sizeof *child);
        if (!child)
            abort();
        *child = (struct node){x + i, node.depth + 1};
        dispatch_group_async_f(group, dispatch_get_global_queue(0, 0), child, walk);
    }
}

int main(void)
{
    struct node *root = malloc(sizeof *root);
    if (!root)
        return 1;
    *root = (struct node){32, 0};
    group = dispatch_group_create();
    dispatch_group_async_f(group, dispatch_get_global_queue(0, 0), root, walk);
    dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
    dispatch_release(group);
    printf("%ld\n", nodes);
}
