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
    atomic_store_relaxed(&deque->ring, ring); /* relaxed, all: published when the deque is shared */
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

/* Copies the jobs from top to bottom into a ring twice as large. The old ring is never written
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
    /* release D2: a thief that sees the new ring sees the jobs that were copied into it. With a
     * relaxed store it might not (bug 18). */
    atomic_store_release(&deque->ring, ring);
    return ring;
}

int weft__deque_push(struct weft__deque *deque, struct weft__job *job)
{
    int64_t bottom = atomic_load_relaxed(&deque->bottom); /* relaxed: own writes */
    /* acquire D3: a place is written again only after the thief of its old job has read it: the
     * thief's compare-exchange of top comes after that read. */
    int64_t top = atomic_load_acquire(&deque->top);
    struct weft__ring *ring = atomic_load_relaxed(&deque->ring);
    if (bottom - top > ring->mask) {
        struct weft__ring *larger = grow(deque, ring, top, bottom);
        if (!larger)
            return -ENOMEM;
        ring = larger;
    }
    struct weft__entry *entry = ring_at(ring, bottom);
    atomic_store_relaxed(&entry->job, job); /* relaxed, both: bottom publishes them */
    atomic_store_relaxed(&entry->root, job->group ? job->group->root : NULL);
    /* release D1: the job, and the entry in the ring. */
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
    /* fence D4: the store of bottom comes before the load of top; a thief loads top before bottom.
     * Either the thief sees that the deque is one shorter, or the owner sees the thief's top. So
     * both can want the same job only if it is the last one, and then the compare-exchange
     * decides. */
    atomic_fence_seq_cst();
    int64_t top = atomic_load_relaxed(&deque->top);
    if (top > bottom) {
        atomic_store_relaxed(&deque->bottom, bottom + 1); /* relaxed: there is no job below */
        return NULL;
    }
    struct weft__job *job = atomic_load_relaxed(&ring_at(ring, bottom)->job);
    if (top == bottom) { /* the last job: thieves may want it, too */
        /* seq_cst D4. No acquire is needed: the owner pushed the job itself. */
        if (!atomic_cas_seq_cst(&deque->top, &top, top + 1))
            job = NULL;
        atomic_store_relaxed(&deque->bottom, bottom + 1); /* relaxed: there is no job below */
    }
    return job;
}

struct weft__job *weft__deque_next(struct weft__deque *deque)
{
    /* relaxed, all: own writes; top is a hint. */
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
    /* fence D4: partner of the fence in pop. And top is read before bottom: an older bottom with a
     * newer top would hide jobs; an older top is found out by the compare-exchange. */
    atomic_fence_seq_cst();
    /* acquire D1 */
    int64_t bottom = atomic_load_acquire(&deque->bottom);
    if (top >= bottom)
        return STEAL_EMPTY;
    /* acquire D2; the ring is read after bottom (bug 17). */
    struct weft__ring *ring = atomic_load_acquire(&deque->ring);
    struct weft__entry *entry = ring_at(ring, top);
    glimpse->job = atomic_load_relaxed(&entry->job); /* relaxed, both: the exchange decides */
    glimpse->root = atomic_load_relaxed(&entry->root);
    glimpse->top = top;
    return STEAL_GOT;
}

enum steal_result weft__deque_take(struct weft__deque *deque, struct weft__glimpse *glimpse)
{
    /* seq_cst D4: in one order with the fences. release D3: weft__deque_look() has read the entry
     * before its place is used again. */
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
