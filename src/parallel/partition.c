/* SPDX-License-Identifier: MIT */
/* Three loops over blocks of the array, as in a radix sort: each block is hashed and counted; the
 * counts are summed up, so that each block knows where its keys go in each partition; each block
 * puts its keys there. */
#include "parallel/partition.h"

#include "os/memory.h"

#include <errno.h>

enum { BLOCK = 4096 };

struct job {
    struct weft__cleanup cleanup;
    const weft_hashmap_kind *kind;
    const char *keys;
    size_t n;
    uint64_t *hashes;
    size_t (*counts)[WEFT__PARTITIONS]; /* of each block; then: where its next key goes */
    struct weft__hashed *out;
};

static size_t block_end(const struct job *job, size_t block)
{
    return job->n - block * BLOCK < BLOCK ? job->n : (block + 1) * BLOCK;
}

static void hash_blocks(weft *w, size_t begin, size_t end, void *arg)
{
    const struct job *job = arg;
    size_t size = job->kind->key_size;
    (void)w;
    for (size_t block = begin; block < end; block++) {
        size_t *counts = job->counts[block];
        for (size_t i = block * BLOCK; i < block_end(job, block); i++) {
            job->hashes[i] = weft__key_hash(job->kind, job->keys + i * size);
            counts[weft__partition_of(job->hashes[i])]++;
        }
    }
}

static void add_up(struct job *job, size_t blocks, size_t *starts)
{
    size_t at = 0;
    for (size_t p = 0; p < WEFT__PARTITIONS; p++) {
        starts[p] = at;
        for (size_t block = 0; block < blocks; block++) {
            size_t count = job->counts[block][p];
            job->counts[block][p] = at;
            at += count;
        }
    }
    starts[WEFT__PARTITIONS] = at;
}

static void put_blocks(weft *w, size_t begin, size_t end, void *arg)
{
    const struct job *job = arg;
    (void)w;
    for (size_t block = begin; block < end; block++) {
        size_t *next = job->counts[block];
        for (size_t i = block * BLOCK; i < block_end(job, block); i++) {
            uint64_t hash = job->hashes[i];
            job->out[next[weft__partition_of(hash)]++] = (struct weft__hashed){hash, i};
        }
    }
}

/* A loop that was cancelled may have left out some blocks: then nothing of it is used. */
static int run(weft *w, struct job *job, size_t blocks, struct weft__partitioned *result)
{
    weft_for(w, 0, blocks, hash_blocks, job);
    if (weft_cancelled(w))
        return -ECANCELED;
    add_up(job, blocks, result->starts);
    weft_for(w, 0, blocks, put_blocks, job);
    return weft_cancelled(w) ? -ECANCELED : 0;
}

static void free_job(struct weft__cleanup *of, weft *w)
{
    struct job *job = (struct job *)of;
    (void)w;
    weft__free(job->hashes);
    weft__free(job->counts);
}

static void free_keys(struct weft__cleanup *of, weft *w)
{
    (void)w;
    weft__free(((struct weft__partitioned *)of)->keys);
}

int weft__partition(weft *w, const void *keys, size_t n, const weft_hashmap_kind *kind,
                    struct weft__partitioned *result)
{
    size_t blocks = n / BLOCK + (n % BLOCK != 0);
    *result = (struct weft__partitioned){.is_begun = true};
    weft__cleanup_push(w, &result->cleanup, free_keys);
    if (n == 0)
        return 0;
    if (n > SIZE_MAX / sizeof(struct weft__hashed))
        return -ENOMEM;
    struct job job = {.kind = kind, .keys = keys, .n = n};
    job.hashes = weft__scratch(n * sizeof job.hashes[0]);
    job.counts = weft__alloc(blocks * sizeof job.counts[0]);
    job.out = result->keys = weft__scratch(n * sizeof job.out[0]);
    int error = -ENOMEM;
    weft__cleanup_push(w, &job.cleanup, free_job);
    if (job.hashes && job.counts && job.out)
        error = run(w, &job, blocks, result);
    weft__cleanup_pop(w, &job.cleanup);
    free_job(&job.cleanup, w);
    return error;
}

void weft__partitioned_free(weft *w, struct weft__partitioned *partitioned)
{
    if (!partitioned->is_begun)
        return;
    weft__cleanup_pop(w, &partitioned->cleanup);
    free_keys(&partitioned->cleanup, w);
}
