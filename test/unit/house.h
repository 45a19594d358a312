/* SPDX-License-Identifier: MIT */
/* house.h: dormice, which are workers that find nothing, without a pool around them. For the
 * tests of the sleep protocols. */
#ifndef TEST_UNIT_HOUSE_H
#define TEST_UNIT_HOUSE_H

#include "check.h"
#include "sleep/sleep.h"

#include <pthread.h>
#include <string.h>

enum { WORKERS = 4 };

#define LOOKOUT ((uint64_t)1 << 31) /* its bit in the counters */

#define FOR_EACH_PROTOCOL(i) \
    for (enum weft_sleep i = WEFT_SLEEP_TICKLE; i <= WEFT_SLEEP_COUNTERS_TWO; i++)

#define FOR_EACH_EVENTS(i)                                                    \
    for (enum weft_sleep i = WEFT_SLEEP_EVENTS; i <= WEFT_SLEEP_EVENTS_LATCH; \
         i = i == WEFT_SLEEP_EVENTS ? WEFT_SLEEP_EVENTS_PLAIN : (enum weft_sleep)(i + 1))

struct house;

struct dormouse {
    struct weft__sleep *sleep;
    struct weft__park *park;
    struct weft__latch latch;
    struct weft__idle idle;
    pthread_t thread; /* for those that really sleep */
    struct house *house;
    uint64_t used; /* when they stopped working */
};

struct house {
    struct weft__sleep sleep;
    struct dormouse mice[WORKERS];
    bool (*last_look)(struct house *house); /* of the one that takes it; NULL: nothing there */
    unsigned looks;
};

static inline void house_open(struct house *house, enum weft_sleep protocol, unsigned rounds,
                              unsigned jec_bits)
{
    memset(house, 0, sizeof *house);
    assert_int_equal(weft__sleep_init(&house->sleep, protocol, WORKERS, WORKERS, rounds, jec_bits),
                     0);
    for (int i = 0; i < WORKERS; i++) {
        house->mice[i].sleep = &house->sleep;
        house->mice[i].house = house;
        house->mice[i].park = weft__park_get();
        assert_non_null(house->mice[i].park);
        weft__sleep_place(&house->sleep, (unsigned)i, house->mice[i].park);
    }
    house->sleep.look_ns = 0; /* who sleeps here sleeps until woken, unless a test says otherwise */
}

static inline void house_close(struct house *house)
{
    for (int i = 0; i < WORKERS; i++)
        weft__park_put(house->mice[i].park);
    weft__sleep_destroy(&house->sleep);
}

static inline void expect_counts(struct house *house, unsigned idle, unsigned sleeping)
{
    assert_int_equal(weft__sleep_resting(&house->sleep).idle, idle);
    assert_int_equal(weft__sleep_resting(&house->sleep).sleeping, sleeping);
}

static inline bool look(void *arg)
{
    struct house *house = arg;
    house->looks++;
    return house->last_look && house->last_look(house);
}

static inline void start_looking(struct house *house, int i)
{
    weft__sleep_start_looking(&house->sleep, &house->mice[i].idle, 0);
}

static inline bool no_work(struct house *house, int i)
{
    struct dormouse *mouse = &house->mice[i];
    struct weft__sleeper sleeper = {mouse->park, &mouse->latch, look, look, house};
    return weft__sleep_no_work(&house->sleep, &mouse->idle, &sleeper);
}

static inline bool work_found(struct house *house, int i)
{
    return weft__sleep_work_found(&house->sleep, &house->mice[i].idle);
}

/* Nothing of an attempt to sleep is left. */
static inline void expect_awake(struct house *house, int i)
{
    assert_int_equal(atomic_load_relaxed(&house->mice[i].park->state), PARK_AWAKE);
    uint32_t latch = atomic_load_relaxed(&house->mice[i].latch.state);
    assert_true(latch == LATCH_UNSET || latch == LATCH_SET);
}

static inline bool step_back(struct house *house, int i)
{
    struct dormouse *mouse = &house->mice[i];
    struct weft__sleeper sleeper = {mouse->park, &mouse->latch, look, look, house};
    return weft__sleep_step_back(&house->sleep, &mouse->idle, &sleeper);
}

/* A guest leaves: is there room for a sleeper now? */
static inline bool leaves_room(struct house *house)
{
    weft__sleep_guest_gone(&house->sleep);
    return weft__sleep_room_made(&house->sleep);
}

/* ---- What a last look does ---- */

static inline bool something_there(struct house *house)
{
    return true;
}

static inline bool look_while_counted(struct house *house)
{
    expect_counts(house, 0, 1);
    assert_int_equal(atomic_load_relaxed(&house->mice[0].park->state), PARK_DROWSY);
    assert_int_equal(atomic_load_relaxed(&house->mice[0].latch.state), LATCH_SLEEPING);
    return true;
}

static inline bool set_its_latch(struct house *house)
{
    weft__latch_set_for(&house->mice[0].latch, house->mice[0].park);
    return false;
}

static inline bool post_job(struct house *house)
{
    weft__sleep_new_jobs(&house->sleep, 1, false);
    return false;
}

static inline bool post_fork(struct house *house)
{
    weft__sleep_new_fork(&house->sleep, true);
    return false;
}

/* ---- Real sleepers ---- */

static inline void *fall_asleep(void *p)
{
    struct dormouse *mouse = p;
    struct house nothing = {.last_look = NULL};
    struct weft__sleeper sleeper = {mouse->park, &mouse->latch, look, look, &nothing};
    weft__sleep_start_looking(mouse->sleep, &mouse->idle, mouse->used);
    while (!weft__sleep_no_work(mouse->sleep, &mouse->idle, &sleeper))
        ;
    return NULL; /* still counted as idle */
}

static inline void *step_back_for_good(void *p)
{
    struct dormouse *mouse = p;
    int i = (int)(mouse - mouse->house->mice);
    start_looking(mouse->house, i);
    while (!step_back(mouse->house, i))
        ;
    return NULL;
}

static inline bool is_asleep(struct house *house, int i)
{
    struct weft__crowd *crowd = house->sleep.crowd;
    if (crowd) { /* they come one after the other; with the lock, the census has them too */
        weft__lock_take(&crowd->lock);
        unsigned asleep = crowd->asleep;
        weft__lock_drop(&crowd->lock);
        return asleep == (unsigned)i + 1;
    }
    uint32_t state_of_park = atomic_load_relaxed(&house->mice[i].park->state);
    return (state_of_park & ~(uint32_t)PARK_UNCOUNTED) == PARK_ASLEEP;
}

static inline void put_one_to_sleep(struct house *house, int i, void *(*body)(void *))
{
    struct dormouse *mouse = &house->mice[i];
    assert_int_equal(pthread_create(&mouse->thread, NULL, body, mouse), 0);
    WAIT_UNTIL(is_asleep(house, i));
}

/* mice[0] to mice[n - 1] are asleep, the others at work. */
static inline void put_to_sleep(struct house *house, enum weft_sleep protocol, int n)
{
    house_open(house, protocol, 0, WEFT__JEC_BITS);
    for (int i = 0; i < n; i++)
        put_one_to_sleep(house, i, fall_asleep);
    expect_counts(house, 0, (unsigned)n);
}

static inline void wake_up(struct house *house, int n)
{
    for (int i = 0; i < n; i++) {
        weft__park_wake(house->mice[i].park);
        if (house->sleep.crowd)
            weft__crowd_tickle(house->sleep.crowd);
        assert_int_equal(pthread_join(house->mice[i].thread, NULL), 0);
        expect_awake(house, i);
    }
    expect_counts(house, (unsigned)n, 0);
    house_close(house);
}

#endif
