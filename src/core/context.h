/* SPDX-License-Identifier: MIT */
/* context.h: what `weft *w` points to.
 *
 * A context is a block of slots, aligned to its own size, with a header at its start:
 *
 *     header | slot | slot | slot | slot | ...         | a page not to be touched
 *              gone   gone ^oldest       ^ `w` of the running code
 *
 * The pointer is the slot: weft_fork(w) fills the slot at w and the left side runs in
 * the next one, so how deep the forks reach is known to the code that passes `w` along
 * and stored nowhere. From the first slot to the running code's, each slot is in use
 * (`fn` is not NULL); from there on, all are free. The header is the pointer with its low
 * bits cleared.
 *
 * On the lazy road, a pending right side is just that slot. A thief takes the oldest one,
 * so the stolen ones are a prefix of the slots. See steal.c for how it does that, and
 * publish.h for the eager road, on which the slot also stands in the worker's deque. */
#ifndef WEFT_CORE_CONTEXT_H
#define WEFT_CORE_CONTEXT_H

#include "core/job.h"
#include "os/lock.h"
#include "os/membarrier.h"
#include "sleep/latch.h"

struct weft__cleanup;
struct weft__mutex;
struct weft__fiber_ops;
struct weft__worker;

struct atomic_fn {
    _Atomic(weft_fn *) value;
};

/* What is behind a `weft *`: the public struct's members, and the rest. The first four are
 * laid out as in struct weft__job: on the eager road a slot stands in a deque. */
struct weft__slot {
    struct atomic_fn fn;       /* NULL: free. Written by the owner; marked by thieves */
    struct atomic_ptr arg;     /* written by the owner before fn */
    struct weft__group *group; /* lazy: if not NULL, the group of this slot's fork and those
                                  above, up to the next such slot. Eager: of this fork */
    void (*execute)(weft *w, struct weft__job *job); /* NULL: it is not in the deque */
    struct weft__latch latch;                        /* set when a stolen right side is over */
    bool group_is_lent;        /* lazy, in the deque: `group` stands here for that alone */
    weft_fn *eager_fn;         /* in the deque: what to run; merge may have cleared fn by then */
    struct atomic_ptr thief;   /* struct weft__worker that runs it, or NULL; written by it */
    struct atomic_uptr wanted; /* SLOT_WANTED: merge takes the slow road. Set by thieves and
                                  by failures under the lock; cleared there, too */
};

#define SLOT_WANTED UINTPTR_MAX

_Static_assert(sizeof(struct weft__slot) == sizeof(struct weft), "struct weft in weft/inline.h");
_Static_assert(offsetof(struct weft__slot, fn) == offsetof(struct weft, fn_) &&
                   offsetof(struct weft__slot, arg) == offsetof(struct weft, arg_) &&
                   offsetof(struct weft__slot, wanted) == offsetof(struct weft, wanted_),
               "struct weft in weft/inline.h");
_Static_assert(sizeof(struct weft__slot) == WEFT__CACHE_LINE,
               "a thief and the owner of the next slot would share a cache line");

/* What a job knows of sleeping workers that could help it; see help.h. Owner only. */
struct weft__help {
    bool wanted;          /* a worker sleeps that a fork could wake */
    bool little;          /* but only if this job goes on for longer than its like have lately */
    unsigned forks;       /* counts shallow forks: every fourth looks at the clock */
    uint64_t started;     /* when the first fork was told of a sleeper; 0: none was yet */
    weft_fn *whole;       /* the job from outside that this is, or NULL */
    weft_fn *first_right; /* what it forked first */
};

/* The header. Its first line is read by every fork and seldom written; the second belongs
 * to thieves. */
struct weft__context {
    WEFT__ALIGNED struct atomic_uptr guard; /* see weft/inline.h; written under the lock */
    struct weft__worker *worker;            /* its owner; of a fiber: the worker that runs it */
    struct weft__group *group;              /* of the job running on top. Owner only */
    weft *first, *last;
    uint32_t fork_count;     /* of the process, when the context was made */
    uint64_t quantum;        /* nanoseconds; constant */
    bool eager;              /* constant */
    struct atomic_ptr root;  /* struct weft__group: of the job running on top, or NULL. Written by
                                the owner; a hint to thieves, and see cancel.c */
    struct atomic_u32 mixed; /* jobs below it that belong to other computations; a hint */
    uint64_t taker;          /* its bit in weft__group.takers; 0: none. Constant; see cancel.c */
    const struct weft__fiber_ops *ops; /* NULL: a thread's own; see fiber.h. Constant */
    unsigned mutexes;                  /* of a fiber: how many it holds */
    struct weft__mutex *held_mutexes;  /* of a fiber: the last one first */
    struct weft__cleanup *cleanups;    /* of a fiber: the newest; see fiber.h */
    size_t top; /* the slot at which weft__context_top() found it last. Owner only */
    struct weft__help help;

    WEFT__ALIGNED struct weft__lock lock; /* thieves, and the owner on the slow roads */
    bool robbed;                          /* something was stolen; under the lock */
    bool raised;                          /* the guard stays so; under the lock */
    unsigned shallow;                     /* slots above the oldest that it covers; lock */
    struct atomic_ptr oldest;             /* weft *: the first slot not stolen; under the lock */
    struct atomic_bool answered;          /* the owner is on a slow road; see steal.c */
    struct atomic_bool away;              /* the owner is blocked: age does not matter */
    weft_fn *marked_fn;                   /* what the mark in the oldest slot replaced; lock */
    struct atomic_u64 marked_at;          /* when; written under the lock */
};

struct weft__context *weft__context_make(struct weft__worker *worker, bool eager,
                                         uint64_t quantum); /* NULL: no memory */
void weft__context_free(struct weft__context *context);

static inline struct weft__context *weft__context_of(weft *w)
{
    return (struct weft__context *)((uintptr_t)w & ~(WEFT_BLOCK_SIZE_ - 1));
}

static inline struct weft__slot *weft__slot_of(weft *w)
{
    return (struct weft__slot *)w;
}

/* The first free slot: the context of whatever runs on top now. Owner only. If all are in use it is
 * on the page that is not to be touched: code that uses it is told of too many forks. */
weft *weft__context_top(struct weft__context *context);

/* Is a right side pending that could be stolen? A hint, unless its owner rests. */
bool weft__context_has_pending(struct weft__context *context);

/* Owner only: was anything stolen since it asked last? */
bool weft__context_robbed(struct weft__context *context);

/* In a forked child the context's owner is alone: a thief that held the lock is not here. */
void weft__context_lock(struct weft__context *context);

/* The owner's next fork takes the slow road. Any thread may do it. */
void weft__context_raise_guard(struct weft__context *context);

/* So does each merge of what is pending. If the caller is not the owner, it has raised the guard
 * before, and there was a barrier in between: a fork that this does not see, then, took the slow
 * road. */
void weft__context_want_pending(struct weft__context *context);

/* The owner: both. */
void weft__context_alert(struct weft__context *context);

/* ---- The owner and thieves on a slow road ---- */

/* The owner's way to the lock. A thief that waits for an answer gets one: everything the
 * owner wrote before is visible to it, and the owner writes no slot until it has the lock. */
static inline void weft__context_answer_and_lock(struct weft__context *context)
{
    atomic_store_release(&context->answered, true); /* release B1 */
    weft__context_lock(context);
}

/* Under the lock. relaxed: the lock, or stop_owner(), orders it. */
static inline void weft__slot_want(struct weft__slot *slot, bool wanted)
{
    atomic_store_relaxed(&slot->wanted, wanted ? SLOT_WANTED : 0);
}

/* Under the lock: the guard as it should be while no thief is at work. */
static inline void weft__context_set_guard(struct weft__context *context)
{
    weft *oldest = atomic_load_relaxed(&context->oldest);
    uintptr_t guard = (uintptr_t)(oldest + context->shallow);
    /* relaxed: the lock carries what the owner has to learn. */
    bool stays_raised = context->raised || weft__membarrier_is_gone();
    atomic_store_relaxed(&context->guard, stays_raised ? UINTPTR_MAX : guard);
}

/* Stands in a slot in place of what is forked there: see steal.c. Never called. */
void weft__slot_marked(weft *w, void *arg);

/* Under the lock, oldest slot: the mark, and since when. */
static inline void weft__context_mark(struct weft__context *context, struct weft__slot *slot,
                                      uint64_t now)
{
    weft_fn *fn = atomic_load_relaxed(&slot->fn);
    /* relaxed: any read-modify-write continues the owner's release B2, which is in weft/inline.h.
     */
    if (fn && fn != weft__slot_marked && atomic_cas_relaxed(&slot->fn, &fn, weft__slot_marked)) {
        context->marked_fn = fn;
        atomic_store_relaxed(&context->marked_at, now); /* relaxed: a hint to other thieves */
    }
}

/* What is forked in the oldest slot, whose `fn` this is. Under the lock. */
static inline weft_fn *weft__context_unmark(const struct weft__context *context, weft_fn *fn)
{
    return fn == weft__slot_marked ? context->marked_fn : fn;
}

/* What is forked in w, whatever thieves have put in its place. The owner, for a message. */
weft_fn *weft__right_of(weft *w);

#endif
