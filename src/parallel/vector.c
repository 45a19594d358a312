/* SPDX-License-Identifier: MIT */
/* Items are in segments, each twice as long as the one before, so that none ever moves. A segment
 * is made under a lock, before any thread gets an index in it: an append that finds no memory has
 * taken no index, and leaves no gap. */
#include "weft/vector.h"

#include "core/misuse.h"
#include "os/lock.h"
#include "os/memory.h"
#include "parallel/element.h"
#include "weft/parallel.h"

#include <errno.h>
#include <string.h>

enum {
    FIRST_LOG = 6, /* items in the first segment */
    SEGMENTS = 64 - FIRST_LOG,
};

struct weft_vector {
    size_t item_size;
    struct weft__lock lock; /* of making segments */
    /* Written under the lock before `room` counts them. */
    char *segments[SEGMENTS];
    unsigned count;
    struct atomic_size room; /* items that the segments have room for */
    WEFT__ALIGNED struct atomic_size size;
};

/* Where an item is: its segment, its place there, and how many items follow it in the segment, with
 * itself. */
struct place {
    unsigned segment;
    size_t offset, rest;
};

static struct place place_of(size_t i)
{
    size_t shifted = i + ((size_t)1 << FIRST_LOG);
    unsigned log = 63 - (unsigned)__builtin_clzll(shifted);
    size_t length = (size_t)1 << log, offset = shifted - length;
    return (struct place){log - FIRST_LOG, offset, length - offset};
}

static char *item_at(const weft_vector *vector, struct place place)
{
    return vector->segments[place.segment] + place.offset * vector->item_size;
}

int weft_vector_create(weft_vector **vector, size_t item_size)
{
    if (!vector)
        return -EINVAL;
    *vector = NULL;
    if (item_size == 0 || item_size > SIZE_MAX / 8 >> FIRST_LOG)
        return -EINVAL;
    weft_vector *made = weft__alloc(sizeof *made);
    if (!made)
        return -ENOMEM;
    made->item_size = item_size;
    *vector = made;
    return 0;
}

void weft_vector_destroy(weft_vector *vector)
{
    if (!vector)
        return;
    for (unsigned i = 0; i < vector->count; i++)
        weft__free(vector->segments[i]);
    weft__free(vector);
}

/* Under the lock. False: no memory. */
static bool add_segment(weft_vector *vector)
{
    size_t bytes;
    if (vector->count == SEGMENTS ||
        __builtin_mul_overflow((size_t)1 << (FIRST_LOG + vector->count), vector->item_size, &bytes))
        return false;
    char *segment = weft__small(bytes);
    if (!segment)
        return false;
    vector->segments[vector->count++] = segment;
    size_t room = ((size_t)1 << (FIRST_LOG + vector->count)) - ((size_t)1 << FIRST_LOG);
    atomic_store_release(&vector->room, room); /* release VEC1: the segment */
    return true;
}

static bool make_room(weft_vector *vector, size_t size)
{
    bool made = size <= PTRDIFF_MAX / vector->item_size;
    weft__lock_take(&vector->lock);
    while (made && atomic_load_relaxed(&vector->room) < size) /* relaxed: under the lock */
        made = add_segment(vector);
    weft__lock_drop(&vector->lock);
    return made;
}

/* The usual append, of one item, needs neither of these two. They are apart from it, and called at
 * its end: so it has nothing to save on the stack, which the compare-exchange would wait for. */
static __attribute__((noinline)) int append_later(weft_vector *vector, const void *items, size_t n,
                                                  size_t *first, size_t end)
{
    return make_room(vector, end) ? weft_vector_append(vector, items, n, first) : -ENOMEM;
}

static __attribute__((noinline)) int put_many(weft_vector *vector, size_t at, const char *items,
                                              size_t n)
{
    while (n > 0) {
        struct place place = place_of(at);
        size_t some = n < place.rest ? n : place.rest, bytes = some * vector->item_size;
        if (items) {
            memcpy(item_at(vector, place), items, bytes);
            items += bytes;
        } else {
            memset(item_at(vector, place), 0, bytes);
        }
        at += some;
        n -= some;
    }
    return 0;
}

int weft_vector_append(weft_vector *vector, const void *items, size_t n, size_t *first)
{
    if (!vector)
        return -EINVAL;
    /* relaxed, both: an index is given to one thread; the items are passed on by other means. */
    size_t size = atomic_load_relaxed(&vector->size), end;
    do {
        if (__builtin_add_overflow(size, n, &end))
            return -ENOMEM;
        if (atomic_load_acquire(&vector->room) < end) /* acquire VEC1 */
            return append_later(vector, items, n, first, end);
    } while (!atomic_cas_relaxed(&vector->size, &size, end));
    if (first)
        *first = size;
    if (n != 1 || !items)
        return put_many(vector, size, items, n);
    weft__copy(item_at(vector, place_of(size)), items, vector->item_size);
    return 0;
}

size_t weft_vector_size(const weft_vector *vector)
{
    return vector ? atomic_load_relaxed(&vector->size) : 0; /* relaxed: it tells nothing else */
}

void *weft_vector_at(const weft_vector *vector, size_t i)
{
    WEFT__NEEDS(vector, "a vector");
    return item_at(vector, place_of(i));
}

void weft_vector_clear(weft_vector *vector)
{
    if (vector)
        atomic_store_relaxed(&vector->size, 0); /* relaxed: no other thread uses it */
}

/* ---- All items ---- */

struct loop {
    weft_vector *vector;
    weft_vector_fn *body;
    void *arg;
};

static void run_range(weft *w, size_t begin, size_t end, void *arg)
{
    struct loop *loop = arg;
    while (begin < end) {
        struct place place = place_of(begin);
        size_t n = end - begin < place.rest ? end - begin : place.rest;
        loop->body(w, item_at(loop->vector, place), begin, n, loop->arg);
        begin += n;
    }
}

void weft_vector_for(weft *w, weft_vector *vector, weft_vector_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(vector, "a vector");
    WEFT__NEEDS(body, "a function");
    struct loop loop = {vector, body, arg};
    weft_for(w, 0, weft_vector_size(vector), run_range, &loop);
}

struct copy {
    const weft_vector *vector;
    char *out;
};

static void copy_range(weft *w, size_t begin, size_t end, void *arg)
{
    const struct copy *copy = arg;
    size_t size = copy->vector->item_size;
    (void)w;
    while (begin < end) {
        struct place place = place_of(begin);
        size_t n = end - begin < place.rest ? end - begin : place.rest;
        memcpy(copy->out + begin * size, item_at(copy->vector, place), n * size);
        begin += n;
    }
}

void weft_vector_copy(weft *w, const weft_vector *vector, void *out)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(vector, "a vector");
    struct copy copy = {vector, out};
    weft_for(w, 0, weft_vector_size(vector), copy_range, &copy);
}
