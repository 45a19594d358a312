/* SPDX-License-Identifier: MIT */
/* state.h: what each thread that takes part in a loop has for itself.
 *
 * All states of a loop are in a list. A thread uses a state that was made in its context and that
 * no call of the body further down its stack is using (such a call may wait, and run another part
 * of the loop meanwhile). So before the loop is over, a state is read and written in one context
 * only. */
#ifndef WEFT_PARALLEL_STATE_H
#define WEFT_PARALLEL_STATE_H

#include "core/fiber.h"
#include "weft/parallel.h"

struct weft__kept {
    struct weft__kept *next; /* written before it is shared */
    const struct weft__context *context;
    void *state;     /* `space`; or memory of the loop's caller */
    bool is_used;    /* read and written in that context only */
    bool is_made;    /* `make` has returned: it has to be dropped */
    bool is_callers; /* neither this record nor the state is freed with the list */
    _Alignas(max_align_t) char space[];
};

struct weft__states {
    struct weft__cleanup cleanup;
    const weft_state *kind;
    void *arg;
    struct atomic_ptr list; /* struct weft__kept: the newest first */
};

/* Between these two the loop runs. The end drops all states that were made. If an actor ends in
 * between, they are dropped, too. */
void weft__states_begin(weft *w, struct weft__states *states);
void weft__states_end(weft *w, struct weft__states *states);

/* A state for a call of the body in w. It is made if need be. NULL: the computation has failed with
 * -ENOMEM. */
struct weft__kept *weft__state_take(weft *w, struct weft__states *states);

/* The call is over. */
static inline void weft__state_give(struct weft__kept *kept)
{
    kept->is_used = false;
}

#endif
