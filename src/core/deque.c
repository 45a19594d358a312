/* SPDX-License-Identifier: MIT */
#include "core/deque.h"

#include "core/group.h"
#include "core/job.h"
#include "os/memory.h"

#include <errno.h>

static struct weft__ring *ring_make(size_t capacity)
{
    if (capacity > (SIZE_MAX - sizeof(struct weft__ring)) / sizeof(struct weft__entry))
        return NULL;
    struct weft__ring *ring = weft__alloc(sizeof *ring + capacity * sizeof ring->jobs[0]);
    if (ring)
        ring->mask = (int64_t)capacity - 1;
    return ring;
}

static struct weft__entry *ring_at(struct weft__ring *ring, int64_t index)
{
    return &ring->jobs[index & ring->mask];
}

int weft__deque_init(struct weft__deque *deque, size_t capacity)
{
    struct weft__ring *ring = ring_make(capacity);
    if (!ring)
        return -ENOMEM;
    atomic_store_relaxed(&deque->top, 0);
    atomic_store_relaxed(&deque->bottom, 0);
    atomic_store_relaxed(&deque->ring, ring); /* whoever shares the deque publishes it */
    return 0;
}

void weft__deque_destroy(struct weft__deque *deque)
{
    struct weft__ring *ring = atomic_load_relaxed(&deque->ring);
    while (ring) {
        struct weft__ring *older = ring->older;
        weft__free(ring);
        ring = older;
    }
}

/* The jobs from top to bottom, in a ring twice as large. The old one is never written
 * again: a thief that still reads it finds the same jobs at the same indices. */
static struct weft__ring *grow(struct weft__deque *deque, struct weft__ring *old, int64_t top,
                               int64_t bottom)
{
    struct weft__ring *ring = ring_make(2 * ((size_t)old->mask + 1));
    if (!ring)
        return NULL;
    ring->older = old;
    for (int64_t i = top; i < bottom; i++) {
        struct weft__entry *from = ring_at(old, i), *to = ring_at(ring, i);
        atomic_store_relaxed(&to->job, atomic_load_relaxed(&from->job)); /* relaxed: D2 below */
        atomic_store_relaxed(&to->root, atomic_load_relaxed(&from->root));
    }
    /* release D2: a thief that sees the new ring sees what was copied into it (bug 18:
     * published relaxed, it need not). */
    atomic_store_release(&deque->ring, ring);
    return ring;
}

int weft__deque_push(struct weft__deque *deque, struct weft__job *job)
{
    int64_t bottom = atomic_load_relaxed(&deque->bottom); /* relaxed: own writes */
    /* acquire D3: a place is written again only after the thief of its old job is done
     * reading it: its compare-exchange of top comes after that read. */
    int64_t top = atomic_load_acquire(&deque->top);
    struct weft__ring *ring = atomic_load_relaxed(&deque->ring);
    if (bottom - top > ring->mask) {
        struct weft__ring *larger = grow(deque, ring, top, bottom);
        if (!larger)
            return -ENOMEM;
        ring = larger; /* the one pushed to below */
    }
    struct weft__entry *entry = ring_at(ring, bottom);
    atomic_store_relaxed(&entry->job, job); /* relaxed, both: bottom publishes them */
    atomic_store_relaxed(&entry->root, job->group ? job->group->root : NULL);
    /* release D1: the job and its place in the ring. */
    atomic_store_release(&deque->bottom, bottom + 1);
    if (deque->flagged)
        atomic_store_seq_cst(&deque->flag, true); /* seq_cst V3: before the owner tickles */
    return 0;
}

struct weft__job *weft__deque_pop(struct weft__deque *deque)
{
    int64_t bottom = atomic_load_relaxed(&deque->bottom) - 1;
    struct weft__ring *ring = atomic_load_relaxed(&deque->ring);
    atomic_store_release(&deque->bottom, bottom); /* release D1: for the jobs below */
    /* fence D4: this store of bottom against a thief's store of top. Either the thief sees
     * the deque one shorter, or this sees the thief's top: they can't both take the same
     * job without meeting at the compare-exchange. */
    atomic_fence_seq_cst();
    int64_t top = atomic_load_relaxed(&deque->top);
    if (top > bottom) {
        atomic_store_relaxed(&deque->bottom, bottom + 1); /* relaxed: there is no job below */
        return NULL;
    }
    struct weft__job *job = atomic_load_relaxed(&ring_at(ring, bottom)->job);
    if (top == bottom) { /* the last one: thieves may want it too */
        /* seq_cst D4. No acquire is needed: the owner pushed the job itself. */
        if (!atomic_cas_seq_cst(&deque->top, &top, top + 1))
            job = NULL;
        atomic_store_relaxed(&deque->bottom, bottom + 1); /* relaxed: there is no job below */
    }
    return job;
}

struct weft__job *weft__deque_next(struct weft__deque *deque)
{
    /* relaxed, all: own writes, but for top, which is a hint. */
    int64_t bottom = atomic_load_relaxed(&deque->bottom);
    struct weft__ring *ring = atomic_load_relaxed(&deque->ring);
    if (atomic_load_relaxed(&deque->top) >= bottom)
        return NULL;
    return atomic_load_relaxed(&ring_at(ring, bottom - 1)->job);
}

enum steal_result weft__deque_look(struct weft__deque *deque, struct weft__glimpse *glimpse)
{
    if (deque->flagged)
        (void)atomic_load_seq_cst(&deque->flag);    /* seq_cst V3: after the thief got sleepy */
    int64_t top = atomic_load_relaxed(&deque->top); /* relaxed: the fence acquires it */
    /* fence D4: partner of the one in pop. And top before bottom: an older top with a newer
     * bottom would look like jobs that are gone. */
    atomic_fence_seq_cst();
    /* acquire D1 */
    int64_t bottom = atomic_load_acquire(&deque->bottom);
    if (top >= bottom)
        return STEAL_EMPTY;
    /* acquire D2; after bottom (bug 17) */
    struct weft__ring *ring = atomic_load_acquire(&deque->ring);
    struct weft__entry *entry = ring_at(ring, top);
    glimpse->job = atomic_load_relaxed(&entry->job); /* relaxed, both: the exchange decides */
    glimpse->root = atomic_load_relaxed(&entry->root);
    glimpse->top = top;
    return STEAL_GOT;
}

enum steal_result weft__deque_take(struct weft__deque *deque, struct weft__glimpse *glimpse)
{
    /* seq_cst D4: in one order with the fences; and release D3: what was read at a glimpse comes
     * before the place is used again. */
    if (!atomic_cas_seq_cst(&deque->top, &glimpse->top, glimpse->top + 1))
        return STEAL_LOST;
    return STEAL_GOT;
}

enum steal_result weft__deque_steal(struct weft__deque *deque, struct weft__job **job)
{
    struct weft__glimpse glimpse;
    enum steal_result result = weft__deque_look(deque, &glimpse);
    if (result == STEAL_GOT)
        result = weft__deque_take(deque, &glimpse);
    if (result == STEAL_GOT)
        *job = glimpse.job;
    return result;
}

size_t weft__deque_size(const struct weft__deque *deque)
{
    /* relaxed: a hint. */
    int64_t bottom = atomic_load_relaxed(&deque->bottom);
    int64_t top = atomic_load_relaxed(&deque->top);
    return bottom > top ? (size_t)(bottom - top) : 0;
}
