/* SPDX-License-Identifier: MIT */
/* The variants of the sleep protocols: those that the library has, which keep what their document
 * says, and those that documents name and that lose wake-ups (variants.h), where each hazard that
 * the document names is found. Where a protocol of the library closes a hazard, it goes through the
 * same harness. */
#include "sleep/common.h"
#include "sleeping.h"
#include "variants.h"

/* Sets a latch, and wakes its owner if that sleeps. */
static void (*set)(struct weft__latch *latch, const struct weft__park *owner);

static void set_of_library(struct weft__latch *l, const struct weft__park *owner)
{
    weft__latch_set_for(l, &park[owner->place]);
}

static void prepare(enum weft_sleep protocol, unsigned workers, unsigned jec_bits)
{
    make_workers(protocol, workers, workers, jec_bits);
    set = set_of_library;
}

/* ---- A worker ---- */

static void stop_looking(struct weft__idle *idle, const struct weft__job *job)
{
    bool last = weft__sleep_work_found(&sleep_module, idle);
    if (last && (weft__queue_length(&injector) > 0 || weft__deque_size(&deque) > 0))
        weft__sleep_more_work(&sleep_module);
    if (job)
        MODEL_ASSERT(data == 1);
}

/* Until its latch is set, or it has found a job. */
static struct weft__job *work(unsigned i)
{
    struct weft__idle idle = {0};
    struct weft__sleeper sleeper = {&park[i], &latch[i], last_look, mail_waits, &mailbox[i]};
    struct weft__job *job = NULL;
    weft__sleep_start_looking(&sleep_module, &idle, 0);
    while (!weft__latch_probe(&latch[i]) && !(job = look(i)))
        weft__sleep_no_work(&sleep_module, &idle, &sleeper);
    stop_looking(&idle, job);
    return job;
}

static void first_worker(void)
{
    (void)work(0);
}

static void second_worker(void)
{
    (void)work(1);
}

/* If both look for one job, the one that finds it tells the other one to stop. */
static void work_and_tell(unsigned i)
{
    if (work(i))
        set(&latch[1 - i], &park[1 - i]);
}

static void first_tells(void)
{
    work_and_tell(0);
}

static void second_tells(void)
{
    work_and_tell(1);
}

static void first_until_told(void)
{
    while (!weft__latch_probe(&latch[0]))
        (void)work(0);
}

/* A guest, whom nobody counts on. */
static void guest_until_told(void)
{
    struct weft__sleeper sleeper = {&park[0], &latch[0], NULL, mail_waits, &mailbox[0]};
    while (!weft__latch_probe(&latch[0]))
        (void)weft__sleep_uncounted_in(&sleep_module, &sleeper, 0);
}

/* One that searches, and does not think of sleep yet. */
static void first_searches(void)
{
    struct weft__idle idle = {0};
    struct weft__job *job;
    weft__sleep_start_looking(&sleep_module, &idle, 0);
    while (!(job = look(0)))
        weft__relax();
    stop_looking(&idle, job);
}

/* ---- What wakes it ---- */

static void set_latch(void)
{
    set(&latch[0], &park[0]);
}

/* A counter of two bits that counts each post goes round: the job is the first of four, or the
 * last. */
static void post_often(void)
{
    for (int i = 0; i < 3; i++)
        weft__sleep_new_fork(&sleep_module, true);
}

static void wrap_and_inject(void)
{
    post_often();
    inject();
}

static void inject_and_wrap(void)
{
    inject();
    post_often();
}

/* The same for a fork, which no last look finds. */
static void fork_and_wrap(void)
{
    fork_one();
    post_often();
}

/* ---- The hazards of the RFC ---- */

static void until(unsigned idle, unsigned sleeping)
{
    uint64_t counters;
    while (counters = atomic_load_relaxed(&sleep_module.counters),
           idle_in(counters) != idle || sleeping_in(counters) != sleeping)
        weft__relax();
}

/* One searches, the other one sleeps, and both posts count on the one that searches. It takes one
 * job; the other job waits until that one is over. */
static void inject_two_to_one(void)
{
    until(1, 1);
    inject_two();
}

/* Both sleep. Two posts should wake both; but the first one that was woken still counts as a
 * sleeper until it runs, and is woken twice. */
static void inject_two_to_sleepers(void)
{
    until(0, 2);
    inject_two();
}

/* One is about to be idle when a job comes, and does not count as idle yet: so the other one is
 * woken for it, though the first one takes it. */
static struct atomic_u32 announced, second_has_it;
static bool first_has_it;

static void first_comes_late(void)
{
    struct weft__idle idle = {0};
    struct weft__job *job;
    while (!atomic_load_acquire(&announced)) /* at work */
        weft__relax();
    weft__sleep_start_looking(&sleep_module, &idle, 0);
    while (!(job = look(0)) && !atomic_load_acquire(&second_has_it))
        weft__relax();
    stop_looking(&idle, job);
    first_has_it = job != NULL;
    if (job)
        set(&latch[1], &park[1]); /* no more work for it */
}

static void second_says_so(void)
{
    if (work(1))
        atomic_store_release(&second_has_it, 1);
}

static void until_one_sleeps(void)
{
    while (sleeping_in(atomic_load_relaxed(&sleep_module.counters)) == 0)
        weft__relax();
}

static void inject_to_sleeper(void)
{
    until_one_sleeps();
    inject();
    atomic_store_release(&announced, 1);
}

/* One sleeps, and the other one may be about to. */
static void spawn_to_sleeper(void)
{
    until_one_sleeps();
    spawn();
}

static void nobody_was_woken_in_vain(void)
{
    MODEL_ASSERT(!(first_has_it && variant_wakes() > 0));
}

/* ---- Setups ---- */

#define SETUP(name, protocol, workers, bits) \
    static void name(void)                   \
    {                                        \
        prepare(protocol, workers, bits);    \
    }

SETUP(plain_one, WEFT_SLEEP_EVENTS_PLAIN, 1, 2)
SETUP(plain_two, WEFT_SLEEP_EVENTS_PLAIN, 2, 2)
SETUP(plain_wide, WEFT_SLEEP_EVENTS_PLAIN, 1, 32)
SETUP(plain_wide_two, WEFT_SLEEP_EVENTS_PLAIN, 2, 32)
SETUP(at_once_one, WEFT_SLEEP_EVENTS_LATCH, 1, 2)
SETUP(at_once_two, WEFT_SLEEP_EVENTS_LATCH, 2, 2)
SETUP(at_once_wide, WEFT_SLEEP_EVENTS_LATCH, 1, 32)
SETUP(aim_one, WEFT_SLEEP_COUNTERS_TWO, 1, 2)
SETUP(aim_two, WEFT_SLEEP_COUNTERS_TWO, 2, 2)
SETUP(counters_two, WEFT_SLEEP_COUNTERS, 2, 2)

static void prepare_variant(const struct weft__protocol *protocol, unsigned workers,
                            void (*how)(struct weft__latch *, const struct weft__park *))
{
    prepare(WEFT_SLEEP_COUNTERS, workers, 2);
    sleep_module.protocol = protocol;
    set = how;
}

static void rfc_one(void)
{
    prepare_variant(&variant_rfc, 1, variant_rfc_set);
}

static void rfc_two(void)
{
    prepare_variant(&variant_rfc, 2, variant_rfc_set);
}

static void flag_one(void)
{
    prepare_variant(&variant_flag, 1, variant_flag_set);
}

/* ---- The tables ---- */

static const char lost[] = "a wake-up is lost";

#define ONE(base, text, protocol, how, words, few, ...)                                 \
    {                                                                                   \
        .name = base "-" protocol, .what = text, .setup = how, .thread = {__VA_ARGS__}, \
        .fails = words, .stale = few                                                    \
    }

/* Of three threads: large. */
#define THREE(base, text, protocol, how, words, ...)                                    \
    {                                                                                   \
        .name = base "-" protocol, .what = text, .setup = how, .thread = {__VA_ARGS__}, \
        .fails = words, .preemptions = 1, .stale = 1                                    \
    }

#define EACH(protocol, how)                                                                        \
    ONE("inject", "a job is injected while a worker falls asleep", protocol, how##_one, NULL, 0,   \
        first_worker, inject),                                                                     \
        ONE("latch", "a latch is set while its owner falls asleep", protocol, how##_one, NULL, 0,  \
            first_until_told, set_latch),                                                          \
        ONE("latch-job", "a latch is set, and a job injected", protocol, how##_one, NULL, 1,       \
            first_until_told, set_latch, inject_another),                                          \
        ONE("mail", "a broadcast's mail while its worker falls asleep", protocol, how##_one, NULL, \
            0, first_worker, send_mail),                                                           \
    {                                                                                              \
        .name = "inject-two-" protocol, .what = "two jobs, two workers", .setup = how##_two,       \
        .thread = {first_worker, second_worker, inject_two}, .preemptions = 2, .stale = 1          \
    }

#define HAZARDS(protocol, how, words)                                                              \
    THREE("hazard-close", "two jobs at once count on the one idle worker", protocol, how##_two,    \
          words, first_searches, second_worker, inject_two_to_one),                                \
        THREE("hazard-same", "two jobs at once wake the same sleeper", protocol, how##_two, words, \
              first_worker, second_worker, inject_two_to_sleepers)

const struct harness variant_harnesses[] = {
    EACH("events-plain", plain),
    ONE("spawn", "a job on a deque, and the counter does not wrap", "events-plain", plain_wide,
        NULL, 0, first_worker, spawn),
    ONE("fork", "a fork, and the counter does not wrap", "events-plain", plain_wide, NULL, 0,
        first_worker, fork_one),
    THREE("fork-two", "the same, and two workers fall asleep", "events-plain", plain_wide_two, NULL,
          first_tells, second_tells, fork_one),
    ONE("wrap", "four posts, the last of them a job that is injected", "events-plain", plain_one,
        NULL, 1, first_worker, wrap_and_inject),
    ONE("wrap-after", "four posts, the first of them a job that is injected", "events-plain",
        plain_one, NULL, 1, first_worker, inject_and_wrap),
    ONE("wrap-fork", "four posts, the first of them a fork", "events-plain", plain_one, lost, 1,
        first_worker, fork_and_wrap),
    EACH("events-latch", at_once),
    ONE("latch-guest", "a latch is set while a guest falls asleep", "events-latch", at_once_one,
        NULL, 0, guest_until_told, set_latch),
    ONE("spawn", "a job on a deque, and the counter does not wrap", "events-latch", at_once_wide,
        NULL, 0, first_worker, spawn),
    EACH("counters-two", aim),
    THREE("spawn", "a job on a deque, and all who are idle fall asleep", "counters-two", aim_two,
          lost, first_tells, second_tells, spawn),
    THREE("spawn-asleep", "a job on a deque; one worker sleeps, another one falls asleep",
          "counters-two", aim_two, NULL, first_tells, second_tells, spawn_to_sleeper),
    THREE("spawn-asleep", "a job on a deque; one worker sleeps, another one falls asleep",
          "counters", counters_two, lost, first_tells, second_tells, spawn_to_sleeper),

    ONE("latch", "a latch is set while its owner falls asleep", "rfc", rfc_one, NULL, 0,
        first_until_told, set_latch),
    {.name = "hazard-extra-rfc",
     .what = "a job comes just before a worker is idle: another one is woken in vain",
     .setup = rfc_two,
     .thread = {first_comes_late, second_says_so, inject_to_sleeper},
     .finish = nobody_was_woken_in_vain,
     .fails = "not true"},
    ONE("hazard-deque", "a job comes as the idle worker falls asleep", "rfc", rfc_one, lost, 0,
        first_worker, spawn),
    ONE("hazard-inject", "the same from outside, where somebody waits for it", "rfc", rfc_one, lost,
        0, first_worker, inject),
    HAZARDS("rfc", rfc, lost),
    HAZARDS("counters", counters, NULL),
    ONE("hazard-deque", "news between the search and the flag: a job on a deque", "flag", flag_one,
        lost, 0, first_worker, spawn),
    ONE("hazard-inject", "a job from outside", "flag", flag_one, lost, 0, first_worker, inject),
    ONE("hazard-latch", "a latch", "flag", flag_one, lost, 0, first_until_told, set_latch),
    {0},
};
