/* SPDX-License-Identifier: MIT */
/* Every sleep protocol against everything that has to wake a worker. A worker here does what
 * core/wait.c does: look everywhere, tell the sleep module, and again. If it sleeps although
 * there is something for it, nobody can go on, and that is found. */
#include "sleep/lookout.h"
#include "sleeping.h"

static void prepare(enum weft_sleep protocol, unsigned workers, unsigned jec_bits)
{
    make_workers(protocol, workers, WORKERS, jec_bits);
}

/* ---- A worker ---- */

/* Until its latch is set, or it has found a job. */
static struct weft__job *work(unsigned i)
{
    struct weft__idle idle = {0};
    struct weft__sleeper sleeper = {&park[i], &latch[i], last_look, mail_waits, &mailbox[i]};
    struct weft__job *job = NULL;
    weft__sleep_start_looking(&sleep_module, &idle, 0);
    while (!weft__latch_probe(&latch[i]) && !(job = look(i)))
        weft__sleep_no_work(&sleep_module, &idle, &sleeper);
    if (weft__sleep_work_found(&sleep_module, &idle) && weft__queue_length(&injector) > 0)
        weft__sleep_more_work(&sleep_module);
    if (job)
        MODEL_ASSERT(data == 1);
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

static void first_twice(void)
{
    (void)work(0);
    (void)work(0);
}

static void first_until_told(void)
{
    while (!weft__latch_probe(&latch[0]))
        (void)work(0);
}

/* ---- What wakes it ---- */

static void set_latch(void)
{
    weft__latch_set_for(&latch[0], &park[0]);
}

static void get_sleepy(void)
{
    struct weft__idle idle = {0};
    struct weft__sleeper sleeper = {&park[1], &latch[1], last_look, mail_waits, &mailbox[1]};
    weft__sleep_start_looking(&sleep_module, &idle, 0);
    weft__sleep_no_work(&sleep_module, &idle, &sleeper);
    if (weft__sleep_work_found(&sleep_module, &idle) && weft__queue_length(&injector) > 0)
        weft__sleep_more_work(&sleep_module);
}

/* A worker that comes later, as spares do: its parking place is made here. */
static void come_and_work(void)
{
    park[1] = (struct weft__park){.cpu = {-1}};
    weft__sleep_place(&sleep_module, 1, &park[1]);
    (void)work(1);
}

/* Its place is there before it is. */
static void place_only(void)
{
    park[1] = (struct weft__park){.cpu = {-1}};
    weft__sleep_place(&sleep_module, 1, &park[1]);
}

/* A worker that waits for its own latch and mail alone. */
static void wait_for_mail(void)
{
    struct weft__sleeper sleeper = {&park[0], &latch[0], NULL, mail_waits, &mailbox[0]};
    while (!weft__queue_pop(&mailbox[0]))
        (void)weft__sleep_uncounted(&sleeper, 0);
    MODEL_ASSERT(data == 1);
}

/* Goes through all values of a counter of two bits: new work, somebody sleepy, new work,
 * somebody sleepy; then injects. */
static void wrap_and_inject(void)
{
    for (int i = 0; i < 2; i++) {
        weft__sleep_new_fork(&sleep_module, true);
        get_sleepy();
    }
    inject();
}

/* The job is what begins the round, and in the end the counter is as if there were none: only
 * the last look finds it. */
static void inject_and_wrap(void)
{
    inject();
    get_sleepy();
    weft__sleep_new_fork(&sleep_module, true);
    get_sleepy();
}

/* ---- Places ---- */

/* A guest has the worker's place, and leaves it when it has injected a job. */
static void step_back_and_work(void)
{
    struct weft__idle idle = {0};
    struct weft__sleeper sleeper = {&park[0], &latch[0], last_look, mail_waits, &mailbox[0]};
    struct weft__job *job = NULL;
    weft__sleep_start_looking(&sleep_module, &idle, 0);
    while (!job) {
        if (weft__sleep_over_full(&sleep_module))
            weft__sleep_step_back(&sleep_module, &idle, &sleeper);
        else if (!(job = look(0)))
            weft__sleep_no_work(&sleep_module, &idle, &sleeper);
    }
    (void)weft__sleep_work_found(&sleep_module, &idle);
    MODEL_ASSERT(data == 1);
}

static void leave(void)
{
    weft__sleep_guest_gone(&sleep_module);
    if (weft__sleep_room_made(&sleep_module) && weft__queue_length(&injector) > 0)
        weft__sleep_more_work(&sleep_module); /* as core/search.c */
}

static void inject_and_leave(void)
{
    inject();
    leave();
}

/* A look-out goes off duty, having seen nobody, while a guest comes in and relies on it. */
static bool relies, is_gone;

static void go_off_duty(void)
{
    struct weft__idle idle = {0};
    is_gone = weft__lookout_leaves(&(struct weft__lookout){&sleep_module, &idle, &park[0]});
}

static void come_in(void)
{
    weft__sleep_guest_entered(&sleep_module);
    relies = !weft__sleep_needs_lookout(&sleep_module, 0);
}

/* A guest comes in, and its first fork wakes somebody, if there is somebody to wake; else it relies
 * on who falls asleep later: that one sees the guest, and looks out. */
static void come_in_and_fork(void)
{
    weft__sleep_guest_entered(&sleep_module);
    bool tells = weft__sleep_has_room(&sleep_module);
    data = 1;
    MODEL_ASSERT(weft__deque_push(&deque, &spawned) == 0);
    if (tells)
        (void)weft__sleep_new_fork(&sleep_module, true);
}

/* The same for a worker that was away. */
static void come_back(void)
{
    weft__sleep_present(&sleep_module);
    relies = !weft__sleep_needs_lookout(&sleep_module, 0);
}

static void nobody_relies_on_nobody(void)
{
    MODEL_ASSERT(!(relies && is_gone));
}

/* ---- For each protocol ---- */

#define SETUPS(name, protocol)   \
    static void name##_one(void) \
    {                            \
        prepare(protocol, 1, 2); \
    }                            \
    static void name##_two(void) \
    {                            \
        prepare(protocol, 2, 2); \
    }

SETUPS(events, WEFT_SLEEP_EVENTS)
static void events_wide(void)
{
    prepare(WEFT_SLEEP_EVENTS, 1, 32);
}

/* There was another fork before. */
static void events_odd(void)
{
    prepare(WEFT_SLEEP_EVENTS, 2, 32);
    (void)weft__sleep_new_fork(&sleep_module, true);
}

SETUPS(counters, WEFT_SLEEP_COUNTERS)
SETUPS(local, WEFT_SLEEP_COUNTERS_LOCAL)
SETUPS(blocks, WEFT_SLEEP_COUNTERS_BLOCKS)
SETUPS(every, WEFT_SLEEP_COUNTERS_ALL)
SETUPS(tickle, WEFT_SLEEP_TICKLE)
SETUPS(seqcst, WEFT_SLEEP_TICKLE_SEQCST)

#define GUEST_IN(name)                            \
    static void name##_guest_in(void)             \
    {                                             \
        name##_one();                             \
        weft__sleep_guest_entered(&sleep_module); \
    }
GUEST_IN(events)
GUEST_IN(counters)
GUEST_IN(seqcst)

/* There is a place for the guest. */
#define ROOM(name)                         \
    static void name##_room(void)          \
    {                                      \
        name##_two();                      \
        weft__sleep_absent(&sleep_module); \
    }
ROOM(events)
ROOM(counters)
ROOM(seqcst)

/* Its only worker sleeps, and is the look-out. */
static void on_duty(void)
{
    prepare(WEFT_SLEEP_EVENTS, 1, 2);
    struct weft__idle idle;
    weft__sleep_start_looking(&sleep_module, &idle, 0);
    atomic_fetch_add_relaxed(&sleep_module.counters, 1 + ((uint64_t)1 << 31));
    atomic_store_relaxed(&sleep_module.lookout, &park[0]);
    relies = is_gone = false;
}

static void on_duty_alone(void)
{
    on_duty();
    sleep_module.workers = 2;
    weft__sleep_absent(&sleep_module);
}

SETUPS(flag, WEFT_SLEEP_TICKLE_FLAG)
SETUPS(swap, WEFT_SLEEP_TICKLE_SWAP)

/* One harness for one protocol; `lost`: it is known to lose a wake-up. */
#define ONE(base, text, protocol, how, lost, few, ...)                                  \
    {                                                                                   \
        .name = base "-" protocol, .what = text, .setup = how, .thread = {__VA_ARGS__}, \
        .fails = lost, .stale = few                                                     \
    }

#define EACH(protocol, how, lost, few)                                                             \
    ONE("inject", "a job is injected while a worker falls asleep", protocol, how##_one, lost, 0,   \
        first_worker, inject),                                                                     \
        ONE("latch", "a latch is set while its owner falls asleep", protocol, how##_one, lost, 0,  \
            first_until_told, set_latch),                                                          \
        ONE("latch-job", "a latch is set, and a job injected", protocol, how##_one, lost, few,     \
            first_until_told, set_latch, inject_another),                                          \
        ONE("mail", "a broadcast's mail while its worker falls asleep", protocol, how##_one, lost, \
            0, first_worker, send_mail)

/* What is on a deque, its owner at work. `lost`: a fork, and a spawned job, may be missed; then the
 * look-out finds it, if time passes. */
#define ON_DEQUE(base, text, protocol, how, post, lost)                                       \
    {                                                                                         \
        .name = base "-" protocol, .what = text " while a worker falls asleep", .setup = how, \
        .thread = {first_worker, post}, .fails = lost                                         \
    }
#define LOOKED_OUT(base, text, protocol, how, post)                                                \
    {                                                                                              \
        .name = base "-later-" protocol, .what = text ", and the look-out finds it", .setup = how, \
        .thread = {first_worker, post}, .times_out = true                                          \
    }
#define ENTER(protocol, how)                                                            \
    {                                                                                   \
        .name = "enter-" protocol,                                                      \
        .what = "a guest comes in and forks while a worker falls asleep", .setup = how, \
        .thread = {first_worker, come_in_and_fork}, .times_out = true                   \
    }
#define COUNTERS(protocol, how)                                                             \
    ON_DEQUE("spawn", "a job on a deque", protocol, how##_two, spawn, "a wake-up is lost"), \
        LOOKED_OUT("spawn", "a job on a deque", protocol, how##_two, spawn),                \
        ON_DEQUE("fork", "a fork", protocol, how##_two, fork_one, "a wake-up is lost"),     \
        LOOKED_OUT("fork", "a fork", protocol, how##_two, fork_one)

/* Of three threads: large, and larger where workers spin until nobody else is sleepy. */
#define TWO(protocol, how, lost, most)                                                           \
    {                                                                                            \
        .name = "inject-two-" protocol, .what = "two jobs, two workers", .setup = how##_two,     \
        .thread = {first_worker, second_worker, inject_two}, .fails = lost, .preemptions = most, \
        .stale = 1                                                                               \
    }

/* The two scenarios of the document on `tickle` with sequentially consistent operations, told
 * apart by who sees something old: who tickles does not see that somebody is sleepy; or who gets
 * sleepy does not see what was done before the tickle. */
enum { WORKER = 1 << 1, SETTER = 1 << 2 };

#define SCENARIOS(protocol, how, lost)                                                   \
    {.name = "scenario-1-" protocol,                                                     \
     .what = "get sleepy, then get tickled",                                             \
     .setup = how,                                                                       \
     .thread = {first_until_told, set_latch},                                            \
     .fails = lost,                                                                      \
     .stale_in = SETTER},                                                                \
    {                                                                                    \
        .name = "scenario-2-" protocol, .what = "tickle, then get sleepy", .setup = how, \
        .thread = {first_until_told, set_latch}, .fails = lost, .stale_in = WORKER       \
    }

const struct harness sleep_harnesses[] = {
    EACH("events", events, NULL, 1),
    TWO("events", events, NULL, 2),
    ONE("spawn", "a job on a deque, and the counter does not wrap", "events", events_wide, NULL, 0,
        first_worker, spawn),
    ONE("inject-again", "two jobs, and one worker falls asleep before each", "events", events_one,
        NULL, 0, first_twice, inject_two),
    ONE("wrap", "the event counter goes round before a job is injected", "events", events_two, NULL,
        1, first_worker, wrap_and_inject),
    ONE("wrap-after", "the event counter goes round after a job was injected", "events", events_two,
        NULL, 1, first_worker, inject_and_wrap),
    ONE("come", "a worker comes, and falls asleep, while a job is injected", "events", events_one,
        NULL, 1, come_and_work, inject),
    ONE("place", "a parking place is made while one who sleeps elsewhere is woken", "events",
        events_one, NULL, 1, first_worker, place_only, inject),
    ONE("mail-alone", "mail while its worker waits for nothing else", "events", events_one, NULL, 0,
        wait_for_mail, send_mail),
    ONE("step-back", "a guest leaves the place that a worker stepped back from", "events",
        events_guest_in, NULL, 0, step_back_and_work, inject_and_leave),
    ONE("step-back-both", "a guest leaves while a job is injected", "events", events_guest_in, NULL,
        1, step_back_and_work, inject, leave),
    ONE("step-back", "a guest leaves the place that a worker stepped back from", "counters",
        counters_guest_in, NULL, 0, step_back_and_work, inject_and_leave),
    ONE("step-back", "a guest leaves the place that a worker stepped back from", "tickle-seqcst",
        seqcst_guest_in, NULL, 1, step_back_and_work, inject_and_leave),
    ONE("step-back-both", "a guest leaves while a job is injected", "tickle-seqcst",
        seqcst_guest_in, NULL, 1, step_back_and_work, inject, leave),
    {.name = "lookout-leaves",
     .what = "a guest comes in while the look-out goes off duty",
     .setup = on_duty,
     .thread = {go_off_duty, come_in},
     .finish = nobody_relies_on_nobody},
    {.name = "lookout-leaves-worker",
     .what = "a worker comes back while the look-out goes off duty",
     .setup = on_duty_alone,
     .thread = {go_off_duty, come_back},
     .finish = nobody_relies_on_nobody},
    ENTER("events", events_room),
    ENTER("counters", counters_room),
    ENTER("tickle-seqcst", seqcst_room),
    EACH("counters", counters, NULL, 1),
    TWO("counters", counters, NULL, 2),
    COUNTERS("counters", counters),
    COUNTERS("counters-local", local),
    COUNTERS("counters-blocks", blocks),
    COUNTERS("counters-all", every),
    ONE("inject", "a job is injected while a worker falls asleep", "counters-local", local_one,
        NULL, 0, first_worker, inject),
    ONE("inject", "a job is injected while a worker falls asleep", "counters-blocks", blocks_one,
        NULL, 0, first_worker, inject),
    ONE("inject", "a job is injected while a worker falls asleep", "counters-all", every_one, NULL,
        0, first_worker, inject),
    ON_DEQUE("fork", "a fork", "events", events_odd, fork_one, "a wake-up is lost"),
    LOOKED_OUT("fork", "a fork", "events", events_odd, fork_one),
    ON_DEQUE("fork", "a fork", "tickle", tickle_two, fork_one, "a wake-up is lost"),
    ON_DEQUE("fork", "a fork", "tickle-seqcst", seqcst_two, fork_one, "a wake-up is lost"),
    LOOKED_OUT("fork", "a fork", "tickle-seqcst", seqcst_two, fork_one),
    ON_DEQUE("spawn", "a job on a deque", "tickle-seqcst", seqcst_two, spawn, NULL),
    ON_DEQUE("fork", "a fork", "tickle-flag", flag_two, fork_one, NULL),
    ON_DEQUE("fork", "a fork", "tickle-swap", swap_two, fork_one, NULL),
    EACH("tickle-seqcst", seqcst, NULL, 1),
    TWO("tickle-seqcst", seqcst, NULL, 1),
    ONE("inject", "a job is injected while a worker falls asleep", "tickle-flag", flag_one, NULL, 0,
        first_worker, inject),
    ONE("spawn", "a job on a deque while a worker falls asleep", "tickle-flag", flag_one, NULL, 0,
        first_worker, spawn),
    ONE("spawn", "a job on a deque while a worker falls asleep", "tickle-swap", swap_one, NULL, 0,
        first_worker, spawn),
    EACH("tickle-swap", swap, NULL, 1),
    EACH("tickle", tickle, "a wake-up is lost", 2),
    TWO("tickle", tickle, "a wake-up is lost", 2),
    SCENARIOS("tickle", tickle_one, "a wake-up is lost"),
    SCENARIOS("tickle-seqcst", seqcst_one, NULL),
    {0},
};
