/* SPDX-License-Identifier: MIT */
/* Messages, and waiting for a time. */
#include "actor/mailbox.h"

#include "actor/await.h"
#include "actor/drive.h"
#include "actor/fiber.h"
#include "actor/life.h"
#include "actor/post.h"
#include "actor/rescue.h"
#include "actor/ticker.h"
#include "actor/unwind.h"
#include "core/limit.h"
#include "core/misuse.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/memory.h"

#include <errno.h>

/* All under the actor's lock. */

static void put(struct weft_actor *actor, void *message)
{
    actor->messages[(actor->first + actor->count) % actor->mailbox] = message;
    actor->count++;
}

static int send_now(struct weft_actor *actor, void *message)
{
    if (actor->closed)
        return -EPIPE;
    if (!actor->messages && !(actor->messages = weft__small(actor->mailbox * sizeof(void *))))
        return -ENOMEM;
    if (actor->count == actor->mailbox)
        return -EAGAIN;
    put(actor, message);
    for (const struct weft__receiver *one = actor->receivers; one; one = one->next)
        weft__fiber_wake(one->fiber); /* all look again; one receiver gets it */
    return 0;
}

enum patience { NOT_AT_ALL, WITH_LIMIT, WITHOUT_LIMIT };

/* `when` is for WITH_LIMIT. */
static int send(struct weft_actor *actor, void *message, enum patience patience, uint64_t when)
{
    struct weft__fiber *here = (struct weft__fiber *)weft__fiber_here();
    if (here)
        weft__fiber_need_room(here);
    weft__lock_take(&actor->sync.lock);
    int error = send_now(actor, message);
    if (error == -EAGAIN && patience != NOT_AT_ALL) {
        if (!here || here->actor != actor)
            return weft__actor_await(actor, &actor->senders, BLOCKED_MAILBOX, message,
                                     patience == WITH_LIMIT ? &when : NULL, here);
        error = -EDEADLK;
    }
    /* The first message starts the actor; under the lock, so that it is not over yet. */
    if (!error)
        weft__actor_start(actor);
    weft__lock_drop(&actor->sync.lock);
    return error;
}

int weft_actor_send(weft *w, weft_actor *actor, void *message)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    return send(actor, message, WITHOUT_LIMIT, 0);
}

int weft_actor_send_until(weft *w, weft_actor *actor, void *message, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    return send(actor, message, WITH_LIMIT, when);
}

int weft_actor_try_send(weft *w, weft_actor *actor, void *message)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    return send(actor, message, NOT_AT_ALL, 0);
}

/* True: there was a message. *served: a sender that waited, and whose message is in the mailbox
 * now. */
static bool receive_now(struct weft_actor *actor, void **message, struct weft__waiter **served)
{
    if (actor->count == 0)
        return false;
    *message = actor->messages[actor->first];
    actor->first = (actor->first + 1) % actor->mailbox;
    actor->count--;
    if ((*served = weft__actor_rouse_first(&actor->senders)))
        put(actor, (*served)->item);
    return true;
}

static void wait_in_line(struct weft_actor *actor, struct weft__receiver *me)
{
    me->next = actor->receivers;
    actor->receivers = me;
}

static void leave_line(struct weft_actor *actor, const struct weft__receiver *me)
{
    struct weft__receiver **link = &actor->receivers;
    while (*link && *link != me)
        link = &(*link)->next;
    if (*link)
        *link = me->next;
}

/* -EAGAIN: there is no message, and the caller stands in line, if it `waits`. -ECANCELED: its actor
 * ends. A kill takes the same lock: it is seen here, or its wake-up comes later. */
static int receive_or_queue(struct weft_actor *actor, struct weft__receiver *me, void **message,
                            bool waits)
{
    struct weft__waiter *served = NULL;
    weft__lock_take(&actor->sync.lock);
    leave_line(actor, me);
    bool ends = weft__is_ending(me->fiber);
    bool received = !ends && receive_now(actor, message, &served);
    if (!received && !ends && waits)
        wait_in_line(actor, me);
    weft__lock_drop(&actor->sync.lock);
    weft__actor_let_go(served);
    return ends ? -ECANCELED : received ? 0 : -EAGAIN;
}

/* Until there is a message, the limit is reached, if there is one, or the actor ends. A message
 * that comes while the limit is reached is received: the mailbox is looked at last. */
static int wait_for_message(struct weft_actor *actor, struct weft__fiber *fiber, void **message,
                            const struct weft__limit *limit)
{
    struct weft__receiver me = {.fiber = fiber};
    for (;;) {
        uint64_t left = WEFT_FOREVER;
        int reason = limit ? weft__limit_reached(limit, &left) : 0;
        int result = receive_or_queue(actor, &me, message, !reason);
        if (result != -EAGAIN || reason)
            return result != -EAGAIN ? result : reason;
        weft__fiber_waits_for(fiber, "waits for a message");
        if (left == WEFT_FOREVER)
            weft__fiber_suspend(fiber);
        else
            weft__ticker_suspend(fiber, weft__clock_now() + left);
    }
}

static void nudge(struct weft__limit *limit)
{
    weft__fiber_wake((struct weft__fiber *)limit->context);
}

/* By any part of the actor, wherever it runs. `when` is for WITH_LIMIT. */
static int receive(weft *w, void **message, enum patience patience, uint64_t when)
{
    struct weft_actor *actor = weft_actor_self(w);
    if (!message)
        return -EINVAL;
    if (!actor)
        return -EPERM;
    struct weft__fiber *fiber = weft__fiber_of(w);
    int result;
    weft__fiber_need_room(fiber);
    if (patience == NOT_AT_ALL) {
        result = receive_or_queue(actor, &(struct weft__receiver){.fiber = fiber}, message, false);
    } else if (patience == WITHOUT_LIMIT) {
        result = wait_for_message(actor, fiber, message, NULL);
    } else {
        struct weft__limit limit = weft__limit_until(when);
        limit.nudge = nudge;
        weft__limit_begin(&limit);
        result = wait_for_message(actor, fiber, message, &limit);
        weft__limit_end(&limit);
    }
    if (result == -ECANCELED)
        weft__check_ending(fiber, false); /* returns if it holds a mutex, or does not end */
    return result;
}

int weft_receive(weft *w, void **message)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return receive(w, message, WITHOUT_LIMIT, 0);
}

int weft_receive_until(weft *w, void **message, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return receive(w, message, WITH_LIMIT, when);
}

int weft_try_receive(weft *w, void **message)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return receive(w, message, NOT_AT_ALL, 0);
}

void weft_sleep_until(weft *w, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    uint64_t now = weft__clock_now();
    if (now >= when)
        return;
    if (!w || !weft__is_fiber(w)) {
        if (w)
            weft_block_begin(w);
        while ((now = weft__clock_now()) < when)
            weft__clock_sleep(when - now);
        if (w)
            weft_block_end(w);
        return;
    }
    struct weft__fiber *fiber = weft__fiber_of(w);
    while (weft__clock_now() < when && !weft__is_ending(fiber)) {
        weft__fiber_waits_for(fiber, "waits for a time");
        weft__ticker_suspend(fiber, when);
    }
    weft__check_ending(fiber, false);
}
