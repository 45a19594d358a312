/* SPDX-License-Identifier: MIT */
/* deque.c: one owner, any number of thieves, every job exactly once; and what went wrong in other
 * people's deques. */
#include "core/deque.h"

#include "child.h"
#include "core/job.h"
#include "os/memory.h"

#include <errno.h>
#include <stdlib.h>

enum { MANY = 1000 };

static struct weft__job jobs[MANY]; /* never run: only their addresses matter */

static void expect_pop(struct weft__deque *deque, size_t i)
{
    CHECK(weft__deque_pop(deque) == &jobs[i]);
}

static void expect_steal(struct weft__deque *deque, size_t i)
{
    struct weft__job *job;
    CHECK_EQUAL(weft__deque_steal(deque, &job), STEAL_GOT);
    CHECK(job == &jobs[i]);
}

static void expect_empty(struct weft__deque *deque)
{
    struct weft__job *job;
    CHECK(weft__deque_pop(deque) == NULL);
    CHECK_EQUAL(weft__deque_steal(deque, &job), STEAL_EMPTY);
    CHECK_EQUAL(weft__deque_size(deque), 0);
}

/* Pushes jobs[from] to jobs[to - 1]. */
static void push(struct weft__deque *deque, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        CHECK_EQUAL(weft__deque_push(deque, &jobs[i]), 0);
}

/* ---- One thread ---- */

/* Popping an empty deque whose bottom is 0 makes it -1 for a moment, for thieves to see. */
static void bug_19_bottom_minus_one_is_no_huge_number(void)
{
    struct weft__deque deque;
    struct weft__job *job;
    CHECK_EQUAL(weft__deque_init(&deque, 2), 0);
    for (int i = 0; i < 3; i++)
        expect_empty(&deque);
    push(&deque, 0, 1);
    CHECK_EQUAL(weft__deque_size(&deque), 1);
    expect_pop(&deque, 0);
    expect_empty(&deque);
    weft__deque_destroy(&deque);
    /* As a thief sees it in the middle of that pop. */
    CHECK_EQUAL(weft__deque_init(&deque, 2), 0);
    atomic_store_relaxed(&deque.bottom, -1);
    CHECK_EQUAL(weft__deque_size(&deque), 0);
    CHECK_EQUAL(weft__deque_steal(&deque, &job), STEAL_EMPTY);
    weft__deque_destroy(&deque);
}

static void owner_is_lifo_thief_is_fifo(void)
{
    struct weft__deque deque;
    CHECK_EQUAL(weft__deque_init(&deque, 8), 0);
    push(&deque, 0, 6);
    CHECK_EQUAL(weft__deque_size(&deque), 6);
    expect_steal(&deque, 0);
    expect_pop(&deque, 5);
    expect_steal(&deque, 1);
    expect_pop(&deque, 4);
    CHECK_EQUAL(weft__deque_size(&deque), 2);
    push(&deque, 6, 7);
    expect_pop(&deque, 6);
    expect_pop(&deque, 3);
    expect_steal(&deque, 2); /* the last one, by a thief */
    expect_empty(&deque);
    weft__deque_destroy(&deque);
}

static void grows(void)
{
    for (size_t capacity = 1; capacity <= 8; capacity *= 2) {
        struct weft__deque deque;
        CHECK_EQUAL(weft__deque_init(&deque, capacity), 0);
        push(&deque, 0, MANY);
        CHECK_EQUAL(weft__deque_size(&deque), MANY);
        for (size_t i = 0; i < MANY / 2; i++) {
            expect_steal(&deque, i);
            expect_pop(&deque, MANY - 1 - i);
        }
        expect_empty(&deque);
        weft__deque_destroy(&deque);
    }
}

/* The ring is full to the last place before it grows, and wrapped around when it does. */
static void grows_when_wrapped(void)
{
    struct weft__deque deque;
    CHECK_EQUAL(weft__deque_init(&deque, 4), 0);
    push(&deque, 0, 3);
    expect_steal(&deque, 0);
    expect_steal(&deque, 1);
    push(&deque, 3, 6);
    void *before = atomic_load_relaxed(&deque.ring);
    CHECK_EQUAL(weft__deque_size(&deque), 4);
    CHECK(atomic_load_relaxed(&deque.ring) == before);
    push(&deque, 6, 7);
    CHECK(atomic_load_relaxed(&deque.ring) != before);
    for (size_t i = 2; i < 7; i++)
        expect_steal(&deque, i);
    expect_empty(&deque);
    weft__deque_destroy(&deque);
}

/* What is pushed after growing is in the new ring, in its place, whatever top is. */
static void bug_18_push_after_growing_uses_the_new_ring(void)
{
    for (int before = 0; before < 9; before++) {
        enum { JOBS = 200 };
        struct weft__deque deque;
        CHECK_EQUAL(weft__deque_init(&deque, 4), 0);
        for (int i = 0; i < before; i++) { /* indices don't start at 0 */
            push(&deque, 0, 1);
            expect_steal(&deque, 0);
        }
        for (size_t i = 0; i < JOBS; i++) {
            push(&deque, i, i + 1);
            CHECK_EQUAL(weft__deque_size(&deque), i + 1);
        }
        for (size_t i = 0; i < JOBS / 2; i++)
            expect_steal(&deque, i);
        for (size_t i = JOBS; i-- > JOBS / 2;)
            expect_pop(&deque, i);
        expect_empty(&deque);
        weft__deque_destroy(&deque);
    }
}

static void set_indices(struct weft__deque *deque, int64_t at)
{
    atomic_store_relaxed(&deque->top, at);
    atomic_store_relaxed(&deque->bottom, at);
}

/* Indices are 64 bits and signed: nothing happens at the limits of smaller types, or at 0. */
static void indices_cross_limits(void)
{
    static const int64_t limits[] = {0, INT64_C(1) << 31, INT64_C(1) << 32, INT64_C(1) << 62};
    for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        struct weft__deque deque;
        CHECK_EQUAL(weft__deque_init(&deque, 4), 0);
        set_indices(&deque, limits[l] - 3);
        expect_empty(&deque);
        push(&deque, 0, 20); /* grows across the limit too */
        CHECK_EQUAL(weft__deque_size(&deque), 20);
        for (size_t i = 0; i < 10; i++) {
            expect_pop(&deque, 19 - i);
            expect_steal(&deque, i);
        }
        expect_empty(&deque);
        weft__deque_destroy(&deque);
    }
}

/* A ring that can't grow takes nothing, loses nothing, and grows later. */
static void bug_18_failed_growth_loses_nothing(void)
{
    for (size_t capacity = 2; capacity <= 4; capacity *= 2) {
        struct weft__deque deque;
        CHECK_EQUAL(weft__deque_init(&deque, capacity), 0);
        push(&deque, 0, capacity);
        for (int tries = 0; tries < 3; tries++) {
            atomic_store_relaxed(&weft__alloc_fail_at, 1);
            CHECK_EQUAL(weft__deque_push(&deque, &jobs[capacity]), -ENOMEM);
            CHECK_EQUAL(weft__deque_size(&deque), capacity);
        }
        push(&deque, capacity, capacity + 1); /* there is memory again */
        for (size_t i = 0; i < capacity / 2; i++)
            expect_steal(&deque, i);
        for (size_t i = capacity + 1; i-- > capacity / 2;)
            expect_pop(&deque, i);
        expect_empty(&deque);
        weft__deque_destroy(&deque);
    }
}

/* ---- Many threads ---- */

enum { THIEVES = 3 };

struct heist {
    struct weft__deque deque;
    struct weft__job *jobs;
    struct atomic_u32 *seen; /* how often each job came out */
    size_t n;
    size_t capacity;
    struct atomic_bool over;
    void (*own)(struct heist *heist);
};

static void saw(struct heist *heist, struct weft__job *job)
{
    CHECK(job >= heist->jobs && job < heist->jobs + heist->n);
    atomic_fetch_add_relaxed(&heist->seen[job - heist->jobs], 1);
}

static void owner_pops(struct heist *heist)
{
    struct weft__job *job = weft__deque_pop(&heist->deque);
    if (job)
        saw(heist, job);
}

static void owner_pushes(struct heist *heist, size_t i)
{
    CHECK(weft__deque_push(&heist->deque, &heist->jobs[i]) == 0);
}

static void thief_works(struct heist *heist)
{
    for (;;) {
        bool over = atomic_load_acquire(&heist->over);
        struct weft__job *job;
        enum steal_result result = weft__deque_steal(&heist->deque, &job);
        if (result == STEAL_GOT)
            saw(heist, job);
        else if (result == STEAL_EMPTY && over)
            return; /* nothing comes after `over` */
        else
            weft__relax();
    }
}

static void take_part(unsigned i, void *arg)
{
    struct heist *heist = arg;
    if (i > 0) {
        thief_works(heist);
        return;
    }
    heist->own(heist);
    atomic_store_release(&heist->over, true);
}

static void play(void (*own)(struct heist *), size_t n, size_t capacity)
{
    struct heist heist = {.n = n, .capacity = capacity, .own = own};
    heist.jobs = calloc(n, sizeof heist.jobs[0]);
    heist.seen = calloc(n, sizeof heist.seen[0]);
    CHECK(heist.jobs && heist.seen);
    CHECK_EQUAL(weft__deque_init(&heist.deque, capacity), 0);
    in_threads(1 + THIEVES, take_part, &heist);
    for (size_t i = 0; i < n; i++)
        CHECK_EQUAL(atomic_load_relaxed(&heist.seen[i]), 1);
    CHECK_EQUAL(weft__deque_size(&heist.deque), 0);
    weft__deque_destroy(&heist.deque);
    free(heist.jobs);
    free(heist.seen);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void push_and_pop_at_random(struct heist *heist)
{
    unsigned seed = 1;
    for (size_t i = 0; i < heist->n;) {
        unsigned burst = next_random(&seed) % 8;
        for (unsigned k = 0; k <= burst && i < heist->n; k++)
            owner_pushes(heist, i++);
        for (unsigned k = next_random(&seed) % 8; k > 0; k--)
            owner_pops(heist);
    }
}

static void each_job_once(void)
{
    play(push_and_pop_at_random, SCALED(2000000, 20), 16);
}

/* Push and pop at once: whenever a thief is there, it wants the same job. */
static void push_and_pop_one(struct heist *heist)
{
    for (size_t i = 0; i < heist->n; i++) {
        owner_pushes(heist, i);
        owner_pops(heist);
    }
}

static void bug_17_last_job_is_taken_once(void)
{
    play(push_and_pop_one, SCALED(2000000, 20), 2);
}

static void push_all(struct heist *heist)
{
    for (size_t i = 0; i < heist->n; i++)
        owner_pushes(heist, i);
}

/* A ring that starts with one place grows while thieves read it. */
static void grow_against_steal(void)
{
    for (int i = 0; i < SCALED(400, 10); i++)
        play(push_all, 4096, 1);
}

static void push_three_pop_one(struct heist *heist)
{
    for (size_t i = 0; i < heist->n; i++) {
        owner_pushes(heist, i);
        if (i % 3 == 2)
            owner_pops(heist);
    }
}

/* The ring is swapped again and again, from 1 on, while thieves steal from it. */
static void bug_17_steal_across_a_ring_swap(void)
{
    for (int round = 0; round < SCALED(400, 10); round++)
        play(push_three_pop_one, 1000, 1);
}

static void pop_or_steal_nothing(unsigned i, void *arg)
{
    struct heist *heist = arg;
    struct weft__job *job;
    if (i > 0) {
        while (!atomic_load_acquire(&heist->over)) {
            CHECK_EQUAL(weft__deque_steal(&heist->deque, &job), STEAL_EMPTY);
            CHECK_EQUAL(weft__deque_size(&heist->deque), 0);
        }
        return;
    }
    for (int pops = 0; pops < SCALED(2000000, 10); pops++)
        CHECK(weft__deque_pop(&heist->deque) == NULL);
    atomic_store_release(&heist->over, true);
}

static void bug_19_thieves_of_an_empty_deque_get_nothing(void)
{
    struct heist heist = {0};
    CHECK_EQUAL(weft__deque_init(&heist.deque, 2), 0);
    in_threads(2, pop_or_steal_nothing, &heist);
    weft__deque_destroy(&heist.deque);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(owner_is_lifo_thief_is_fifo),
        IN_CHILD(grows),
        IN_CHILD(grows_when_wrapped),
        IN_CHILD(indices_cross_limits),
        IN_CHILD(each_job_once),
        IN_CHILD(grow_against_steal),
        IN_CHILD(bug_17_steal_across_a_ring_swap),
        IN_CHILD(bug_17_last_job_is_taken_once),
        IN_CHILD(bug_18_push_after_growing_uses_the_new_ring),
        IN_CHILD(bug_18_failed_growth_loses_nothing),
        IN_CHILD(bug_19_bottom_minus_one_is_no_huge_number),
        IN_CHILD(bug_19_thieves_of_an_empty_deque_get_nothing),
    };
    return cmocka_run_group_tests_name("deque", tests, NULL, NULL);
}
