/* SPDX-License-Identifier: MIT */
/* Pipelines. There are as many places for items as may be under way, in a ring: the item in a
 * place follows the one in the place before, for ever. A place goes through the stages, and
 * from the last one back to the first.
 *
 * At a stage that is not parallel, an item needs two things: to have arrived, and its turn, which
 * the item before gives it when it has left the stage. `met` counts them, and who brings the
 * second one goes on with the item: so nobody waits, and nobody looks for work here.
 *
 *   0 -arrival or turn-> 1 -the other one-> 0, and the stage runs
 *
 * Who has run such a stage may have two items to go on with, its own and the next one. It
 * spawns the next one. When there are no more items, the first stage passes no turn on, and
 * everything comes to rest. */
#include "weft/pipeline.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "os/atomic.h"
#include "os/memory.h"
#include "parallel/pace.h"
#include "weft/parallel.h"

#include <errno.h>

struct place {
    struct pipeline *pipeline;
    struct place *next;
    char *item;
    struct atomic_u32 *met;        /* for each stage */
    size_t stage;                  /* where it is, or has arrived; by who goes on with it */
    bool is_made, goes_no_further; /* by the same */
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
};

/* The arrival of a place at a stage, or its turn there: true for the second of the two. */
static bool meet(struct place *place, size_t stage)
{
    /* acq_rel M1: who goes on comes after what this item, and the one before it in this stage,
     * went through. The last touch, for the first of the two. */
    if (atomic_fetch_add_acq_rel(&place->met[stage], 1) == 0)
        return false;
    /* relaxed: the next turn here is given after all that comes now. */
    atomic_store_relaxed(&place->met[stage], 0);
    return true;
}

static bool run_stage(weft *w, struct place *place)
{
    struct pipeline *all = place->pipeline;
    if (!place->is_made && all->kind->make)
        all->kind->make(w, place->item, all->arg);
    place->is_made = true;
    return all->stages[place->stage].run(w, place->item, all->arg);
}

static void carry(weft *w, void *arg);

static void pass_turn(weft *w, struct place *place, size_t stage)
{
    if (!meet(place, stage))
        return;
    int error = weft_spawn(w, &place->pipeline->scope, carry, place);
    if (error)
        weft_fail(w, error);
}

/* On to the next stage. False: its turn there has not come. */
static bool arrive(struct place *place)
{
    const struct pipeline *all = place->pipeline;
    place->stage = place->stage + 1 < all->stages_n ? place->stage + 1 : 0;
    if (place->stage == 0)
        place->goes_no_further = false;
    return all->stages[place->stage].parallel || meet(place, place->stage);
}

/* An item that goes no further takes its turns all the same, for those behind it. */
static void carry(weft *w, void *arg)
{
    struct place *place = arg;
    const weft_stage *stages = place->pipeline->stages;
    do {
        size_t stage = place->stage; /* acquire M1: it, and the item, may be another thread's */
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

/* As if an item before the first one had left all stages, and all places had come back. */
static void prepare(struct pipeline *all, size_t item_size)
{
    for (size_t i = 0; i < all->places_n; i++) {
        struct place *place = &all->places[i];
        *place = (struct place){.pipeline = all,
                                .next = &all->places[(i + 1) % all->places_n],
                                .item = all->items + i * item_size,
                                .met = all->met + i * all->stages_n};
        /* relaxed: nobody else knows of them. */
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

/* Items are cache lines apart. */
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
    struct pipeline all = {
        .stages = stages, .stages_n = n, .places_n = places, .kind = item, .arg = arg};
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
