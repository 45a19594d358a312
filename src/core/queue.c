/* SPDX-License-Identifier: MIT */
#include "core/queue.h"

static void length_add(struct weft__queue *queue, size_t change)
{
    /* relaxed: writers hold the lock; readers that act on it take the lock too. */
    atomic_store_relaxed(&queue->length, atomic_load_relaxed(&queue->length) + change);
}

static void unlink_node(struct weft__queue *queue, struct weft__node *node)
{
    if (node->prev)
        node->prev->next = node->next;
    else
        queue->first = node->next;
    if (node->next)
        node->next->prev = node->prev;
    else
        queue->last = node->prev;
    length_add(queue, (size_t)-1);
}

void weft__queue_push(struct weft__queue *queue, struct weft__node *node)
{
    weft__lock_take(&queue->lock);
    atomic_store_relaxed(&node->claimed, false); /* relaxed: the lock publishes it */
    node->next = NULL;
    node->prev = queue->last;
    if (queue->last)
        queue->last->next = node;
    else
        queue->first = node;
    queue->last = node;
    length_add(queue, 1);
    weft__lock_drop(&queue->lock);
}

struct weft__node *weft__queue_pop(struct weft__queue *queue)
{
    if (weft__queue_length(queue) == 0)
        return NULL;
    weft__lock_take(&queue->lock);
    struct weft__node *node = queue->first;
    while (node && !weft__node_claim(node))
        node = node->next; /* somebody is about to remove it */
    if (node)
        unlink_node(queue, node);
    weft__lock_drop(&queue->lock);
    return node;
}

void weft__queue_remove(struct weft__queue *queue, struct weft__node *node)
{
    weft__lock_take(&queue->lock);
    unlink_node(queue, node);
    weft__lock_drop(&queue->lock);
}
