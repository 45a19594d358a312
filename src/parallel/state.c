/* SPDX-License-Identifier: MIT */
/* Loops whose body has a state of its own on each worker: a buffer, a random generator, sums.
 *
 * All states of a loop are in a list. A thread uses a state that was made in its context and that
 * no call of the body further down its stack is using (such a call may wait, and run another part
 * of the loop meanwhile). So before the loop is over, a state is read and written in one context
 * only. */
#include "parallel/for.h"

#include "core/fiber.h"
#include "core/misuse.h"
#include "os/memory.h"

#include <errno.h>

struct kept {
    struct kept *next; /* written before it is shared */
    const struct weft__context *context;
    bool is_used; /* read and written in that context only */
    _Alignas(max_align_t) char state[];
};

struct loop {
    struct weft__cleanup cleanup;
    const weft_state *kind;
    weft_state_fn *body;
    void *arg;
    struct atomic_ptr list; /* struct kept: the newest first */
};

static struct kept *find(struct loop *loop, const struct weft__context *me)
{
    struct kept *kept = atomic_load_acquire(&loop->list); /* acquire S1 */
    while (kept && (kept->context != me || kept->is_used))
        kept = kept->next;
    return kept;
}

static struct kept *make(weft *w, struct loop *loop, const struct weft__context *me)
{
    struct kept *kept = weft__alloc(sizeof *kept + loop->kind->size);
    if (!kept)
        return NULL;
    kept->context = me;
    if (loop->kind->make)
        loop->kind->make(w, kept->state, loop->arg);
    void *newest = atomic_load_acquire(&loop->list); /* acquire S1: `next` leads to it */
    do
        kept->next = newest;
    while (!atomic_cas_acq_rel(&loop->list, &newest, kept)); /* acq_rel S1 */
    return kept;
}

static void run_range(weft *w, size_t begin, size_t end, void *arg)
{
    struct loop *loop = arg;
    const struct weft__context *me = weft__context_of(w);
    struct kept *kept = find(loop, me);
    if (!kept)
        kept = make(w, loop, me);
    if (!kept) {
        weft_fail(w, -ENOMEM);
        return;
    }
    kept->is_used = true;
    loop->body(w, begin, end, kept->state, loop->arg);
    kept->is_used = false;
}

static void drop_all(struct weft__cleanup *of, weft *w)
{
    struct loop *loop = (struct loop *)of;
    struct kept *kept = atomic_load_acquire(&loop->list); /* acquire S1 */
    while (kept) {
        struct kept *next = kept->next;
        if (loop->kind->drop)
            loop->kind->drop(w, kept->state, loop->arg);
        weft__free(kept);
        kept = next;
    }
}

void weft_for_with(weft *w, size_t begin, size_t end, const weft_state *state, weft_state_fn *body,
                   void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(state, "a state");
    WEFT__NEEDS(body, "a function");
    struct loop loop = {.kind = state, .body = body, .arg = arg};
    if (end <= begin || weft__is_cancelled(w))
        return;
    const struct weft__loop ranges = {.body = run_range, .arg = &loop, .key = WEFT__KEY(body)};
    weft__cleanup_push(w, &loop.cleanup, drop_all);
    weft__for(w, begin, end, &ranges);
    weft__cleanup_pop(w, &loop.cleanup);
    drop_all(&loop.cleanup, w);
}
