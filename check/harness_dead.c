/* SPDX-License-Identifier: MIT */
/* Every deadlock is reported: an execution in which all are stuck and no report came fails by
 * itself. */
#include "core/search.h"
#include "deadlock.h"
#include "sleep/crowd.h"

static void setup_dead_one(void)
{
    prepare(1, -1, true_report);
}

static void setup_dead(void)
{
    prepare(2, -1, true_report);
}

static void setup_dead_spare(void)
{
    prepare(1, 1, true_report);
}

/* Those that sleep do so in a crowd, and whatever happens wakes them all. */
static void setup_dead_crowd(void)
{
    sleep_protocol = WEFT_SLEEP_TICKLE_SEQCST;
    setup_dead();
}

static void lock_both(void)
{
    weft *w = be_worker(0);
    weft_mutex_lock(w, &mutex);
    weft_mutex_lock(w, &other_mutex);
    weft_mutex_unlock(w, &other_mutex);
    weft_mutex_unlock(w, &mutex);
    leave_pool(0);
}

static void lock_both_reversed(void)
{
    weft *w = be_worker(1);
    weft_mutex_lock(w, &other_mutex);
    weft_mutex_lock(w, &mutex);
    weft_mutex_unlock(w, &mutex);
    weft_mutex_unlock(w, &other_mutex);
    leave_pool(1);
}

static void lock_twice(void)
{
    weft *w = be_worker(0);
    weft_mutex_lock(w, &mutex);
    weft_mutex_lock(w, &mutex);
}

static void wait_for_ever(void)
{
    weft_event_wait(be_worker(1), &event);
}

static void leave_only(void)
{
    be_worker(0);
    leave_pool(0);
}

static void set_wait_for_ever(void)
{
    weft *w = be_worker(0);
    weft_event_set(w, &event);
    weft_event_wait(w, &other_event);
}

static void wait_twice_for_ever(void)
{
    weft *w = be_worker(1);
    weft_event_wait(w, &event);
    weft_event_wait(w, &other_event);
}

static void block_for_ever(void)
{
    weft_block_begin(be_worker(1));
    weft__lock_latch_wait(&gate[1]);
}

/* Guests of a pool whose worker has gone. */

static void setup_guests(void)
{
    setup_dead_one();
    weft__census_leave(&pool->census);
}

static void lock_both_in(weft *w, void *unused)
{
    weft_mutex_lock(w, &mutex);
    weft_mutex_lock(w, &other_mutex);
    weft_mutex_unlock(w, &other_mutex);
    weft_mutex_unlock(w, &mutex);
}

static void lock_both_reversed_in(weft *w, void *unused)
{
    weft_mutex_lock(w, &other_mutex);
    weft_mutex_lock(w, &mutex);
    weft_mutex_unlock(w, &mutex);
    weft_mutex_unlock(w, &other_mutex);
}

static void guest(void)
{
    MODEL_ASSERT(weft_run(pool, lock_both_in, NULL) == 0);
}

static void guest_reversed(void)
{
    MODEL_ASSERT(weft_run(pool, lock_both_reversed_in, NULL) == 0);
}

/* Somebody comes for a moment, which calls a report off; then it has to come all the same. */

static void visit(void)
{
    weft__census_enter(&pool->census); /* as guest_enter() */
    weft__block_let_report(pool);
    weft__census_leave(&pool->census);
}

static void visit_twice(void)
{
    visit();
    visit();
}

static void wake_sleeper(void)
{
    (void)weft__park_wake(pool->workers[0]->park);
}

static void tickle(void)
{
    weft__crowd_tickle(pool->sleep.crowd);
}

static void wait_alone_for_ever(void)
{
    weft_event_wait(be_worker(0), &event);
}

/* A thread outside could have ended the wait, until it comes to wait itself. */

static weft_task task;

static void wait_in_task(weft *w, void *unused)
{
    weft_event_wait(w, &event);
}

static void submit_and_wait(void)
{
    MODEL_ASSERT(weft_submit(pool, &task, wait_in_task, NULL) == 0);
    (void)!weft_task_wait(&task);
}

const struct harness dead_harnesses[] = {
    {.name = "dead-mutexes",
     .what = "two mutexes in opposite order",
     .setup = setup_dead,
     .thread = {lock_both, lock_both_reversed}},
    {.name = "dead-own-mutex",
     .what = "a mutex twice",
     .setup = setup_dead_one,
     .thread = {lock_twice}},
    {.name = "dead-event-sleep",
     .what = "an event that nobody sets; the other falls asleep",
     .setup = setup_dead,
     .thread = {sleep_only, wait_for_ever}},
    {.name = "dead-event-leave",
     .what = "an event that nobody sets; the other ends",
     .setup = setup_dead,
     .thread = {leave_only, wait_for_ever}},
    {.name = "dead-event-late",
     .what = "both wait, after one was unblocked",
     .setup = setup_dead,
     .thread = {set_wait_for_ever, wait_twice_for_ever}},
    {.name = "dead-own-code",
     .what = "a wait of the program's own; the other falls asleep",
     .setup = setup_dead,
     .thread = {sleep_only, block_for_ever}},
    {.name = "dead-guests",
     .what = "two mutexes in opposite order, by guests",
     .setup = setup_guests,
     .thread = {guest, guest_reversed},
     .stale = 1},
    {.name = "dead-visitor",
     .what = "an event that nobody sets, while guests come and go",
     .setup = setup_dead_one,
     .thread = {wait_alone_for_ever, visit_twice}},
    {.name = "dead-woken",
     .what = "an event that nobody sets, while the other is woken for nothing",
     .setup = setup_dead,
     .thread = {sleep_simply, wait_for_ever, wake_sleeper},
     .stale = 1},
    {.name = "dead-submitter",
     .what = "an event that nobody sets, in a task that a thread outside comes to wait for",
     .setup = setup_dead_one,
     .thread = {sleep_only, submit_and_wait},
     .stale = 1},
    {.name = "dead-event-sleep-seqcst",
     .what = "an event that nobody sets; the other sleeps in a crowd",
     .setup = setup_dead_crowd,
     .thread = {sleep_only, wait_for_ever},
     .stale = 1},
    {.name = "dead-woken-seqcst",
     .what = "an event that nobody sets, while the crowd is tickled for nothing",
     .setup = setup_dead_crowd,
     .thread = {sleep_only, wait_for_ever, tickle},
     .preemptions = 1,
     .stale = 1},
    {.name = "dead-spare",
     .what = "an event that nobody sets, and a spare",
     .setup = setup_dead_spare,
     .thread = {wait_alone_for_ever}},
    {0},
};
