/* SPDX-License-Identifier: MIT */
/* Alarms, timers and completions: an alarm rings, or is taken back and touches nothing any more; a
 * timer's job runs, or was stopped before; a task comes out of a completion queue once. An alarm
 * that is set for 0 is due at once: no time has to pass, so a wake-up of the alarms' thread that is
 * missing is found. */
#include "core/alarm.h"
#include "core/completions.h"
#include "core/group.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <weft/timer.h>

#include "blocking.h" /* last: it has a variable that is a parameter's name in the others */

enum { SOON = 3 };

static void make_one(void)
{
    make_pool(1, -1, false_report);
}

/* ---- Alarms ---- */

struct bell {
    struct weft__alarm alarm; /* first */
    struct weft__spin_latch latch;
    int rung; /* plain, so that a race is found */
};

static struct bell bells[2];

static void ring(struct weft__alarm *alarm)
{
    struct bell *bell = (struct bell *)alarm;
    bell->rung++;
    weft__spin_latch_set(&bell->latch); /* last touch: its owner goes on when the lock is free */
}

static void set(struct bell *bell, uint64_t when)
{
    bell->latch.owner = weft__park_get();
    MODEL_ASSERT(weft__alarm_set(pool, &bell->alarm, when, ring) == 0);
}

static void await(struct bell *bell)
{
    struct weft__sleeper sleeper = {.park = bell->latch.owner, .latch = &bell->latch.core};
    while (!weft__latch_probe(&bell->latch.core))
        (void)weft__sleep_uncounted(&sleeper, 0);
}

/* Its memory is gone: the thread for alarms must not touch it any more. */
static void forget(struct bell *bell)
{
    weft__alarm_take_back(&bell->alarm);
    MODEL_ASSERT(bell->rung <= 1);
    weft__park_put(bell->latch.owner);
    model_gone(bell, sizeof *bell);
}

/* The second one finds the thread asleep, and so does the end. */
static void ring_twice(void)
{
    for (int i = 0; i < 2; i++) {
        set(&bells[i], 0);
        await(&bells[i]);
        MODEL_ASSERT(bells[i].rung == 1);
        forget(&bells[i]);
    }
    weft__alarms_stop(pool);
}

/* It rings just now, or it does not. */
static void take_back(void)
{
    set(&bells[0], 0);
    forget(&bells[0]);
    weft__alarms_stop(pool);
}

/* One is far away; the other one, which is due, does not wait for it. */
static void set_near_after_far(void)
{
    set(&bells[0], WEFT_FOREVER);
    set(&bells[1], 0);
    await(&bells[1]);
    forget(&bells[1]);
    MODEL_ASSERT(bells[0].rung == 0);
    forget(&bells[0]);
    weft__alarms_stop(pool);
}

/* ---- Timers ---- */

static weft_timer timer;
static int ran;

static void note(weft *w, void *arg)
{
    ran++;
}

static void setup_nothing(void)
{
}

static void make_served(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.spin_rounds = config.spares = WEFT_NONE;
    config.quantum = WEFT_NONE;
    config.flags = WEFT_NO_SIGSEGV;
    MODEL_ASSERT(weft_pool_create(&pool, &config) == 0);
}

/* Its job has run when stop returns, or never will; the timer's memory is free then. */
static void start_and_stop(void)
{
    make_served();
    MODEL_ASSERT(weft_timer_start(pool, &timer, 0, 0, note, NULL) == 0);
    MODEL_ASSERT(weft_timer_stop(&timer) == 0);
    MODEL_ASSERT(ran <= 1);
    model_gone(&timer, sizeof timer);
    MODEL_ASSERT(weft_pool_destroy(pool) == 0);
}

/* A timer that is SET is stopped with its pool; a job that is queued is run. */
static void start_and_destroy(void)
{
    make_served();
    MODEL_ASSERT(weft_timer_start(pool, &timer, 0, 0, note, NULL) == 0);
    MODEL_ASSERT(weft_pool_destroy(pool) == 0);
    MODEL_ASSERT(ran <= 1);
    model_gone(&timer, sizeof timer);
}

/* ---- Completions ---- */

static weft_completions *queue;
static struct weft__task task; /* which is over */
static struct weft__task another;
static int result; /* of the task; plain, so that a race is found */
static int errors[2];
static struct weft__group group; /* of the job that waits */

static void make_queue(void)
{
    MODEL_ASSERT(weft_completions_create(&queue) == 0);
    weft__completions_expect(queue, NULL);
    model_time_passes();
}

/* ---- A descriptor, in place of the kernel's. It hands nothing over: relaxed, all ---- */

enum { DESCRIPTOR = 1 << 20 }; /* no file has this number: close() fails */
static struct atomic_u64 written;

int eventfd(unsigned count, int flags)
{
    (void)count;
    (void)flags;
    return DESCRIPTOR;
}

int eventfd_write(int fd, eventfd_t value)
{
    if (fd != DESCRIPTOR)
        return -1; /* other harnesses have tasks whose descriptor is zero */
    atomic_fetch_add_relaxed(&written, value);
    return 0;
}

int eventfd_read(int fd, eventfd_t *value)
{
    MODEL_ASSERT(fd == DESCRIPTOR);
    uint64_t old = atomic_load_relaxed(&written);
    while (!atomic_cas_relaxed(&written, &old, 0))
        ;
    *value = old;
    return old > 0 ? 0 : -1;
}

static void make_queue_with_fd(void)
{
    make_queue();
    MODEL_ASSERT(weft_completions_fd(queue) >= 0);
}

static void expect_another(void)
{
    make_queue_with_fd();
    weft__completions_expect(queue, NULL);
}

static void make_queue_and_pool(void)
{
    make_one();
    make_queue();
}

static void put(void)
{
    result = 7;
    weft__completions_put(queue, &task);
}

static int take(uint64_t when)
{
    weft_task *got = NULL;
    int error = weft_completions_next_until(queue, &got, when);
    MODEL_ASSERT(error == 0 ? got == (weft_task *)(void *)&task && result == 7
                            : error == -ETIMEDOUT && !got);
    return error;
}

/* Whoever has the last task may destroy the queue, and use the task again. */
static void end_queue(void)
{
    model_gone(&task, sizeof task);
    MODEL_ASSERT(weft_completions_destroy(queue) == 0);
}

static void take_and_end(void)
{
    MODEL_ASSERT(take(WEFT_FOREVER) == 0);
    end_queue();
}

static void take_soon(void)
{
    errors[0] = take(SOON);
}

static void take_soon_too(void)
{
    errors[1] = take(SOON + 1);
}

static void take_soon_and_end(void)
{
    errors[0] = take(SOON);
    if (errors[0] == 0)
        end_queue();
}

static void end_if_left(void)
{
    weft_task *got;
    if (errors[0] == 0)
        return;
    MODEL_ASSERT(weft_completions_next(queue, &got) == 0);
    MODEL_ASSERT(weft_completions_destroy(queue) == 0);
}

static void put_another(void)
{
    weft__completions_put(queue, &another);
}

/* It does not wait for the descriptor, and may be faster than those who write it: it finds a task,
 * none, the other task, and none. */
static void look(void)
{
    weft_task *got;
    for (int i = 0; i < 4; i++)
        (void)!weft_completions_next(queue, &got);
}

/* There are no writers any more. The descriptor is readable if a task is left, and not when none
 * is. */
static void is_silent(void)
{
    weft_task *got;
    bool readable = atomic_load_relaxed(&written) > 0; /* relaxed, both: all others are over */
    MODEL_ASSERT(readable || !queue->first);
    while (weft_completions_next(queue, &got) == 0)
        ;
    MODEL_ASSERT(atomic_load_relaxed(&written) == 0);
    MODEL_ASSERT(weft_completions_destroy(queue) == 0);
}

/* In a job, which has an alarm for its limit. */
static void take_in_job(void)
{
    be_worker(0);
    errors[0] = take(SOON);
    leave_pool(0);
    weft__alarms_stop(pool);
}

/* In a job whose computation is cancelled, or gets a deadline, while a task is put in. */
static void make_group(void)
{
    make_queue_and_pool();
    weft__group_begin(&group, NULL);
}

static void take_in_group(void)
{
    weft_task *got = NULL;
    be_worker(0);
    pool->workers[0]->context->group = &group;
    errors[0] = weft_completions_next_until(queue, &got, WEFT_FOREVER);
    MODEL_ASSERT(errors[0] == 0 ? got && result == 7 : errors[0] == -ECANCELED && !got);
    leave_pool(0);
    weft__alarms_stop(pool);
}

static void cancel_group(void)
{
    MODEL_ASSERT(weft__group_fail(&group, -EIO));
}

static void set_deadline(void)
{
    weft__group_set_deadline(&group, SOON);
}

/* The wait ends though no task comes. */
static void ended_by_itself(void)
{
    MODEL_ASSERT(errors[0] == -ECANCELED);
}

static void once_of_two(void)
{
    MODEL_ASSERT(errors[0] != 0 || errors[1] != 0);
    weft_task *got;
    bool left = errors[0] != 0 && errors[1] != 0;
    MODEL_ASSERT(weft_completions_next(queue, &got) == (left ? 0 : -EAGAIN));
    MODEL_ASSERT(weft_completions_destroy(queue) == 0);
}

static void once(void)
{
    errors[1] = -ETIMEDOUT;
    once_of_two();
}

const struct harness alarm_harnesses[] = {
    {.name = "alarm",
     .what = "two alarms, one after the other",
     .setup = make_one,
     .thread = {ring_twice}},
    {.name = "alarm-back",
     .what = "an alarm is taken back while it rings",
     .setup = make_one,
     .thread = {take_back}},
    {.name = "alarm-near",
     .what = "an alarm that is due, while the thread sleeps until a later one",
     .setup = make_one,
     .thread = {set_near_after_far}},
    {.name = "timer-stop",
     .what = "a timer is stopped while its job is queued, or runs",
     .setup = setup_nothing,
     .thread = {start_and_stop},
     .preemptions = 1,
     .stale = 1},
    {.name = "timer-destroy",
     .what = "its pool is destroyed meanwhile",
     .setup = setup_nothing,
     .thread = {start_and_destroy},
     .preemptions = 1,
     .stale = 1},
    {.name = "completions",
     .what = "the thread that takes the last task destroys the queue",
     .setup = make_queue,
     .thread = {take_and_end, put}},
    {.name = "completions-fd",
     .what = "the same, while the descriptor is written",
     .setup = make_queue_with_fd,
     .thread = {take_and_end, put}},
    {.name = "completions-silent",
     .what = "a thread takes tasks before the descriptor tells of them",
     .setup = expect_another,
     .thread = {look, put, put_another},
     .finish = is_silent,
     .stale = 1},
    {.name = "completions-limit",
     .what = "the time comes while a task is put in",
     .setup = make_queue,
     .thread = {take_soon_and_end, put},
     .finish = end_if_left,
     .times_out = true},
    {.name = "completions-two",
     .what = "the time comes for two threads, while a task is put in",
     .setup = make_queue,
     .thread = {take_soon, take_soon_too, put},
     .finish = once_of_two,
     .stale = 1,
     .times_out = true},
    {.name = "completions-job",
     .what = "the alarm of a job rings while a task is put in",
     .setup = make_queue_and_pool,
     .thread = {take_in_job, put},
     .finish = once,
     .preemptions = 1,
     .stale = 1,
     .times_out = true},
    {.name = "completions-cancelled",
     .what = "a job waits without a time, and its computation is cancelled",
     .setup = make_group,
     .thread = {take_in_group, cancel_group},
     .finish = ended_by_itself,
     .preemptions = 2,
     .stale = 1},
    {.name = "completions-deadline",
     .what = "a job waits without a time, and its computation gets a deadline",
     .setup = make_group,
     .thread = {take_in_group, set_deadline},
     .finish = ended_by_itself,
     .preemptions = 2,
     .stale = 1,
     .times_out = true},
    {.name = "completions-both",
     .what = "a job's computation is cancelled while a task is put in",
     .setup = make_group,
     .thread = {take_in_group, cancel_group, put},
     .finish = once,
     .preemptions = 1,
     .stale = 1},
    {0},
};
