/* SPDX-License-Identifier: MIT */
/* A read-write lock, a barrier and a once, used by threads outside (NULL) and by workers; also with
 * a limit. The clock goes on by one at each look. */
#include "blocking.h"
#include "core/object.h"

#include <errno.h>

enum { SOON = 3 }; /* a waiter looks twice before it sleeps */

static weft_rwlock lock;
static weft_barrier barrier;
static weft_once once;
static int data, writes, results[3];

static void setup(void)
{
    weft_rwlock_init(&lock, "lock");
    weft_barrier_init(&barrier, "barrier", 2);
    weft_once_init(&once, "once");
    model_time_passes();
}

static void setup_pool(void)
{
    make_pool(2, -1, false_report);
    setup();
}

static void read_by(weft *w)
{
    weft_rwlock_lock_read(w, &lock);
    MODEL_ASSERT(data == writes);
    weft_rwlock_unlock(w, &lock);
}

static void write_now(void)
{
    data++; /* a race, unless it is alone */
    writes++;
}

static void write_by(weft *w)
{
    weft_rwlock_lock_write(w, &lock);
    write_now();
    weft_rwlock_unlock(w, &lock);
}

static void read_outside(void)
{
    read_by(NULL);
}

static void write_outside(void)
{
    write_by(NULL);
}

static void first_writes(void)
{
    write_by(be_worker(0));
    leave_pool(0);
}

static void second_reads(void)
{
    read_by(be_worker(1));
    leave_pool(1);
}

static void write_soon(void)
{
    results[0] = weft_rwlock_lock_write_until(NULL, &lock, SOON);
    if (results[0] == 0) {
        write_now();
        weft_rwlock_unlock(NULL, &lock);
    }
}

static void is_free(void)
{
    const struct weft__rwlock *inner = (const struct weft__rwlock *)(void *)&lock;
    MODEL_ASSERT(!inner->reading.first && !inner->writing.first);
    MODEL_ASSERT(weft_rwlock_trylock_write(NULL, &lock));
}

static void arrive_soon(void)
{
    results[model_thread()] = weft_barrier_wait_until(NULL, &barrier, SOON);
}

static void both_or_none(void)
{
    MODEL_ASSERT(results[1] == results[2]);
    MODEL_ASSERT(weft_barrier_wait_until(NULL, &barrier, 0) == -ETIMEDOUT);
}

static void add_one(weft *w, void *arg)
{
    data++;
}

static void call(void)
{
    weft_once_call(NULL, &once, add_one, NULL);
    MODEL_ASSERT(data == 1);
}

static void call_soon(void)
{
    int result = weft_once_call_until(NULL, &once, add_one, NULL, SOON);
    MODEL_ASSERT(result == -ETIMEDOUT || data == 1);
}

static void look_whether_done(void)
{
    if (weft_once_is_done(&once))
        MODEL_ASSERT(data == 1);
}

const struct harness rwlock_harnesses[] = {
    {.name = "rwlock-three",
     .what = "two read and one writes",
     .setup = setup,
     .thread = {read_outside, read_outside, write_outside},
     .finish = is_free,
     .stale = 1},
    {.name = "rwlock-writers",
     .what = "two write and one reads",
     .setup = setup,
     .thread = {write_outside, write_outside, read_outside},
     .finish = is_free,
     .stale = 1},
    {.name = "rwlock-workers",
     .what = "one worker writes, one reads",
     .setup = setup_pool,
     .thread = {first_writes, second_reads},
     .finish = is_free},
    {.name = "rwlock-limit",
     .what = "a writer gives up, for whom a reader waits",
     .setup = setup,
     .thread = {write_soon, read_outside, read_outside},
     .finish = is_free,
     .stale = 1,
     .times_out = true},
    {.name = "barrier-limit",
     .what = "one gives up while the other comes: both know, or none",
     .setup = setup,
     .thread = {arrive_soon, arrive_soon},
     .finish = both_or_none,
     .times_out = true},
    {.name = "once-two",
     .what = "two want it done, one looks whether it is",
     .setup = setup,
     .thread = {call, call, look_whether_done},
     .stale = 1},
    {.name = "once-limit",
     .what = "one of two waits with a limit",
     .setup = setup,
     .thread = {call, call_soon},
     .times_out = true},
    {0},
};
