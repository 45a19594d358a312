/* SPDX-License-Identifier: MIT */
#include "core/queue.h"

#include "core/group.h"
#include "os/stats.h"

static void length_add(struct weft__queue *queue, size_t change)
{
    /* relaxed, all: writers have the lock; a reader that acts on it takes the lock, too. */
    size_t length = atomic_load_relaxed(&queue->length) + change;
    atomic_store_relaxed(&queue->length, length);
    if (queue->shown)
        weft__stats_queued(queue->shown, length);
}

/* Under the lock; relaxed, both: as above. */

static struct weft__node *last_urgent(const struct weft__queue *queue)
{
    return atomic_load_relaxed(&queue->last_urgent);
}

static void set_last_urgent(struct weft__queue *queue, struct weft__node *node)
{
    atomic_store_relaxed(&queue->last_urgent, node);
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
    if (last_urgent(queue) == node)
        set_last_urgent(queue, node->prev);
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

void weft__queue_push_urgent(struct weft__queue *queue, struct weft__node *node)
{
    weft__lock_take(&queue->lock);
    atomic_store_relaxed(&node->claimed, false); /* relaxed: the lock publishes it */
    node->prev = last_urgent(queue);
    node->next = node->prev ? node->prev->next : queue->first;
    if (node->prev)
        node->prev->next = node;
    else
        queue->first = node;
    if (node->next)
        node->next->prev = node;
    else
        queue->last = node;
    set_last_urgent(queue, node);
    node->linked = true;
    length_add(queue, 1);
    weft__lock_drop(&queue->lock);
}

/* The node whose turn it is; NULL: the queue is empty. */
static struct weft__node *in_turn(const struct weft__queue *queue)
{
    const struct weft__node *urgent = last_urgent(queue);
    bool enough = urgent && urgent->next && queue->urgent_run >= WEFT__URGENT_RUN;
    return enough ? urgent->next : queue->first;
}

struct weft__node *weft__queue_pop(struct weft__queue *queue)
{
    if (weft__queue_length(queue) == 0)
        return NULL;
    weft__lock_take(&queue->lock);
    struct weft__node *node;
    bool taken = false;
    while (!taken && (node = in_turn(queue))) {
        bool urgent = last_urgent(queue) && node == queue->first;
        /* If another thread has claimed the node and is about to remove it, it is unlinked now:
         * otherwise searchers would see a job that they can't get, and not sleep. */
        taken = weft__node_claim(node);
        unlink_node(queue, node);
        if (taken)
            queue->urgent_run = !urgent                                ? 0
                                : queue->urgent_run < WEFT__URGENT_RUN ? queue->urgent_run + 1
                                                                       : WEFT__URGENT_RUN;
    }
    weft__lock_drop(&queue->lock);
    return taken ? node : NULL;
}

/* Under the lock: the group of a job in the queue exists. */
static bool is_wanted(const struct weft__job *job, const struct weft__want *want)
{
    return (want->execute && job->execute == want->execute) ||
           (job->group && (job->group == want->scope || job->group->root == want->root));
}

struct weft__node *weft__queue_pop_wanted(struct weft__queue *queue, struct weft__want want)
{
    if (weft__queue_length(queue) == 0)
        return NULL;
    weft__lock_take(&queue->lock);
    struct weft__node *node = queue->first;
    while (node && (!is_wanted(&node->job, &want) || !weft__node_claim(node)))
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
