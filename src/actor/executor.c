/* SPDX-License-Identifier: MIT */
/* Executors: who runs next, and where.
 *
 * An executor is driven by one thread at a time: a job in the pool's injector, which stands there,
 * or runs, as long as `posted` is true. Everything it keeps is its driver's; others send letters.
 */
#include "actor/actor.h"
#include "actor/load.h"

#include <errno.h>

enum { FREE_MAX = 64 };

/* ---- Queues ---- */

static void fifo_push(struct weft__fifo *fifo, struct weft__fiber *fiber)
{
    fiber->next = NULL;
    if (!fifo->first)
        fifo->end = &fifo->first;
    *fifo->end = fiber;
    fifo->end = &fiber->next;
}

static struct weft__fiber *fifo_pop(struct weft__fifo *fifo)
{
    struct weft__fiber *fiber = fifo->first;
    if (fiber)
        fifo->first = fiber->next;
    return fiber;
}

static void fifo_append(struct weft__fifo *fifo, struct weft__fifo *others)
{
    struct weft__fiber *fiber;
    while ((fiber = fifo_pop(others)))
        fifo_push(fifo, fiber);
}

/* For people: what the actor does now. */
static void show(struct weft__fiber *fiber, enum weft_actor_state state)
{
    if (fiber->held)
        atomic_store_relaxed(&fiber->actor->counts.activity, state); /* relaxed: a hint */
}

static void make_ready(struct weft__executor *executor, struct weft__fiber *fiber, bool first)
{
    fiber->state = FIBER_READY;
    fiber->ready_since = atomic_load_relaxed(&executor->system->ticks); /* relaxed: a clock */
    show(fiber, WEFT_ACTOR_RUNNABLE);
    executor->runnable++;
    fifo_push(first ? &executor->woken : &executor->ready, fiber);
}

void weft__executor_ready(struct weft__executor *executor, struct weft__fiber *fiber)
{
    make_ready(executor, fiber, false);
}

/* ---- Letters ---- */

static bool is_idle(const struct weft__executor *executor)
{
    return !atomic_load_relaxed(&executor->posted); /* relaxed: a hint */
}

static void hand_to_pool(struct weft__executor *executor)
{
    struct weft_pool *pool = executor->system->pool;
    weft__queue_push(&pool->injector, &executor->node);
    weft__sleep_new_jobs(&pool->sleep, 1, false);
}

void weft__executor_post(struct weft__executor *executor)
{
    struct weft__actors *system = executor->system;
    /* acq_rel A3: whoever stops driving it sees the letter that was sent before this, or this
     * sees that it has stopped. */
    if (atomic_exchange_acq_rel(&executor->posted, true))
        return;
    if (system->simulated)
        return;
    atomic_fetch_add_seq_cst(&system->busy, 1); /* seq_cst A5: before the look at the ticker */
    weft__ticker_busy(system);
    hand_to_pool(executor);
}

void weft__send(struct weft__executor *executor, struct weft__letter *letter, enum letter_kind kind)
{
    void *newest = atomic_load_relaxed(&executor->inbox); /* relaxed: the exchange decides */
    do
        letter->next = newest;
    while (!atomic_cas_release(&executor->inbox, &newest, /* release A2: the letter */
                               (char *)letter + kind));
    weft__executor_post(executor);
}

void weft__fiber_wake(struct weft__fiber *fiber)
{
    /* acq_rel A6: release: what the fiber waits for; acquire: where it is now, if it has moved. */
    if (!atomic_exchange_acq_rel(&fiber->woken, true))
        weft__send(atomic_load_acquire(&fiber->executor), &fiber->wake, LETTER_WAKE); /* A6 */
}

static void fiber_is_awake(struct weft__executor *executor, struct weft__fiber *fiber)
{
    /* acq_rel A6: who found it true, and sent nothing, is seen here. */
    atomic_exchange_acq_rel(&fiber->woken, false);
    if (weft__executor_of(fiber) != executor)
        weft__fiber_wake(fiber); /* it has moved; its new executor has to look */
    else if (!fiber->actor)
        weft__fiber_put(executor, fiber); /* nothing is left of it but this letter */
    else if (fiber->state == FIBER_WAITING)
        make_ready(executor, fiber, true);
}

static void fiber_comes(struct weft__executor *executor, struct weft__fiber *fiber)
{
    if (fiber->state == FIBER_READY) { /* it was moved: what it has forked is young here */
        weft__executor_unreserve(executor);
        weft__fiber_rejuvenate(fiber, executor->quanta);
    }
    make_ready(executor, fiber, false);
}

static void actor_comes(struct weft__executor *executor, struct weft_actor *actor)
{
    weft__executor_unreserve(executor);
    executor->runnable++;
    actor->letter.next = NULL;
    if (!executor->fresh)
        executor->fresh_end = &executor->fresh;
    *executor->fresh_end = &actor->letter;
    executor->fresh_end = &actor->letter.next;
}

#define FROM(letter, type, member) ((type *)((char *)(letter)-offsetof(type, member)))

static void deliver(struct weft__executor *executor, struct weft__letter *letter,
                    enum letter_kind kind)
{
    switch (kind) {
    case LETTER_DELEGATION:
        weft__delegation_arrives(executor, FROM(letter, struct weft__actor_slot, letter));
        break;
    case LETTER_WAKE:
        fiber_is_awake(executor, FROM(letter, struct weft__fiber, wake));
        break;
    case LETTER_FIBER:
        fiber_comes(executor, FROM(letter, struct weft__fiber, move));
        break;
    default:
        actor_comes(executor, FROM(letter, struct weft_actor, letter));
    }
}

/* All of them, in the order in which they were sent. */
static void read_letters(struct weft__executor *executor)
{
    if (!atomic_load_relaxed(&executor->inbox)) /* relaxed: a hint */
        return;
    char *newest = atomic_exchange_acquire(&executor->inbox, NULL); /* acquire A2 */
    char *oldest = NULL;
    while (newest) { /* turns the list round */
        uintptr_t kind = (uintptr_t)newest % LETTER_KINDS;
        struct weft__letter *letter = (struct weft__letter *)(void *)(newest - kind);
        char *next = (char *)letter->next;
        letter->next = (struct weft__letter *)(void *)oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        uintptr_t kind = (uintptr_t)oldest % LETTER_KINDS;
        struct weft__letter *letter = (struct weft__letter *)(void *)(oldest - kind);
        oldest = (char *)letter->next;
        deliver(executor, letter, (enum letter_kind)kind);
    }
}

/* ---- The next one ---- */

/* An actor that has not run yet gets its stack when its turn comes. */
static struct weft__fiber *start_fresh(struct weft__executor *executor)
{
    struct weft_actor *actor = FROM(executor->fresh, struct weft_actor, letter);
    executor->fresh = executor->fresh->next;
    bool killed = atomic_load_relaxed(&actor->killed); /* relaxed: a request */
    struct weft__fiber *fiber = killed ? NULL : weft__fiber_get(executor);
    if (!fiber) {
        executor->runnable--;
        weft__actor_over(actor, killed ? -ECANCELED : -ENOMEM);
        return NULL;
    }
    fiber->actor = actor;
    fiber->held = true;
    fiber->left = actor->share;
    fiber->full = true;
    fiber->ready_since = atomic_load_relaxed(&executor->system->ticks); /* relaxed: a clock */
    actor->root.fiber = fiber;
    /* release A7: it can be woken from now on. */
    atomic_store_release(&actor->fiber, fiber);
    return fiber;
}

/* Those that were woken come first; then those that wait their turn, and new ones, by turns. */
static struct weft__fiber *next_fiber(struct weft__executor *executor)
{
    struct weft__fiber *fiber;
    read_letters(executor);
    if ((fiber = fifo_pop(&executor->woken)))
        return fiber;
    executor->fresh_turn = !executor->fresh_turn;
    if (executor->fresh_turn || !executor->ready.first)
        while (executor->fresh)
            if ((fiber = start_fresh(executor)))
                return fiber;
    return fifo_pop(&executor->ready);
}

/* Waiting fibers get on with what has become old enough meanwhile. */
static void look_at_ageing(struct weft__executor *executor)
{
    struct weft__fiber *fiber, *next;
    for (fiber = executor->ageing; fiber; fiber = next) {
        next = fiber->next_ageing;
        if (fiber->state == FIBER_WAITING && weft__fiber_can_steal(fiber)) {
            fiber->may_steal = true;
            make_ready(executor, fiber, false);
        }
    }
}

void weft__executor_quantum(struct weft__executor *executor)
{
    executor->quanta++;
    executor->polls = executor->system->counted;
    fifo_append(&executor->ready, &executor->woken); /* their quantum is over, too */
    weft__load_note(&executor->load, executor->runnable);
    look_at_ageing(executor);
}

bool weft__executor_should_turn(struct weft__executor *executor)
{
    struct weft__worker *me = executor->driver;
    return executor->ready.first || executor->woken.first || executor->fresh ||
           atomic_load_relaxed(&executor->inbox) || executor->system->simulated || /* hints */
           executor->nested || weft__queue_length(&me->pool->injector) > 0 ||
           weft__queue_length(&me->mailbox) > 0 || weft__deque_size(&me->deque) > 0;
}

/* ---- Running ---- */

void weft__fiber_switch_out(struct weft__fiber *fiber, enum fiber_why why)
{
    fiber->why = why;
    weft__strand_switch(&fiber->strand, fiber->home);
}

/* Nothing is left of a fiber. If a letter of its is on the way, it has to wait for that. */
static void retire(struct weft__executor *executor, struct weft__fiber *fiber)
{
    weft__trace(executor->system,
                (struct weft__event){.kind = EVENT_RETIRE, .executor = executor, .fiber = fiber});
    fiber->actor = NULL;
    /* acq_rel A6: if it was false, nobody sends a letter from now on. */
    if (!atomic_exchange_acq_rel(&fiber->woken, true))
        weft__fiber_put(executor, fiber);
}

/* Pinned to another executor meanwhile? */
static struct weft__executor *wanted_elsewhere(struct weft__executor *executor,
                                               struct weft__fiber *fiber)
{
    int pin = atomic_load_relaxed(&fiber->actor->pin); /* relaxed: a request */
    if (pin < 0 || (unsigned)pin == executor->index || !weft__actor_is_whole(fiber))
        return NULL;
    return &executor->system->executors[pin];
}

void weft__fiber_move(struct weft__fiber *fiber, struct weft__executor *to)
{
    struct weft__executor *from = weft__executor_of(fiber);
    weft__trace(from->system,
                (struct weft__event){.kind = EVENT_MOVE, .executor = to, .fiber = fiber});
    fiber->state = FIBER_READY;
    weft__posse_moves(fiber->actor, from, to, fiber);
    weft__count_up(&fiber->actor->counts.moves);
    atomic_store_release(&fiber->executor, to); /* release A6 */
    weft__send(to, &fiber->move, LETTER_FIBER);
}

/* Before it runs: raises or lowers its guard. */
static inline void arm(struct weft__executor *executor, struct weft__fiber *fiber)
{
    weft__fiber_guard(fiber, executor->system->counted || weft__fiber_is_killed(fiber) ||
                                 weft__group_alarm() ||
                                 atomic_load_relaxed(&executor->tick)); /* relaxed: a request */
}

/* All that the driver, or a fiber in its place, does before it switches to the fiber. */
static inline void begin(struct weft__executor *executor, struct weft__worker *me,
                         struct weft__strand *home, struct weft__fiber *fiber)
{
    uint64_t ticks = atomic_load_relaxed(&executor->system->ticks); /* relaxed: a clock */
    if (__builtin_expect(ticks != fiber->ready_since, 0))
        atomic_fetch_add_relaxed(&fiber->actor->counts.ready_ticks, ticks - fiber->ready_since);
    fiber->state = FIBER_RUNNING;
    fiber->context.worker = me;
    fiber->home = home;
    me->fiber = &fiber->context;
    atomic_store_release(&executor->current, fiber); /* release A13: it is made */
    arm(executor, fiber);
    if (fiber->held) { /* relaxed, both: for people */
        atomic_store_relaxed(&fiber->actor->counts.activity, WEFT_ACTOR_RUNNING);
        atomic_store_relaxed(&fiber->actor->counts.executor, (int32_t)executor->index);
    }
    if (__builtin_expect(executor->system->trace != NULL, 0)) /* before the event is made */
        weft__trace(
            executor->system,
            (struct weft__event){.kind = EVENT_SWITCH, .executor = executor, .fiber = fiber});
}

/* Is whose turn it is next all there is to know? */
static inline bool is_simple(struct weft__executor *executor, struct weft__fiber *fiber)
{
    /* relaxed, all: hints and requests. */
    return executor->ready.first && !executor->woken.first && !executor->fresh &&
           !fiber->arrivals && !executor->system->simulated &&
           !atomic_load_relaxed(&executor->inbox) && !atomic_load_relaxed(&executor->tick) &&
           !weft__fiber_is_killed(fiber) && atomic_load_relaxed(&fiber->actor->pin) < 0;
}

static __attribute__((noinline)) bool yield_by_driver(weft *w, struct weft__fiber *fiber)
{
    struct weft__executor *executor = weft__executor_of(fiber);
    weft__check_killed(w);
    if (atomic_load_relaxed(&executor->tick) && !executor->system->counted) { /* a request */
        weft__actor_poll(w); /* or the quantum of those who only yield would never end */
        executor = weft__executor_of(fiber);
    }
    if (!weft__executor_should_turn(executor))
        return false;
    weft__give_back_arrivals(fiber);
    fiber->full = false;
    weft__fiber_switch_out(fiber, WHY_QUANTUM);
    return true;
}

/* Straight to the next one, on the fiber's own stack: the thread is the executor's all the time,
 * so nobody can run the fiber before it is left. */
bool weft__fiber_yield(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    struct weft__executor *executor = weft__executor_of(fiber);
    if (!is_simple(executor, fiber))
        return yield_by_driver(w, fiber);
    struct weft__fiber *next = fifo_pop(&executor->ready);
    executor->runnable--; /* make_ready() counts it again */
    fiber->full = false;
    make_ready(executor, fiber, false);
    begin(executor, fiber->context.worker, fiber->home, next);
    weft__strand_switch(&fiber->strand, &next->strand);
    return true;
}

/* False: the thread has lost the executor. */
static bool run(struct weft__executor *executor, struct weft__strand *home,
                struct weft__fiber *fiber)
{
    struct weft__worker *me = executor->driver;
    struct weft__executor *elsewhere;
    if (__builtin_expect(weft__load_average(&executor->load) == 0, 0))
        weft__load_begins(&executor->load);
    begin(executor, me, home, fiber);
    weft__strand_switch(home, &fiber->strand);
    fiber = (struct weft__fiber *)me->fiber; /* another one may have followed it */
    me->fiber = NULL;
    if (fiber->why == WHY_DETACHED) {
        weft__send(executor, &fiber->move, LETTER_FIBER);
        return false;
    }
    atomic_store_relaxed(&executor->current, NULL);
    executor->runnable--;
    switch (fiber->why) {
    case WHY_QUANTUM:
        if ((elsewhere = wanted_elsewhere(executor, fiber)))
            weft__fiber_move(fiber, elsewhere);
        else
            make_ready(executor, fiber, false);
        break;
    case WHY_WAITS:
        fiber->state = FIBER_WAITING;
        show(fiber, WEFT_ACTOR_WAITING);
        break;
    default:
        retire(executor, fiber);
    }
    return true;
}

/* Its driver has nothing left to do. False: it has, after all. */
static bool stop_driving(struct weft__executor *executor)
{
    weft__load_is_idle(&executor->load);
    if (!executor->system->simulated)
        atomic_fetch_sub_relaxed(&executor->system->busy, 1); /* relaxed: the ticker's hint */
    atomic_exchange_acq_rel(&executor->posted, false);        /* acq_rel A3 */
    if (!atomic_load_relaxed(&executor->inbox))               /* relaxed: as said there */
        return true;
    if (atomic_exchange_acq_rel(&executor->posted, true)) /* acq_rel A3 */
        return true;
    if (!executor->system->simulated)
        atomic_fetch_add_relaxed(&executor->system->busy, 1);
    return false;
}

static void quantum_without_fiber(struct weft__executor *executor)
{
    if (executor->ageing && atomic_load_relaxed(&executor->tick)) { /* relaxed: the ticker's */
        atomic_store_relaxed(&executor->tick, false);
        weft__executor_quantum(executor);
    }
}

static void drive(struct weft__executor *executor, struct weft__worker *me)
{
    struct weft__strand home;
    weft__strand_of_thread(&home);
    executor->driver = me;
    executor->nested = me->frame && me->frame->outer;
    uint32_t quanta = executor->quanta;
    for (;;) {
        struct weft__fiber *fiber = next_fiber(executor);
        if (!fiber) {
            quantum_without_fiber(executor);
            if (!executor->ready.first && stop_driving(executor))
                return;
            continue;
        }
        if (!run(executor, &home, fiber))
            return;
        /* Others who wait for this thread get their turn after each quantum. */
        if (executor->quanta != quanta && weft__executor_should_turn(executor)) {
            quanta = executor->quanta;
            if (executor->nested || weft__queue_length(&me->pool->injector) > 0 ||
                weft__queue_length(&me->mailbox) > 0 || weft__deque_size(&me->deque) > 0) {
                hand_to_pool(executor);
                return;
            }
        }
    }
}

void weft__executor_execute(weft *w, struct weft__job *job)
{
    struct weft__node *node = (struct weft__node *)job;
    drive(FROM(node, struct weft__executor, node), weft__worker_of(w));
}

void weft__executor_detach(struct weft__executor *executor)
{
    atomic_store_relaxed(&executor->current, NULL); /* relaxed: the ticker's hint */
    executor->runnable--;
    hand_to_pool(executor);
}

bool weft__executor_step(struct weft__executor *executor, struct weft__worker *me)
{
    struct weft__strand home;
    weft__strand_of_thread(&home);
    executor->driver = me;
    struct weft__fiber *fiber = next_fiber(executor);
    if (!fiber && executor->ageing) {
        weft__executor_quantum(executor);
        fiber = next_fiber(executor);
        if (!fiber)
            return true;
    }
    if (!fiber) {
        stop_driving(executor);
        return false;
    }
    run(executor, &home, fiber);
    return true;
}

/* ---- Balance ---- */

static uint64_t next_random(struct weft__executor *me)
{
    me->random ^= me->random << 13;
    me->random ^= me->random >> 7;
    me->random ^= me->random << 17;
    return me->random;
}

struct weft__executor *weft__executor_underused(struct weft__executor *me, struct weft_actor *actor,
                                                bool (*may)(struct weft_actor *,
                                                            struct weft__executor *))
{
    struct weft__actors *system = me->system;
    unsigned n = system->executor_count, start = (unsigned)(next_random(me) % n);
    for (unsigned i = 0; i < n; i++) {
        struct weft__executor *other = &system->executors[(start + i) % n];
        void *nobody = NULL;
        if (other == me || atomic_load_relaxed(&other->reserved) || /* relaxed: a hint */
            !(is_idle(other) || weft__load_is_low(&other->load)) || (may && !may(actor, other)))
            continue;
        /* relaxed: it says whose turn it is, nothing more. */
        if (atomic_cas_relaxed(&other->reserved, &nobody, actor))
            return other;
    }
    return NULL;
}

void weft__executor_unreserve(struct weft__executor *executor)
{
    atomic_store_relaxed(&executor->reserved, NULL); /* relaxed: as above */
}

static bool is_pinned(const struct weft_actor *actor)
{
    return atomic_load_relaxed(&actor->pin) >= 0; /* relaxed: a request */
}

/* One that waits for its turn and is free to go: a new one, which has nothing here yet, or else
 * one that is served by nobody else. */
bool weft__executor_move_one(struct weft__executor *executor)
{
    struct weft__executor *to;
    struct weft_actor *fresh =
        executor->fresh ? FROM(executor->fresh, struct weft_actor, letter) : NULL;
    if (fresh && !is_pinned(fresh)) {
        if (!(to = weft__executor_underused(executor, fresh, NULL)))
            return false;
        executor->fresh = executor->fresh->next;
        executor->runnable--;
        weft__count_up(&fresh->counts.moves);
        weft__send(to, &fresh->letter, LETTER_ACTOR);
        return true;
    }
    for (struct weft__fiber **link = &executor->ready.first; *link; link = &(*link)->next) {
        struct weft__fiber *fiber = *link;
        if (is_pinned(fiber->actor) || !weft__actor_is_whole(fiber))
            continue;
        if (!(to = weft__executor_underused(executor, fiber->actor, NULL)))
            return false;
        *link = fiber->next;
        if (!*link)
            executor->ready.end = link;
        executor->runnable--;
        weft__fiber_move(fiber, to);
        return true;
    }
    return false;
}

/* Somebody who does nothing; else where it comes from; from outside, the shorter of two queues. */
struct weft__executor *weft__executor_for_new(struct weft_actor *actor)
{
    struct weft__actors *system = actor->system;
    int pin = atomic_load_relaxed(&actor->pin); /* relaxed: a request */
    if (pin >= 0)
        return &system->executors[pin];
    struct weft__context *here = weft__fiber_here();
    struct weft__executor *own = here && here->worker->pool == system->pool
                                     ? weft__executor_of((struct weft__fiber *)here)
                                     : NULL;
    unsigned n = system->executor_count;
    unsigned start = atomic_fetch_add_relaxed(&system->next, 1) % n; /* relaxed: any will do */
    if (n == 1)
        return &system->executors[0];
    for (unsigned i = 0; i < n; i++)
        if (is_idle(&system->executors[(start + i) % n]))
            return &system->executors[(start + i) % n];
    struct weft__executor *one = &system->executors[start], *two = own;
    if (!two)
        two = &system->executors[(start + 1) % n];
    return weft__load_runnable(&one->load) < weft__load_runnable(&two->load) ? one : two;
}
