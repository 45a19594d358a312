/* SPDX-License-Identifier: MIT */
/* What some known bugs of others need to show, and no other harness has; see faults.c. */
#include "blocking.h"
#include "core/deque.h"
#include "core/job.h"
#include "harnesses.h"
#include "sleep/sleep.h"

/* ---- The owner of a latch goes, and its pool with it (bug 2) ---- */

static struct weft__sleep sleep_module; /* all that a waker knows of the pool */
static struct weft__park park;
static struct weft__latch latch;

static void setup_latch(void)
{
    sleep_module = (struct weft__sleep){0};
    park = (struct weft__park){.cpu = {-1}};
    latch = (struct weft__latch){0};
    MODEL_ASSERT(weft__sleep_init(&sleep_module, WEFT_SLEEP_EVENTS, 1, 1, 0, 2) == 0);
    weft__sleep_place(&sleep_module, 0, &park);
}

static bool nothing_queued(void *arg)
{
    return false;
}

static void wait_and_go(void)
{
    struct weft__idle idle = {0};
    struct weft__sleeper sleeper = {&park, &latch, nothing_queued, nothing_queued, NULL};
    weft__sleep_start_looking(&sleep_module, &idle, 0);
    while (!weft__latch_probe(&latch))
        weft__sleep_no_work(&sleep_module, &idle, &sleeper);
    (void)weft__sleep_work_found(&sleep_module, &idle);
    model_gone(&latch, sizeof latch);
    model_gone(&sleep_module, sizeof sleep_module);
}

static void set_latch(void)
{
    weft__latch_set_for(&latch, &park);
}

/* ---- An owner that begins with a pop (bug 19) ---- */

enum { JOBS = 2 };

static struct weft__deque deque;
static struct weft__job jobs[JOBS];
static unsigned taken[JOBS]; /* written by the threads, looked at in the end */

static void setup_deque(void)
{
    MODEL_ASSERT(weft__deque_init(&deque, JOBS) == 0);
    for (int i = 0; i < JOBS; i++)
        taken[i] = 0;
}

static void pop_and_push(void)
{
    MODEL_ASSERT(weft__deque_pop(&deque) == NULL);
    for (int i = 0; i < JOBS; i++)
        MODEL_ASSERT(weft__deque_push(&deque, &jobs[i]) == 0);
}

static void steal(void)
{
    struct weft__job *stolen = NULL;
    if (weft__deque_steal(&deque, &stolen) == STEAL_GOT)
        taken[stolen - jobs]++;
}

static void all_taken_once(void)
{
    struct weft__job *left;
    while ((left = weft__deque_pop(&deque)))
        taken[left - jobs]++;
    for (int i = 0; i < JOBS; i++)
        MODEL_ASSERT(taken[i] == 1);
}

/* ---- A broadcast to a worker that falls asleep in its pool (bug 4) ---- */

static int mail_ran;

static void setup_mail(void)
{
    make_pool(1, -1, NULL);
}

static void read_mail(weft *w, void *arg)
{
    mail_ran++;
}

static void serve_pool(void)
{
    weft__worker_push(pool->workers[0], __builtin_frame_address(0));
    serve(0);
}

static void broadcast_and_stop(void)
{
    MODEL_ASSERT(weft_broadcast(pool, read_mail, NULL) == 0);
    MODEL_ASSERT(mail_ran == 1);
    stop(0);
}

const struct harness fault_harnesses[] = {
    {.name = "latch-pool-gone",
     .what = "a latch is set, and its owner's pool goes",
     .setup = setup_latch,
     .thread = {wait_and_go, set_latch}},
    {.name = "deque-empty",
     .what = "a pop before the first push",
     .setup = setup_deque,
     .thread = {pop_and_push, steal},
     .finish = all_taken_once},
    {.name = "mail-pool",
     .what = "a broadcast while the pool's worker falls asleep",
     .setup = setup_mail,
     .thread = {serve_pool, broadcast_and_stop}},
    {0},
};
