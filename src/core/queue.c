/* SPDX-License-Identifier: MIT */
#include "core/queue.h"

#include "core/group.h"

static void length_add(struct weft__queue *queue, size_t change)
{
    /* relaxed: writers have the lock; a reader that acts on it takes the lock, too. */
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
    node->linked = false;
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
    node->linked = true;
    length_add(queue, 1);
    weft__lock_drop(&queue->lock);
}

struct weft__node *weft__queue_pop(struct weft__queue *queue)
{
    if (weft__queue_length(queue) == 0)
        return NULL;
    weft__lock_take(&queue->lock);
    struct weft__node *node;
    bool taken = false;
    while (!taken && (node = queue->first)) {
        /* If another thread has claimed the node and is about to remove it, it is unlinked now:
         * otherwise searchers would see a job that they can't get, and not sleep. */
        taken = weft__node_claim(node);
        unlink_node(queue, node);
    }
    weft__lock_drop(&queue->lock);
    return taken ? node : NULL;
}

/* Under the lock: the group of a job in the queue exists. */
static bool is_own(const struct weft__job *job, const struct weft__group *root,
                   void (*execute)(weft *w, struct weft__job *job))
{
    return (execute && job->execute == execute) || (root && job->group && job->group->root == root);
}

struct weft__node *weft__queue_pop_own(struct weft__queue *queue, const struct weft__group *root,
                                       void (*execute)(weft *w, struct weft__job *job))
{
    if (weft__queue_length(queue) == 0)
        return NULL;
    weft__lock_take(&queue->lock);
    struct weft__node *node = queue->first;
    while (node && (!is_own(&node->job, root, execute) || !weft__node_claim(node)))
        node = node->next;
    if (node)
        unlink_node(queue, node);
    weft__lock_drop(&queue->lock);
    return node;
}

void weft__queue_remove(struct weft__queue *queue, struct weft__node *node)
{
    weft__lock_take(&queue->lock);
    if (node->linked)
        unlink_node(queue, node);
    weft__lock_drop(&queue->lock);
}
