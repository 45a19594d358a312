/* SPDX-License-Identifier: MIT */
/* sleeping.c: what went wrong when other people's workers fell asleep, and when they did
 * not. The sleep module is tried step by step, then by a pool made by hand with an event
 * counter of two bits, then in whole pools. */
#include "sleep/sleep.h"

#include "child.h"
#include "core/pool.h"
#include "core/queue.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static void count_up(weft *w, void *count)
{
    atomic_fetch_add((atomic_int *)count, 1);
}

/* ---- Step by step ---- */

/* One worker that never really sleeps: its last look always finds something. */
struct steps {
    struct weft__sleep sleep;
    struct weft__idle idle;
    struct weft__latch latch;
    struct weft__park *park;
    int looks;
};

static bool always(void *arg)
{
    ((struct steps *)arg)->looks++;
    return true;
}

static void steps_begin(struct steps *steps, unsigned rounds, unsigned jec_bits)
{
    *steps = (struct steps){.park = weft__park_get()};
    CHECK_EQUAL(weft__sleep_init(&steps->sleep, WEFT_SLEEP_EVENTS, 1, 1, rounds, jec_bits), 0);
    weft__sleep_place(&steps->sleep, 0, steps->park);
    weft__sleep_start_looking(&steps->sleep, &steps->idle, 0);
}

static void no_work(struct steps *steps)
{
    struct weft__sleeper sleeper = {steps->park, &steps->latch, always, always, steps};
    CHECK(!weft__sleep_no_work(&steps->sleep, &steps->idle, &sleeper));
    CHECK_EQUAL(weft__sleep_resting(&steps->sleep).idle, 1);
    CHECK_EQUAL(weft__sleep_resting(&steps->sleep).sleeping, 0);
    CHECK_EQUAL(atomic_load_relaxed(&steps->latch.state), LATCH_UNSET);
    CHECK_EQUAL(atomic_load_relaxed(&steps->park->state), PARK_AWAKE);
}

static void steps_end(struct steps *steps)
{
    weft__sleep_work_found(&steps->sleep, &steps->idle);
    CHECK_EQUAL(weft__sleep_resting(&steps->sleep).idle, 0);
    weft__sleep_destroy(&steps->sleep);
    weft__park_put(steps->park);
}

/* Who finds something in its last look stays awake, is counted so, and looks again each
 * time before it sleeps. */
static void bug_04_last_look_keeps_awake(void)
{
    for (unsigned rounds = 0; rounds <= 32; rounds += 32) {
        struct steps steps;
        steps_begin(&steps, rounds, 32);
        for (unsigned i = 0; i <= rounds; i++) /* up to sleepy */
            no_work(&steps);
        CHECK_EQUAL(steps.looks, 0);
        for (int i = 1; i < 100; i++) {
            no_work(&steps); /* looks, and finds */
            CHECK_EQUAL(steps.looks, i);
            no_work(&steps); /* sleepy again */
        }
        steps_end(&steps);
    }
}

/* The counter wraps again and again, and the counts beside it stay what they are. */
static void bug_06_event_counter_wraps(void)
{
    for (unsigned bits = 2; bits <= 32; bits += 30) {
        struct steps steps;
        steps_begin(&steps, 0, bits);
        for (int i = 0; i < 1000; i++) {
            no_work(&steps); /* sleepy: one event */
            if (i % 2)
                weft__sleep_new_fork(&steps.sleep, true); /* and another */
            else
                weft__sleep_new_jobs(&steps.sleep, 1, false);
            int looks = steps.looks;
            no_work(&steps); /* the counter moved, so it does not get as far as its last look */
            CHECK_EQUAL(steps.looks, looks);
        }
        steps_end(&steps);
    }
}

/* With two bits, four events look like none. The last look has to save the day. */
static void bug_06_four_events_look_like_none(void)
{
    struct steps steps;
    steps_begin(&steps, 0, 2);
    no_work(&steps); /* sleepy */
    struct weft__idle other = {0};
    weft__sleep_start_looking(&steps.sleep, &other, 0);
    for (int i = 0; i < 2; i++) {
        struct weft__sleeper sleeper = {steps.park, &steps.latch, always, always, &steps};
        weft__sleep_new_jobs(&steps.sleep, 1, false);
        other.round = 0;
        CHECK(!weft__sleep_no_work(&steps.sleep, &other, &sleeper)); /* the other is sleepy */
    }
    CHECK(!weft__sleep_work_found(&steps.sleep, &other)); /* nobody sleeps */
    CHECK_EQUAL(steps.looks, 0);
    no_work(&steps);
    CHECK_EQUAL(steps.looks, 1);
    steps_end(&steps);
}

/* ---- A pool by hand ---- */

#define FOR_EACH_PROTOCOL(i) \
    for (enum weft_sleep i = WEFT_SLEEP_TICKLE; i <= WEFT_SLEEP_COUNTERS_TWO; i++)

enum { MINI_MAX = 3 };

struct mini_worker {
    struct mini *mini;
    struct weft__spin_latch stop;
    pthread_t thread;
};

struct mini {
    struct weft__sleep sleep;
    struct weft__queue injector;
    unsigned n;
    struct mini_worker workers[MINI_MAX];
    atomic_int ran;
};

struct mini_job {
    struct weft__node node;
    atomic_int runs;
};

static bool mini_look(void *arg)
{
    return weft__queue_length(&((struct mini *)arg)->injector) > 0;
}

static void *mini_work(void *arg)
{
    struct mini_worker *me = arg;
    struct mini *mini = me->mini;
    struct weft__sleeper sleeper = {me->stop.owner, &me->stop.core, mini_look, mini_look, mini};
    while (!weft__latch_probe(&me->stop.core)) {
        struct weft__idle idle;
        struct weft__node *node = NULL;
        weft__sleep_start_looking(&mini->sleep, &idle, 0);
        while (!weft__latch_probe(&me->stop.core) && !(node = weft__queue_pop(&mini->injector)))
            weft__sleep_no_work(&mini->sleep, &idle, &sleeper);
        if (weft__sleep_work_found(&mini->sleep, &idle) && mini_look(mini))
            weft__sleep_more_work(&mini->sleep);
        if (node) {
            atomic_fetch_add(&((struct mini_job *)node)->runs, 1);
            atomic_fetch_add(&mini->ran, 1);
        }
    }
    return NULL;
}

static void mini_begin(struct mini *mini, enum weft_sleep protocol, unsigned n, unsigned rounds,
                       unsigned jec_bits)
{
    *mini = (struct mini){.n = n};
    CHECK_EQUAL(weft__sleep_init(&mini->sleep, protocol, n, n, rounds, jec_bits), 0);
    for (unsigned i = 0; i < n; i++) {
        struct mini_worker *worker = &mini->workers[i];
        worker->mini = mini;
        worker->stop.owner = weft__park_get();
        weft__sleep_place(&mini->sleep, i, worker->stop.owner);
    }
    for (unsigned i = 0; i < n; i++)
        child_thread(mini_work, &mini->workers[i], &mini->workers[i].thread);
}

static void mini_end(struct mini *mini)
{
    UNTIL(weft__sleep_resting(&mini->sleep).sleeping == mini->n);
    CHECK_EQUAL(weft__sleep_resting(&mini->sleep).idle, 0);
    for (unsigned i = 0; i < mini->n; i++)
        weft__spin_latch_set(&mini->workers[i].stop);
    for (unsigned i = 0; i < mini->n; i++) {
        child_thread_join(mini->workers[i].thread);
        weft__park_put(mini->workers[i].stop.owner);
    }
    CHECK_EQUAL(weft__sleep_resting(&mini->sleep).sleeping, 0); /* bug 11: and not -1 either */
    CHECK_EQUAL(weft__sleep_resting(&mini->sleep).idle, 0);
    weft__sleep_destroy(&mini->sleep);
}

static void mini_push(struct mini *mini, struct mini_job *jobs, int n)
{
    for (int i = 0; i < n; i++)
        weft__queue_push(&mini->injector, &jobs[i].node);
    weft__sleep_new_jobs(&mini->sleep, (unsigned)n, false);
}

/* Jobs come alone or in bunches, when all sleep or while some fall asleep. */
static void mini_play(enum weft_sleep protocol, unsigned n, unsigned rounds, unsigned jec_bits,
                      int count)
{
    static struct mini mini;
    struct mini_job *jobs = calloc((size_t)count, sizeof *jobs);
    CHECK(jobs != NULL);
    mini_begin(&mini, protocol, n, rounds, jec_bits);
    for (int i = 0; i < count;) {
        int bunch = i % 5 == 0 && i + 3 <= count ? 3 : 1;
        mini_push(&mini, &jobs[i], bunch);
        i += bunch;
        if (i % 3)
            UNTIL(atomic_load(&mini.ran) == i);
        if (i % 500 == 1)
            UNTIL(weft__sleep_resting(&mini.sleep).sleeping == n);
    }
    UNTIL(atomic_load(&mini.ran) == count);
    mini_end(&mini);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(atomic_load(&jobs[i].runs), 1);
    free(jobs);
}

static void bug_05_injected_job_is_seen_before_sleep(void)
{
    FOR_EACH_PROTOCOL(i)
    for (unsigned n = 1; n <= MINI_MAX; n++)
        for (unsigned rounds = 0; rounds <= 32; rounds += 32)
            mini_play(i, n, rounds, 32, rounds_of(SCALED(2000, 10)));
}

static void bug_06_pool_with_two_bits_of_events(void)
{
    static const enum weft_sleep protocols[] = {WEFT_SLEEP_EVENTS, WEFT_SLEEP_EVENTS_PLAIN,
                                                WEFT_SLEEP_EVENTS_LATCH};
    for (unsigned n = 1; n <= MINI_MAX; n++)
        for (unsigned rounds = 0; rounds <= 32; rounds += 32)
            for (int i = 0; i < 3; i++)
                mini_play(protocols[i], n, rounds, 2, rounds_of(SCALED(10000, 10)));
}

/* Fault 10: the notifier's fence. Two notifiers for one sleeper, one job at a time each. */
struct notifier {
    struct mini *mini;
    struct mini_job *jobs;
    int count;
};

static void *notify(void *arg)
{
    struct notifier *notifier = arg;
    for (int i = 0; i < notifier->count; i++) {
        mini_push(notifier->mini, &notifier->jobs[i], 1);
        UNTIL(atomic_load(&notifier->jobs[i].runs) == 1);
    }
    return NULL;
}

static void notify_one(enum weft_sleep protocol, unsigned rounds)
{
    enum { NOTIFIERS = 2 };
    static struct mini mini;
    struct notifier notifiers[NOTIFIERS];
    pthread_t threads[NOTIFIERS];
    mini_begin(&mini, protocol, 1, rounds, 32);
    for (int i = 0; i < NOTIFIERS; i++) {
        int count = SCALED(3000, 10);
        notifiers[i] =
            (struct notifier){&mini, calloc((size_t)count, sizeof(struct mini_job)), count};
        child_thread(notify, &notifiers[i], &threads[i]);
    }
    for (int i = 0; i < NOTIFIERS; i++) {
        child_thread_join(threads[i]);
        free(notifiers[i].jobs);
    }
    mini_end(&mini);
}

static void bug_10_notifiers_and_a_sleeper(void)
{
    FOR_EACH_PROTOCOL(i)
    for (unsigned rounds = 0; rounds <= 32; rounds += 32)
        notify_one(i, rounds);
}

/* ---- Whole pools ---- */

/* A job in the injector, mail in a mailbox: each is looked for before sleep. Nobody helps:
 * the caller only watches. */
static void bug_04_last_look_forgets_no_queue(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, WEFT_NO_GUESTS, way);
        atomic_int ran = 0;
        for (int i = 0; i < rounds_of(SCALED(1500, 10)); i++) {
            weft_task task;
            atomic_store(&ran, 0);
            CHECK_EQUAL(weft_submit(pool, &task, count_up, &ran), 0);
            UNTIL(weft_task_done(&task));
            CHECK_EQUAL(weft_task_wait(&task), 0);
            CHECK_EQUAL(weft_broadcast_detached(pool, count_up, &ran), 0);
            UNTIL(atomic_load(&ran) == 3);
            if (i % 100 == 0)
                until_asleep(pool, 2);
        }
        child_pool_end(pool);
    }
}

/* The same for a worker that sleeps while its job waits: it still gets its mail, and the
 * injector's jobs. */
struct waiting {
    weft_pool *pool;
    atomic_int started, ran;
    atomic_bool go;
};

static void held(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    atomic_fetch_add(&waiting->started, 1);
    UNTIL(atomic_load(&waiting->go));
}

/* Takes part in no search: it holds one of two workers; the other one waits for it. */
static void wait_for_held(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    weft_fork(w, held, waiting);
    UNTIL(atomic_load(&waiting->started) == 1);
    CHECK(weft_merge(w));
}

static void mail_to_waiter(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    if (atomic_fetch_add(&waiting->ran, 1) == 0) /* the waiter's: the holder's comes later */
        atomic_store(&waiting->go, true);
}

static void bug_04_waiting_worker_looks_at_all_queues(void)
{
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(150, 10)); i++) {
            struct waiting waiting = {.pool = child_pool(2, WEFT_NO_GUESTS, way)};
            weft_task waiter, other;
            atomic_int ran = 0;
            CHECK_EQUAL(weft_submit(waiting.pool, &waiter, wait_for_held, &waiting), 0);
            UNTIL(atomic_load(&waiting.started) == 1);
            if (i % 2)
                until_asleep(waiting.pool, 1);
            CHECK_EQUAL(weft_submit(waiting.pool, &other, count_up, &ran), 0);
            UNTIL(weft_task_done(&other)); /* by the waiter: nobody else is free */
            CHECK_EQUAL(weft_broadcast_detached(waiting.pool, mail_to_waiter, &waiting), 0);
            CHECK_EQUAL(weft_task_wait(&waiter), 0);
            child_pool_end(waiting.pool);
            CHECK_EQUAL(atomic_load(&waiting.ran), 2);
        }
    }
}

/* By event descriptor, as an event loop would: nobody helps and nobody looks. */
static void bug_05_submitted_one_by_one(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned n = 1; n <= 3; n++) {
            weft_pool *pool = child_pool(n, WEFT_NO_GUESTS, way);
            atomic_int ran = 0;
            int count = SCALED(1000, 10);
            for (int i = 0; i < count; i++) {
                weft_task task;
                CHECK_EQUAL(weft_submit(pool, &task, count_up, &ran), 0);
                struct pollfd p = {.fd = weft_task_fd(&task), .events = POLLIN};
                CHECK(p.fd >= 0);
                CHECK_EQUAL(poll(&p, 1, -1), 1);
                CHECK_EQUAL(weft_task_wait(&task), 0);
            }
            CHECK_EQUAL(atomic_load(&ran), count);
            child_pool_end(pool);
        }
    }
}

static void fib(weft *w, void *arg)
{
    long n = *(long *)arg;
    if (n < 2)
        return;
    long a = n - 1, b = n - 2;
    fib(weft_fork(w, fib, &b), &a);
    if (!weft_merge(w))
        fib(w, &b);
    *(long *)arg = a + b;
}

static void run_fib(weft_pool *pool, long n, long expected)
{
    CHECK_EQUAL(weft_run(pool, fib, &n), 0);
    CHECK_EQUAL(n, expected);
}

static void spawn_many(weft *w, void *ran)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < 50; i++) {
        CHECK_EQUAL(weft_spawn(w, &scope, count_up, ran), 0);
        CHECK_EQUAL(weft_spawn_fifo(w, &scope, count_up, ran), 0);
    }
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

struct storm {
    weft_pool *pool;
    atomic_int ran;
};

/* Everything there is, from several outside threads. */
static void storm(unsigned i, void *arg)
{
    struct storm *s = arg;
    for (int round = 0; round < rounds_of(SCALED(150, 10)); round++) {
        weft_task task;
        run_fib(s->pool, 10, 55);
        CHECK_EQUAL(weft_run(s->pool, spawn_many, &s->ran), 0);
        CHECK_EQUAL(weft_broadcast(s->pool, count_up, &s->ran), 0);
        CHECK_EQUAL(weft_submit(s->pool, &task, spawn_many, &s->ran), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
    }
}

static void check_at_rest(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    until_asleep(pool, weft_pool_workers(pool));
    weft_pool_get_info(pool, &info);
    CHECK_EQUAL(info.sleeping, info.workers);
    CHECK_EQUAL(info.idle, 0);
    CHECK_EQUAL(info.guests, 0);
    CHECK_EQUAL(info.queued, 0);
}

/* After any storm the counts are exact, and outside work is still taken. */
static void bug_11_sleeper_count_stays_right(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned n = 1; n <= 3; n++) {
            struct storm s = {.pool = child_pool(n, 0, way)};
            in_threads(3, storm, &s);
            check_at_rest(s.pool);
            weft_task task;
            CHECK_EQUAL(weft_submit(s.pool, &task, count_up, &s.ran), 0);
            UNTIL(weft_task_done(&task));
            check_at_rest(s.pool);
            child_pool_end(s.pool);
            CHECK_EQUAL(atomic_load(&s.ran), 3 * rounds_of(SCALED(150, 10)) * (200 + (int)n) + 1);
        }
    }
}

/* Nothing here spins, so nothing is hidden by it; one worker has nobody to lean on. */
static void bug_12_nothing_hides_behind_spinning(void)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        for (unsigned n = 1; n <= 3; n++) {
            struct storm s = {.pool = child_pool(n, flags, WAY_NO_SPIN)};
            CHECK_EQUAL(s.pool->sleep.rounds, 0);
            for (int i = 0; i < rounds_of(SCALED(200, 10)); i++) {
                run_fib(s.pool, 11, 89);
                CHECK_EQUAL(weft_run(s.pool, spawn_many, &s.ran), 0);
            }
            child_pool_end(s.pool);
        }
    }
}

/* ---- CPU time ---- */

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static uint64_t thread_time(pthread_t thread)
{
    clockid_t clock;
    struct timespec t;
    CHECK_EQUAL(pthread_getcpuclockid(thread, &clock), 0);
    CHECK_EQUAL(clock_gettime(clock, &t), 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t pool_time(weft_pool *pool)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < weft_pool_workers(pool); i++) {
        weft_worker_info info = WEFT_WORKER_INFO_INIT;
        CHECK_EQUAL(weft_worker_get_info(pool, i, &info), 0);
        sum += info.cpu_ns;
    }
    return sum;
}

/* Comes back when all workers sleep, and have used no CPU time for a while. */
static void until_still(weft_pool *pool)
{
    bool caller = pool->config.flags & WEFT_USE_CALLER;
    uint64_t before, after;
    do {
        until_asleep(pool, weft_pool_workers(pool) - caller);
        before = pool_time(pool);
        nap();
        after = pool_time(pool);
    } while (before != after);
}

static void held_asleep(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    atomic_fetch_add(&waiting->started, 1);
    struct timespec t = {.tv_nsec = 1000000};
    while (!atomic_load(&waiting->go))
        nanosleep(&t, NULL);
}

static void wait_for_sleeper(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    weft_fork(w, held_asleep, waiting);
    UNTIL(atomic_load(&waiting->started) == 1);
    CHECK(weft_merge(w));
}

static void *run_wait_for_sleeper(void *arg)
{
    struct waiting *waiting = arg;
    CHECK_EQUAL(weft_run(waiting->pool, wait_for_sleeper, waiting), 0);
    return NULL;
}

/* One job runs, and sleeps at that; everybody else, who waits for it or for anything, may
 * look up now and then but not spin. What other processes do can only make the share of the
 * CPU smaller. */
static void bug_14_one_runs_and_nobody_spins(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
            struct waiting waiting = {.pool = child_pool(3, flags, way)};
            pthread_t guest;
            child_thread(run_wait_for_sleeper, &waiting, &guest);
            UNTIL(atomic_load(&waiting.started) == 1);
            uint64_t used, passed;
            do { /* once it has come to rest */
                uint64_t cpu = pool_time(waiting.pool) + thread_time(guest), now = weft_now();
                nap();
                used = pool_time(waiting.pool) + thread_time(guest) - cpu;
                passed = weft_now() - now;
            } while (used > passed / 4);
            atomic_store(&waiting.go, true);
            child_thread_join(guest);
            child_pool_end(waiting.pool);
        }
    }
}

static void bug_15_idle_pool_uses_no_cpu(void)
{
    static const unsigned flags[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < 3; i++) {
            struct storm s = {.pool = child_pool(3, flags[i], way)};
            until_still(s.pool); /* never used */
            storm(0, &s);
            until_still(s.pool); /* used */
            child_pool_end(s.pool);
        }
    }
}

static uint64_t sleeps(weft_pool *pool)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < weft_pool_workers(pool); i++) {
        weft_worker_info info = WEFT_WORKER_INFO_INIT;
        CHECK_EQUAL(weft_worker_get_info(pool, i, &info), 0);
        sum += info.sleeps;
    }
    return sum;
}

/* Guests that need no help wake nobody. */
static void bug_16_runs_without_forks_wake_nobody(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, 0, way);
        atomic_int ran = 0;
        until_still(pool);
        uint64_t before = sleeps(pool);
        for (int i = 0; i < 10000; i++)
            CHECK_EQUAL(weft_run(pool, count_up, &ran), 0);
        until_still(pool);
        CHECK_EQUAL(sleeps(pool), before);
        child_pool_end(pool);
    }
}

/* A job wakes one worker, once. (While others are still up, on the lazy road another one may be
 * woken as the look-out, and that one looks by itself now and then; as it does under some other
 * protocols, and under the rest all are woken.) */
static void bug_16_one_wake_up_per_job(void)
{
    for (enum way way = WAY_EAGER_NO_SPIN; way <= WAY_EAGER_SPIN; way++) {
        weft_config config = child_config(3, WEFT_NO_GUESTS, way);
        config.sleep = WEFT_SLEEP_EVENTS;
        weft_pool *pool = child_pool_of(&config);
        atomic_int ran = 0;
        int count = SCALED(2000, 10);
        until_still(pool);
        uint64_t before = sleeps(pool);
        for (int i = 0; i < count; i++)
            CHECK_EQUAL(weft_run(pool, count_up, &ran), 0);
        until_still(pool);
        CHECK(sleeps(pool) - before <= (uint64_t)count);
        child_pool_end(pool);
    }
}

/* Each comes when all sleep, and the one it wakes is all that gets up. */
static void submit_to_sleepers(weft_pool *pool, int count)
{
    atomic_int ran = 0;
    for (int i = 0; i < count; i++) {
        weft_task task;
        until_asleep(pool, weft_pool_workers(pool));
        CHECK_EQUAL(weft_submit(pool, &task, count_up, &ran), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
    }
    CHECK_EQUAL(atomic_load(&ran), count);
    until_asleep(pool, weft_pool_workers(pool));
}

static void bug_16_jobs_wake_as_many_as_they_are(void)
{
    static const enum weft_sleep protocols[] = {WEFT_SLEEP_EVENTS, WEFT_SLEEP_EVENTS_PLAIN,
                                                WEFT_SLEEP_EVENTS_LATCH, WEFT_SLEEP_COUNTERS};
    enum { JOBS = 100, PROTOCOLS = sizeof protocols / sizeof protocols[0] };
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < PROTOCOLS; i++) {
            weft_config config = child_config(4, WEFT_NO_GUESTS, way);
            config.sleep = protocols[i];
            weft_pool *pool = child_pool_of(&config);
            until_asleep(pool, 4);
            uint64_t before = sleeps(pool);
            submit_to_sleepers(pool, JOBS);
            CHECK(sleeps(pool) - before <= JOBS + JOBS / 10);
            child_pool_end(pool);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(bug_04_last_look_keeps_awake),
        IN_CHILD(bug_04_last_look_forgets_no_queue),
        IN_CHILD(bug_04_waiting_worker_looks_at_all_queues),
        IN_CHILD(bug_05_injected_job_is_seen_before_sleep),
        IN_CHILD(bug_05_submitted_one_by_one),
        IN_CHILD(bug_06_event_counter_wraps),
        IN_CHILD(bug_06_four_events_look_like_none),
        IN_CHILD(bug_06_pool_with_two_bits_of_events),
        IN_CHILD(bug_10_notifiers_and_a_sleeper),
        IN_CHILD(bug_11_sleeper_count_stays_right),
        IN_CHILD(bug_12_nothing_hides_behind_spinning),
        IN_CHILD(bug_14_one_runs_and_nobody_spins),
        IN_CHILD(bug_15_idle_pool_uses_no_cpu),
        IN_CHILD(bug_16_runs_without_forks_wake_nobody),
        IN_CHILD(bug_16_one_wake_up_per_job),
        IN_CHILD(bug_16_jobs_wake_as_many_as_they_are),
    };
    return cmocka_run_group_tests_name("sleeping", tests, NULL, NULL);
}
