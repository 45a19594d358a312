/* SPDX-License-Identifier: MIT */
#include "core/search.h"

#include "core/guest.h"
#include "core/pool.h"
#include "core/steal.h"

enum {
    INJECTOR_TURN = 16, /* one search in so many looks at the injector first, so that jobs from
                           outside are not starved by forks and spawned jobs */
};

static uint64_t next_random(struct weft__worker *me)
{
    me->random ^= me->random << 13;
    me->random ^= me->random >> 7;
    me->random ^= me->random << 17;
    return me->random;
}

/* The slot of a job from the victim's deque, if it is a right side; NULL: it was spawned. */
static weft *fork_of(struct weft__worker *victim, struct weft__job *job)
{
    weft *slot = (weft *)weft__slot_of_job(job);
    return weft__context_of(slot) == victim->context ? slot : NULL;
}

bool weft__steps_back(struct weft__worker *me)
{
    struct weft__sleep *sleep = &me->pool->sleep;
    return me->kind != WORKER_GUEST && weft__sleep_over_full(sleep) &&
           !(me->overtakes && weft__sleep_is_one_too_many(sleep));
}

/* What the worker does, for the look-out that may take its place. A sleeper has no place. */
static enum worker_seeks seeks_of(struct weft__worker *worker)
{
    enum worker_seeks seeks = atomic_load_relaxed(&worker->seeks); /* relaxed, both: see below */
    if (seeks == SEEKS_FREELY && atomic_load_relaxed(&worker->park->state) != PARK_AWAKE)
        return SEEKS_NOTHING;
    return seeks;
}

/* Is exactly one thread too many awake, and is there a searcher that takes nothing, whose place the
 * caller can have? The caller has said SEEKS_TAKES, and passed a fence since. The place of a thread
 * that waits in a job can't be taken. */
static bool has_place_of_searcher(struct weft__worker *me)
{
    struct weft_pool *pool = me->pool;
    unsigned seekers[SEEKS_TAKES + 1] = {0};
    if (!weft__sleep_is_one_too_many(&pool->sleep))
        return false;
    /* relaxed: after the fence. A worker that the counters count as asleep is not AWAKE here. */
    for (unsigned i = 0; i < pool->config.workers; i++)
        if (pool->workers[i] != me)
            seekers[seeks_of(pool->workers[i])]++;
    return seekers[SEEKS_FREELY] > 0 && seekers[SEEKS_TAKES] == 0 &&
           atomic_load_relaxed(&pool->sleep.blocked) == 0; /* spares were not looked at */
}

bool weft__may_begin(struct weft__worker *me)
{
    if (me->kind == WORKER_GUEST)
        return true;
    atomic_store_relaxed(&weft__outermost(me)->seeks,
                         SEEKS_TAKES); /* relaxed: the fence orders it */
    atomic_fence_seq_cst();            /* fence F1; partner: weft__may_overtake() */
    if (!weft__sleep_over_full(&me->pool->sleep))
        return true;
    /* Since this look-out woke up, the searcher may have stepped back, and guests may have come. */
    return me->overtakes && has_place_of_searcher(me);
}

bool weft__may_overtake(struct weft__worker *lookout)
{
    atomic_store_relaxed(&lookout->seeks, SEEKS_TAKES); /* relaxed: the fence orders it */
    atomic_fence_seq_cst(); /* fence F1; partners: weft__may_begin(), and another look-out here */
    return has_place_of_searcher(lookout);
}

bool weft__may_take(struct weft__worker *me, const struct weft__group *root,
                    const struct weft__group *of)
{
    if (root && root != of) {
        me->saw_foreign = true;
        return false;
    }
    return weft__may_begin(me);
}

static enum steal_result steal_from_deque(struct weft__worker *me, struct weft__worker *victim,
                                          const struct weft__group *root, struct weft__found *found)
{
    struct weft__glimpse glimpse;
    enum steal_result result = weft__deque_look(&victim->deque, &glimpse);
    if (result != STEAL_GOT || !weft__may_take(me, root, glimpse.root))
        return STEAL_EMPTY;
    result = weft__deque_take(&victim->deque, &glimpse);
    if (result == STEAL_GOT)
        *found = (struct weft__found){
            .job = glimpse.job, .from = victim, .slot = fork_of(victim, glimpse.job)};
    return result;
}

/* Tries again as long as another thread was faster. So EMPTY is true of a moment within this call,
 * and the sleep module relies on that. `root`: of the computation that the thief wants; NULL:
 * any. */
static bool steal_from(struct weft__worker *me, struct weft__worker *victim,
                       const struct weft__group *root, struct weft__found *found)
{
    enum steal_result result;
    if (victim == me)
        return false;
    do
        result = steal_from_deque(me, victim, root, found);
    while (result == STEAL_LOST);
    if (result == STEAL_EMPTY && !victim->context->eager)
        result = weft__steal_slot(me, victim->context, root, found);
    me->saw_young |= result == STEAL_YOUNG;
    if (result != STEAL_GOT && !victim->context->eager)
        result = weft__steal_piled(me, victim, root, found);
    me->saw_young |= result == STEAL_YOUNG;
    if (result != STEAL_GOT)
        return false;
    weft__count_up(&me->counts->steals);
    return true;
}

/* The next two only between weft__walk_begin() and weft__walk_end(): the victim may be a guest. */

/* The thief that runs the awaited right side exists as long as that is not over. So the latch is
 * read last before stealing. */
static bool steal_from_thief(struct weft__worker *me, const struct weft__aim *aim,
                             const struct weft__group *root, struct weft__found *found)
{
    if (!aim->thief)
        return false;
    struct weft__worker *thief = atomic_load_acquire(aim->thief); /* acquire T1 */
    return thief && !weft__latch_probe(aim->latch) && steal_from(me, thief, root, found);
}

static bool steal_from_guests(struct weft__worker *me, const struct weft__group *root,
                              struct weft__found *found)
{
    bool stole = false;
    struct weft__worker *guest = weft__guests_first(me->pool);
    for (; guest && !stole; guest = weft__guests_next(guest))
        stole = steal_from(me, guest, root, found);
    return stole;
}

static bool steal(struct weft__worker *me, const struct weft__aim *aim,
                  const struct weft__group *root, struct weft__found *found)
{
    struct weft_pool *pool = me->pool;
    weft__walk_begin(me);
    bool stole = steal_from_thief(me, aim, root, found);
    unsigned n = pool->config.workers;
    unsigned start = (unsigned)(next_random(me) % n);
    for (unsigned i = 0; i < n && !stole; i++)
        stole = steal_from(me, pool->workers[(start + i) % n], root, found);
    if (!stole)
        stole = steal_from_guests(me, root, found);
    weft__walk_end(me);
    return stole;
}

/* For a job that was not stolen. */
static bool found_job(struct weft__found *found, struct weft__job *job)
{
    *found = (struct weft__found){.job = job};
    return job != NULL;
}

static struct weft__job *was_injected(struct weft__worker *me, struct weft__node *node)
{
    if (!node)
        return NULL;
    weft__count_up(&me->counts->injected);
    return &node->job;
}

struct weft__job *weft__find_injected(struct weft__worker *me)
{
    return was_injected(me, weft__queue_pop(&me->pool->injector));
}

struct weft__job *weft__find_mail(struct weft__worker *me)
{
    struct weft__node *node = weft__queue_pop(&me->mailbox);
    return node ? &node->job : NULL;
}

static struct weft__job *take_injected(struct weft__worker *me)
{
    if (weft__queue_length(&me->pool->injector) == 0)
        return NULL;
    struct atomic_u32 *seeks = &weft__outermost(me)->seeks;
    uint32_t before = atomic_load_relaxed(seeks); /* relaxed, both: its own */
    struct weft__job *job = weft__may_begin(me) ? weft__find_injected(me) : NULL;
    if (!job)
        atomic_store_relaxed(seeks, before);
    return job;
}

static bool take_wanted(struct weft__worker *me, struct weft__want want, struct weft__found *found)
{
    return found_job(found, was_injected(me, weft__queue_pop_wanted(&me->pool->injector, want)));
}

static bool find_anything(struct weft__worker *me, const struct weft__aim *aim,
                          struct weft__found *found)
{
    bool first =
        next_random(me) % INJECTOR_TURN == 0 || weft__queue_has_urgent(&me->pool->injector);
    if (first && found_job(found, take_injected(me)))
        return true;
    return steal(me, aim, NULL, found) || found_job(found, take_injected(me));
}

bool weft__find(struct weft__worker *me, const struct weft__aim *aim, struct weft__found *found)
{
    if (found_job(found, weft__find_mail(me)))
        return true;
    /* Children that `me` gave to others while it had to, since they were not of the scope that it
     * waited for then. */
    if (aim->help == HELP_NONE)
        return aim->scope && take_wanted(me, (struct weft__want){.scope = aim->scope}, found);
    if (aim->help == HELP_STARVED)
        return found_job(found, weft__find_injected(me));
    me->saw_foreign = false;
    bool own_first = aim->root && aim->help != HELP_ALL;
    if (own_first && steal(me, aim, aim->root, found))
        return true;
    /* Jobs that this guest moved to the injector while it was limited are there, too. */
    if (aim->help == HELP_OWN_ONLY)
        return take_wanted(me, (struct weft__want){.root = aim->root, .execute = aim->by}, found);
    /* The search saw no job of another computation on a deque or in a slot: only the injector is
     * left. */
    if (own_first && !me->saw_foreign)
        return found_job(found, take_injected(me));
    return find_anything(me, aim, found);
}

static bool holds_job(struct weft__worker *worker)
{
    return weft__deque_size(&worker->deque) > 0;
}

static bool holds_work(struct weft__worker *worker)
{
    return weft__worker_has_jobs(worker) ||
           (!worker->context->eager && weft__context_has_pending(worker->context));
}

static bool any_worker(struct weft_pool *pool, bool (*is)(struct weft__worker *worker))
{
    struct weft__walk walk = {.pool = pool};
    struct weft__worker *worker;
    while ((worker = weft__walk_next(&walk)) && !is(worker))
        ;
    weft__walk_stop(&walk);
    return worker != NULL;
}

bool weft__pool_holds_jobs(struct weft_pool *pool)
{
    return weft__queue_length(&pool->injector) > 0 || any_worker(pool, holds_job);
}

bool weft__pool_holds_work(struct weft_pool *pool)
{
    return weft__queue_length(&pool->injector) > 0 || any_worker(pool, holds_work);
}

/* relaxed, all: hints. */
static void take_if_busy(struct weft__used_cpus *used, const struct weft__worker *worker)
{
    if (atomic_load_relaxed(&worker->counts->state) == WORKER_BUSY)
        weft__cpu_take(used, atomic_load_relaxed(&worker->counts->cpu));
}

bool weft__pool_used_cpus(struct weft_pool *pool, struct weft__used_cpus *used)
{
    if (weft__pool_is_forked(pool))
        return false; /* all other threads are the parent's */
    *used = (struct weft__used_cpus){.recent = atomic_load_relaxed(&pool->sleep.guest_cpu)};
    if (weft__sleep_guests(&pool->sleep) > 0)
        weft__cpu_take(used, used->recent);
    for (unsigned i = 0; i < pool->config.workers; i++)
        take_if_busy(used, pool->workers[i]);
    if (atomic_load_relaxed(&pool->sleep.blocked) == 0)
        return true;
    /* There may be spares, which are among the guests. */
    struct weft__walk walk = {.pool = pool};
    struct weft__worker *worker;
    while ((worker = weft__walk_next(&walk)))
        take_if_busy(used, worker);
    return true;
}

/* Is there work for which no other thread will wake a worker? Or are there guests to free, and no
 * worker that counts the seconds? Workers that stepped back have moved their jobs to the injector.
 * A thread at work wakes a worker for its forks itself, or the look-out finds them; a blocked
 * thread does not. */
static bool is_left_alone(struct weft_pool *pool)
{
    /* relaxed: after LeaveFence. Partner: the LeaveFence of a thread that blocks, in
     * call_another(). */
    bool blocked = atomic_load_relaxed(&pool->sleep.blocked) > 0;
    return weft__queue_length(&pool->injector) > 0 || weft__sleep_needs_lookout(&pool->sleep, 0) ||
           (blocked && weft__pool_holds_work(pool)) ||
           (weft__guests_are_many(pool) && !weft__sleep_counts_seconds(&pool->sleep));
}

void weft__pool_has_room(struct weft_pool *pool)
{
    if (weft__sleep_room_made(&pool->sleep) && is_left_alone(pool))
        weft__sleep_more_work(&pool->sleep);
}
