/* SPDX-License-Identifier: MIT */
/* Blocked workers against the look for deadlocks: it never reports one that is none. */
#include "core/search.h"
#include "deadlock.h"

static int data;

static void setup_two(void)
{
    prepare(2, -1, false_report);
}

static void setup_three(void)
{
    prepare(3, -1, false_report);
}

/* With a handler, waits of the program's own would be reported. */
static void setup_no_handler(void)
{
    prepare(2, -1, NULL);
}

/* Those that sleep do so in a crowd, and whatever happens wakes them all. */
static void setup_crowd(void)
{
    sleep_protocol = WEFT_SLEEP_TICKLE_SEQCST;
    setup_two();
}

static void lock_unlock_sleep(void)
{
    weft *w = be_worker(0);
    weft_mutex_lock(w, &mutex);
    data++;
    weft_mutex_unlock(w, &mutex);
    serve(0);
}

static void lock_unlock_stop(void)
{
    weft *w = be_worker(1);
    weft_mutex_lock(w, &mutex);
    data++;
    weft_mutex_unlock(w, &mutex);
    stop(0);
    leave_pool(1);
}

static void set_sleep(void)
{
    weft_event_set(be_worker(0), &event);
    serve(0);
}

static void wait_stop(void)
{
    weft_event_wait(be_worker(1), &event);
    stop(0);
    leave_pool(1);
}

/* Unblocks the other and blocks itself. */
static void set_wait(void)
{
    weft *w = be_worker(0);
    weft_event_set(w, &event);
    weft_event_wait(w, &other_event);
    leave_pool(0);
}

static void wait_set(void)
{
    weft *w = be_worker(1);
    weft_event_wait(w, &event);
    weft_event_set(w, &other_event);
    leave_pool(1);
}

/* Bug 28: of two that wait, one goes on and waits for the other. */

static void set_leave(void)
{
    weft_event_set(be_worker(0), &event);
    leave_pool(0);
}

static void wait_wait(void)
{
    weft *w = be_worker(2);
    weft_event_wait(w, &event);
    weft_event_wait(w, &other_event);
}

static void wait_set_stay(void)
{
    weft *w = be_worker(1);
    weft_event_wait(w, &event);
    weft_event_set(w, &other_event);
}

/* A dump looks at one that rests. */

static void wait_leave(void)
{
    weft_event_wait(be_worker(1), &event);
    leave_pool(1);
}

static void look(void)
{
    struct weft__worker *worker = pool->workers[1];
    weft__lock_take(&pool->blocking.lock);
    if (weft__block_rests(worker))
        MODEL_ASSERT(worker->blocked->kind == BLOCKED_EVENT &&
                     worker->blocked->object == (void *)&event);
    weft__lock_drop(&pool->blocking.lock);
}

static void set_last(void)
{
    weft_event_set(be_worker(2), &event);
    leave_pool(2);
}

/* Who is woken changes what a report may be reading. */

static void setup_outside(void)
{
    setup_two();
    weft_event_from_outside(&event);
}

static void sleep_change_set(void)
{
    weft *w = be_worker(0);
    sleep_until_stopped(0);
    pool->workers[0]->frame = NULL; /* as weft__execute() */
    weft_event_set(w, &event);
}

static void wait_only(void)
{
    weft_event_wait(be_worker(1), &event);
}

static void stop_sleeper(void)
{
    stop(0);
}

/* In code of its own; the one that ends the wait says so before. */

static void block(void)
{
    weft *w = be_worker(0);
    weft_block_begin(w);
    weft__lock_latch_set(&begun);
    weft__lock_latch_wait(&gate[0]);
    leave_pool(0);
}

static void block_twice(void)
{
    weft *w = be_worker(0);
    weft_block_begin(w);
    weft_block_end(w);
    weft_block_begin(w);
    weft_block_end(w);
    stop(1);
    leave_pool(0);
}

static void sleep_second(void)
{
    be_worker(1);
    serve(1);
}

static void unblock_leave(void)
{
    be_worker(1);
    weft__lock_latch_wait(&begun);
    weft_block_end(pool->workers[0]->context->first);
    weft__lock_latch_set(&gate[0]);
    leave_pool(1);
}

/* A job is left on the deque of one that blocks; it ends the wait. */

static void post_wait_stop(void)
{
    weft *w = be_worker(1);
    post(1);
    weft_event_wait(w, &event);
    stop(0);
    leave_pool(1);
}

static weft_task task;

/* A job waits for a task, which it takes itself, or another worker has taken. */

static void note_task(weft *w, void *unused)
{
    data++;
}

static void submit_wait_stop(void)
{
    be_worker(0);
    MODEL_ASSERT(weft_submit(pool, &task, note_task, NULL) == 0);
    MODEL_ASSERT(weft_task_wait(&task) == 0);
    MODEL_ASSERT(data == 1);
    stop(1);
    leave_pool(0);
}

const struct harness block_harnesses[] = {
    {.name = "block-mutex-sleep",
     .what = "the holder of a mutex unlocks it, and sleeps",
     .setup = setup_two,
     .thread = {lock_unlock_sleep, lock_unlock_stop}},
    {.name = "block-event-sleep",
     .what = "who set the event sleeps",
     .setup = setup_two,
     .thread = {set_sleep, wait_stop}},
    {.name = "block-event-turns",
     .what = "who set the event waits for another one",
     .setup = setup_two,
     .thread = {set_wait, wait_set}},
    {.name = "block-event-two",
     .what = "of two whose wait has ended, one waits for the other (bug 28)",
     .setup = setup_three,
     .thread = {set_leave, wait_set_stay, wait_wait},
     .preemptions = 1,
     .stale = 1},
    {.name = "block-sleep-third",
     .what = "a worker falls asleep while one unblocks another",
     .setup = setup_three,
     .thread = {sleep_simply, wait_stop, set_last},
     .stale = 1},
    {.name = "block-report",
     .what = "a sleeper is woken during a look for deadlocks",
     .setup = setup_outside,
     .thread = {sleep_change_set, wait_only, stop_sleeper},
     .stale = 1},
    {.name = "block-dump",
     .what = "a dump looks at what a worker is blocked by, while that is ended",
     .setup = setup_two,
     .thread = {set_leave, wait_leave, look},
     .stale = 1},
    {.name = "block-own-code",
     .what = "a wait of the program's own, ended by a worker that says so",
     .setup = setup_two,
     .thread = {block, unblock_leave}},
    {.name = "block-again",
     .what = "such waits, while the other falls asleep",
     .setup = setup_no_handler,
     .thread = {block_twice, sleep_second}},
    {.name = "block-job-left",
     .what = "a blocked worker has left a job that ends its wait; the other falls asleep",
     .setup = setup_two,
     .thread = {sleep_only, post_wait_stop},
     .stale = 1},
    {.name = "block-mutex-sleep-seqcst",
     .what = "the holder of a mutex unlocks it, and sleeps in a crowd",
     .setup = setup_crowd,
     .thread = {lock_unlock_sleep, lock_unlock_stop},
     .stale = 1},
    {.name = "block-event-sleep-seqcst",
     .what = "who set the event sleeps in a crowd",
     .setup = setup_crowd,
     .thread = {set_sleep, wait_stop},
     .stale = 1},
    {.name = "block-job-left-seqcst",
     .what = "a blocked worker has left a job that ends its wait; the other sleeps in a crowd",
     .setup = setup_crowd,
     .thread = {sleep_only, post_wait_stop},
     .stale = 1},
    {.name = "task-wait",
     .what = "a job waits for a task that another worker runs",
     .setup = setup_no_handler,
     .thread = {submit_wait_stop, sleep_second},
     .stale = 1},
    {0},
};
