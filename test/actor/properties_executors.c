/* SPDX-License-Identifier: MIT */
/* What actors have to show, of executors: what is sent to them, what they say of
 * themselves, who runs when. And what only threads can show. */
#include "actor/create.h"
#include "actor/drive.h"
#include "actor/load.h"
#include "actor/post.h"
#include "os/memory.h"
#include "sim/sim.h"
#include "watchdog.h"

#include <errno.h>
#include <stdlib.h>

static unsigned long seen;

/* ---- A system without a simulation ---- */

static struct weft__actors *system_make(unsigned executors, unsigned counted)
{
    weft_actors_config config = {.size = sizeof config, .executors = executors, .counted = counted};
    struct weft__actors *system;
    CHECK(weft__actors_make(&system, sim_pool, &config, true) == 0);
    return system;
}

static weft_actor *actor_make(struct weft__actors *system, weft_actor_fn *fn, void *arg,
                              enum weft_steal steal)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    weft_actor *actor;
    config.steal = steal;
    config.share = 100;
    CHECK(weft__actor_make(&actor, system, fn, arg, &config) == 0);
    CHECK(weft_actor_run(actor) == 0);
    return actor;
}

/* ---- Two threads, an executor each ---- */

struct duo {
    struct weft__actors *system;
    weft_actor *actor;
    long trials, delegated;
};

struct turn {
    struct duo *duo;
    unsigned i;
};

/* As in a pool, nobody looks at an executor that has nothing to do until it is posted; or, if
 * something ages there, its quantum is over. */
static void drive(weft *w, void *arg)
{
    struct turn *turn = arg;
    struct weft__executor *executor = &turn->duo->system->executors[turn->i];
    struct weft__worker *me = weft__worker_of(w);
    while (!weft_actor_done(turn->duo->actor)) {
        bool posted = atomic_load_relaxed(&executor->inbox.posted);
        if ((!posted && !executor->ageing) || !weft__executor_step(executor, me))
            wait_a_moment(); /* a busy machine would take a time slice of all others for each */
    }
    while (weft__executor_step(executor, me))
        ;
}

static void drive_in_thread(unsigned i, void *duo)
{
    CHECK(weft_run(sim_pool, drive, &(struct turn){duo, i}) == 0);
}

struct square {
    long of, result;
    unsigned polls;
};

static void square(weft *w, void *arg)
{
    struct square *s = arg;
    for (unsigned i = 0; i < s->polls; i++)
        weft_poll(w);
    s->result = s->of * s->of;
}

/* A few at a time, so that the victim waits for the last, or for one in the middle, or finds it
 * done; each is one trial. */
static int squares(weft *w, void *arg)
{
    enum { AT_ONCE = 4 };
    struct duo *duo = arg;
    struct square s[AT_ONCE];
    struct dice dice = {1};
    for (long t = 0; t < duo->trials; t += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            s[i] = (struct square){.of = t + i, .polls = (unsigned)dice_below(&dice, 3)};
            weft_fork(w + i, square, &s[i]);
        }
        for (size_t polls = dice_below(&dice, 8); polls > 0; polls--)
            weft_poll(w + AT_ONCE);
        for (int i = AT_ONCE; i-- > 0;) {
            if (weft_merge(w + i))
                duo->delegated++;
            else
                square(w + i, &s[i]);
            CHECK(s[i].result == s[i].of * s[i].of);
        }
        watchdog_kick();
    }
    return 0;
}

static void in_two_threads(enum weft_steal steal, int trials)
{
    struct duo duo = {.system = system_make(2, 1), .trials = rounds_of(trials)};
    duo.actor = actor_make(duo.system, squares, &duo, steal);
    in_threads(2, drive_in_thread, &duo);
    assert_int_equal(weft_actor_wait(NULL, duo.actor), 0);
    print_message("%ld of %ld were stolen\n", duo.delegated, duo.trials);
    assert_true(duo.delegated > 0);
    assert_int_equal(atomic_load_relaxed(&duo.actor->counts->memory), 0);
    weft_actor_release(duo.actor);
    weft__actors_free(duo.system);
}

static void property_16_threads_see_the_result_with_the_decrement(void **state)
{
    in_two_threads(WEFT_STEAL_LIVE, SANITIZED ? 5000 : 100000);
    in_two_threads(WEFT_STEAL_STRICT, SANITIZED ? 5000 : 100000);
}

/* A million trials, on a machine that is not busy. A wake-up that is lost is a test that never
 * ends. Two who ring at the same moment are rare here: `weft check` lets them meet wherever they
 * can (actor-wake, actor-answers), and finds a bell that is not atomic every time. */
static void property_18_no_wake_up_is_lost(void **state)
{
    in_two_threads(WEFT_STEAL_LIVE, SANITIZED ? 10000 : 500000);
    in_two_threads(WEFT_STEAL_STRICT, SANITIZED ? 10000 : 500000);
}

/* ---- The last touch of a victim ---- */

enum { NESTED = SCALED(2000, 10) };

struct nested {
    struct weft__actors *system;
    weft_actor *actor;
    struct weft__worker *me;
    bool inside;        /* an answer that is not counted yet */
    unsigned long late; /* of these, merged before they were counted */
};

static void outer_square(weft *w, void *arg)
{
    struct square inner = {.of = ((struct square *)arg)->of};
    weft *in = weft_fork(w, square, &inner);
    for (int i = 0; i < 8; i++)
        weft_poll(in);
    if (!weft_merge(w))
        square(w, &inner);
    ((struct square *)arg)->result = inner.result;
}

/* Delegates have delegates, and end right after they have merged them. */
static int nested_squares(weft *w, void *arg)
{
    for (long t = 0; t < NESTED; t++) {
        struct square s = {.of = t};
        weft *in = weft_fork(w, outer_square, &s);
        for (int i = 0; i < 4; i++)
            weft_poll(in);
        if (!weft_merge(w))
            outer_square(w, &s);
        CHECK(s.result == t * t);
        watchdog_kick();
    }
    return 0;
}

/* Between the answer and its count the victim's executor does all that it can: it merges the
 * answer, and would end, if it did not wait for the count. */
static void count_late(void *data, const struct weft__event *event)
{
    struct nested *nested = data;
    if (event->kind == EVENT_COUNT && !nested->inside) {
        struct weft__fiber *victim = event->member->fiber;
        nested->inside = true;
        while (weft__executor_of(victim) != weft__executor_of((void *)nested->me->fiber) &&
               weft__executor_step(weft__executor_of(victim), nested->me))
            ;
        nested->inside = false;
    } else if (event->kind == EVENT_MERGE) {
        nested->late += nested->inside;
    } else if (event->kind == EVENT_END) {
        CHECK(atomic_load_relaxed(&event->member->pending) == 0);
    }
}

static void drive_nested(weft *w, void *arg)
{
    struct nested *nested = arg;
    nested->me = weft__worker_of(w);
    for (unsigned i = 0; !weft_actor_done(nested->actor); i++)
        weft__executor_step(&nested->system->executors[i % 2], nested->me);
    for (int i = 0; i < 2; i++)
        while (weft__executor_step(&nested->system->executors[i], nested->me))
            ;
}

static void property_33_no_member_ends_before_its_last_delegate_has_counted(void **state)
{
    struct nested nested = {.system = system_make(2, 1)};
    nested.system->trace = count_late;
    nested.system->trace_data = &nested;
    assert_int_equal(weft__actor_make(&nested.actor, nested.system, nested_squares, NULL, NULL), 0);
    assert_int_equal(weft_actor_run(nested.actor), 0);
    assert_int_equal(weft_run(sim_pool, drive_nested, &nested), 0);
    assert_int_equal(weft_actor_wait(NULL, nested.actor), 0);
    print_message("%lu of %d were merged before they were counted\n", nested.late, NESTED);
    assert_true(nested.late > 0);
    weft_actor_release(nested.actor);
    weft__actors_free(nested.system);
}

/* ---- A fiber that has moved ---- */

static int move_and_receive(weft *w, void *arg)
{
    void *message;
    struct weft__fiber *fiber = weft__fiber_of(w);
    unsigned here = weft__executor_of(fiber)->index;
    weft__fiber_wake(fiber); /* its letter is on its way to where it is */
    CHECK(weft_actor_pin(weft_actor_self(w), here == 0) == 0);
    while (weft__executor_of(fiber)->index == here)
        weft_yield(w);
    *(unsigned *)arg = 1 + here; /* where the letter is */
    return weft_receive(w, &message);
}

/* Woken once more while its letter waits where it was: that has to be passed on. */
static void wake_where_it_is(weft *w, void *arg)
{
    struct weft__actors *system = arg;
    struct weft__worker *me = weft__worker_of(w);
    unsigned old = 0;
    weft_actor *actor = actor_make(system, move_and_receive, &old, WEFT_STEAL_LIVE);
    unsigned first = weft__inbox_has_letters(&system->executors[1].inbox);
    weft__executor_step(&system->executors[first], me);
    while (weft__executor_step(&system->executors[!first], me)) /* until it waits there */
        ;
    CHECK(old == 1 + first && !weft_actor_done(actor));
    CHECK(weft_actor_try_send(NULL, actor, NULL) == 0);
    while (weft__executor_step(&system->executors[!first], me))
        ;
    CHECK(!weft_actor_done(actor)); /* the letter is still where it was */
    while (weft__executor_step(&system->executors[first], me))
        ;
    while (weft__executor_step(&system->executors[!first], me))
        ;
    CHECK(weft_actor_done(actor));
    weft_actor_release(actor);
}

static void property_18_a_moved_fiber_is_woken_where_it_is(void **state)
{
    struct weft__actors *system = system_make(2, 1000);
    assert_int_equal(weft_run(sim_pool, wake_where_it_is, system), 0);
    weft__actors_free(system);
}

/* ---- Times ---- */

enum { SLEEPERS = 60 };

static int sleep_long(weft *w, void *when)
{
    weft_sleep_until(w, *(uint64_t *)when);
    return 0;
}

/* How many times are below, and `moment` itself; unit/heap.c looks at their order. */
static size_t count_times(const struct weft__moment *moment)
{
    size_t count = 0;
    for (; moment; moment = moment->next)
        count += 1 + count_times(moment->child);
    return count;
}

/* Sleeps that are cut short leave nothing behind, however long they would have been. */
static void kill_sleepers(weft *w, void *arg)
{
    struct weft__actors *system = arg;
    struct weft__worker *me = weft__worker_of(w);
    struct dice dice = {7};
    weft_actor *actors[SLEEPERS];
    uint64_t times[SLEEPERS];
    for (int i = 0; i < SLEEPERS; i++) {
        times[i] = weft_now() + UINT64_C(3600000000000) + dice_below(&dice, 1000000);
        actors[i] = actor_make(system, sleep_long, &times[i], WEFT_STEAL_LIVE);
    }
    while (weft__executor_step(&system->executors[0], me))
        ;
    CHECK(count_times(system->ticker.times.first) == SLEEPERS);
    for (size_t left = SLEEPERS; left > 0; left--) {
        size_t i = dice_below(&dice, left);
        weft_actor_kill(actors[i]);
        while (weft__executor_step(&system->executors[0], me))
            ;
        CHECK(weft_actor_done(actors[i]));
        CHECK(count_times(system->ticker.times.first) == left - 1);
        weft_actor_release(actors[i]);
        actors[i] = actors[left - 1];
    }
}

static void property_23_a_killed_sleeper_leaves_no_timer(void **state)
{
    struct weft__actors *system = system_make(1, 1000);
    assert_int_equal(weft_run(sim_pool, kill_sleepers, system), 0);
    weft__actors_free(system);
}

/* ---- A stopped executor ---- */

enum { DEEP = 1000, FLOODS = SCALED(1000, 50) }; /* a million at once */

struct flood {
    unsigned char runs[DEEP];
    unsigned long sent;
};

struct floods {
    struct flood all[FLOODS];
    unsigned long sent;
};

static void count_run(weft *w, void *arg)
{
    ++*(unsigned char *)arg;
}

static int send_all(weft *w, void *arg)
{
    struct flood *flood = arg;
    for (int i = 0; i < DEEP; i++)
        weft_fork(w + i, count_run, &flood->runs[i]);
    while (flood->sent < DEEP)
        weft_poll(w + DEEP);
    for (int i = DEEP; i-- > 0;) {
        CHECK(weft_merge(w + i));
        CHECK(flood->runs[i] == 1);
    }
    return 0;
}

/* An executor takes one delegation at a time; here, it takes as many as there are. */
static void not_reserved(void *data, const struct weft__event *event)
{
    struct floods *floods = data;
    if (event->kind == EVENT_STEAL && event->to) {
        atomic_store_relaxed(&event->to->reserved, NULL);
        ((struct flood *)event->fiber->actor->arg)->sent++;
        floods->sent++;
    }
}

struct stopped {
    struct weft__actors *system;
    weft_actor *actors[FLOODS];
    struct floods *floods;
};

static void drive_one_then_the_other(weft *w, void *arg)
{
    struct stopped *s = arg;
    struct weft__worker *me = weft__worker_of(w);
    for (int i = 0; i < FLOODS; i++) {
        CHECK(weft_actor_run(s->actors[i]) == 0);
        while (weft__executor_step(&s->system->executors[0], me)) /* until it waits */
            watchdog_kick();
    }
    CHECK(s->floods->sent == (unsigned long)FLOODS * DEEP);
    atomic_store_relaxed(&weft__alloc_fail_at, UINT32_MAX);
    for (int i = 0; i < FLOODS; i++)
        CHECK(weft_actor_pin(s->actors[i], -1) == 0);
    bool goes_on;
    do {
        goes_on = weft__executor_step(&s->system->executors[1], me);
        goes_on |= weft__executor_step(&s->system->executors[0], me);
        watchdog_kick();
    } while (goes_on);
}

static void property_24_a_stopped_executor_loses_none_of_a_million(void **state)
{
    static struct floods floods;
    struct stopped s = {.system = system_make(2, 1), .floods = &floods};
    s.system->trace = not_reserved;
    s.system->trace_data = &floods;
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.pin = 1;
    for (int i = 0; i < FLOODS; i++)
        assert_int_equal(
            weft__actor_make(&s.actors[i], s.system, send_all, &floods.all[i], &config), 0);
    assert_int_equal(weft_run(sim_pool, drive_one_then_the_other, &s), 0);
    uint32_t left = atomic_load_relaxed(&weft__alloc_fail_at);
    atomic_store_relaxed(&weft__alloc_fail_at, 0);
    assert_in_range(UINT32_MAX - left, 0, FLOODS); /* a slab for stacks, none for a delegation */
    for (int i = 0; i < FLOODS; i++) {
        assert_int_equal(weft_actor_wait(NULL, s.actors[i]), 0);
        weft_actor_release(s.actors[i]);
    }
    weft__actors_free(s.system);
}

/* ---- Load ---- */

static uint64_t loads[16];

static void note_loads(struct sim *sim, struct weft__executor *executor)
{
    for (unsigned i = 0; i < sim->setup.executors; i++)
        loads[i] = atomic_load_relaxed(&sim->system->executors[i].load);
}

static void only_its_own(struct sim *sim, struct weft__executor *executor)
{
    for (unsigned i = 0; i < sim->setup.executors; i++) {
        uint64_t now = atomic_load_relaxed(&sim->system->executors[i].load);
        SIM_HOLDS(sim, now == loads[i] || i == executor->index);
        seen += now != loads[i];
    }
}

struct words {
    struct atomic_u64 load;
    struct atomic_bool stop;
};

/* One writes what executors write; the others see these words and no others. */
static void write_or_read(unsigned i, void *arg)
{
    enum { TIMES = SCALED(2000000, 10) };
    struct words *words = arg;
    for (int t = 0; i == 0 && t < TIMES; t++) {
        weft__load_begins(&words->load);
        weft__load_note(&words->load, 3);
        weft__load_is_idle(&words->load);
    }
    if (i == 0)
        atomic_store_release(&words->stop, true);
    uint64_t begins = (uint64_t)LOAD_LOW << 32 | 1;
    uint64_t noted = (uint64_t)(LOAD_LOW + 3 * LOAD_ONE) / 2 << 32 | 3;
    while (!atomic_load_acquire(&words->stop)) {
        uint64_t word = atomic_load_relaxed(&words->load);
        CHECK(word == 0 || word == begins || word == noted);
    }
}

static void property_25_the_load_word_has_one_writer_and_is_whole(void **state)
{
    struct words words = {0};
    seen = 0;
    sim_trials(&(struct watch){.before_step = note_loads, .step = only_its_own}, NULL, TRIALS);
    assert_true(seen > 0);
    in_threads(3, write_or_read, &words);
}

/* ---- Moving ---- */

static void has_pins(struct sim_setup *setup)
{
    setup->actors = 3 + (unsigned)(setup->seed % 5);
    setup->pins = setup->seed % 2;
    setup->moves_pins = setup->seed % 4 == 0;
    setup->receives = true;
}

static bool is_alone(struct sim *sim, struct context *c)
{
    for (struct context *other = sim->contexts; other < sim->contexts_end; other++)
        if (other != c && other->fiber && other->actor == c->actor)
            return false;
    return c->depth == 1 && c->stack[0]->pending == 0 && c->fiber->is_root && !c->fiber->arrivals;
}

static void is_free_to_go(struct sim *sim, const struct weft__event *event, struct context *c)
{
    int pin = c ? atomic_load_relaxed(&c->actor->pin) : -1;
    if (event->kind == EVENT_SWITCH && !sim->setup.moves_pins && c->fiber->is_root)
        SIM_HOLDS(sim, pin < 0 || (unsigned)pin == event->executor->index);
    if (event->kind != EVENT_MOVE)
        return;
    SIM_HOLDS(sim, pin < 0 || (unsigned)pin == event->executor->index);
    SIM_HOLDS(sim, is_alone(sim, c));
    SIM_HOLDS(sim, c->fiber->state != FIBER_WAITING && !c->waits);
}

static void property_26_members_pinned_and_waiting_actors_stay(void **state)
{
    struct sim_totals totals =
        sim_trials(&(struct watch){.event = is_free_to_go}, has_pins, 4 * TRIALS);
    assert_true(totals.moves > 0 && totals.steals > 0);
}

/* ---- Turns ---- */

static void on_one_executor(struct sim_setup *setup)
{
    setup->executors = 1;
    setup->actors = 2 + (unsigned)(setup->seed % 6);
    setup->nodes = 100;
    setup->yields = setup->receives = false;
}

/* From when the last one has started until the first is over. */
static void by_turns(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind != EVENT_SWITCH || sim->left < sim->setup.actors)
        return;
    unsigned started = 0, least = UINT32_MAX, most = 0;
    for (struct context *other = sim->contexts; other < sim->contexts_end; other++)
        started += other->fiber != NULL;
    if (started < sim->setup.actors)
        return;
    c->turns++;
    for (struct context *other = sim->contexts; other < sim->contexts_end; other++) {
        least = other->turns < least ? other->turns : least;
        most = other->turns > most ? other->turns : most;
    }
    SIM_HOLDS(sim, most - least <= 1);
    seen += most > 2;
}

static void property_32_compute_bound_actors_take_turns(void **state)
{
    seen = 0;
    sim_trials(&(struct watch){.event = by_turns}, on_one_executor, TRIALS);
    assert_true(seen > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(property_16_threads_see_the_result_with_the_decrement),
        cmocka_unit_test(property_18_no_wake_up_is_lost),
        cmocka_unit_test(property_18_a_moved_fiber_is_woken_where_it_is),
        cmocka_unit_test(property_24_a_stopped_executor_loses_none_of_a_million),
        cmocka_unit_test(property_25_the_load_word_has_one_writer_and_is_whole),
        cmocka_unit_test(property_26_members_pinned_and_waiting_actors_stay),
        cmocka_unit_test(property_32_compute_bound_actors_take_turns),
        cmocka_unit_test(property_33_no_member_ends_before_its_last_delegate_has_counted),
        cmocka_unit_test(property_23_a_killed_sleeper_leaves_no_timer),
    };
    return RUN_SIMULATED(tests);
}
