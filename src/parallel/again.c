/* SPDX-License-Identifier: MIT */
/* A loop that remembers which thread had which part, for steps over the same data.
 *
 * The range is cut into parts, a few for each worker. A word for each part says in which run the
 * part was taken last, and by which thread. A thread that takes part begins with the parts that it
 * had in the run before, from left to right; when it has none left, it takes what no thread has
 * taken yet, from the right end of its neighbour's parts. So a part is done by another thread only
 * if its own is late, and no thread waits for another. */
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "os/fatal.h"
#include "parallel/for.h"
#include "parallel/split.h"

enum { PARTS = 128, FOR_EACH = 8, INDEX_BITS = 16 }; /* parts at most; for each worker */

struct again {
    struct atomic_bool is_used;
    unsigned parts; /* 0: not used yet */
    uint64_t run;   /* how many runs there were */
    /* The number of the run in which a part was taken last, and the index of the thread that took
     * it. Taken by compare-exchange; relaxed: forks and merges order what the threads do. */
    struct atomic_u64 taken[PARTS];
};

_Static_assert(sizeof(struct again) <= sizeof(weft_again), "weft_again is too small");

struct loop {
    struct weft__cleanup cleanup;
    struct again *again;
    weft_range_fn *body;
    void *arg;
    size_t begin, n;
};

/* So many threads may still come. */
struct crew {
    const struct loop *loop;
    unsigned threads;
};

static uint64_t word(uint64_t run, unsigned index)
{
    return run << INDEX_BITS | (index & ((1u << INDEX_BITS) - 1));
}

static unsigned index_of(weft *w)
{
    return weft__worker_of(w)->index & ((1u << INDEX_BITS) - 1);
}

/* True: the caller has it. `own`: only if it had the part before. */
static bool take(weft *w, struct again *again, unsigned part, bool own)
{
    uint64_t old = atomic_load_relaxed(&again->taken[part]);
    unsigned me = index_of(w);
    if (old >> INDEX_BITS == again->run || (own && old != word(old >> INDEX_BITS, me)))
        return false;
    return atomic_cas_relaxed(&again->taken[part], &old, word(again->run, me));
}

/* A part of a stretch or less is one call; a longer part is a loop, of which others may take
 * something in the end. */
static void run_part(weft *w, struct weft__pacer *pacer, const struct loop *loop, size_t part)
{
    size_t parts = loop->again->parts, n = loop->n / parts, longer = loop->n % parts;
    size_t begin = loop->begin + n * part + (part < longer ? part : longer);
    n += part < longer;
    if (n <= weft__pace_stretch(pacer->key)) {
        weft__pacer_leaf(pacer, w);
        loop->body(w, begin, begin + n, loop->arg);
        weft__pacer_ran(pacer, w, n);
        return;
    }
    weft__pacer_lost(pacer);
    weft__for(w, begin, begin + n,
              &(struct weft__loop){.body = loop->body, .arg = loop->arg, .key = pacer->key});
}

static weft_fn work;

static void run_parts(weft *w, struct weft__pacer *pacer, const struct loop *loop)
{
    struct again *again = loop->again;
    unsigned parts = again->parts, first = parts;
    for (unsigned i = 0; i < parts && !weft__is_cancelled(w); i++) {
        if (!take(w, again, i, true))
            continue;
        first = first < i ? first : i;
        run_part(w, pacer, loop, i);
    }
    for (unsigned i = 1; i <= parts && !weft__is_cancelled(w); i++) {
        unsigned part = (first + parts - i) % parts;
        if (take(w, again, part, false))
            run_part(w, pacer, loop, part);
    }
}

/* When this returns, all parts are taken. So a fork that no thief took need not be run. */
static void split(weft *w, struct weft__pacer *pacer, void *arg)
{
    const struct crew *crew = arg;
    if (crew->threads < 2) {
        run_parts(w, pacer, crew->loop);
        return;
    }
    struct crew left = {crew->loop, crew->threads - crew->threads / 2};
    struct crew right = {crew->loop, crew->threads / 2};
    weft__split_in_two(w, pacer, split, &left, work, &right);
}

static void work(weft *w, void *arg)
{
    const struct loop *loop = ((const struct crew *)arg)->loop;
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, WEFT__KEY(loop->body), loop->n, 1);
    split(w, &pacer, arg);
}

static void begin_run(struct again *again, const struct loop *loop, unsigned threads)
{
    unsigned parts = threads < PARTS / FOR_EACH ? threads * FOR_EACH : PARTS;
    parts = loop->n < parts ? (unsigned)loop->n : parts;
    if (again->parts != parts) {
        again->parts = parts;
        for (unsigned i = 0; i < parts; i++)
            atomic_store_relaxed(&again->taken[i], word(again->run, i * threads / parts));
    }
    again->run++;
}

static void end_run(struct weft__cleanup *of, weft *w)
{
    (void)w;
    atomic_store_relaxed(&((struct loop *)of)->again->is_used, false); /* relaxed: as below */
}

void weft_for_again(weft *w, weft_again *again, size_t begin, size_t end, weft_range_fn *body,
                    void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(again, "a memory");
    WEFT__NEEDS(body, "a function");
    struct again *memory = (struct again *)(void *)again;
    struct loop loop = {.again = memory,
                        .body = body,
                        .arg = arg,
                        .begin = begin,
                        .n = begin < end ? end - begin : 0};
    if (loop.n == 0)
        return;
    if (weft__pace_is_short(w, loop.n, WEFT__KEY(body))) {
        weft__for_short(w, begin, end, body, arg, WEFT__KEY(body));
        return;
    }
    bool others = false;
    if (!atomic_cas_relaxed(&memory->is_used, &others, true)) /* relaxed: it orders nothing */
        weft__fatal("weft_for_again: another loop uses this memory");
    unsigned threads = weft__worker_of(w)->pool->config.workers;
    begin_run(memory, &loop, threads);
    weft__cleanup_push(w, &loop.cleanup, end_run);
    WEFT__MUST_RETURN(weft__callee_threw, work(w, &(struct crew){&loop, threads}));
    weft__cleanup_pop(w, &loop.cleanup);
    end_run(&loop.cleanup, w);
}
