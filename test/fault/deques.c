/* SPDX-License-Identifier: MIT */
/* deques.c: what went wrong in other people's deques. */
#include "core/deque.h"

#include "child.h"
#include "core/job.h"
#include "os/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THIEVES = 2 };

/* A job of its own for every push; each must be taken exactly once. */
struct item {
    struct weft__job job;
    atomic_int taken;
};

struct race {
    struct weft__deque deque;
    struct item *items;
    int count;
    atomic_int left;
    atomic_int thieves;
};

static void take(struct race *race, struct weft__job *job)
{
    struct item *item = (struct item *)job;
    CHECK(item >= race->items && item < race->items + race->count);
    CHECK_EQUAL(atomic_fetch_add(&item->taken, 1), 0);
    atomic_fetch_sub(&race->left, 1);
}

static void *thieve(void *arg)
{
    struct race *race = arg;
    atomic_fetch_add(&race->thieves, 1);
    while (atomic_load(&race->left) > 0) {
        struct weft__job *job;
        enum steal_result result = weft__deque_steal(&race->deque, &job);
        if (result == STEAL_GOT)
            take(race, job);
        else if (result == STEAL_EMPTY)
            wait_a_moment();
    }
    return NULL;
}

static void race_begin(struct race *race, int count, size_t capacity, pthread_t thieves[THIEVES])
{
    *race = (struct race){.count = count};
    race->items = calloc((size_t)count, sizeof race->items[0]);
    CHECK(race->items != NULL);
    atomic_init(&race->left, count);
    CHECK_EQUAL(weft__deque_init(&race->deque, capacity), 0);
    for (int i = 0; i < THIEVES; i++)
        child_thread(thieve, race, &thieves[i]);
    UNTIL(atomic_load(&race->thieves) == THIEVES);
}

static void race_end(struct race *race, pthread_t thieves[THIEVES])
{
    struct weft__job *job;
    while (atomic_load(&race->left) > 0)
        if ((job = weft__deque_pop(&race->deque)))
            take(race, job);
    for (int i = 0; i < THIEVES; i++)
        child_thread_join(thieves[i]);
    for (int i = 0; i < race->count; i++)
        CHECK_EQUAL(atomic_load(&race->items[i].taken), 1);
    CHECK(weft__deque_pop(&race->deque) == NULL);
    weft__deque_destroy(&race->deque);
    free(race->items);
}

/* The ring is swapped again and again, from 1 on, while thieves steal from it. */
static void bug_17_steal_across_a_ring_swap(void)
{
    for (int round = 0; round < SCALED(400, 10); round++) {
        static struct race race;
        pthread_t thieves[THIEVES];
        race_begin(&race, 1000, 1, thieves);
        for (int i = 0; i < race.count; i++) {
            CHECK_EQUAL(weft__deque_push(&race.deque, &race.items[i].job), 0);
            struct weft__job *job = i % 3 == 2 ? weft__deque_pop(&race.deque) : NULL;
            if (job)
                take(&race, job);
        }
        race_end(&race, thieves);
    }
}

/* One job, and all want it: the owner's pop and the thieves meet at the last one. */
static void bug_17_last_job_is_taken_once(void)
{
    static struct race race;
    pthread_t thieves[THIEVES];
    race_begin(&race, SCALED(300000, 10), 2, thieves);
    for (int i = 0; i < race.count; i++) {
        CHECK_EQUAL(weft__deque_push(&race.deque, &race.items[i].job), 0);
        struct weft__job *job = weft__deque_pop(&race.deque);
        if (job)
            take(&race, job);
    }
    race_end(&race, thieves);
}

/* What is pushed after growing is in the new ring, in its place, whatever top is. */
static void bug_18_push_after_growing_uses_the_new_ring(void)
{
    for (int before = 0; before < 9; before++) {
        enum { JOBS = 200 };
        static struct item items[JOBS];
        struct weft__deque deque;
        struct weft__job *job;
        CHECK_EQUAL(weft__deque_init(&deque, 4), 0);
        for (int i = 0; i < before; i++) { /* indices don't start at 0 */
            CHECK_EQUAL(weft__deque_push(&deque, &items[0].job), 0);
            CHECK_EQUAL(weft__deque_steal(&deque, &job), STEAL_GOT);
        }
        for (int i = 0; i < JOBS; i++) {
            CHECK_EQUAL(weft__deque_push(&deque, &items[i].job), 0);
            CHECK_EQUAL(weft__deque_size(&deque), i + 1);
        }
        for (int i = 0; i < JOBS / 2; i++) {
            CHECK_EQUAL(weft__deque_steal(&deque, &job), STEAL_GOT);
            CHECK(job == &items[i].job);
        }
        for (int i = JOBS; i-- > JOBS / 2;)
            CHECK(weft__deque_pop(&deque) == &items[i].job);
        CHECK(weft__deque_pop(&deque) == NULL);
        CHECK_EQUAL(weft__deque_steal(&deque, &job), STEAL_EMPTY);
        weft__deque_destroy(&deque);
    }
}

/* A ring that can't grow takes nothing, loses nothing, and grows later. */
static void bug_18_failed_growth_loses_nothing(void)
{
    static struct item items[5];
    struct weft__deque deque;
    struct weft__job *job;
    CHECK_EQUAL(weft__deque_init(&deque, 4), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(weft__deque_push(&deque, &items[i].job), 0);
    for (int tries = 0; tries < 3; tries++) {
        atomic_store_relaxed(&weft__alloc_fail_at, 1);
        CHECK_EQUAL(weft__deque_push(&deque, &items[4].job), -ENOMEM);
        CHECK_EQUAL(weft__deque_size(&deque), 4);
    }
    CHECK_EQUAL(weft__deque_push(&deque, &items[4].job), 0);
    for (int i = 0; i < 5; i++) {
        CHECK_EQUAL(weft__deque_steal(&deque, &job), STEAL_GOT);
        CHECK(job == &items[i].job);
    }
    CHECK_EQUAL(weft__deque_steal(&deque, &job), STEAL_EMPTY);
    weft__deque_destroy(&deque);
}

/* Popping an empty deque whose bottom is 0 makes it -1 for a moment, for thieves to see. */
static void bug_19_bottom_minus_one_is_no_huge_number(void)
{
    static struct item item;
    struct weft__deque deque;
    struct weft__job *job;
    CHECK_EQUAL(weft__deque_init(&deque, 2), 0);
    for (int i = 0; i < 3; i++) {
        CHECK(weft__deque_pop(&deque) == NULL);
        CHECK_EQUAL(weft__deque_size(&deque), 0);
        CHECK_EQUAL(weft__deque_steal(&deque, &job), STEAL_EMPTY);
    }
    CHECK_EQUAL(weft__deque_push(&deque, &item.job), 0);
    CHECK(weft__deque_pop(&deque) == &item.job);
    weft__deque_destroy(&deque);
    /* As a thief sees it in the middle of that pop. */
    CHECK_EQUAL(weft__deque_init(&deque, 2), 0);
    atomic_store_relaxed(&deque.bottom, -1);
    CHECK_EQUAL(weft__deque_size(&deque), 0);
    CHECK_EQUAL(weft__deque_steal(&deque, &job), STEAL_EMPTY);
    weft__deque_destroy(&deque);
}

static void *steal_nothing(void *arg)
{
    struct race *race = arg;
    struct weft__job *job;
    atomic_fetch_add(&race->thieves, 1);
    while (atomic_load(&race->left) > 0) {
        CHECK_EQUAL(weft__deque_steal(&race->deque, &job), STEAL_EMPTY);
        CHECK_EQUAL(weft__deque_size(&race->deque), 0);
    }
    return NULL;
}

static void bug_19_thieves_of_an_empty_deque_get_nothing(void)
{
    static struct race race;
    pthread_t thief;
    atomic_init(&race.left, 1);
    CHECK_EQUAL(weft__deque_init(&race.deque, 2), 0);
    child_thread(steal_nothing, &race, &thief);
    UNTIL(atomic_load(&race.thieves) == 1);
    for (int i = 0; i < SCALED(2000000, 10); i++)
        CHECK(weft__deque_pop(&race.deque) == NULL);
    atomic_store(&race.left, 0);
    child_thread_join(thief);
    weft__deque_destroy(&race.deque);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(bug_17_steal_across_a_ring_swap),
        IN_CHILD(bug_17_last_job_is_taken_once),
        IN_CHILD(bug_18_push_after_growing_uses_the_new_ring),
        IN_CHILD(bug_18_failed_growth_loses_nothing),
        IN_CHILD(bug_19_bottom_minus_one_is_no_huge_number),
        IN_CHILD(bug_19_thieves_of_an_empty_deque_get_nothing),
    };
    return cmocka_run_group_tests_name("deques", tests, NULL, NULL);
}
