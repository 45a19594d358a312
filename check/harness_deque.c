/* SPDX-License-Identifier: MIT */
/* The work-stealing deque: every job is taken once, whoever takes it. */
#include "core/deque.h"
#include "core/job.h"
#include "harnesses.h"

enum { JOBS = 2 };

static struct weft__deque deque;
static struct weft__job jobs[JOBS];
static int data[JOBS];       /* what the owner wrote before it pushed */
static unsigned taken[JOBS]; /* written by the threads, looked at in the end */

static void prepare(size_t capacity)
{
    MODEL_ASSERT(weft__deque_init(&deque, capacity) == 0);
    for (int i = 0; i < JOBS; i++)
        taken[i] = 0;
}

static void push(int i)
{
    data[i] = 1;
    MODEL_ASSERT(weft__deque_push(&deque, &jobs[i]) == 0);
}

static void take(struct weft__job *job)
{
    if (!job)
        return;
    MODEL_ASSERT(data[job - jobs] == 1);
    taken[job - jobs]++;
}

static void steal(void)
{
    struct weft__job *job = NULL;
    if (weft__deque_steal(&deque, &job) == STEAL_GOT)
        take(job);
}

static void all_taken_once(void)
{
    struct weft__job *job;
    while ((job = weft__deque_pop(&deque)))
        taken[job - jobs]++;
    for (int i = 0; i < JOBS; i++)
        MODEL_ASSERT(taken[i] == 1);
}

/* The owner pops the last one while a thief, or two, want it. */
static void setup_last(void)
{
    prepare(4);
}

static void push_and_pop(void)
{
    push(0);
    push(1);
    take(weft__deque_pop(&deque));
    take(weft__deque_pop(&deque));
}

static void steal_twice(void)
{
    steal();
    steal();
}

/* The ring is full: the owner moves to a larger one while a thief reads the old one. */
static void setup_grow(void)
{
    prepare(1);
}

static void push_two(void)
{
    push(0);
    push(1);
}

static void push_two_pop_one(void)
{
    push_two();
    take(weft__deque_pop(&deque));
}

/* A place in the ring is used again after its job was stolen. */
static void push_pop_push(void)
{
    push(0);
    take(weft__deque_pop(&deque));
    push(1);
    take(weft__deque_pop(&deque));
}

const struct harness deque_harnesses[] = {
    {.name = "deque-last",
     .what = "the last job: owner against thief",
     .setup = setup_last,
     .thread = {push_and_pop, steal_twice},
     .finish = all_taken_once},
    {.name = "deque-two-thieves",
     .what = "the last job: owner against two thieves",
     .setup = setup_last,
     .thread = {push_and_pop, steal, steal},
     .finish = all_taken_once},
    {.name = "deque-grow",
     .what = "a larger ring while a thief reads",
     .setup = setup_grow,
     .thread = {push_two_pop_one, steal},
     .finish = all_taken_once},
    {.name = "deque-grow-two",
     .what = "a larger ring while two thieves read",
     .setup = setup_grow,
     .thread = {push_two, steal, steal},
     .finish = all_taken_once},
    {.name = "deque-reuse",
     .what = "a place that is used again",
     .setup = setup_grow,
     .thread = {push_pop_push, steal_twice},
     .finish = all_taken_once},
    {0},
};
