/* SPDX-License-Identifier: MIT */
/* context.h: what `weft *w` points to.
 *
 * A context is a block of slots, aligned to its own size, with a header at its start:
 *
 *     header | slot | slot | slot | slot | ...         | end
 *              gone   gone ^oldest       ^ `w` of the running code
 *
 * The pointer is the slot: weft_fork(w) fills the slot at w, and the left side runs in the next
 * slot. So the code that passes `w` along knows how deep the forks reach, and that is stored
 * nowhere. All slots before the running code's are in use (`fn` is not NULL); that slot and all
 * after it are free. The address of the header is the pointer with its low bits cleared.
 *
 * `end` lies in the first line of the next block, where forks and merges always take the slow road.
 * A fork there is not kept: it is only counted, in `in_place`, and the left side runs in `end`,
 * too. Its merge counts down, and the caller runs the right side. So any number of forks may be
 * pending; those in the slots can be stolen.
 *
 * On the lazy road, a pending right side is just a slot. A thief takes the oldest one, so the
 * stolen slots are a prefix of the slots. See steal.c for how it does that, and publish.h for the
 * eager road, on which the slot also stands in the worker's deque. */
#ifndef WEFT_CORE_CONTEXT_H
#define WEFT_CORE_CONTEXT_H

#include "core/group.h"
#include "core/job.h"
#include "os/lock.h"
#include "os/membarrier.h"
#include "sleep/latch.h"

struct weft__cleanup;
struct weft__left;
struct weft__mutex;
struct weft__fiber_ops;
struct weft__worker;

struct atomic_fn {
    _Atomic(weft_fn *) value;
};

/* What is behind a `weft *`: the public struct's members, and the rest. Fork and merge touch the
 * first cache line. The second is for what is needed when a worker wants the right side, and to
 * begin a job or a scope. */
struct weft__slot {
    struct atomic_fn fn;       /* NULL: free. Written by the owner; marked by thieves */
    struct atomic_ptr arg;     /* written by the owner before fn */
    uint64_t words[4];         /* of WEFT_FORK_IN: arguments, written by the owner before fn; a
                                  result, written by the thief before the latch is set */
    uint64_t guard;            /* of the next block, in `end` */
    struct atomic_uptr wanted; /* SLOT_WANTED: merge takes the slow road. On the lazy road, set and
                                  cleared under the lock */
    union {
        struct weft__job job; /* on the eager road, this stands in a deque */
        struct {
            weft_fn *eager_fn; /* what to run if it was published: merge may have cleared fn */
            void *eager_arg;
            struct weft__group *group; /* lazy: if not NULL, the group of the fork here, and of the
                                          forks in the slots above up to the next slot that has
                                          one. Eager: the group of the fork here */
            void (*execute)(weft *w, struct weft__job *job); /* NULL: it was not published on the
                                                                deque */
        };
    };
    struct weft__latch latch; /* set when a stolen right side is over */
    bool group_is_lent;       /* lazy road: `group` was written for the deque, and goes with it */
    struct atomic_bool given_up; /* written by the owner between fork and merge; see group.h */
    struct atomic_bool failed;   /* the right side has failed alone, see group.h. Set by the thief,
                                    cleared by the owner at the merge; under the lock */
    struct atomic_ptr thief; /* struct weft__worker that runs the right side, which writes it; or
                                NULL */
    weft *base;              /* while others run the right side: the first slot of the fork's group
                                in this context. Written by the thief that takes it, or by the owner
                                that publishes it */
    uint64_t unused[1];
};

#define SLOT_WANTED UINTPTR_MAX

_Static_assert(sizeof(struct weft__slot) == sizeof(struct weft), "struct weft in weft/inline.h");
_Static_assert(offsetof(struct weft__slot, fn) == offsetof(struct weft, fn_) &&
                   offsetof(struct weft__slot, arg) == offsetof(struct weft, arg_) &&
                   offsetof(struct weft__slot, words) == offsetof(struct weft, words_) &&
                   offsetof(struct weft__slot, guard) == offsetof(struct weft, guard_) &&
                   offsetof(struct weft__slot, eager_fn) == offsetof(struct weft__slot, job.fn) &&
                   offsetof(struct weft__slot, eager_arg) == offsetof(struct weft__slot, job.arg) &&
                   offsetof(struct weft__slot, group) == offsetof(struct weft__slot, job.group) &&
                   offsetof(struct weft__slot, execute) ==
                       offsetof(struct weft__slot, job.execute) &&
                   offsetof(struct weft__slot, wanted) == offsetof(struct weft, wanted_),
               "struct weft in weft/inline.h");
_Static_assert(sizeof(struct weft__slot) % WEFT__CACHE_LINE == 0 &&
                   offsetof(struct weft__slot, job) == WEFT__CACHE_LINE,
               "a thief and the owner of the next slot would share a cache line");

/* What a job knows of sleeping workers that could help it; see help.h. Owner only. */
struct weft__help {
    bool wanted;          /* a worker sleeps that a fork could wake */
    bool little;          /* jobs of this kind were brief lately: no fork wakes a worker before this
                             job has taken longer */
    unsigned forks;       /* counts shallow forks: every fourth reads the clock */
    uint64_t started;     /* when the first fork took the slow road to wake a worker; 0: not yet */
    weft_fn *whole;       /* the function of the job, if it came from outside; or NULL */
    weft_fn *first_right; /* what it forked first */
};

/* The header. Its first line is read by every fork and seldom written; the last belongs to
 * thieves. */
struct weft__context {
    WEFT__ALIGNED unsigned char end_of_other[offsetof(struct weft, guard_)]; /* of the context in
                                       the block before, if there is one; as wanted_of_other */
    struct atomic_uptr guard; /* see weft/inline.h; written under the lock */
    struct atomic_uptr wanted_of_other;
    unsigned char rest_of_other[sizeof(struct weft) - offsetof(struct weft, rest_)];
    struct weft__worker *worker; /* its owner; of a fiber: the worker that runs it */
    struct weft__group *group;   /* of the job that runs on top. Owner only */
    weft *base;                  /* the slot in which that group begins here. Owner only; not of a
                                    fiber, whose right sides do not fail alone */
    weft *first, *last, *end;    /* end is last + 1 */
    size_t in_place;             /* forks in `end` that are not merged. Owner only */
    struct weft__left *kept;     /* what their slots would have; see inplace.h. Owner only */
    uint32_t fork_count;         /* of the process, when the context was made or last locked */
    uint64_t quantum;            /* nanoseconds; constant */
    bool eager;                  /* constant */
    struct atomic_ptr root;  /* struct weft__group: the root of the job on top, or NULL. Written by
                                the owner; a hint to thieves, and see cancel.c */
    struct atomic_u32 mixed; /* how many jobs lie on top of a job of another computation. Written by
                                the owner; a hint to thieves */
    uint64_t taker;          /* its bit in weft__group.takers; 0: none. Constant; see cancel.c */
    const struct weft__fiber_ops *ops; /* NULL: the context is a thread's own; see fiber.h.
                                          Constant */
    unsigned mutexes;                  /* of a fiber: how many mutexes and other locks it holds */
    struct weft__mutex *held_mutexes;  /* of a fiber: the mutex locked last comes first */
    struct weft__cleanup *cleanups;    /* of a fiber: the newest cleanup; see fiber.h */
    size_t top; /* index of the slot that weft__context_top() found last. Owner only */
    struct weft__help help;

    WEFT__ALIGNED struct weft__lock lock; /* for thieves, and the owner on the slow roads */
    bool robbed;                          /* a right side was stolen; under the lock */
    bool raised;                          /* the guard stays above all slots; under the lock */
    unsigned shallow;                     /* the guard covers so many slots above the oldest, too;
                                             under the lock */
    struct atomic_ptr oldest;             /* weft *: the first slot that is neither stolen nor
                                             published; written under the lock */
    struct atomic_bool answered;          /* the owner is on a slow road; see steal.c */
    struct atomic_bool away;              /* the owner is blocked: thieves take young forks, too */
    struct atomic_ptr failed;             /* weft *: the last slot whose right side has failed
                                             alone, or NULL; written under the lock */
    weft_fn *marked_fn;                   /* what the mark in the oldest slot replaced; under the
                                             lock */
    struct atomic_u64 marked_at;          /* when the oldest slot was marked; written under the
                                             lock */
};

struct weft__context *weft__context_make(struct weft__worker *worker, bool eager,
                                         uint64_t quantum); /* NULL: no memory */
void weft__context_free(struct weft__context *context);

/* The slots of a context whose block is set to zero: from `first` to the end of the block. The
 * first line of the next block belongs to it, too. */
void weft__context_has_slots(struct weft__context *context, weft *first);

static inline struct weft__context *weft__context_of(weft *w)
{
    /* `end` lies just behind the block, and no slot at its beginning. */
    return (struct weft__context *)(((uintptr_t)w - 1) & ~(WEFT_BLOCK_SIZE_ - 1));
}

static inline struct weft__slot *weft__slot_of(weft *w)
{
    return (struct weft__slot *)w;
}

/* A job from a deque that is known to be a right side. */
static inline struct weft__slot *weft__slot_of_job(struct weft__job *job)
{
    return (struct weft__slot *)((char *)job - offsetof(struct weft__slot, job));
}

/* The first free slot, or `end`: the context of the code that runs on top now. Owner only. */
weft *weft__context_top(struct weft__context *context);

/* Where a group would be made now: on top of what runs in the context. Owner only. */
struct weft__around weft__context_around(struct weft__context *context);

/* The first slot of the group of a pending fork: the group stands there. It does not change while
 * the fork is pending: a scope that was open at the fork is closed after the merge. Lazy road. */
static inline weft *weft__slot_base(struct weft__slot *slot)
{
    while (!slot->group || slot->group_is_lent)
        slot--;
    return (weft *)slot;
}

/* Is a right side pending that could be stolen? A hint, unless its owner rests. */
bool weft__context_has_pending(struct weft__context *context);

/* Owner only: was anything stolen since it asked last? */
bool weft__context_robbed(struct weft__context *context);

/* In a forked child the context's owner is the only thread. A lock that a thief held in the parent
 * is freed first. */
void weft__context_lock(struct weft__context *context);

/* The owner's next fork takes the slow road. Any thread may do it. */
void weft__context_raise_guard(struct weft__context *context);

/* The merge of each pending fork takes the slow road. A caller that is not the owner has raised the
 * guard before, with a barrier in between: so a fork that this call does not see has seen the
 * guard. */
void weft__context_want_pending(struct weft__context *context);

/* Both; by the owner. */
void weft__context_alert(struct weft__context *context);

/* ---- The owner and thieves on a slow road ---- */

/* The owner's way to the lock. A thief that waits for an answer gets it, and sees everything that
 * the owner wrote before. The owner writes no slot until it has the lock. */
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
    /* relaxed: what the owner has to learn, it reads under the lock. */
    bool stays_raised = context->raised || weft__membarrier_is_gone();
    atomic_store_relaxed(&context->guard, stays_raised ? UINTPTR_MAX : guard);
}

/* The mark: stands in a slot in place of the forked function; see steal.c. Never called. */
void weft__slot_marked(weft *w, void *arg);

/* Under the lock: marks the oldest slot, and notes the time. */
static inline void weft__context_mark(struct weft__context *context, struct weft__slot *slot,
                                      uint64_t now)
{
    weft_fn *fn = atomic_load_relaxed(&slot->fn);
    /* relaxed: any read-modify-write continues the owner's release B2, which is in
     * weft/inline.h. */
    if (fn && fn != weft__slot_marked && atomic_cas_relaxed(&slot->fn, &fn, weft__slot_marked)) {
        context->marked_fn = fn;
        atomic_store_relaxed(&context->marked_at, now); /* relaxed: a hint to other thieves */
    }
}

/* Under the lock: the function that is forked in the oldest slot. `fn`: what stands in the slot. */
static inline weft_fn *weft__context_unmark(const struct weft__context *context, weft_fn *fn)
{
    return fn == weft__slot_marked ? context->marked_fn : fn;
}

/* The function that is forked in w, even if w is marked. By the owner, for a message. */
weft_fn *weft__right_of(weft *w);

#endif
