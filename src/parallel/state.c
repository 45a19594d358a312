/* SPDX-License-Identifier: MIT */
#include "parallel/state.h"

#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/for.h"

#include <errno.h>

static struct weft__kept *find(struct weft__states *states, const struct weft__context *me)
{
    struct weft__kept *kept = atomic_load_acquire(&states->list); /* acquire S1 */
    while (kept && (kept->context != me || kept->is_used))
        kept = kept->next;
    return kept;
}

/* It is in the list before it is made: if an actor ends in `make`, the memory is not lost. */
static struct weft__kept *make(weft *w, struct weft__states *states, const struct weft__context *me)
{
    struct weft__kept *kept = weft__alloc(sizeof *kept + states->kind->size);
    if (!kept)
        return NULL;
    kept->context = me;
    kept->state = kept->space;
    kept->is_used = true;
    void *newest = atomic_load_acquire(&states->list); /* acquire S1: `next` leads to it */
    do
        kept->next = newest;
    while (!atomic_cas_acq_rel(&states->list, &newest, kept)); /* acq_rel S1 */
    if (states->kind->make)
        states->kind->make(w, kept->state, states->arg);
    kept->is_made = true;
    return kept;
}

struct weft__kept *weft__state_take(weft *w, struct weft__states *states)
{
    const struct weft__context *me = weft__context_of(w);
    struct weft__kept *kept = find(states, me);
    if (!kept)
        kept = make(w, states, me);
    if (kept)
        kept->is_used = true;
    else
        weft_fail(w, -ENOMEM);
    return kept;
}

static void drop_all(struct weft__cleanup *of, weft *w)
{
    struct weft__states *states = (struct weft__states *)of;
    struct weft__kept *kept = atomic_load_acquire(&states->list); /* acquire S1 */
    while (kept) {
        struct weft__kept *next = kept->next;
        if (kept->is_made && states->kind->drop)
            states->kind->drop(w, kept->state, states->arg);
        if (!kept->is_callers)
            weft__free(kept);
        kept = next;
    }
}

void weft__states_begin(weft *w, struct weft__states *states)
{
    weft__cleanup_push(w, &states->cleanup, drop_all);
}

void weft__states_end(weft *w, struct weft__states *states)
{
    weft__cleanup_pop(w, &states->cleanup);
    WEFT__MUST_RETURN(weft__callee_threw, drop_all(&states->cleanup, w));
}

/* ---- A plain loop ---- */

struct loop {
    struct weft__states states;
    weft_state_fn *body;
    void *arg;
};

static void run_range(weft *w, size_t begin, size_t end, void *arg)
{
    struct loop *loop = arg;
    struct weft__kept *kept = weft__state_take(w, &loop->states);
    if (!kept)
        return;
    loop->body(w, begin, end, kept->state, loop->arg);
    weft__state_give(kept);
}

void weft_for_with(weft *w, size_t begin, size_t end, const weft_state *state, weft_state_fn *body,
                   void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(state, "a state");
    WEFT__NEEDS(body, "a function");
    struct loop loop = {.states = {.kind = state, .arg = arg}, .body = body, .arg = arg};
    if (end <= begin)
        return;
    const struct weft__loop ranges = {.body = run_range, .arg = &loop, .key = WEFT__KEY(body)};
    weft__states_begin(w, &loop.states);
    weft__for(w, begin, end, &ranges);
    weft__states_end(w, &loop.states);
}
