/* SPDX-License-Identifier: MIT */
/* latches.c: what went wrong in other people's latches: memory that died with its owner,
 * and sets that nobody heard. Owners here free or overwrite a latch the moment they see it
 * set, so a setter that touches it once more is caught. */
#include "sleep/latch.h"

#include "child.h"
#include "sleep/park.h"
#include "sleep/sleep.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SETTERS = 3 };

/* Where the owner leaves latches for each setter. */
struct mail {
    _Atomic(void *) latch;
    atomic_bool stop;
    void (*set)(void *latch);
};

static void *set_all(void *arg)
{
    struct mail *mail = arg;
    unsigned delay = 0;
    while (!atomic_load(&mail->stop)) {
        void *latch = atomic_exchange(&mail->latch, NULL);
        if (!latch) {
            wait_a_moment();
            continue;
        }
        for (volatile unsigned i = 0; i < delay % 700; i++)
            ; /* so that it meets the owner at different steps */
        delay += 37;
        mail->set(latch);
    }
    return NULL;
}

static void setters_begin(struct mail *mail, pthread_t *threads, int n, void (*set)(void *))
{
    for (int i = 0; i < n; i++) {
        mail[i] = (struct mail){.set = set};
        child_thread(set_all, &mail[i], &threads[i]);
    }
}

static void setters_end(struct mail *mail, pthread_t *threads, int n)
{
    for (int i = 0; i < n; i++) {
        atomic_store(&mail[i].stop, true);
        child_thread_join(threads[i]);
    }
}

/* Sleeps at once, or looks a few times first. */
static void wait_for(struct weft__latch *latch, struct weft__park *park, int round)
{
    struct weft__sleeper sleeper = {.park = park, .latch = latch};
    for (int i = 0; i < round % 64 && !weft__latch_probe(latch); i++)
        weft__relax();
    while (!weft__latch_probe(latch))
        weft__sleep_uncounted(&sleeper, 0);
}

static void burn(void *memory, size_t size)
{
    memset(memory, 0xa5, size);
    free(memory);
}

/* ---- The memory is gone ---- */

static void set_spin(void *latch)
{
    weft__spin_latch_set(latch);
}

static void bug_01_fields_read_after_set(void)
{
    struct mail mail;
    pthread_t thread;
    struct weft__park *park = weft__park_get();
    setters_begin(&mail, &thread, 1, set_spin);
    for (int i = 0; i < SCALED(60000, 10); i++) {
        struct weft__spin_latch *latch = calloc(1, sizeof *latch);
        latch->owner = park;
        atomic_store(&mail.latch, latch);
        wait_for(&latch->core, park, i);
        burn(latch, sizeof *latch);
    }
    setters_end(&mail, &thread, 1);
    weft__park_put(park);
}

static void set_lock(void *latch)
{
    weft__lock_latch_set(latch);
}

/* The kind that outside threads wait on: the futex is in the latch itself. */
static void bug_01_lock_latch_gone_after_set(void)
{
    struct mail mail;
    pthread_t thread;
    setters_begin(&mail, &thread, 1, set_lock);
    for (int i = 0; i < SCALED(60000, 10); i++) {
        struct weft__latch *latch = calloc(1, sizeof *latch);
        atomic_store(&mail.latch, latch);
        for (int j = 0; j < i % 64 && !weft__latch_probe(latch); j++)
            weft__relax();
        weft__lock_latch_wait(latch);
        burn(latch, sizeof *latch);
    }
    setters_end(&mail, &thread, 1);
}

static void nothing(weft *w, void *arg)
{
}

/* A task is freed by who waited for it, while its worker still ends it. */
static void bug_01_task_gone_after_wait(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, WEFT_NO_GUESTS, way);
        for (int i = 0; i < rounds_of(SCALED(4000, 10)); i++) {
            weft_task *task = malloc(sizeof *task);
            CHECK_EQUAL(weft_submit(pool, task, nothing, NULL), 0);
            if (i % 4 == 0)
                CHECK(weft_task_fd(task) >= 0);
            CHECK_EQUAL(weft_task_wait(task), 0);
            burn(task, sizeof *task);
        }
        child_pool_end(pool);
    }
}

struct pair {
    weft_pool *pool; /* not the job's own */
    int rounds;
};

/* The waiter is a job: it owns a latch in its frame, and frees the task. */
static void wait_and_free(weft *w, void *arg)
{
    struct pair *pair = arg;
    for (int i = 0; i < pair->rounds; i++) {
        weft_task *task = malloc(sizeof *task);
        CHECK_EQUAL(weft_submit(pair->pool, task, nothing, NULL), 0);
        CHECK_EQUAL(weft_task_wait(task), 0);
        burn(task, sizeof *task);
    }
}

static void bug_01_task_gone_after_wait_by_job(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(1, WEFT_NO_GUESTS, way);
        struct pair pair = {child_pool(1, WEFT_NO_GUESTS, way), SCALED(2000, 10)};
        CHECK_EQUAL(weft_run(pool, wait_and_free, &pair), 0);
        child_pool_end(pair.pool);
        child_pool_end(pool);
    }
}

/* ---- The pool is gone ---- */

static void note(weft *w, void *flag)
{
    atomic_fetch_add((atomic_int *)flag, 1);
}

/* Whose right side a worker has, as a rule: the guest leaves as soon as that is set. */
static void fork_and_wait(weft *w, void *flag)
{
    weft *in = weft_fork(w, note, flag);
    for (int i = 0; i < 200 && weft_has_pending(in); i++)
        wait_a_moment();
    if (!weft_merge(w))
        note(w, flag);
}

static void bug_02_pool_gone_after_set(void)
{
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(300, 5)); i++) {
            atomic_int runs = 0;
            weft_pool *pool = child_pool(2, i % 2 ? WEFT_NO_GUESTS : 0, way);
            CHECK_EQUAL(weft_run(pool, fork_and_wait, &runs), 0);
            child_pool_end(pool);
            CHECK_EQUAL(atomic_load(&runs), 1);
        }
    }
}

/* The owner of the latch is a worker of one pool, the setter one of another that the owner
 * destroys at once. */
static void make_and_end(weft *w, void *arg)
{
    enum way way = *(enum way *)arg;
    for (int i = 0; i < rounds_of(SCALED(200, 5)); i++) {
        atomic_int runs = 0;
        weft_pool *other = child_pool(1, WEFT_NO_GUESTS, way);
        weft_task task;
        CHECK_EQUAL(weft_submit(other, &task, note, &runs), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
        child_pool_end(other);
        CHECK_EQUAL(atomic_load(&runs), 1);
    }
}

static void bug_02_pool_gone_after_wait_by_job(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(1, WEFT_NO_GUESTS, way);
        CHECK_EQUAL(weft_run(pool, make_and_end, &way), 0);
        child_pool_end(pool);
    }
}

/* ---- Counting latches ---- */

static void count_down(void *latch)
{
    weft__count_latch_down(latch);
}

static void bug_03_counting_latch_gone_after_set(void)
{
    struct mail mail[SETTERS];
    pthread_t threads[SETTERS];
    struct weft__park *park = weft__park_get();
    setters_begin(mail, threads, SETTERS, count_down);
    for (int i = 0; i < SCALED(30000, 10); i++) {
        struct weft__count_latch *latch = calloc(1, sizeof *latch);
        weft__count_latch_init(latch, park, SETTERS);
        for (int j = 0; j < SETTERS; j++)
            atomic_store(&mail[j].latch, latch);
        wait_for(&latch->spin.core, park, i);
        burn(latch, sizeof *latch);
    }
    setters_end(mail, threads, SETTERS);
    weft__park_put(park);
}

/* A scope on the heap, freed as soon as it is closed. */
static void open_and_free(weft *w, void *arg)
{
    for (int i = 0; i < *(int *)arg; i++) {
        atomic_int runs = 0;
        weft_scope *scope = malloc(sizeof *scope);
        weft_scope_open(w, scope);
        for (int j = 0; j < SETTERS; j++)
            CHECK_EQUAL((i % 2 ? weft_spawn : weft_spawn_fifo)(w, scope, note, &runs), 0);
        if (i % 8 < 2)
            UNTIL(!weft_has_pending(w)); /* the last ones are just being run by others */
        CHECK_EQUAL(weft_scope_close(w, scope), 0);
        burn(scope, sizeof *scope);
        CHECK_EQUAL(atomic_load(&runs), SETTERS);
    }
}

static void bug_03_scope_gone_after_close(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(3, 0, way);
        CHECK_EQUAL(weft_run(pool, open_and_free, &(int){SCALED(5000, 20)}), 0);
        child_pool_end(pool);
    }
}

static void bug_03_broadcast_gone_after_all_ran(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(3, 0, way);
        atomic_int runs = 0;
        for (int i = 1; i <= SCALED(1500, 10); i++) {
            CHECK_EQUAL(weft_broadcast(pool, note, &runs), 0);
            CHECK_EQUAL(atomic_load(&runs), 3 * i);
        }
        child_pool_end(pool);
    }
}

/* ---- Nobody hears it ---- */

/* Set against sleep: one of them must see the other, in each of many thousand meetings. */
static void bug_07_set_and_sleep_see_each_other(void)
{
    struct mail mail;
    pthread_t thread;
    struct weft__park *park = weft__park_get();
    setters_begin(&mail, &thread, 1, set_spin);
    for (int i = 0; i < SCALED(60000, 10); i++) {
        struct weft__spin_latch latch = {.owner = park};
        atomic_store(&mail.latch, &latch);
        wait_for(&latch.core, park, 0);
    }
    setters_end(&mail, &thread, 1);
    weft__park_put(park);
}

/* A pool whose right sides are taken at once, by workers that go on looking for a while. */
static weft_pool *hasty_pool(enum way way, int spin)
{
    weft_config config = child_config(2, 0, way);
    config.quantum = WEFT_NONE;
    config.spin_rounds = spin;
    return child_pool_of(&config);
}

/* The same through a pool: right sides that are just being stolen or just over. */
static void fork_often(weft *w, void *arg)
{
    atomic_int runs = 0;
    for (int i = 0; i < *(int *)arg; i++) {
        weft *in = weft_fork(w, note, &runs);
        if (i % 8 == 0)
            UNTIL(!weft_has_pending(in)); /* stolen, and just starting or just over */
        for (volatile int j = 0; j < i % 512; j++)
            ;
        if (!weft_merge(w))
            note(w, &runs);
    }
    CHECK_EQUAL(atomic_load(&runs), *(int *)arg);
}

static void steal_right_sides(enum way way)
{
    for (int spin = -1; spin <= 10000; spin += 10001) {
        weft_pool *pool = hasty_pool(way, spin);
        int forks = spin < 0 ? SCALED(1000, 5) : SCALED(40000, 20);
        CHECK_EQUAL(weft_run(pool, fork_often, &forks), 0);
        child_pool_end(pool);
    }
}

static void bug_07_stolen_right_sides_lazy(void)
{
    steal_right_sides(WAY_SPIN);
}

static void bug_07_stolen_right_sides_eager(void)
{
    steal_right_sides(WAY_EAGER_SPIN);
}

/* Step by step: the set comes after each of the owner's steps in turn. */
static void bug_09_notify_between_probe_and_wait(void)
{
    struct weft__park *park = weft__park_get();
    for (int step = 0; step < 4; step++) {
        struct weft__spin_latch latch = {.owner = park};
        CHECK(!weft__latch_probe(&latch.core));
        if (step == 0)
            weft__spin_latch_set(&latch);
        CHECK_EQUAL(weft__latch_doze(&latch.core), step != 0);
        if (step == 0)
            continue;
        if (step == 1)
            weft__spin_latch_set(&latch);
        weft__park_drowse(park, false);
        if (step == 2)
            weft__spin_latch_set(&latch);
        CHECK_EQUAL(weft__latch_sleep(&latch.core), step == 3);
        if (step < 3) {
            weft__park_rouse(park);
            CHECK(weft__latch_probe(&latch.core));
            continue;
        }
        weft__spin_latch_set(&latch);
        CHECK_EQUAL(weft__park_sleep(park, NULL, weft__one_turn(0)),
                    PARK_WAS_NUDGED); /* must not wait now */
        weft__latch_rouse(&latch.core);
        CHECK(weft__latch_probe(&latch.core));
    }
    weft__park_put(park);
}

/* The notifier wakes a parking place after it left something, without any latch. */
struct notice {
    _Atomic(unsigned) left, seen;
    struct weft__park *park;
    unsigned rounds;
};

static bool is_left(void *arg)
{
    struct notice *notice = arg;
    return atomic_load_explicit(&notice->left, memory_order_relaxed) !=
           atomic_load_explicit(&notice->seen, memory_order_relaxed);
}

static void *notify(void *arg)
{
    struct notice *notice = arg;
    for (unsigned i = 1; i <= notice->rounds; i++) {
        atomic_store_explicit(&notice->left, i, memory_order_relaxed);
        atomic_fence_seq_cst();
        weft__park_wake(notice->park);
        while (atomic_load_explicit(&notice->seen, memory_order_relaxed) != i)
            if (i % 2)
                wait_a_moment();
    }
    return NULL;
}

static void bug_09_notice_between_look_and_wait(void)
{
    struct notice notice = {.park = weft__park_get(), .rounds = SCALED(60000, 10)};
    struct weft__latch never = {0};
    struct weft__sleeper sleeper = {notice.park, &never, NULL, is_left, &notice};
    pthread_t thread;
    child_thread(notify, &notice, &thread);
    for (unsigned i = 1; i <= notice.rounds; i++) {
        while (!is_left(&notice))
            weft__sleep_uncounted(&sleeper, 0);
        atomic_store_explicit(&notice.seen, i, memory_order_relaxed);
    }
    child_thread_join(thread);
    CHECK(!weft__latch_probe(&never));
    weft__park_put(notice.park);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(bug_01_fields_read_after_set),
        IN_CHILD(bug_01_lock_latch_gone_after_set),
        IN_CHILD(bug_01_task_gone_after_wait),
        IN_CHILD(bug_01_task_gone_after_wait_by_job),
        IN_CHILD(bug_02_pool_gone_after_set),
        IN_CHILD(bug_02_pool_gone_after_wait_by_job),
        IN_CHILD(bug_03_counting_latch_gone_after_set),
        IN_CHILD(bug_03_scope_gone_after_close),
        IN_CHILD(bug_03_broadcast_gone_after_all_ran),
        IN_CHILD(bug_07_set_and_sleep_see_each_other),
        IN_CHILD(bug_07_stolen_right_sides_lazy),
        IN_CHILD(bug_07_stolen_right_sides_eager),
        IN_CHILD(bug_09_notify_between_probe_and_wait),
        IN_CHILD(bug_09_notice_between_look_and_wait),
    };
    return cmocka_run_group_tests_name("latches", tests, NULL, NULL);
}
