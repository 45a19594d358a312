/* SPDX-License-Identifier: MIT */
/* What actors have to show: what is stolen, when, from whom, and where it goes. Each
 * test looks at every theft of many random runs. */
#include "actor/load.h"
#include "actor/steal.h"
#include "sim/sim.h"

static bool at_preemption(const struct weft__event *event)
{
    return event->kind == EVENT_STEAL && !event->seamless;
}

/* ---- Age ---- */

/* It was forked during one quantum, so it is the next one that it has to have waited. */
static void not_young(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind != EVENT_STEAL)
        return;
    struct node *node = sim_node(event->slot);
    uint32_t since = c->came_at > node->forked_at ? c->came_in : node->forked_in;
    SIM_HOLDS(sim, (int32_t)(c->executor->quanta - since) >= 2);
}

static void property_01_no_stolen_slot_is_younger_than_a_quantum(void **state)
{
    struct sim_totals totals = sim_trials(&(struct watch){.event = not_young}, NULL, 2 * TRIALS);
    assert_true(totals.thefts > 0 && totals.seamless > 0 && totals.moves > 0);
}

static void not_blocked(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (at_preemption(event))
        SIM_HOLDS(sim, !c->blocked);
}

static void often_blocks(struct sim_setup *setup)
{
    setup->yields = setup->receives = true;
}

static void property_02_no_theft_after_a_quantum_with_a_pause(void **state)
{
    struct sim_totals totals =
        sim_trials(&(struct watch){.event = not_blocked}, often_blocks, TRIALS);
    assert_true(totals.thefts > 0 && totals.waits > 0);
}

static void only_one(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (at_preemption(event))
        SIM_HOLDS(sim, c->thefts == 1);
}

static void property_03_one_theft_per_context_and_quantum(void **state)
{
    assert_true(sim_trials(&(struct watch){.event = only_one}, NULL, TRIALS).thefts > 0);
}

/* ---- strict: two at once ---- */

static void is_strict(struct sim_setup *setup)
{
    setup->steal = WEFT_STEAL_STRICT;
    setup->executors = 3 + (unsigned)(setup->seed % 3);
}

static unsigned long pairs;

static void two_of_the_runnable(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (!c)
        return;
    if (c->half) { /* the second follows at once: the next one, and for itself */
        SIM_HOLDS(sim, at_preemption(event) && event->self && !event->to);
        SIM_HOLDS(sim, event->slot == c->half + 1 && event->member == sim_top(c)->member);
        c->half = NULL;
        pairs++;
    } else if (at_preemption(event) && event->member == sim_top(c)->member) {
        SIM_HOLDS(sim, !event->self && event->to && event->to != event->executor);
        c->half = event->slot;
    } else if (at_preemption(event)) {
        SIM_HOLDS(sim, !event->self);
    }
}

static void property_04_strict_takes_two_from_the_runnable_member(void **state)
{
    pairs = 0;
    sim_trials(&(struct watch){.event = two_of_the_runnable}, is_strict, TRIALS);
    assert_true(pairs > 0);
}

static unsigned long seen;

static unsigned eligible_below(struct context *c, unsigned depth)
{
    unsigned count = 0;
    for (unsigned i = 0; i < depth; i++)
        count += sim_eligible(c, c->stack[i]->member);
    return count;
}

static void not_one_alone(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind == EVENT_ATTEMPT && !event->seamless &&
        sim_eligible(c, sim_top(c)->member) == 1 && eligible_below(c, c->depth - 1) == 0) {
        c->forbidden = true;
        seen++;
    }
    if (at_preemption(event))
        SIM_HOLDS(sim, !c->forbidden);
}

static void property_05_strict_leaves_a_single_slot_alone(void **state)
{
    seen = 0;
    sim_trials(&(struct watch){.event = not_one_alone}, is_strict, TRIALS);
    assert_true(seen > 0);
}

static void from_one_that_waits(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (c && c->half) { /* two were taken, of the one that runs */
        SIM_HOLDS(sim, at_preemption(event) && event->self);
        c->half = NULL;
    } else if (at_preemption(event) && event->member == sim_top(c)->member) {
        c->half = event->slot;
    } else if (event->kind == EVENT_STEAL) {
        seen++;
        SIM_HOLDS(sim, event->member != sim_top(c)->member || /* buried, or: */
                           sim_member(sim, event->member)->pending > 1);
    }
}

static void property_06_strict_steals_one_only_from_who_waits(void **state)
{
    seen = 0;
    sim_trials(&(struct watch){.event = from_one_that_waits}, is_strict, TRIALS);
    assert_true(seen > 0);
}

/* ---- Which ---- */

static void lower_ones_first(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (!at_preemption(event) || event->member != sim_top(c)->member)
        return;
    seen += c->depth > 1;
    SIM_HOLDS(sim, eligible_below(c, c->depth - 1) == 0);
}

static void property_07_the_runnable_member_is_left_alone_if_a_lower_one_will_do(void **state)
{
    seen = 0;
    sim_trials(&(struct watch){.event = lower_ones_first}, NULL, TRIALS);
    assert_true(seen > 0);
}

static unsigned position(struct context *c, struct weft__member *member)
{
    unsigned i = 0;
    while (c->stack[i]->member != member)
        i++;
    return i;
}

/* Nothing below is old enough, and of its own slots it is the first. */
static void most_basal(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind != EVENT_STEAL)
        return;
    SIM_HOLDS(sim, eligible_below(c, position(c, event->member)) == 0);
    for (weft *w = event->member->base; w < event->slot; w++) /* these are stolen */
        SIM_HOLDS(sim,
                  w < event->member->cursor && weft__actor_slot_of(w)->victim == event->member);
    SIM_HOLDS(sim, event->slot + 1 == event->member->cursor);
}

static void property_08_the_most_basal_slots_are_taken(void **state)
{
    assert_true(sim_trials(&(struct watch){.event = most_basal}, NULL, TRIALS).steals > 0);
}

static void a_prefix(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind != EVENT_STEAL && event->kind != EVENT_MERGE)
        return;
    struct actor_member *victim = sim_member(sim, event->member);
    SIM_HOLDS(sim, !victim->scattered);
    SIM_HOLDS(sim, event->member->cursor == victim->next);
}

static void property_09_stolen_slots_are_a_prefix(void **state)
{
    assert_true(sim_trials(&(struct watch){.event = a_prefix}, NULL, TRIALS).steals > 0);
}

/* ---- Where to ---- */

static bool is_underused(const struct weft__executor *executor)
{
    return !atomic_load_relaxed(&executor->inbox.posted) ||
           weft__load_average(&executor->load) < LOAD_LOW;
}

static void somebody_has_time(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind == EVENT_ATTEMPT && !event->seamless) {
        c->forbidden = true;
        for (unsigned i = 0; i < sim->setup.executors; i++)
            if (i != event->executor->index && is_underused(&sim->system->executors[i]))
                c->forbidden = false;
        seen += c->forbidden && event->member;
    }
    if (!at_preemption(event) || event->self)
        return;
    SIM_HOLDS(sim, !c->forbidden);
    SIM_HOLDS(sim, event->to && event->to != event->executor && is_underused(event->to));
    SIM_HOLDS(sim, atomic_load_relaxed(&event->to->reserved) == c->actor);
}

static void property_10_no_theft_without_an_underused_destination(void **state)
{
    seen = 0;
    assert_true(sim_trials(&(struct watch){.event = somebody_has_time}, NULL, TRIALS).thefts > 0);
    assert_true(seen > 0);
}

static void nobody_there_runs(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind != EVENT_STEAL || !event->to)
        return;
    struct weft__fiber *there = atomic_load_relaxed(&c->actor->places[event->to->index].fiber);
    if (!there)
        return;
    seen++;
    SIM_HOLDS(sim, there->state == FIBER_WAITING && !there->arrivals);
    SIM_HOLDS(sim, !atomic_load_relaxed(&there->woken));
}

static void is_wide(struct sim_setup *setup)
{
    setup->nodes = 200;
    setup->cabal_max = 0;
}

static void property_11_a_destination_has_no_runnable_member_of_the_posse(void **state)
{
    seen = 0;
    sim_trials(&(struct watch){.event = nobody_there_runs}, is_wide, 2 * TRIALS);
    assert_true(seen > 0);
}

/* ---- Contexts ---- */

static void one_of_each(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind == EVENT_SWITCH) {
        unsigned serving = 0;
        for (struct context *other = sim->contexts; other < sim->contexts_end; other++) {
            SIM_HOLDS(sim, other == c || !other->fiber || other->actor != c->actor ||
                               other->executor != c->executor);
            serving += other->fiber && other->actor == c->actor;
        }
        SIM_HOLDS(sim, serving <= c->actor->cabal_max && c->actor->cabal <= c->actor->cabal_max);
    } else if (event->kind == EVENT_START) {
        struct weft__member *member = event->member;
        while (member->victim)
            member = member->victim;
        SIM_HOLDS(sim, member == &c->actor->root);
    }
}

static void property_12_one_context_per_posse_and_executor(void **state)
{
    assert_true(sim_trials(&(struct watch){.event = one_of_each}, NULL, TRIALS).answered > 0);
}

static void is_on_top(struct sim *sim, struct node *node, weft *w, struct weft__member *member)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    struct context *c = sim_context(sim, fiber);
    SIM_HOLDS(sim, member == fiber->top && member == sim_top(c)->member);
    SIM_HOLDS(sim, fiber->state == FIBER_RUNNING && w >= member->base);
    SIM_HOLDS(sim, atomic_load_relaxed(&c->executor->current) == fiber);
    seen += c->depth > 1;
}

static void property_13_only_the_topmost_member_runs(void **state)
{
    seen = 0;
    sim_trials(&(struct watch){.user = is_on_top}, NULL, TRIALS);
    assert_true(seen > 0);
}

static void is_no_victim(struct sim *sim, struct node *node, weft *w, struct weft__member *member)
{
    SIM_HOLDS(sim, atomic_load_relaxed(&member->pending) == 0);
    SIM_HOLDS(sim, sim_member(sim, member)->pending == 0);
}

static void property_14_strict_victims_do_not_run(void **state)
{
    assert_true(sim_trials(&(struct watch){.user = is_no_victim}, is_strict, TRIALS).steals > 0);
}

/* ---- Without the scheduler ---- */

static bool may_take_more(struct context *c)
{
    for (unsigned i = 0; i < c->depth; i++) {
        struct weft__member *member = c->stack[i]->member;
        if (sim_eligible(c, member) > 0)
            return weft__steal_fits(c->fiber,
                                    member->lineage + weft__actor_slot_of(member->cursor)->use);
    }
    return false;
}

static void takes_more(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind == EVENT_WAIT && c->just_ended)
        SIM_HOLDS(sim, !may_take_more(c));
    if (event->kind == EVENT_STEAL && event->seamless && c->just_ended) {
        SIM_HOLDS(sim, c->executor->quanta == c->ended_in);
        seen++;
    }
}

static void property_19_the_end_of_a_delegate_leads_to_the_next(void **state)
{
    seen = 0;
    sim_trials(&(struct watch){.event = takes_more}, NULL, 2 * TRIALS);
    assert_true(seen > 0);
}

static void within_its_entry(struct sim *sim, struct node *node, weft *w,
                             struct weft__member *member)
{
    struct node *entry = sim_member(sim, member)->entry, *n = node;
    while (n && n != entry)
        n = n->parent;
    SIM_HOLDS(sim, n == entry && !entry->ended);
    SIM_HOLDS(sim, w >= member->base);
    seen += entry->parent != NULL;
}

static void property_20_no_delegate_runs_past_its_entry(void **state)
{
    seen = 0;
    sim_trials(&(struct watch){.user = within_its_entry}, NULL, TRIALS);
    assert_true(seen > 0);
}

/* ---- How often ---- */

/* All of an actor is less than a quantum, but they are many, so quanta end in the middle of some.
 */
static void is_short(struct sim_setup *setup)
{
    enum { PACE = 2, NODES = 9, LOOKS = 3 * 3 * PACE + 4 };
    setup->executors = 2 + (unsigned)(setup->seed % 2);
    setup->actors = 60;
    setup->nodes = NODES;
    setup->pace = PACE;
    setup->counted = LOOKS * NODES;
}

static void is_in_the_middle(struct sim *sim, const struct weft__event *event, struct context *c)
{
    seen += event->kind == EVENT_QUANTUM && sim_slot_is_pending(c->fiber->context.first);
}

static void property_28_nothing_is_stolen_from_what_is_short(void **state)
{
    seen = 0;
    struct sim_totals totals =
        sim_trials(&(struct watch){.event = is_in_the_middle}, is_short, TRIALS / 4);
    assert_int_equal(totals.steals, 0);
    assert_true(seen > 0);
    assert_true(sim_trials(&(struct watch){0}, NULL, TRIALS).steals > 0);
}

/* A context that waits while its executor's quanta pass has had these, too. */
static void attempts_are_few(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (!c)
        return;
    unsigned quanta = c->quanta + (c->executor->quanta - c->first_quantum);
    SIM_HOLDS(sim, c->attempts <= c->full);
    SIM_HOLDS(sim, c->attempts + c->seamless_attempts <= quanta + c->ends);
}

static void property_29_attempts_to_steal_are_few(void **state)
{
    assert_true(sim_trials(&(struct watch){.event = attempts_are_few}, NULL, TRIALS).steals > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(property_01_no_stolen_slot_is_younger_than_a_quantum),
        cmocka_unit_test(property_02_no_theft_after_a_quantum_with_a_pause),
        cmocka_unit_test(property_03_one_theft_per_context_and_quantum),
        cmocka_unit_test(property_04_strict_takes_two_from_the_runnable_member),
        cmocka_unit_test(property_05_strict_leaves_a_single_slot_alone),
        cmocka_unit_test(property_06_strict_steals_one_only_from_who_waits),
        cmocka_unit_test(property_07_the_runnable_member_is_left_alone_if_a_lower_one_will_do),
        cmocka_unit_test(property_08_the_most_basal_slots_are_taken),
        cmocka_unit_test(property_09_stolen_slots_are_a_prefix),
        cmocka_unit_test(property_10_no_theft_without_an_underused_destination),
        cmocka_unit_test(property_11_a_destination_has_no_runnable_member_of_the_posse),
        cmocka_unit_test(property_12_one_context_per_posse_and_executor),
        cmocka_unit_test(property_13_only_the_topmost_member_runs),
        cmocka_unit_test(property_14_strict_victims_do_not_run),
        cmocka_unit_test(property_19_the_end_of_a_delegate_leads_to_the_next),
        cmocka_unit_test(property_20_no_delegate_runs_past_its_entry),
        cmocka_unit_test(property_28_nothing_is_stolen_from_what_is_short),
        cmocka_unit_test(property_29_attempts_to_steal_are_few),
    };
    return RUN_SIMULATED(tests);
}
