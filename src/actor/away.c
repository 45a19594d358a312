/* SPDX-License-Identifier: MIT */
/* The driver's thread stays with the fiber, and another thread drives the executor from now on. But
 * if the driver is inside a job that waits, its thread has to go on with that job when the wait is
 * over, and can't stay with the fiber. Then a new thread is made for the fiber, a guest of the
 * pool. If no thread can be made, the driver's thread stays all the same, and the job waits longer.
 */
#include "actor/away.h"

#include "actor/delegate.h"
#include "actor/drive.h"
#include "actor/fiber.h"
#include "actor/post.h"
#include "os/fatal.h"
#include "os/overflow.h"
#include "os/thread.h"

/* Does a job below the driver, on the same thread, wait? */
static bool is_borrowed(const struct weft__worker *driver)
{
    return driver->kind == WORKER_GUEST || driver->kind == WORKER_CALLER || driver->frame->outer;
}

static bool has_guests(const struct weft__worker *driver)
{
    return !(driver->pool->config.flags & WEFT_NO_GUESTS);
}

static void go_on(weft *w, void *arg)
{
    struct weft__fiber *fiber = arg;
    struct weft__worker *me = weft__worker_of(w);
    struct weft__strand home;
    void *lent = me->pool->config.flags & WEFT_NO_SIGSEGV ? NULL : weft__overflow_lend();
    weft__strand_of_thread(&home);
    fiber->context.worker = me;
    fiber->home = &home;
    me->fiber = &fiber->context;
    weft__strand_switch(&home, &fiber->strand);
    me->fiber = NULL;
    weft__overflow_take_back(lent);
    weft__send(weft__executor_of(fiber), &fiber->move, LETTER_FIBER);
}

static void send_back(struct weft__fiber *fiber)
{
    fiber->takes_any = true;
    weft__send(weft__executor_of(fiber), &fiber->move, LETTER_FIBER);
}

static void *be_guest(void *fiber)
{
    struct weft__fiber *of = fiber;
    if (weft_run(of->actor->system->pool, go_on, fiber)) /* the pool may be closing */
        send_back(fiber);
    return NULL;
}

void weft__away_lend(struct weft__fiber *fiber)
{
    pthread_t thread;
    size_t stack = fiber->actor->system->pool->config.stack_size;
    if (weft__thread_start(&thread, stack, -1, be_guest, fiber))
        send_back(fiber);
    else
        pthread_detach(thread);
}

void weft__away_begin(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    if (fiber->blocks++ > 0)
        return;
    weft__arrivals_refuse(fiber);
    fiber->full = false;
    fiber->state = FIBER_AWAY;
    bool leaves = is_borrowed(fiber->context.worker) && has_guests(fiber->context.worker);
    if (leaves)
        weft__fiber_switch_out(fiber, WHY_AWAY);
    if (!leaves || fiber->takes_any) {
        fiber->takes_any = false;
        fiber->state = FIBER_AWAY;
        weft__executor_detach(weft__executor_of(fiber));
    }
    weft__block_outside(fiber->context.worker);
}

void weft__away_end(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    if (weft__fiber_here() != &fiber->context)
        weft__fatal("weft_block_end for an actor was called by another one, or by a job");
    if (fiber->blocks == 0)
        weft__fatal("weft_block_end without weft_block_begin");
    if (--fiber->blocks > 0)
        return;
    weft__block_outside_ends(fiber->context.worker);
    weft__fiber_switch_out(fiber, WHY_DETACHED);
}

void weft__away_come_back(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    if (fiber->blocks == 0)
        return;
    fiber->blocks = 1;
    weft_block_end(w);
}
