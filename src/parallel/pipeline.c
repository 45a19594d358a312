/* SPDX-License-Identifier: MIT */
/* Pipelines. There are as many places as items may be in flight. The places form a ring: the item
 * in a place always follows the item in the place before. A place goes through the stages, and from
 * the last stage back to the first.
 *
 * At a stage that is not parallel, an item needs two things: its arrival, and its turn, which the
 * item before passes on when it leaves the stage. `met` counts both. The thread that brings the
 * second of the two goes on with the item. So no thread waits, or searches for items.
 *
 *   0 -arrival or turn-> 1 -the other one-> 0, and the stage runs
 *
 * A thread that has run such a stage may have two items to go on with, its own and the next one. It
 * spawns the next one. When there are no more items, the first stage passes no turn on, and the
 * pipeline comes to its end.
 *
 * Usually a thief leaves a spawned job alone until it is a quantum old. But the next item waits as
 * long as this thread goes on with its own. So if any stage took LONG_NS or more when it ran last,
 * the thread puts the next item where a thief takes it at once. Worst case: a stage was long, and
 * is brief now, or the other way round. Then a push is not worth its cost, or an item waits for a
 * quantum, until that stage has run once more. */
#include "weft/pipeline.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "os/atomic.h"
#include "os/clock.h"
#include "os/memory.h"
#include "parallel/pace.h"
#include "weft/parallel.h"

#include <errno.h>

enum { LONG_NS = 5000 }; /* some ten times what a push, a steal and their fences cost */

struct place {
    struct pipeline *pipeline;
    struct place *next;
    char *item;
    struct atomic_u32 *met; /* for each stage */
    /* Written by the thread that goes on with the item. */
    size_t stage; /* the stage that the item is in, or has arrived at */
    bool is_made, goes_no_further;
};

struct pipeline {
    struct weft__cleanup cleanup;
    const weft_stage *stages;
    size_t stages_n, places_n;
    const weft_state *kind;
    void *arg;
    weft_scope scope;
    struct place *places;
    struct atomic_u32 *met;
    char *items;
    bool is_alone;                 /* there is one worker: no thief */
    struct atomic_u32 long_stages; /* a bit for each; a hint, written by all threads */
};

/* The arrival of an item at a stage, or its turn there. True: this is the second of the two. */
static bool meet(struct place *place, size_t stage)
{
    /* acq_rel M1: the thread that goes on comes after all that was done with this item, and with
     * the item before it in this stage. Last touch, for the first of the two. */
    if (atomic_fetch_add_acq_rel(&place->met[stage], 1) == 0)
        return false;
    /* relaxed: the next arrival and the next turn come after what this thread does now. */
    atomic_store_relaxed(&place->met[stage], 0);
    return true;
}

/* What the stage took this time. */
static void learn(struct pipeline *all, size_t stage, uint64_t ns)
{
    uint32_t known = atomic_load_relaxed(&all->long_stages); /* relaxed, all: a hint */
    uint32_t bit = UINT32_C(1) << stage % 32;
    if (ns >= LONG_NS && !(known & bit))
        atomic_fetch_or_relaxed(&all->long_stages, bit);
    else if (ns < LONG_NS && known & bit)
        (void)atomic_cas_relaxed(&all->long_stages, &known, known & ~bit); /* or next time */
}

static bool run_stage(weft *w, struct place *place)
{
    struct pipeline *all = place->pipeline;
    size_t stage = place->stage;
    uint64_t begun = all->is_alone ? 0 : weft__clock_now();
    if (!place->is_made && all->kind->make)
        all->kind->make(w, place->item, all->arg);
    place->is_made = true;
    bool goes_on = all->stages[stage].run(w, place->item, all->arg);
    if (!all->is_alone)
        learn(all, stage, weft__clock_now() - begun);
    return goes_on;
}

static void carry(weft *w, void *arg);

static void pass_turn(weft *w, struct place *place, size_t stage)
{
    if (!meet(place, stage))
        return;
    int error = weft_spawn(w, &place->pipeline->scope, carry, place);
    if (error)
        weft_fail(w, error);
    else if (atomic_load_relaxed(&place->pipeline->long_stages)) /* relaxed: a hint */
        weft__pile_publish(weft__worker_of(w), 0, 1);
}

/* The item arrives at the next stage. False: its turn there has not come. */
static bool arrive(struct place *place)
{
    const struct pipeline *all = place->pipeline;
    place->stage = place->stage + 1 < all->stages_n ? place->stage + 1 : 0;
    if (place->stage == 0)
        place->goes_no_further = false;
    return all->stages[place->stage].parallel || meet(place, place->stage);
}

/* An item that goes no further takes its turns all the same, for the items behind it. */
static void carry(weft *w, void *arg)
{
    struct place *place = arg;
    const weft_stage *stages = place->pipeline->stages;
    do {
        size_t stage = place->stage; /* acquire M1: another thread may have written it, and the
                                        item */
        if (weft__is_cancelled(w))
            return;
        if (!place->goes_no_further && !run_stage(w, place)) {
            if (stage == 0)
                return;
            place->goes_no_further = true;
        }
        if (!stages[stage].parallel)
            pass_turn(w, place->next, stage);
    } while (arrive(place));
}

/* ---- Beginning and end ---- */

/* The counters are as if an item before the first one had left all stages, and all other places had
 * come back to the first stage. */
static void prepare(struct pipeline *all, size_t item_size)
{
    for (size_t i = 0; i < all->places_n; i++) {
        struct place *place = &all->places[i];
        *place = (struct place){.pipeline = all,
                                .next = &all->places[(i + 1) % all->places_n],
                                .item = all->items + i * item_size,
                                .met = all->met + i * all->stages_n};
        /* relaxed: no other thread knows of them. */
        for (size_t stage = 0; stage < all->stages_n; stage++)
            atomic_store_relaxed(&place->met[stage], i == 0 ? stage > 0 : stage == 0);
    }
}

static int run(weft *w, struct pipeline *all)
{
    weft_scope_open(w, &all->scope);
    WEFT__MUST_RETURN(weft__callee_threw, carry(w, &all->places[0]));
    return weft_scope_close(w, &all->scope);
}

static void drop_items(weft *w, struct pipeline *all)
{
    for (size_t i = 0; all->kind->drop && i < all->places_n; i++)
        if (all->places[i].is_made)
            all->kind->drop(w, all->places[i].item, all->arg);
}

static void free_all(struct pipeline *all)
{
    weft__free(all->items);
    weft__free(all->met);
    weft__free(all->places);
}

static void end(struct weft__cleanup *of, weft *w)
{
    drop_items(w, (struct pipeline *)of);
    free_all((struct pipeline *)of);
}

/* Items don't share cache lines. */
static size_t spaced(size_t size)
{
    return (size / WEFT__CACHE_LINE + 1) * WEFT__CACHE_LINE;
}

static bool is_too_much(size_t places, size_t stages, size_t item_size)
{
    const size_t most = SIZE_MAX / 4;
    return item_size > most || places > most / spaced(item_size) ||
           places > most / sizeof(struct place) ||
           stages > most / sizeof(struct atomic_u32) / places;
}

int weft_pipeline(weft *w, const weft_stage *stages, size_t n, const weft_state *item,
                  size_t in_flight, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    size_t places = in_flight ? in_flight : 4 * (size_t)weft_pool_workers(weft_pool_of(w));
    if (n == 0 || !stages || !item || stages[0].parallel)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!stages[i].run)
            return -EINVAL;
    if (is_too_much(places, n, item->size))
        return -ENOMEM;
    struct pipeline all = {.stages = stages,
                           .stages_n = n,
                           .places_n = places,
                           .kind = item,
                           .arg = arg,
                           .is_alone = weft_pool_workers(weft_pool_of(w)) < 2};
    all.places = weft__alloc(places * sizeof *all.places);
    all.met = weft__alloc(places * n * sizeof *all.met);
    all.items = weft__alloc(places * spaced(item->size));
    if (!all.places || !all.met || !all.items) {
        free_all(&all);
        return -ENOMEM;
    }
    prepare(&all, spaced(item->size));
    weft__cleanup_push(w, &all.cleanup, end);
    int error = run(w, &all);
    weft__cleanup_pop(w, &all.cleanup);
    end(&all.cleanup, w);
    return error;
}
