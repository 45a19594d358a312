/* SPDX-License-Identifier: MIT */
#include "actor/drive.h"

#include "actor/away.h"
#include "actor/delegate.h"
#include "actor/executor.h"
#include "actor/fiber.h"
#include "actor/fifo.h"
#include "actor/life.h"
#include "actor/load.h"
#include "actor/places.h"
#include "actor/post.h"
#include "actor/quantum.h"
#include "actor/rescue.h"
#include "actor/ticker.h"
#include "actor/unwind.h"
#include "os/fatal.h"
#include "os/overflow.h"
#include "os/trace.h"

void weft__fiber_switch_out(struct weft__fiber *fiber, enum fiber_why why)
{
    fiber->why = why;
    weft__strand_switch(&fiber->strand, fiber->home);
}

void weft__fiber_expect_here(const struct weft__fiber *fiber)
{
    if (fiber->blocks > 0)
        weft__fatal("an actor waits between weft_block_begin and weft_block_end");
}

void weft__fiber_suspend(struct weft__fiber *fiber)
{
    weft__fiber_expect_here(fiber);
    weft__arrivals_refuse(fiber);
    fiber->full = false;
    weft__fiber_switch_out(fiber, WHY_WAITS);
}

/* The fiber has no member any more. If its letter is under way, the block is put back when the
 * letter has come (fiber_is_awake). */
static void retire(struct weft__executor *executor, struct weft__fiber *fiber)
{
    struct weft_actor *over = fiber->is_root ? fiber->actor : NULL;
    weft__trace(executor->system,
                (struct weft__event){.kind = EVENT_RETIRE, .executor = executor, .fiber = fiber});
    fiber->actor = NULL;
    if (weft__bell_ring(&fiber->woken)) /* from now on no waker sends the letter */
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
    WEFT__TRACE(MOVE, (uintptr_t)fiber->actor, to->index);
    fiber->state = FIBER_READY;
    weft__posse_moves(fiber->actor, from, to, fiber);
    weft__count_up(&fiber->actor->counts->moves);
    atomic_store_release(&fiber->executor, to); /* release A13: wakers send there now */
    weft__send(to, &fiber->move, LETTER_FIBER);
}

/* Fibers that were woken in this quantum join the queue: also those whose letters have not been
 * read. */
static void quantum_between_fibers(struct weft__executor *executor)
{
    weft__executor_read_letters(executor);
    weft__executor_quantum(executor);
    executor->begun = false;
}

/* Fibers that only wake each other never poll, and woken fibers come first: the others would never
 * run. So a wait counts as a poll. */
static void count_wait(struct weft__executor *executor)
{
    const struct weft__actors *system = executor->system;
    if (system->counted && !system->simulated && --executor->polls == 0)
        quantum_between_fibers(executor);
}

/* May its result be needed no more? A delegate has to look at its victims. */
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

/* What the driver, or a fiber that yields, does before it switches to the fiber. */
static inline void begin(struct weft__executor *executor, struct weft__worker *me,
                         struct weft__strand *home, struct weft__fiber *fiber)
{
    uint64_t now = weft__actors_clock(executor->system);
    if (__builtin_expect(now > fiber->ready_since, 0))
        atomic_fetch_add_relaxed(&fiber->actor->counts->runnable_ns, now - fiber->ready_since);
    fiber->state = FIBER_RUNNING;
    fiber->context.worker = me;
    fiber->home = home;
    me->fiber = &fiber->context;
    WEFT__TRACE(TURN, (uintptr_t)fiber->actor, 0);
    atomic_store_release(&executor->current, fiber); /* release A13: the fiber is made */
    arm(executor, fiber);
}

/* Can the fiber switch to the first one in the queue, without its driver? Its guard is down: so the
 * quantum is not over, and the fiber need not end. */
static inline bool is_simple(struct weft__executor *executor, struct weft__fiber *fiber)
{
    /* A fiber that is away must not look at the executor. relaxed, all: hints and requests. */
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
        return false; /* another thread drives the executor */
    weft__check_ending(fiber, false);
    if (atomic_load_relaxed(&executor->tick) && !executor->system->counted) { /* a request */
        weft__actor_poll(w); /* or the quantum of fibers that only yield would never end */
        executor = weft__executor_of(fiber);
    }
    if (!weft__executor_should_switch(executor))
        return false;
    weft__arrivals_refuse(fiber);
    fiber->full = false;
    weft__fiber_switch_out(fiber, WHY_QUANTUM);
    return true;
}

/* Switches straight to the next fiber. This thread drives the executor all the time, so no other
 * thread can run the fiber before it has switched out. */
bool weft__fiber_yield(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    struct weft__executor *executor = weft__executor_of(fiber);
    if (!is_simple(executor, fiber))
        return yield_by_driver(w, fiber);
    struct weft__fiber *next = weft__fifo_pop(&executor->ready);
    fiber->full = false;
    fiber->state = FIBER_READY;
    fiber->ready_since = weft__actors_clock(executor->system);
    weft__fifo_push(&executor->ready, fiber); /* `runnable` stays the same */
    begin(executor, fiber->context.worker, fiber->home, next);
    weft__strand_switch(&fiber->strand, &next->strand);
    return true;
}

void weft__fiber_give_way(struct weft__fiber *fiber)
{
    struct weft__executor *executor = weft__executor_of(fiber);
    atomic_store_relaxed(&executor->newcomer, false); /* relaxed: a hint; the letters count */
    if (fiber->gave_way || executor->system->counted)
        return;
    weft__executor_read_letters(executor);
    /* Newcomers that give way to newcomers would keep those out for ever that were there. */
    if (!executor->fresh || (fiber->is_new && executor->ready.first))
        return;
    fiber->gave_way = true;
    fiber->full = false;
    fiber->quanta_due++;                /* it gets the rest of this quantum back */
    executor->fresh_came_first = false; /* the next choice is the newcomer */
    weft__arrivals_refuse(fiber);
    weft__fiber_switch_out(fiber, WHY_GIVES_WAY);
}

/* False: this thread does not drive the executor any more. */
static bool run(struct weft__executor *executor, struct weft__worker *me, struct weft__strand *home,
                struct weft__fiber *fiber)
{
    struct weft__executor *elsewhere;
    if (__builtin_expect(weft__load_average(&executor->load) == 0, 0))
        weft__load_begins(&executor->load);
    struct weft__context *below = me->fiber; /* for which this thread is a guest, and helps */
    executor->begun = true;
    begin(executor, me, home, fiber);
    weft__trace(executor->system,
                (struct weft__event){.kind = EVENT_SWITCH, .executor = executor, .fiber = fiber});
    weft__strand_switch(home, &fiber->strand);
    fiber = (struct weft__fiber *)me->fiber; /* it may have yielded to another fiber */
    me->fiber = below;
    WEFT__TRACE(TURN_END, 0, fiber->why == WHY_WAITS);
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
            weft__executor_ready(executor, fiber, READY_LAST);
        break;
    case WHY_GIVES_WAY:
        weft__executor_ready(executor, fiber, READY_NEXT);
        break;
    case WHY_AWAY:
        weft__away_lend(fiber);
        break;
    case WHY_WAITS:
        fiber->state = FIBER_WAITING;
        weft__fiber_show(fiber, WEFT_ACTOR_WAITING);
        count_wait(executor);
        break;
    default:
        retire(executor, fiber);
    }
    return true;
}

/* The driver has nothing to do. False: a letter has come, it goes on. */
static bool stop_driving(struct weft__executor *executor, struct weft__worker *me)
{
    struct weft__actors *system = executor->system;
    weft__load_is_idle(&executor->load);
    /* release A5: if fibers age here, the ticker sees that. */
    atomic_fetch_sub_acq_rel(&system->busy, 1);
    bool hungry = executor->hungry;
    executor->hungry = false;
    if (weft__inbox_stop(&executor->inbox, me)) {
        if (hungry) /* a copy: another thread may drive the executor by now */
            weft__ticker_hurry(system, false);
        return true;
    }
    executor->hungry = hungry;
    weft__ticker_busy(system);
    return false;
}

/* The tick came while no fiber ran. */
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
        struct weft__fiber *fiber = weft__executor_next(executor);
        if (!fiber) {
            tick_between_fibers(executor);
            if (!executor->ready.first && !executor->fresh && stop_driving(executor, me))
                return;
            continue;
        }
        if (!run(executor, me, &home, fiber))
            return;
        tick_between_fibers(executor);
        /* After each quantum, other jobs of the pool get the thread. */
        if (executor->quanta != quanta && weft__executor_thread_is_wanted(executor)) {
            weft__executor_hand_over(executor);
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
    struct weft__executor *executor =
        (struct weft__executor *)((char *)node - offsetof(struct weft__executor, node));
    /* relaxed, all: hints, of this thread. It may drive this executor inside a job that waits,
     * while it drives another. */
    uint32_t outer = atomic_load_relaxed(&me->counts->executor);
    atomic_store_relaxed(&me->counts->executor, executor->index + 1);
    drive(executor, me);
    atomic_store_relaxed(&me->counts->executor, outer);
    weft__overflow_take_back(lent);
}

void weft__executor_detach(struct weft__executor *executor)
{
    atomic_store_relaxed(&executor->current, NULL); /* relaxed: the ticker's hint */
    executor->runnable--;
    weft__executor_hand_over(executor);
}

bool weft__executor_step(struct weft__executor *executor, struct weft__worker *me)
{
    struct weft__strand home;
    weft__strand_of_thread(&home);
    weft__inbox_drive(&executor->inbox, me);
    struct weft__fiber *fiber = weft__executor_next(executor);
    if (!fiber && executor->ageing) {
        weft__executor_quantum(executor);
        fiber = weft__executor_next(executor);
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
