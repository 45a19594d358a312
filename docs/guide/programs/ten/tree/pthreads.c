/* SPDX-License-Identifier: MIT */
#include <pthread.h>
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

struct node {
    uint64_t seed;
    int depth;
    long nodes;
    pthread_t thread;
};

static void *walk(void *arg)
{
    struct node *node = arg, parts[4];
    uint64_t x = mix(node->seed);
    uint64_t children = node->depth < 26 ? x % 4 : 0;
    int threads = node->depth < 8; /* a guess: the tree may be empty there, or all below one node */
    node->nodes = 1;
    for (uint64_t i = 0; i < children; i++) {
        parts[i] = (struct node){.seed = x + i, .depth = node->depth + 1};
        if (!threads)
            walk(&parts[i]);
        else if (pthread_create(&parts[i].thread, NULL, walk, &parts[i]))
            abort();
    }
    for (uint64_t i = 0; i < children; i++) {
        if (threads)
            pthread_join(parts[i].thread, NULL);
        node->nodes += parts[i].nodes;
    }
    return NULL;
}

int main(void)
{
    struct node root = {.seed = 32};
    walk(&root);
    printf("%ld\n", root.nodes);
}
