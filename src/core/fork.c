/* SPDX-License-Identifier: MIT */
/* Fork, merge and steal.
 *
 * The lazy road. Forking and merging are in weft.h: fork writes the slot, then looks at the
 * guard; merge clears the slot, then looks whether it is wanted; without a fence between. A
 * thief
 *
 *   1. locks the context against other thieves and the owner's slow roads,
 *   2. says that it wants the oldest slot, and raises the guard, so that the owner takes a slow
 *      road at its next fork, or when it merges that slot; there it says `answered` and waits
 *      for the lock;
 *   3. waits a moment for that answer; if none comes, has every thread execute a barrier;
 *   4. reads the slot. Either the owner has cleared it, and the thief sees that; or its merge
 *      will find it wanted, and wait for the lock. So the slot is the thief's to take.
 *   5. puts the guard just above what is gone, and unlocks. A stolen slot stays wanted.
 *
 * Why step 4 is right (B1): the owner's merge does W, clear the slot, then R, read `wanted`;
 * the thief sets that, then has a barrier between itself and every other thread. If the
 * owner's R came before that barrier, so did its W, and the thief sees the slot cleared. If R
 * comes after, it finds the slot wanted. The answer does the same for less: the owner wrote it
 * on the slow road, with release, after all it wrote before, and waits for the lock.
 *
 * Age. A right side younger than a quantum is left alone, and the owner must not pay for
 * knowing its age. So a thief marks it: it replaces `fn` in the slot, which the owner never
 * reads, by a mark, and notes the time. Merging and forking overwrite the mark. If the mark
 * is still there a quantum later, the same right side has waited all that time.
 *
 * Publishing. While workers sleep, the guard is raised, and the next fork takes the slow road
 * and wakes one. That one would have to stop the owner to take what it was woken for; so the
 * fork goes on the worker's deque instead, and its merge takes it back from there.
 *
 * The eager road. The guard is always raised; on the slow road, every fork goes on the
 * worker's deque. */
#include "core/fork.h"

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/scope.h"
#include "core/search.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/fatal.h"
#include "os/membarrier.h"

#undef weft_fork
#undef weft_merge
#undef weft_join

/* The library's own copies of what weft.h puts in place. */
extern weft *weft_fork(weft *w, weft_fn *right, void *arg);
extern bool weft_merge(weft *w);
extern void weft_join(weft *w, weft_fn *left, void *l, weft_fn *right, void *r);

/* How often a thief looks for the answer before it uses the barrier. */
#ifndef WEFT__ANSWER_SPINS
#define WEFT__ANSWER_SPINS 50
#endif

enum {
    SHALLOW_SLOTS = 4, /* forks this deep look at the clock while little work is expected, */
    LOOK_TURN = 4, /* and of these every fourth, because a clock stops the CPU's reading ahead */
};

/* Never called: their addresses stand in slots. */
static void marked(weft *w, void *arg)
{
    (void)w;
    (void)arg;
    weft__fatal("a mark was called");
}

static void waited_for(weft *w, void *arg)
{
    (void)arg;
    marked(w, w);
}

weft_fn *weft__right_of(weft *w)
{
    weft_fn *fn = atomic_load_relaxed(&weft__slot_of(w)->fn); /* relaxed: for a message */
    return fn == marked ? weft__context_of(w)->marked_fn : fn;
}

/* Last touch of the slot. */
static void right_is_over(void *of)
{
    struct weft__slot *slot = of;
    /* Its context stays, but a guest may leave once the latch is set. */
    struct weft__park *owner = weft__worker_of((weft *)slot)->park;
    weft__latch_set_for(&slot->latch, owner);
}

/* ---- Published right sides: every one on the eager road, a few on the lazy one ---- */

static void execute_right(weft *w, struct weft__job *job)
{
    struct weft__slot *slot = (struct weft__slot *)job;
    /* release T1: the owner may follow this to help. */
    atomic_store_release(&slot->thief, weft__worker_of(w));
    weft__call(w, slot->eager_fn, job->arg, job->group);
    weft__worker_of(w)->news = (struct weft__news){right_is_over, slot};
}

/* Makes the slot a job that can stand in a deque. */
static struct weft__job *right_as_job(struct weft__context *context, struct weft__slot *slot)
{
    /* relaxed: written by this thread; or, on the lazy road, marked by a thief under the lock. */
    weft_fn *fn = atomic_load_relaxed(&slot->fn);
    slot->group = context->group;
    slot->execute = execute_right;
    slot->eager_fn = fn == marked ? context->marked_fn : fn;
    atomic_store_relaxed(&slot->wanted, SLOT_WANTED); /* relaxed: read by this thread only */
    /* relaxed, both: the deque publishes them with the job. */
    atomic_store_relaxed(&slot->latch.state, LATCH_UNSET);
    atomic_store_relaxed(&slot->thief, NULL);
    return (struct weft__job *)slot;
}

static void eager_fork(struct weft__context *context, weft *w)
{
    struct weft__slot *slot = weft__slot_of(w);
    if (slot->execute) /* its first right side is on the deque, or was taken from there */
        weft__fatal("weft_fork: w has forked and not merged; run the left side in the context that "
                    "weft_fork returned");
    /* If it can't be published, the caller runs it at merge. */
    if (weft__post_fork(context->worker, right_as_job(context, slot)))
        slot->execute = NULL;
}

/* Takes the right side back from the deque. Jobs above it, spawned by the left side, are
 * run on the way, as they would be if the deque were a stack, or left to others. */
static bool take_back(struct weft__worker *me, weft *w)
{
    struct weft__slot *slot = weft__slot_of(w);
    while (!weft__latch_probe(&slot->latch)) {
        struct weft__job *job = weft__deque_pop(&me->deque);
        if (!job)
            return false; /* stolen */
        if (job == (struct weft__job *)slot)
            return true;
        if (weft__may_help(me)) {
            weft__execute(w + 1, job);
        } else {
            weft__queue_push(&me->pool->injector, weft__spawn_node(job));
            weft__sleep_new_jobs(&me->pool->sleep, 1, false);
        }
    }
    return false;
}

/* While a stolen right side is waited for, its slot must look used to those above. */
static void wait_for_thief(weft *w)
{
    struct weft__slot *slot = weft__slot_of(w);
    atomic_store_relaxed(&slot->fn, waited_for); /* relaxed: read by this thread only */
    weft__wait(w + 1, &slot->latch, WEFT__AWAITS_THIEF(&slot->thief));
    atomic_store_relaxed(&slot->fn, NULL);
}

static bool published_merge(struct weft__context *context, weft *w)
{
    struct weft__slot *slot = weft__slot_of(w);
    atomic_store_relaxed(&slot->fn, waited_for); /* relaxed: as above */
    bool mine = !slot->execute || take_back(context->worker, w);
    atomic_store_relaxed(&slot->fn, NULL);
    if (!mine)
        wait_for_thief(w);
    return !mine || weft__cancelled(w);
}

/* ---- The lazy road: the owner ---- */

/* Under the lock. relaxed: the lock, or stop_owner(), orders it. */
static void want(struct weft__slot *slot, bool wanted)
{
    atomic_store_relaxed(&slot->wanted, wanted ? SLOT_WANTED : 0);
}

/* Under the lock: the guard as it should be while nobody steals. */
static void guard_set(struct weft__context *context)
{
    weft *oldest = atomic_load_relaxed(&context->oldest);
    uintptr_t guard = (uintptr_t)(oldest + context->shallow);
    /* relaxed: the lock carries what the owner has to learn. */
    bool raised = context->called || weft__membarrier_is_gone();
    atomic_store_relaxed(&context->guard, raised ? UINTPTR_MAX : guard);
}

/* The owner's way to the lock. A thief that waits for an answer gets one: everything the
 * owner wrote before is visible to it, and the owner writes no slot until it has the lock. */
static void answer_and_lock(struct weft__context *context)
{
    atomic_store_release(&context->answered, true); /* release B1 */
    weft__context_lock(context);
}

/* Somebody sleeps who could help. Usually it is woken by the first fork there is, since the
 * owner may never come by here again. But if jobs of this kind have been over quickly so
 * far, only once this one goes on for longer; then shallow forks look at the clock. That is a
 * guess, and a wrong one costs a turn of the look-out: so it is made only while there is one. */
static bool wake_now(struct weft__context *context, weft *w)
{
    struct weft__help *help = &context->help;
    if (!help->wanted || (help->little && ++help->forks % LOOK_TURN))
        return false;
    uint64_t now = weft__clock_now();
    if (help->started == 0) {
        help->started = now;
        help->first_right = atomic_load_relaxed(&weft__slot_of(w)->fn); /* relaxed: own */
        struct weft_pool *pool = context->worker->pool;
        help->little = help->whole && weft__sleep_is_watched(&pool->sleep) &&
                       weft__habit_is_brief(&pool->habits, help->whole, help->first_right);
    }
    return !help->little || now - help->started >= WEFT__LITTLE_NS;
}

/* Is that look at the clock all that the slow road was taken for? */
static bool only_looks_at_the_clock(struct weft__context *context)
{
    /* relaxed: a guard that is raised meanwhile is for the next fork. */
    return context->help.started && atomic_load_relaxed(&context->guard) != UINTPTR_MAX &&
           !weft__group_alarm(context->group);
}

/* Under the lock, oldest slot: the mark, and since when. */
static void mark(struct weft__context *context, struct weft__slot *slot, uint64_t now)
{
    weft_fn *fn = atomic_load_relaxed(&slot->fn);
    /* relaxed: any read-modify-write continues the owner's release B2, which is in weft.h. */
    if (fn && fn != marked && atomic_cas_relaxed(&slot->fn, &fn, marked)) {
        context->marked_fn = fn;
        atomic_store_relaxed(&context->marked_at, now); /* relaxed: a hint to other thieves */
    }
}

static void unpublish(struct weft__context *context, struct weft__slot *slot)
{
    slot->execute = NULL;
    if (slot->group_is_lent)
        slot->group = NULL;
    want(slot, context->called);
}

/* Under the lock. The fork that wakes a worker puts its right side where that one finds it
 * without stopping anybody; unless there is an older one, which is for it to take. The last slot
 * stays where it is: there is none after it to be the oldest. */
static void publish(struct weft__context *context, struct weft__slot *slot)
{
    if ((weft *)slot == context->last)
        return;
    slot->group_is_lent = !slot->group;
    if (weft__deque_push(&context->worker->deque, right_as_job(context, slot)))
        unpublish(context, slot);
    else
        atomic_store_relaxed(&context->oldest, slot + 1); /* relaxed: under the lock */
}

/* What the owner does on every slow road. True: the slot at w is stolen. */
static bool look_up(struct weft__context *context, weft *w, bool wake, bool *cancelled)
{
    struct weft_pool *pool = context->worker->pool;
    answer_and_lock(context);
    bool stolen = w < (weft *)atomic_load_relaxed(&context->oldest);
    bool noticed = false;
    /* Under the lock, so that a failure that calls the context now is not overwritten. */
    enum group_state state = weft__group_look(context->group, &noticed);
    *cancelled = state == GROUP_CANCELLED;
    context->called = *cancelled; /* every fork and merge has to know, until it is over */
    if (!stolen)                  /* a stolen one stays wanted until it is merged */
        want(weft__slot_of(w), *cancelled);
    bool look_again = (context->help.wanted && !wake) || state != GROUP_FINE;
    context->shallow = look_again ? SHALLOW_SLOTS : 0;
    struct weft__slot *oldest = atomic_load_relaxed(&context->oldest);
    if (wake && oldest == weft__slot_of(w) &&
        (weft__membarrier_is_gone() || weft__sleep_would_wake(&pool->sleep)))
        publish(context, oldest);
    else if (wake && context->quantum) /* it ages while the one that is woken wakes up */
        mark(context, oldest, weft__clock_now());
    guard_set(context);
    weft__lock_drop(&context->lock);
    if (noticed)
        weft__call_parts(context);
    if (wake) /* if there was no room for anybody, there may be later */
        context->help.wanted = !weft__sleep_new_fork(&pool->sleep, true);
    return stolen;
}

void weft_fork_slow(weft *w)
{
    weft__expect_fork(w, "weft_fork");
    /* relaxed: own; a thief's mark is no NULL either. */
    if (!atomic_load_relaxed(&weft__slot_of(w)->fn))
        weft__lacks("weft_fork", "a function", "right");
    struct weft__context *context = weft__context_of(w);
    if (weft__fiber_ops(w)) {
        weft__fiber_ops(w)->fork(w);
        return;
    }
    if (context->eager) {
        eager_fork(context, w);
        return;
    }
    /* Without a barrier, nobody could take it from a silent owner: as on the eager road. */
    bool cancelled, wake = weft__membarrier_is_gone() || wake_now(context, w);
    if (wake || !only_looks_at_the_clock(context))
        look_up(context, w, wake, &cancelled);
}

/* A slot that was gone, stolen or published, is the oldest one of its context again. */
static void slot_is_back(struct weft__context *context, weft *w, bool robbed)
{
    struct weft__slot *slot = weft__slot_of(w);
    weft__context_lock(context);
    atomic_store_relaxed(&context->oldest, w); /* relaxed: under the lock, as all their writes */
    context->robbed |= robbed;
    if (slot->execute)
        unpublish(context, slot);
    else
        want(slot, context->called);
    guard_set(context);
    weft__lock_drop(&context->lock);
}

bool weft_merge_slow(weft *w)
{
    weft__expect_fork(w, "weft_merge");
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    if (weft__fiber_ops(w))
        return weft__fiber_ops(w)->merge(w);
    if (context->eager) {
        bool over = published_merge(context, w);
        slot->execute = NULL; /* the next fork looks */
        return over;
    }
    if (slot->execute) {
        bool over = published_merge(context, w);
        slot_is_back(context, w, over);
        return over;
    }
    bool cancelled;
    if (!look_up(context, w, false, &cancelled))
        return cancelled;
    wait_for_thief(w);
    slot_is_back(context, w, true);
    return true;
}

/* ---- The lazy road: the thief ---- */

/* The group of a pending slot stands in it or in the nearest slot below that has one.
 * Those don't change while the slot is pending: a scope that was open when it forked is
 * closed after it is merged. */
static struct weft__group *group_of(struct weft__slot *slot)
{
    while (!slot->group)
        slot--;
    return slot->group;
}

static void execute_stolen(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    struct weft__slot *slot = me->stolen_slot;
    weft__call(w, job->fn, job->arg, job->group);
    me->news = (struct weft__news){right_is_over, slot};
}

/* Under the lock: the owner is on a slow road, or will be before it takes the slot back. False: it
 * has not answered, and there is no barrier any more. An owner that is blocked needs none: when it
 * goes on, it passes a fence before it merges (B3). */
static bool stop_owner(struct weft__context *context, struct weft__slot *slot)
{
    /* relaxed, all: the answer or the barrier orders them. An answer that another thief got is from
     * before this slot was used again (bug 30). */
    atomic_store_relaxed(&context->answered, false);
    want(slot, true);
    atomic_store_relaxed(&context->guard, UINTPTR_MAX);
    for (int i = WEFT__ANSWER_SPINS; i > 0; i--) {
        if (atomic_load_acquire(&context->answered)) /* acquire B1 */
            return true;
        weft__relax();
    }
    if (weft__membarrier()) /* fence B1: in every thread; partner: each look at the guard */
        return true;
    atomic_fence_seq_cst(); /* fence B3: wanted, before it looks for the owner */
    return atomic_load_acquire(&context->away); /* acquire B3: the slots as it left them */
}

static bool is_ripe(struct weft__context *context, weft_fn *fn, uint64_t now)
{
    if (context->quantum == 0 || atomic_load_relaxed(&context->away)) /* relaxed: a hint */
        return true;
    return fn == marked && now - atomic_load_relaxed(&context->marked_at) >= context->quantum;
}

/* Under the lock: the right side in the oldest slot, for `me` to run. */
static struct weft__job *take(struct weft__worker *me, struct weft__context *context,
                              struct weft__slot *slot, weft_fn *fn)
{
    me->stolen = (struct weft__job){
        .fn = fn == marked ? context->marked_fn : fn,
        .arg = atomic_load_relaxed(&slot->arg), /* relaxed: acquired with fn */
        .group = group_of(slot),
        .execute = execute_stolen,
    };
    me->stolen_slot = slot;
    /* relaxed: the owner finds out under the lock. */
    atomic_store_relaxed(&slot->latch.state, LATCH_UNSET);
    atomic_store_release(&slot->thief, me); /* release T1 */
    atomic_store_relaxed(&context->oldest, slot + 1);
    context->robbed = true;
    return &me->stolen;
}

/* Can the oldest slot be part of that computation? A hint, so that nobody is stopped in vain. */
static bool may_be_part_of(struct weft__context *context, const struct weft__group *root)
{
    return !root || atomic_load_relaxed(&context->root) == root ||
           atomic_load_relaxed(&context->mixed) > 0; /* relaxed, both: a hint */
}

enum steal_result weft__steal_slot(struct weft__worker *me, struct weft__context *context,
                                   const struct weft__group *root, struct weft__job **job)
{
    struct weft__slot *slot = atomic_load_relaxed(&context->oldest);
    /* relaxed, as long as the lock is not held: hints. */
    weft_fn *fn = atomic_load_relaxed(&slot->fn);
    if (!fn)
        return STEAL_EMPTY;
    if (!may_be_part_of(context, root)) {
        me->saw_foreign = true;
        return STEAL_EMPTY;
    }
    uint64_t now = context->quantum ? weft__clock_now() : 0;
    if (fn == marked && !is_ripe(context, fn, now))
        return STEAL_YOUNG;
    if (!weft__lock_try(&context->lock))
        return STEAL_YOUNG;
    slot = atomic_load_relaxed(&context->oldest);
    fn = atomic_load_relaxed(&slot->fn);
    /* The last slot is its owner's: there is none after it to be the oldest. */
    if (!fn || !is_ripe(context, fn, now) || (weft *)slot == context->last) {
        mark(context, slot, now);
        weft__lock_drop(&context->lock);
        return STEAL_YOUNG;
    }
    bool stopped = stop_owner(context, slot);
    fn = atomic_load_acquire(&slot->fn); /* acquire B2: what the owner forked */
    bool taken = stopped && fn && is_ripe(context, fn, now) &&
                 weft__may_take(me, root, group_of(slot)->root);
    if (taken) {
        *job = take(me, context, slot, fn);
        if (context->quantum) /* the next one ages while the thief is busy */
            mark(context, slot + 1, now);
    } else {
        /* Whose group was looked at stays wanted: its merge goes by the lock, after that look. */
        want(slot, context->called || (stopped && fn));
    }
    guard_set(context);
    weft__lock_drop(&context->lock);
    if (!stopped)
        weft__call_attention(me->pool); /* from now on, every fork is on the eager road */
    return taken ? STEAL_GOT : STEAL_EMPTY;
}

/* Its owner takes it the way a thief does, but needs nobody to be stopped. */
struct weft__job *weft__take_own(struct weft__worker *me)
{
    struct weft__context *context = me->context;
    if (context->eager || !weft__context_has_pending(context))
        return NULL;
    struct weft__job *job = NULL;
    answer_and_lock(context);
    struct weft__slot *slot = atomic_load_relaxed(&context->oldest); /* relaxed: under the lock */
    weft_fn *fn = atomic_load_relaxed(&slot->fn);
    if (fn && (weft *)slot != context->last) {
        want(slot, true);
        job = take(me, context, slot, fn);
        guard_set(context);
    }
    weft__lock_drop(&context->lock);
    me->taken_from = job ? me : NULL;
    me->taken_slot = (weft *)slot;
    return job;
}

void weft__context_expect(struct weft__context *context)
{
    context->help = (struct weft__help){.wanted = true};
    weft__context_call(context);
}

/* On the deque it is found by who looks, without a quantum's wait and without a barrier. Older
 * forks are for them to take first; if one is pending, this is a fork like others. */
weft *weft__fork_openly(weft *w, weft_fn *right, void *arg)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    weft *in = weft_fork(w, right, arg);
    if (context->eager || slot->execute)
        return in; /* it is there already */
    answer_and_lock(context);
    if (atomic_load_relaxed(&context->oldest) == slot) { /* relaxed: under the lock */
        publish(context, slot);
        guard_set(context);
    }
    weft__lock_drop(&context->lock);
    return in;
}

void weft__context_is_long(struct weft__context *context)
{
    if (!context->help.wanted || !context->help.little)
        return;
    context->help.little = false;
    weft__context_call(context);
}

/* ---- Checks ---- */

weft *weft_fork_checked(weft *w, weft_fn *right, void *arg, const char *where)
{
    if (!w || !right)
        weft__fatal("%s: weft_fork needs a context and a function", where);
    weft__expect_own(w, where);
    if (atomic_load_relaxed(&weft__slot_of(w)->fn))
        weft__fatal("%s: weft_fork in a context that has forked already; run the left side in "
                    "the context that weft_fork returned: here, or where w came from",
                    where);
    return weft_fork(w, right, arg);
}

bool weft_merge_checked(weft *w, const char *where)
{
    if (!w)
        weft__fatal("%s: weft_merge needs a context", where);
    weft__expect_own(w, where);
    if (!atomic_load_relaxed(&weft__slot_of(w)->fn))
        weft__fatal("%s: weft_merge without weft_fork; merge takes the context that was given "
                    "to fork, and the left side the one that fork returned: was it given w?",
                    where);
    if (w < weft__context_of(w)->last && atomic_load_relaxed(&weft__slot_of(w + 1)->fn))
        weft__fatal("%s: weft_merge in another order; what the left side forked has to be merged "
                    "first: did it return between weft_fork and weft_merge?",
                    where);
    return weft_merge(w);
}

void weft_join_checked(weft *w, weft_fn *left, void *l, weft_fn *right, void *r, const char *where)
{
    if (!left)
        weft__fatal("%s: weft_join needs two functions", where);
    left(weft_fork_checked(w, right, r, where), l);
    if (!weft_merge_checked(w, where))
        right(w, r);
}
