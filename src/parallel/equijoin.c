/* SPDX-License-Identifier: MIT */
/* A hash join: both arrays are sorted by the partitions of their keys. For each partition one
 * thread makes chains of the keys of a, by their hash, and looks for each key of b there. */
#include "core/cancel.h"
#include "os/memory.h"
#include "parallel/partition.h"

#include <errno.h>

struct side {
    const char *keys;
    size_t n;
    struct weft__partitioned parts;
};

struct job {
    const weft_hashmap_kind *kind;
    struct side a, b;
    weft_pair_fn *fn;
    void *arg;
    struct atomic_bool no_memory; /* relaxed everywhere: the end of the loop orders it */
};

/* The keys of one partition of a: `heads` has the first of each chain, `next` those behind it; both
 * count from 1, and 0 is the end. */
struct chains {
    struct weft__cleanup cleanup;
    const struct weft__hashed *keys;
    size_t n, mask;
    size_t *heads, *next;
};

static bool chains_make(struct chains *chains, const struct side *a, size_t p)
{
    size_t begin = a->parts.starts[p], places = 1;
    chains->keys = a->parts.keys + begin;
    chains->n = a->parts.starts[p + 1] - begin;
    while (places < chains->n)
        places *= 2;
    chains->mask = places - 1;
    chains->heads = weft__alloc((places + chains->n) * sizeof chains->heads[0]);
    if (!chains->heads)
        return false;
    chains->next = chains->heads + places;
    for (size_t i = chains->n; i > 0; i--) { /* from the back: a chain is in the order of a */
        size_t *head = &chains->heads[chains->keys[i - 1].hash & chains->mask];
        chains->next[i - 1] = *head;
        *head = i;
    }
    return true;
}

static void look_up(weft *w, const struct job *job, const struct chains *chains,
                    const struct weft__hashed *b)
{
    size_t size = job->kind->key_size;
    const char *key = job->b.keys + b->index * size;
    for (size_t i = chains->heads[b->hash & chains->mask]; i > 0; i = chains->next[i - 1]) {
        const struct weft__hashed *a = &chains->keys[i - 1];
        if (a->hash == b->hash && weft__keys_equal(job->kind, job->a.keys + a->index * size, key))
            job->fn(w, a->index, b->index, job->arg);
    }
}

static void chains_free(struct weft__cleanup *of, weft *w)
{
    (void)w;
    weft__free(((struct chains *)of)->heads);
}

static void join_partition(weft *w, struct job *job, size_t p)
{
    const struct weft__partitioned *b = &job->b.parts;
    const struct weft__partitioned *a = &job->a.parts;
    struct chains chains;
    if (a->starts[p] == a->starts[p + 1] || b->starts[p] == b->starts[p + 1])
        return;
    if (!chains_make(&chains, &job->a, p)) {
        atomic_store_relaxed(&job->no_memory, true);
        return;
    }
    weft__cleanup_push(w, &chains.cleanup, chains_free);
    for (size_t i = b->starts[p]; i < b->starts[p + 1] && !weft__is_cancelled(w); i++) {
        weft__poll(w); /* one partition may have all the keys */
        look_up(w, job, &chains, &b->keys[i]);
    }
    weft__cleanup_pop(w, &chains.cleanup);
    chains_free(&chains.cleanup, w);
}

static void join_some(weft *w, size_t begin, size_t end, void *arg)
{
    for (size_t p = begin; p < end; p++)
        join_partition(w, arg, p);
}

static int join(weft *w, struct job *job)
{
    int error = weft__partition(w, job->a.keys, job->a.n, job->kind, &job->a.parts);
    if (!error)
        error = weft__partition(w, job->b.keys, job->b.n, job->kind, &job->b.parts);
    if (error)
        return error;
    weft_for(w, 0, WEFT__PARTITIONS, join_some, job);
    if (atomic_load_relaxed(&job->no_memory))
        return -ENOMEM;
    return weft_cancelled(w) ? -ECANCELED : 0;
}

int weft_equijoin(weft *w, const void *a, size_t a_n, const void *b, size_t b_n,
                  const weft_hashmap_kind *kind, weft_pair_fn *fn, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!kind || kind->key_size == 0 || !fn || (!a && a_n > 0) || (!b && b_n > 0))
        return -EINVAL;
    if (a_n == 0 || b_n == 0)
        return 0;
    struct job job = {
        .kind = kind, .a = {.keys = a, .n = a_n}, .b = {.keys = b, .n = b_n}, .fn = fn, .arg = arg};
    int error = join(w, &job);
    weft__partitioned_free(w, &job.a.parts);
    weft__partitioned_free(w, &job.b.parts);
    return error;
}
