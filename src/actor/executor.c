/* SPDX-License-Identifier: MIT */
/* Executors: who runs next, and where.
 *
 * An executor is driven by one thread at a time: a job in the pool's injector, which stands there,
 * or runs, as long as `posted` is true. Everything it keeps is its driver's; others send letters.
 */
#include "actor/executor.h"

#include "actor/age.h"
#include "actor/away.h"
#include "actor/delegate.h"
#include "actor/fiber.h"
#include "actor/life.h"
#include "actor/load.h"
#include "actor/places.h"
#include "actor/quantum.h"
#include "actor/steal.h"
#include "actor/ticker.h"
#include "actor/unwind.h"
#include "os/fatal.h"
#include "os/overflow.h"

#include <errno.h>

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

/* For people: what the actor does, and where. Whether it is running, they find out by themselves.
 */
static void show(struct weft__fiber *fiber, enum weft_actor_state state)
{
    if (fiber->is_root)
        atomic_store_relaxed(&fiber->actor->counts.activity, state); /* relaxed: a hint */
}

static void show_executor(struct weft__executor *executor, struct weft_actor *actor)
{
    atomic_store_relaxed(&actor->counts.executor, (int32_t)executor->index); /* relaxed: the same */
}

static void make_ready(struct weft__executor *executor, struct weft__fiber *fiber, bool first)
{
    fiber->state = FIBER_READY;
    atomic_store_relaxed(&fiber->merging, false); /* relaxed: a hint to others */
    fiber->ready_since = weft__actors_clock(executor->system);
    show(fiber, WEFT_ACTOR_RUNNABLE);
    executor->runnable++;
    fifo_push(first ? &executor->woken : &executor->ready, fiber);
}

void weft__executor_ready(struct weft__executor *executor, struct weft__fiber *fiber)
{
    make_ready(executor, fiber, false);
}

/* ---- Letters ---- */

static void hand_to_pool(struct weft__executor *executor)
{
    struct weft_pool *pool = executor->system->pool;
    weft__queue_push(&pool->injector, &executor->node);
    weft__sleep_new_jobs(&pool->sleep, 1, false);
}

static void get_driver(struct weft__executor *executor)
{
    struct weft__actors *system = executor->system;
    if (system->simulated)
        return;
    weft__ticker_busy(system);
    hand_to_pool(executor);
}

void weft__executor_post(struct weft__executor *executor)
{
    if (weft__inbox_post(&executor->inbox))
        get_driver(executor);
}

void weft__send(struct weft__executor *executor, struct weft__letter *letter, enum letter_kind kind)
{
    if (weft__inbox_send(&executor->inbox, letter, kind))
        get_driver(executor);
}

void weft__fiber_wake(struct weft__fiber *fiber)
{
    if (weft__bell_ring(&fiber->woken))
        weft__send(atomic_load_acquire(&fiber->executor), &fiber->wake, /* acquire A13 */
                   LETTER_WAKE);
}

static void fiber_is_awake(struct weft__executor *executor, struct weft__fiber *fiber)
{
    /* acquire A13: if it has moved away, and back, what was done with it meanwhile. */
    bool is_here = atomic_load_acquire(&fiber->executor) == executor;
    if (is_here && !fiber->actor) {
        /* Nothing is left of it but this letter. It stays `woken`: there must not be another
         * one, by a late waker, while nobody uses it. */
        weft__fiber_put(executor, fiber);
        return;
    }
    weft__bell_answer(&fiber->woken);
    if (!is_here)
        weft__fiber_wake(fiber); /* it has moved; its new executor has to look */
    else if (fiber->state == FIBER_WAITING)
        make_ready(executor, fiber, true);
}

static void fiber_comes(struct weft__executor *executor, struct weft__fiber *fiber)
{
    if (fiber->state == FIBER_READY) { /* it was moved */
        weft__executor_unreserve(executor, fiber->actor);
        show_executor(executor, fiber->actor);
    }
    weft__age_anew(fiber, executor->quanta + 1); /* from the next quantum on */
    make_ready(executor, fiber, false);
}

static void actor_comes(struct weft__executor *executor, struct weft_actor *actor)
{
    weft__executor_unreserve(executor, actor);
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

static void read_letters(struct weft__executor *executor)
{
    void *link = weft__inbox_take(&executor->inbox);
    while (link) {
        unsigned kind;
        struct weft__letter *letter = weft__letter_at(link, &kind);
        link = letter->next;
        deliver(executor, letter, (enum letter_kind)kind);
    }
}

/* ---- The next one ---- */

/* An actor that has not run yet gets its stack when its turn comes. */
static struct weft__fiber *start_fresh(struct weft__executor *executor)
{
    struct weft_actor *actor = FROM(executor->fresh, struct weft_actor, letter);
    executor->fresh = actor->letter.next;
    bool killed = atomic_load_relaxed(&actor->killed); /* relaxed: a request */
    struct weft__fiber *fiber = killed ? NULL : weft__fiber_get(executor, actor, true);
    if (!fiber) {
        executor->runnable--;
        weft__actor_over_unrun(actor, killed ? -ECANCELED : -ENOMEM);
        return NULL;
    }
    fiber->ready_since = weft__actors_clock(executor->system);
    actor->root.fiber = fiber;
    show_executor(executor, actor);
    /* Under the lock: a kill comes before, and the actor sees it before it waits for the first
     * time; or it comes after, and wakes the fiber. */
    weft__lock_take(&actor->lock);
    atomic_store_release(&actor->fiber, fiber); /* release A7: it can be woken from now on */
    weft__lock_drop(&actor->lock);
    return fiber;
}

/* Those that were woken in this quantum come first; then those that wait their turn, and new ones,
 * by turns. */
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
        if (fiber->state == FIBER_WAITING && weft__steal_is_possible(fiber)) {
            fiber->may_steal = true;
            make_ready(executor, fiber, false);
        }
    }
}

static void note_length(struct weft__executor *executor)
{
    const struct weft__actors *system = executor->system;
    uint64_t now = weft__actors_clock(system);
    uint64_t lasted = now > executor->began ? now - executor->began : 0;
    executor->lasted = system->counted ? system->quantum : lasted; /* who counts has no clock */
    executor->began = now;
}

void weft__executor_quantum(struct weft__executor *executor)
{
    executor->quanta++;
    executor->polls = executor->system->counted;
    note_length(executor);
    fifo_append(&executor->ready, &executor->woken); /* their quantum is over, too */
    weft__load_note(&executor->load, executor->runnable);
    look_at_ageing(executor);
}

/* Does the driver's thread have other things to do in the pool? */
static bool thread_is_wanted(const struct weft__executor *executor)
{
    struct weft__worker *me = executor->inbox.driver;
    bool waits = me->kind != WORKER_THREAD || me->frame->outer; /* and has to look at that, too */
    return waits || weft__queue_length(&me->pool->injector) > 0 ||
           weft__queue_length(&me->mailbox) > 0 || weft__deque_size(&me->deque) > 0;
}

bool weft__executor_should_turn(struct weft__executor *executor)
{
    return executor->ready.first || executor->woken.first || executor->fresh ||
           weft__inbox_has_letters(&executor->inbox) || executor->system->simulated ||
           thread_is_wanted(executor);
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
    struct weft_actor *over = fiber->is_root ? fiber->actor : NULL;
    weft__trace(executor->system,
                (struct weft__event){.kind = EVENT_RETIRE, .executor = executor, .fiber = fiber});
    fiber->actor = NULL;
    if (weft__bell_ring(&fiber->woken)) /* nobody sends it from now on */
        weft__fiber_put(executor, fiber);
    if (over) /* here, because its supervisor may do anything */
        weft__actor_over(over, over->reason);
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
    atomic_store_release(&fiber->executor, to); /* release A13: whoever rings it now asks there */
    weft__send(to, &fiber->move, LETTER_FIBER);
}

/* Those who were woken in this quantum stand in line from now on: also those whose letters have not
 * been read. */
static void quantum_between_fibers(struct weft__executor *executor)
{
    read_letters(executor);
    weft__executor_quantum(executor);
}

/* Those that only wait for each other never look up, and those that are woken come first: nobody
 * else would ever have a turn. So a wait is as good as a poll. */
static void count_wait(struct weft__executor *executor)
{
    const struct weft__actors *system = executor->system;
    if (system->counted && !system->simulated && --executor->polls == 0)
        quantum_between_fibers(executor);
}

/* May nobody need what it does? A delegate has to look at who waits for it. */
static inline bool may_be_ending(const struct weft__fiber *fiber)
{
    return atomic_load_relaxed(&fiber->actor->killed) || /* relaxed: it looks again */
           (fiber->top && fiber->top->victim);
}

/* Before it runs: raises or lowers its guard. */
static inline void arm(struct weft__executor *executor, struct weft__fiber *fiber)
{
    weft__fiber_guard(fiber, executor->polled || may_be_ending(fiber) ||
                                 weft__group_alarm(fiber->context.group) ||
                                 atomic_load_relaxed(&executor->tick)); /* relaxed: a request */
}

/* All that the driver, or a fiber in its place, does before it switches to the fiber. */
static inline void begin(struct weft__executor *executor, struct weft__worker *me,
                         struct weft__strand *home, struct weft__fiber *fiber)
{
    uint64_t now = weft__actors_clock(executor->system);
    if (__builtin_expect(now > fiber->ready_since, 0))
        atomic_fetch_add_relaxed(&fiber->actor->counts.runnable_ns, now - fiber->ready_since);
    fiber->state = FIBER_RUNNING;
    fiber->context.worker = me;
    fiber->home = home;
    me->fiber = &fiber->context;
    atomic_store_release(&executor->current, fiber); /* release A13: for the ticker; it is made */
    arm(executor, fiber);
}

/* Is whose turn it is next all there is to know? Its guard is down: then nobody wants it to look
 * up, as at the end of a quantum, or of itself. */
static inline bool is_simple(struct weft__executor *executor, struct weft__fiber *fiber)
{
    /* Away, it must not look at the executor. relaxed, all: hints and requests. */
    return fiber->blocks == 0 && executor->ready.first && !executor->woken.first &&
           !executor->fresh && !fiber->arrivals && !weft__inbox_has_letters(&executor->inbox) &&
           atomic_load_relaxed(&fiber->context.guard) != UINTPTR_MAX &&
           atomic_load_relaxed(&fiber->actor->pin) < 0;
}

static __attribute__((noinline)) bool yield_by_driver(weft *w, struct weft__fiber *fiber)
{
    struct weft__executor *executor = weft__executor_of(fiber);
    weft__fiber_need_room(fiber);
    if (fiber->blocks > 0)
        return false; /* the executor is somebody else's meanwhile */
    weft__check_ending(fiber, false);
    if (atomic_load_relaxed(&executor->tick) && !executor->system->counted) { /* a request */
        weft__actor_poll(w); /* or the quantum of those who only yield would never end */
        executor = weft__executor_of(fiber);
    }
    if (!weft__executor_should_turn(executor))
        return false;
    weft__arrivals_refuse(fiber);
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
    fiber->full = false;
    fiber->state = FIBER_READY;
    fiber->ready_since = weft__actors_clock(executor->system);
    fifo_push(&executor->ready, fiber); /* as many can run as before */
    begin(executor, fiber->context.worker, fiber->home, next);
    weft__strand_switch(&fiber->strand, &next->strand);
    return true;
}

/* False: the thread has lost the executor. */
static bool run(struct weft__executor *executor, struct weft__worker *me, struct weft__strand *home,
                struct weft__fiber *fiber)
{
    struct weft__executor *elsewhere;
    if (__builtin_expect(weft__load_average(&executor->load) == 0, 0))
        weft__load_begins(&executor->load);
    struct weft__context *below = me->fiber; /* on whose stack it is a guest elsewhere, and helps */
    begin(executor, me, home, fiber);
    weft__trace(executor->system,
                (struct weft__event){.kind = EVENT_SWITCH, .executor = executor, .fiber = fiber});
    weft__strand_switch(home, &fiber->strand);
    fiber = (struct weft__fiber *)me->fiber; /* another one may have followed it */
    me->fiber = below;
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
    case WHY_AWAY:
        weft__away_lend(fiber);
        break;
    case WHY_WAITS:
        fiber->state = FIBER_WAITING;
        show(fiber, WEFT_ACTOR_WAITING);
        count_wait(executor);
        break;
    default:
        retire(executor, fiber);
    }
    return true;
}

/* Its driver has nothing left to do. False: it has, after all. */
static bool stop_driving(struct weft__executor *executor, struct weft__worker *me)
{
    struct weft__actors *system = executor->system;
    weft__load_is_idle(&executor->load);
    /* release A5: if fibers age here, the ticker sees that. */
    atomic_fetch_sub_acq_rel(&system->busy, 1);
    bool hungry = executor->hungry;
    executor->hungry = false;
    if (weft__inbox_stop(&executor->inbox, me)) {
        if (hungry) /* and it may be somebody else's by now */
            weft__ticker_hurry(system);
        return true;
    }
    executor->hungry = hungry;
    weft__ticker_busy(system);
    return false;
}

/* The quantum has ended when no fiber could see it. */
static void tick_between_fibers(struct weft__executor *executor)
{
    if (__builtin_expect(atomic_load_relaxed(&executor->tick), 0)) { /* relaxed: the ticker's */
        atomic_store_relaxed(&executor->tick, false);
        quantum_between_fibers(executor);
    }
}

static void drive(struct weft__executor *executor, struct weft__worker *me)
{
    struct weft__strand home;
    weft__strand_of_thread(&home);
    weft__inbox_drive(&executor->inbox, me);
    executor->began = weft__actors_clock(executor->system); /* it may have been idle */
    uint32_t quanta = executor->quanta;
    for (;;) {
        struct weft__fiber *fiber = next_fiber(executor);
        if (!fiber) {
            tick_between_fibers(executor);
            if (!executor->ready.first && !executor->fresh && stop_driving(executor, me))
                return;
            continue;
        }
        if (!run(executor, me, &home, fiber))
            return;
        tick_between_fibers(executor);
        /* Others who wait for this thread get their turn after each quantum. */
        if (executor->quanta != quanta && thread_is_wanted(executor)) {
            hand_to_pool(executor);
            return;
        }
        quanta = executor->quanta;
    }
}

void weft__executor_execute(weft *w, struct weft__job *job)
{
    struct weft__node *node = (struct weft__node *)job;
    struct weft__worker *me = weft__worker_of(w);
    bool foreign = me->kind == WORKER_GUEST || me->kind == WORKER_CALLER;
    void *lent =
        foreign && !(me->pool->config.flags & WEFT_NO_SIGSEGV) ? weft__overflow_lend() : NULL;
    struct weft__executor *executor = FROM(node, struct weft__executor, node);
    /* relaxed, all: hints, of this thread. It may drive one on top of a job of another. */
    uint32_t outer = atomic_load_relaxed(&me->counts.executor);
    atomic_store_relaxed(&me->counts.executor, executor->index + 1);
    drive(executor, me);
    atomic_store_relaxed(&me->counts.executor, outer);
    weft__overflow_take_back(lent);
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
    weft__inbox_drive(&executor->inbox, me);
    struct weft__fiber *fiber = next_fiber(executor);
    if (!fiber && executor->ageing) {
        weft__executor_quantum(executor);
        fiber = next_fiber(executor);
        if (!fiber)
            return true;
    }
    if (!fiber) {
        stop_driving(executor, me);
        return false;
    }
    run(executor, me, &home, fiber);
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

static bool could_do_more(const struct weft__executor *executor)
{
    return weft__executor_is_idle(executor) || weft__load_is_low(&executor->load);
}

/* So much less that it would still be so after a move: nothing is sent to and fro. */
static bool has_less_to_do(const struct weft__executor *executor, const struct weft__executor *me)
{
    return could_do_more(executor) ||
           weft__load_average(&executor->load) + 2 * LOAD_ONE <= weft__load_average(&me->load);
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
            !(may ? could_do_more(other) && may(actor, other) : has_less_to_do(other, me)))
            continue;
        /* relaxed: it says whose turn it is, nothing more. */
        if (atomic_cas_relaxed(&other->reserved, &nobody, actor))
            return other;
    }
    return NULL;
}

void weft__executor_unreserve(struct weft__executor *executor, struct weft_actor *actor)
{
    void *whose = actor;
    (void)atomic_cas_relaxed(&executor->reserved, &whose, NULL); /* relaxed: as above */
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
        executor->fresh = fresh->letter.next;
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
        if (weft__executor_is_idle(&system->executors[(start + i) % n]))
            return &system->executors[(start + i) % n];
    struct weft__executor *one = &system->executors[start], *two = own;
    if (!two)
        two = &system->executors[(start + 1) % n];
    return weft__load_runnable(&one->load) < weft__load_runnable(&two->load) ? one : two;
}
