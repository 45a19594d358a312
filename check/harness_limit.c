/* SPDX-License-Identifier: MIT */
/* Waits with a limit: the time comes, or the computation is cancelled, while another thread ends
 * the wait. The clock goes on by one at each look. */
#include "blocking.h"
#include "core/group.h"
#include "sync/mutex.h"

#include <errno.h>

enum { SOON = 3 }; /* a waiter looks twice before it sleeps, a worker three times: 1, 2, ... */

static weft_event event;
static weft_mutex mutex;
static weft_channel channel;
static struct weft__group group;
static int data, results[3], item;

static void setup(void)
{
    weft_event_init(&event, "event");
    weft_mutex_init(&mutex, "mutex");
    model_time_passes();
}

static void setup_pool(void)
{
    make_pool(2, -1, false_report);
    weft__group_begin(&group, NULL);
    setup();
}

static void setup_ring(void)
{
    setup();
    MODEL_ASSERT(weft_channel_init(&channel, "channel", sizeof(int), 1) == 0);
}

static void setup_direct(void)
{
    setup();
    MODEL_ASSERT(weft_channel_init(&channel, "channel", sizeof(int), 0) == 0);
}

/* ---- Events ---- */

static void wait_soon(void)
{
    int result = weft_event_wait_until(NULL, &event, SOON);
    MODEL_ASSERT(result == -ETIMEDOUT || (result == 0 && data == 1));
    results[0] = result;
}

static void wait_as_long_as_needed(void)
{
    MODEL_ASSERT(weft_event_wait_until(NULL, &event, WEFT_FOREVER) == 0);
    MODEL_ASSERT(data == 1);
}

static void set_event(void)
{
    data = 1;
    weft_event_set(NULL, &event);
}

/* Whoever has given up does not stand in line any more. */
static void set_again(void)
{
    weft_event_set(NULL, &event);
}

/* In a job of the group. */
static weft *be_part(unsigned i)
{
    weft *w = be_worker(i);
    pool->workers[i]->context->group = &group;
    return w;
}

static void first_waits_soon(void)
{
    int result = weft_event_wait_until(be_part(0), &event, SOON + 1);
    MODEL_ASSERT(result == -ETIMEDOUT || (result == 0 && data == 1));
    leave_pool(0);
}

static void first_waits_forever(void)
{
    results[0] = weft_event_wait_until(be_part(0), &event, WEFT_FOREVER);
    MODEL_ASSERT(results[0] == -ECANCELED || (results[0] == 0 && data == 1));
    leave_pool(0);
}

static void second_sets(void)
{
    weft *w = be_part(1);
    data = 1;
    weft_event_set(w, &event);
    leave_pool(1);
}

static void second_cancels(void)
{
    be_part(1);
    MODEL_ASSERT(weft__group_fail(&group, -EIO));
    leave_pool(1);
}

static void second_sets_deadline(void)
{
    be_part(1);
    weft__group_set_deadline(&group, SOON);
    leave_pool(1);
}

static void second_only_sleeps(void)
{
    be_part(1);
    sleep_until_stopped(1);
}

static void first_waits_and_stops(void)
{
    MODEL_ASSERT(weft_event_wait_until(be_part(0), &event, SOON + 1) == -ETIMEDOUT);
    stop(1);
    leave_pool(0);
}

static void was_cancelled(void)
{
    MODEL_ASSERT(results[0] == -ECANCELED);
}

/* ---- Mutexes ---- */

static void lock_soon(void)
{
    int result = weft_mutex_lock_until(NULL, &mutex, SOON);
    MODEL_ASSERT(result == 0 || result == -ETIMEDOUT);
    results[0] = result;
    if (result)
        return;
    data++;
    weft_mutex_unlock(NULL, &mutex);
}

static void lock_always(void)
{
    weft_mutex_lock(NULL, &mutex);
    data++;
    weft_mutex_unlock(NULL, &mutex);
}

/* It has not been left to a thread that does not want it, and no thread is said to stand in line.
 */
static void is_free(void)
{
    MODEL_ASSERT(weft_mutex_trylock(NULL, &mutex));
    const struct weft__mutex *inner = (const struct weft__mutex *)(void *)&mutex;
    MODEL_ASSERT((atomic_load_relaxed(&inner->word) & MUTEX_FLAGS) == 0); /* relaxed: alone */
}

static void one_and_free(void)
{
    MODEL_ASSERT(data == 1 + (results[0] == 0));
    is_free();
}

static void two_and_free(void)
{
    MODEL_ASSERT(data == 2 + (results[0] == 0));
    is_free();
}

/* ---- Channels ---- */

static void receive_soon(void)
{
    results[0] = weft_channel_receive_until(NULL, &channel, &item, SOON);
    MODEL_ASSERT(results[0] == -ETIMEDOUT || (results[0] == 0 && item == 7));
}

static void send_seven(void)
{
    int seven = 7;
    MODEL_ASSERT(weft_channel_send(NULL, &channel, &seven) == 0);
}

static void send_seven_soon(void)
{
    int seven = 7;
    results[1] = weft_channel_send_until(NULL, &channel, &seven, SOON + 1);
}

static void receives_once(void)
{
    if (results[0] != 0)
        MODEL_ASSERT(weft_channel_try_receive(NULL, &channel, &item) == 0 && item == 7);
    MODEL_ASSERT(weft_channel_try_receive(NULL, &channel, &item) == -EAGAIN);
}

static void both_or_none(void)
{
    MODEL_ASSERT(results[0] == results[1]);
    MODEL_ASSERT(weft_channel_try_receive(NULL, &channel, &item) == -EAGAIN);
}

const struct harness limit_harnesses[] = {
    {.name = "limit-event",
     .what = "the time comes while the event is set",
     .setup = setup,
     .thread = {wait_soon, set_event},
     .finish = set_again,
     .times_out = true},
    {.name = "limit-event-two",
     .what = "the time comes for one of two, while the event is set",
     .setup = setup,
     .thread = {wait_soon, wait_as_long_as_needed, set_event},
     .finish = set_again,
     .stale = 1,
     .times_out = true},
    {.name = "limit-event-workers",
     .what = "the same, in a pool: one worker waits for another",
     .setup = setup_pool,
     .thread = {first_waits_soon, second_sets},
     .times_out = true},
    {.name = "limit-report",
     .what = "all others sleep: a wait with a limit is no deadlock",
     .setup = setup_pool,
     .thread = {first_waits_and_stops, second_only_sleeps},
     .stale = 1,
     .times_out = true},
    {.name = "limit-cancel",
     .what = "a worker waits without a time, and its computation fails",
     .setup = setup_pool,
     .thread = {first_waits_forever, second_cancels},
     .finish = was_cancelled},
    {.name = "limit-cancel-set",
     .what = "its computation fails while the event is set",
     .setup = setup_pool,
     .thread = {first_waits_forever, second_cancels, set_event},
     .stale = 1},
    {.name = "limit-deadline",
     .what = "a worker waits without a time, and its computation gets a deadline",
     .setup = setup_pool,
     .thread = {first_waits_forever, second_sets_deadline},
     .finish = was_cancelled,
     .times_out = true},
    {.name = "limit-deadline-set",
     .what = "a worker waits without a time, and gets what it waits for",
     .setup = setup_pool,
     .thread = {first_waits_forever, second_sets},
     .stale = 1},
    {.name = "limit-mutex",
     .what = "the time comes while the mutex is unlocked",
     .setup = setup,
     .thread = {lock_soon, lock_always},
     .finish = one_and_free,
     .times_out = true},
    {.name = "limit-mutex-line",
     .what = "the time comes for one in line, or for the heir",
     .setup = setup,
     .thread = {lock_soon, lock_always, lock_always},
     .finish = two_and_free,
     .stale = 1,
     .times_out = true},
    {.name = "limit-receive",
     .what = "the time comes while an item is sent",
     .setup = setup_ring,
     .thread = {receive_soon, send_seven},
     .finish = receives_once,
     .times_out = true},
    {.name = "limit-both",
     .what = "both wait for a time: both know that the item was passed, or none",
     .setup = setup_direct,
     .thread = {receive_soon, send_seven_soon},
     .finish = both_or_none,
     .times_out = true},
    {0},
};
