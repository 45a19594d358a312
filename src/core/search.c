/* SPDX-License-Identifier: MIT */
#include "core/search.h"

#include "core/fork.h"
#include "core/pool.h"

enum {
    INJECTOR_TURN = 16, /* every so many searches the injector comes first, so that outside
                           work is not starved by inside work */
};

struct weft__worker *weft__next_worker(struct weft_pool *pool, struct weft__worker *worker)
{
    unsigned next = worker ? worker->index + 1 : 0;
    if (next > pool->config.workers)
        return worker->next_guest;
    if (next < pool->config.workers)
        return pool->workers[next];
    return atomic_load_acquire(&pool->guests); /* acquire G1 */
}

static uint64_t next_random(struct weft__worker *me)
{
    me->random ^= me->random << 13;
    me->random ^= me->random >> 7;
    me->random ^= me->random << 17;
    return me->random;
}

/* The fork that a stolen job is the right side of; NULL: it was spawned. */
static weft *fork_of(struct weft__worker *me, struct weft__worker *victim, struct weft__job *job)
{
    if (job == &me->stolen)
        return (weft *)me->stolen_slot;
    weft *slot = (weft *)job;
    return weft__context_of(slot) == victim->context ? slot : NULL;
}

/* One try, and again as long as somebody else was faster: EMPTY is then true of a moment
 * within this call, which the sleep module relies on. */
static struct weft__job *steal_from(struct weft__worker *me, struct weft__worker *victim)
{
    struct weft__job *job = NULL;
    enum steal_result result;
    me->taken_from = NULL;
    if (victim == me)
        return NULL;
    do
        result = weft__deque_steal(&victim->deque, &job);
    while (result == STEAL_LOST);
    if (result == STEAL_EMPTY && !victim->context->eager)
        result = weft__steal_slot(me, victim->context, &job);
    me->saw_young |= result == STEAL_YOUNG;
    if (result != STEAL_GOT)
        return NULL;
    weft__count_up(&me->counts.steals);
    me->taken_from = victim;
    me->taken_slot = fork_of(me, victim, job);
    return job;
}

static struct weft__job *steal(struct weft__worker *me, struct atomic_ptr *thief)
{
    struct weft_pool *pool = me->pool;
    struct weft__job *job;
    /* acquire T1: the thief is a live worker of this pool, or a guest, which are kept. */
    struct weft__worker *helped = thief ? atomic_load_acquire(thief) : NULL;
    if (helped && (job = steal_from(me, helped)))
        return job;
    unsigned n = pool->config.workers;
    unsigned start = (unsigned)(next_random(me) % n);
    for (unsigned i = 0; i < n; i++)
        if ((job = steal_from(me, pool->workers[(start + i) % n])))
            return job;
    /* acquire G1: guests in the list are made. */
    struct weft__worker *guest = atomic_load_acquire(&pool->guests);
    for (; guest; guest = guest->next_guest)
        if ((job = steal_from(me, guest)))
            return job;
    return NULL;
}

static struct weft__job *take_injected(struct weft__worker *me)
{
    struct weft__node *node = weft__queue_pop(&me->pool->injector);
    if (!node)
        return NULL;
    weft__count_up(&me->counts.injected);
    return &node->job;
}

static struct weft__job *take_mail(struct weft__worker *me)
{
    struct weft__node *node = weft__queue_pop(&me->mailbox);
    return node ? &node->job : NULL;
}

struct weft__job *weft__find(struct weft__worker *me, struct atomic_ptr *thief, bool others)
{
    struct weft__job *job = take_mail(me);
    if (job || !others)
        return job;
    if (next_random(me) % INJECTOR_TURN == 0 && (job = take_injected(me)))
        return job;
    if ((job = steal(me, thief)))
        return job;
    return take_injected(me);
}

bool weft__pool_holds_jobs(struct weft_pool *pool)
{
    if (weft__queue_length(&pool->injector) > 0)
        return true;
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(pool, worker)))
        if (weft__deque_size(&worker->deque) > 0)
            return true;
    return false;
}
