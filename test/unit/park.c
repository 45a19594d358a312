/* SPDX-License-Identifier: MIT */
/* park.c: nobody sleeps through a wake, and each sleep is counted off once. */
#include "sleep/park.h"

#include "check.h"

#include <pthread.h>

static uint32_t state_of(struct weft__park *park)
{
    return atomic_load_relaxed(&park->state);
}

static struct weft__park *get(void)
{
    struct weft__park *park = weft__park_get();
    assert_non_null(park);
    assert_int_equal(state_of(park), PARK_AWAKE);
    assert_int_equal(atomic_load_relaxed(&park->cpu), -1);
    assert_int_equal((uintptr_t)park % WEFT__CACHE_LINE, 0);
    return park;
}

/* ---- One thread ---- */

static void wake_of_one_awake_does_nothing(void **state)
{
    struct weft__park *park = get();
    assert_false(weft__park_wake(park));
    assert_int_equal(state_of(park), PARK_AWAKE);
    weft__park_put(park);
}

static void nudged_does_not_sleep(void **state)
{
    struct weft__park *park = get();
    struct atomic_u64 counted = {1};
    weft__park_drowse(park, true);
    assert_int_equal(state_of(park), PARK_DROWSY);
    assert_true(weft__park_wake(park));
    assert_int_equal(state_of(park), PARK_NUDGED);
    assert_false(weft__park_wake(park)); /* the second one changes nothing */
    assert_int_equal(weft__park_sleep(park, &counted, weft__one_nap(0)), PARK_WAS_NUDGED);
    assert_int_equal(state_of(park), PARK_AWAKE);
    assert_int_equal(atomic_load_relaxed(&counted), 1); /* the nudged one uncounts itself */
    weft__park_put(park);
}

static void getting_up_forgets_a_nudge(void **state)
{
    struct weft__park *park = get();
    weft__park_drowse(park, true);
    assert_true(weft__park_wake(park));
    weft__park_get_up(park);
    assert_int_equal(state_of(park), PARK_AWAKE);
    weft__park_put(park);
}

static void places_are_used_again(void **state)
{
    struct weft__park *one = get();
    struct weft__park *two = get();
    assert_ptr_not_equal(one, two);
    atomic_store_relaxed(&one->cpu, 1);
    weft__park_put(one);
    assert_ptr_equal(get(), one); /* and get() looked that its CPU is forgotten */
    weft__park_put(one);
    weft__park_put(two);
}

/* ---- A sleeper, and wakers ---- */

enum { ROUNDS = SCALED(100000, 20), WAKERS = 3 };

struct scene {
    struct weft__park *park;
    struct atomic_u64 *counted;
    struct atomic_bool over;
    struct atomic_u64 wakes; /* that returned true */
    uint64_t ns;             /* how long to sleep at most; 0: for good */
    uint64_t woken, nudged, timed_out;
};

static void sleep_once(struct scene *scene)
{
    weft__park_drowse(scene->park, true);
    atomic_fetch_add_relaxed(scene->counted, 1);
    switch (weft__park_sleep(scene->park, scene->counted, weft__one_nap(scene->ns))) {
    case PARK_WAS_WOKEN:
        scene->woken++;
        break;
    case PARK_WAS_NUDGED:
        scene->nudged++;
        atomic_fetch_sub_relaxed(scene->counted, 1);
        break;
    case PARK_TIMED_OUT:
        scene->timed_out++;
        atomic_fetch_sub_relaxed(scene->counted, 1);
    }
    CHECK(state_of(scene->park) == PARK_AWAKE);
    CHECK(atomic_load_relaxed(scene->counted) == 0);
}

static void sleep_or_wake(unsigned i, void *arg)
{
    struct scene *scene = arg;
    if (i > 0) {
        while (!atomic_load_relaxed(&scene->over))
            if (weft__park_wake(scene->park))
                atomic_fetch_add_relaxed(&scene->wakes, 1);
        return;
    }
    for (int r = 0; r < ROUNDS; r++)
        sleep_once(scene);
    atomic_store_relaxed(&scene->over, true);
}

/* Whoever wakes uncounts, before the sleeper runs; and of several wakers, one does. */
static void expect_one_waker_each(uint64_t ns)
{
    struct atomic_u64 counted = {0};
    struct scene scene = {.park = get(), .counted = &counted, .ns = ns};
    in_threads(1 + WAKERS, sleep_or_wake, &scene);
    assert_int_equal(scene.woken + scene.nudged + scene.timed_out, ROUNDS);
    assert_int_equal(atomic_load_relaxed(&scene.wakes), scene.woken + scene.nudged);
    assert_true(ns > 0 || scene.woken > 0); /* time may be up always, on a busy machine */
    weft__park_put(scene.park);
}

static void each_sleep_has_one_waker(void **state)
{
    expect_one_waker_each(0);
}

/* The sleeper's own time against its wakers. */
static void each_sleep_has_one_waker_or_none(void **state)
{
    expect_one_waker_each(1);
    expect_one_waker_each(1000);
}

static void time_runs_out(void **state)
{
    struct weft__park *park = get();
    struct atomic_u64 counted = {1};
    weft__park_drowse(park, true);
    assert_int_equal(weft__park_sleep(park, &counted, weft__one_nap(1000)), PARK_TIMED_OUT);
    assert_int_equal(state_of(park), PARK_AWAKE);
    assert_int_equal(atomic_load_relaxed(&counted), 1); /* nobody uncounted it */
    assert_false(weft__park_wake(park));
    weft__park_put(park);
}

static void *sleep_counted(void *arg)
{
    sleep_once(arg);
    return NULL;
}

static void waker_uncounts(void **state)
{
    struct atomic_u64 counted = {0};
    struct scene scene = {.park = get(), .counted = &counted};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sleep_counted, &scene), 0);
    WAIT_UNTIL(state_of(scene.park) == PARK_ASLEEP);
    assert_int_equal(atomic_load_relaxed(&counted), 1);
    assert_true(weft__park_wake(scene.park));
    assert_int_equal(atomic_load_relaxed(&counted), 0); /* before wake has returned */
    assert_false(weft__park_wake(scene.park));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(scene.woken, 1);
    weft__park_put(scene.park);
}

static void *sleep_uncounted(void *arg)
{
    struct weft__park *park = arg;
    weft__park_drowse(park, false);
    CHECK(weft__park_sleep(park, NULL, weft__one_nap(0)) == PARK_WAS_WOKEN);
    return NULL;
}

/* New work passes an uncounted one over; its latch and its mail don't. */
static void uncounted_sleep(void **state)
{
    struct weft__park *park = get();
    struct atomic_u64 before = {1};
    park->counted = &before; /* of a sleep before this one */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sleep_uncounted, park), 0);
    WAIT_UNTIL(state_of(park) == (PARK_ASLEEP | PARK_UNCOUNTED));
    assert_false(weft__park_wake_counted(park, -1));
    assert_int_equal(state_of(park), PARK_ASLEEP | PARK_UNCOUNTED);
    assert_true(weft__park_wake(park));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load_relaxed(&before), 1);
    weft__park_put(park);
}

static void uncounted_nudge(void **state)
{
    struct weft__park *park = get();
    weft__park_drowse(park, false);
    assert_false(weft__park_wake_counted(park, -1));
    assert_true(weft__park_wake(park));
    assert_int_equal(weft__park_sleep(park, NULL, weft__one_nap(0)), PARK_WAS_NUDGED);
    weft__park_drowse(park, true);
    assert_true(weft__park_wake_counted(park, -1));
    assert_int_equal(weft__park_sleep(park, NULL, weft__one_nap(0)), PARK_WAS_NUDGED);
    assert_int_equal(state_of(park), PARK_AWAKE);
    weft__park_put(park);
}

/* ---- Late wakers (bugs 1 to 3) ---- */

struct tenants {
    struct weft__park *park; /* known to the wakers for ever */
    struct atomic_bool over;
};

/* Each tenant's counter lies in a frame that is gone when the next one moves in. */
static void live(struct weft__park *park)
{
    struct atomic_u64 counted = {0};
    struct scene scene = {.park = park, .counted = &counted};
    for (int i = 0; i < 3; i++)
        sleep_once(&scene);
}

static void let_or_wake(unsigned i, void *arg)
{
    struct tenants *tenants = arg;
    if (i > 0) {
        while (!atomic_load_relaxed(&tenants->over))
            weft__park_wake(tenants->park);
        return;
    }
    for (int r = 0; r < ROUNDS; r++) {
        weft__park_put(tenants->park);
        struct weft__park *park = weft__park_get();
        CHECK(park == tenants->park);
        live(park);
    }
    atomic_store_relaxed(&tenants->over, true);
}

static void late_wakers_do_no_harm(void **state)
{
    struct tenants tenants = {.park = get()};
    in_threads(1 + WAKERS, let_or_wake, &tenants);
    assert_int_equal(state_of(tenants.park), PARK_AWAKE);
    weft__park_put(tenants.park);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wake_of_one_awake_does_nothing),
        cmocka_unit_test(nudged_does_not_sleep),
        cmocka_unit_test(getting_up_forgets_a_nudge),
        cmocka_unit_test(places_are_used_again),
        cmocka_unit_test(time_runs_out),
        cmocka_unit_test(each_sleep_has_one_waker),
        cmocka_unit_test(each_sleep_has_one_waker_or_none),
        cmocka_unit_test(waker_uncounts),
        cmocka_unit_test(uncounted_sleep),
        cmocka_unit_test(uncounted_nudge),
        cmocka_unit_test(late_wakers_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
