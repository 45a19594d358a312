/* SPDX-License-Identifier: MIT */
/* What actors have to show: what comes of stolen work, and of its memory. */
#include "core/group.h"
#include "sim/sim.h"

#include <errno.h>

static unsigned long seen;

static void is_fine(struct sim *sim, struct play *play)
{
    SIM_HOLDS(sim, play->reason == 0);
    SIM_HOLDS(sim, play->nodes[0].value == play->expected);
    for (size_t i = 0; i < play->count; i++)
        SIM_HOLDS(sim, play->nodes[i].ended);
}

static void has_everything(struct sim_setup *setup)
{
    setup->yields = setup->receives = true;
    setup->blocks = 600;
    setup->pins = setup->seed % 2;
}

/* ---- Runs and results ---- */

/* run_node() itself says so if it starts twice. */
static void property_15_every_right_side_has_one_effective_run(void **state)
{
    struct sim_totals totals = sim_trials(&(struct watch){.over = is_fine}, NULL, TRIALS);
    assert_true(totals.answered > 0);
}

static void is_visible(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind == EVENT_MERGE) {
        bool done = atomic_load_acquire(&weft__actor_slot_of(event->slot)->state) == STOLEN_DONE;
        SIM_HOLDS(sim, sim_node(event->slot)->ended == done);
    } else if (event->kind == EVENT_RESUME && sim_is_strict(event->fiber)) {
        for (weft *w = event->member->base; w < event->member->cursor; w++) {
            enum stolen_state is = atomic_load_relaxed(&weft__actor_slot_of(w)->state);
            SIM_HOLDS(sim, is == (sim_node(w)->ended ? STOLEN_DONE : STOLEN_REFUSED));
        }
    }
}

static void property_16_the_result_is_there_with_the_decrement(void **state)
{
    struct sim_totals totals = sim_trials(&(struct watch){.event = is_visible}, NULL, TRIALS);
    assert_true(totals.answered > 0 && totals.resumes > 0);
}

static void accounts_agree(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind == EVENT_ANSWER || event->kind == EVENT_REFUSE || event->kind == EVENT_COUNT)
        return; /* half-way */
    for (struct actor_member *m = sim->members; m < sim->members_end; m++)
        if (m->member)
            SIM_HOLDS(sim, (int64_t)atomic_load_relaxed(&m->member->pending) == m->pending);
}

static void is_tight(struct sim_setup *setup)
{
    setup->blocks = 600;
    setup->limit = 1024 * (5 + setup->seed % 40);
    setup->exact = setup->seed % 4 == 0;
}

/* That it is zero at the end, and never below, is in the account itself. */
static void property_17_pending_is_what_was_stolen_and_not_answered(void **state)
{
    struct sim_totals totals =
        sim_trials(&(struct watch){.event = accounts_agree}, is_tight, TRIALS);
    assert_true(totals.answered > 0 && totals.refused > 0);
    assert_true(totals.steals == totals.answered + totals.refused);
}

static uint64_t step_began;

static void note_step(struct sim *sim, struct weft__executor *executor)
{
    step_began = sim->now;
}

/* After the next step of its executor, it runs or stands in its queue. */
static void has_noticed(struct sim *sim, struct weft__executor *executor)
{
    for (struct context *c = sim->contexts; c < sim->contexts_end; c++) {
        struct actor_member *top = c->fiber && c->executor == executor ? sim_top(c) : NULL;
        if (!top || !top->zero_at || top->zero_at > step_began)
            continue;
        SIM_HOLDS(sim,
                  c->fiber->state != FIBER_WAITING || !atomic_load_relaxed(&c->fiber->merging));
        top->zero_at = 0;
        seen++;
    }
}

static void waits_for_something(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind == EVENT_WAIT)
        SIM_HOLDS(sim, sim_top(c)->pending > 0);
}

static void property_18_at_zero_the_victim_goes_on(void **state)
{
    struct watch watch = {
        .event = waits_for_something,
        .before_step = note_step,
        .step = has_noticed,
    };
    seen = 0;
    struct sim_totals totals = sim_trials(&watch, NULL, TRIALS);
    assert_true(seen > 0 && totals.waits > 0);
}

/* ---- Memory ---- */

/* Of each context, and of the posse with what its delegates have left: all that run may leave
 * something, and nothing starts while more than that is left. */
static void within_limits(struct sim *sim, struct node *node, weft *w, struct weft__member *member)
{
    struct context *c = sim_context(sim, weft__fiber_of(w));
    size_t limit = c->actor->limit, all = atomic_load_relaxed(&c->actor->unmerged);
    for (struct context *other = sim->contexts; other < sim->contexts_end; other++) {
        size_t used = 0;
        if (!other->fiber || other->actor != c->actor)
            continue;
        for (unsigned i = 0; i < other->depth; i++)
            used += other->stack[i]->member->arena.account.used;
        SIM_HOLDS(sim, used == other->fiber->used);
        SIM_HOLDS(sim, used <= limit);
        all += used;
    }
    SIM_HOLDS(sim,
              all <= (2 * c->actor->cabal_max - 1 + (size_t)node->play->most_delegates) * limit);
    SIM_HOLDS(sim, member->lineage + member->arena.account.used <= limit);
}

/* A delegate's limit is what its lineage has left of it: what that used when it was forked. */
static void knows_its_lineage(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind != EVENT_START)
        return;
    SIM_HOLDS(sim, event->member->lineage == sim_node(event->slot)->lineage);
    SIM_HOLDS(sim, c->fiber->used <= event->member->lineage);
    SIM_HOLDS(sim, atomic_load_relaxed(&c->actor->unmerged) <=
                       (c->actor->cabal_max - 1) * c->actor->limit);
    seen += event->member->lineage > 0;
}

static void property_21_a_context_stays_within_its_limit_and_a_posse_within_its_own(void **state)
{
    struct watch watch = {.user = within_limits, .event = knows_its_lineage};
    seen = 0;
    struct sim_totals totals = sim_trials(&watch, is_tight, 2 * TRIALS);
    assert_true(totals.answered > 0 && totals.refused > 0 && seen > 0);
}

static unsigned long failed, fitted;

/* As if a single thread had done it, to the byte. */
static void as_the_model_says(struct sim *sim, struct play *play)
{
    bool fits = play->peak <= play->actor->limit;
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    weft_actor_get_info(play->actor, &info);
    SIM_HOLDS(sim, play->reason == (fits ? 0 : -ENOMEM));
    SIM_HOLDS(sim, info.memory_peak == (fits ? play->peak : play->actor->limit));
    if (fits)
        is_fine(sim, play);
    fitted += fits;
    failed += !fits;
}

static void is_close(struct sim_setup *setup)
{
    static const unsigned executors[] = {1, 2, 3, 8};
    setup->executors = executors[setup->seed % 4];
    setup->steal = setup->seed / 4 % 2 ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE;
    setup->counted = 1 + (unsigned)(setup->seed / 8 % 12);
    setup->pace = 4;
    setup->actors = 8;
    setup->nodes = 9 + (unsigned)(setup->seed % 64);
    setup->blocks = 600;
    setup->marks = setup->exact = true;
    setup->cabal_max = 0;
}

/* A hundred thousand trees in an ordinary build. */
static void property_22_the_limit_is_the_same_on_any_number_of_executors(void **state)
{
    enum { TREES = SANITIZED_THREAD ? 800 : SANITIZED ? 4000 : 100000, AT_ONCE = 8 };
    failed = fitted = 0;
    struct sim_totals totals =
        sim_trials(&(struct watch){.over = as_the_model_says}, is_close, TREES / AT_ONCE);
    print_message("%lu fitted, %lu did not; %lu right sides were stolen\n", fitted, failed,
                  totals.steals);
    assert_true(totals.refused > 0 && totals.answered > 0);
    assert_true(fitted > TREES / 3 && failed > TREES / 3);
}

/* That nothing starts twice, nor what was refused before, is in the account itself; results and
 * their bytes are looked at by perform(), memory by the end of each run. */
static void is_tight_but_enough(struct sim_setup *setup)
{
    setup->blocks = 600;
    setup->actors = 1;
    setup->exact = true;
    setup->nodes = 100 + (unsigned)(setup->seed % 100);
}

static void property_23_what_is_refused_has_not_started(void **state)
{
    struct sim_totals totals =
        sim_trials(&(struct watch){.over = is_fine}, is_tight_but_enough, TRIALS);
    assert_true(totals.refused > 0 && totals.answered > 0);
}

/* ---- Everything ---- */

static void of_any_number(struct sim_setup *setup)
{
    setup->executors = 1 + (unsigned)(setup->seed % 7);
    setup->counted = 1 + (unsigned)(setup->seed / 7 % 30);
    has_everything(setup);
}

static void property_27_the_result_is_the_sequential_one(void **state)
{
    assert_true(sim_trials(&(struct watch){.over = is_fine}, of_any_number, 2 * TRIALS).answered >
                0);
}

static void is_anything(struct sim_setup *setup)
{
    has_everything(setup);
    setup->moves_pins = setup->seed % 3 == 0;
    setup->limit = setup->seed % 5 == 0 ? 1024 * (5 + setup->seed % 40) : 0;
    setup->kills = setup->seed % 7 == 0;
    setup->fails = setup->seed % 11 == 0;
}

static void property_30_random_trees_end(void **state)
{
    assert_true(sim_trials(&(struct watch){0}, is_anything, 4 * TRIALS).answered > 0);
}

/* ---- Failure ---- */

static void often_fails(struct sim_setup *setup)
{
    setup->fails = true;
}

static bool has_failed(const struct node *node)
{
    return node->failed || (node->right && (has_failed(node->left) || has_failed(node->right)));
}

static void failure_is_seen(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind != EVENT_MERGE || !has_failed(sim_node(event->slot)))
        return;
    seen++; /* what the merge says to the victim's code is looked at by run_sides() */
    bool noticed;
    SIM_HOLDS(sim, weft__group_walk(&c->actor->group, &noticed) == GROUP_CANCELLED);
}

static void fails_once(struct sim *sim, struct play *play)
{
    SIM_HOLDS(sim, play->reports == 1);
    SIM_HOLDS(sim, !weft__group_alarm(&play->actor->group));
    SIM_HOLDS(sim, play->reason == (play->failures ? -EDOM : 0));
    if (!play->failures)
        is_fine(sim, play);
}

static void property_31_a_failure_surfaces_once_at_the_merge(void **state)
{
    struct watch watch = {.event = failure_is_seen, .over = fails_once};
    seen = 0;
    sim_trials(&watch, often_fails, 2 * TRIALS);
    assert_true(seen > 0);
}

/* ---- Killing ---- */

static void often_kills(struct sim_setup *setup)
{
    has_everything(setup);
    setup->kills = true;
    setup->nodes = 200;
}

/* Whoever still runs finds what those have left who wait for it, and are to be killed. */
static void ancestors_are_there(struct sim *sim, struct node *node, weft *w,
                                struct weft__member *member)
{
    for (struct node *n = node; n; n = n->parent)
        SIM_HOLDS(sim, !n->frame || *n->frame == n->key);
    for (struct node *n = node; n; n = n->parent)
        if (n->kept)
            SIM_HOLDS(sim, n->kept[0] == (unsigned char)n->key &&
                               n->kept[n->scratch - 1] == (unsigned char)n->key);
    SIM_HOLDS(sim, !node->play->over);
}

static void all_have_answered(struct sim *sim, struct play *play)
{
    for (struct actor_member *m = sim->members; m < sim->members_end; m++)
        if (m->member && m->context->play == play)
            SIM_HOLDS(sim, m->member == &play->actor->root && m->pending == 0);
    for (struct context *c = sim->contexts; c < sim->contexts_end; c++)
        if (c->fiber && c->play == play)
            SIM_HOLDS(sim, c->fiber->is_root || c->depth == 0); /* about to retire */
    SIM_HOLDS(sim, play->reason == (play->killed ? play->reason : 0));
    SIM_HOLDS(sim, play->reason == 0 || play->reason == -ECANCELED);
    seen += play->reason == -ECANCELED && play->actor->places;
}

/* And nothing of a member goes before its delegates have answered. */
static void members_wait(struct sim *sim, const struct weft__event *event, struct context *c)
{
    if (event->kind == EVENT_END)
        SIM_HOLDS(sim, atomic_load_relaxed(&event->member->pending) == 0);
}

static void property_33_killing_frees_nothing_before_all_have_answered(void **state)
{
    struct watch watch = {
        .event = members_wait,
        .user = ancestors_are_there,
        .over = all_have_answered,
    };
    seen = 0;
    struct sim_totals totals = sim_trials(&watch, often_kills, 2 * TRIALS);
    assert_true(seen > 0 && totals.answered > 0 && totals.refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(property_15_every_right_side_has_one_effective_run),
        cmocka_unit_test(property_16_the_result_is_there_with_the_decrement),
        cmocka_unit_test(property_17_pending_is_what_was_stolen_and_not_answered),
        cmocka_unit_test(property_18_at_zero_the_victim_goes_on),
        cmocka_unit_test(property_21_a_context_stays_within_its_limit_and_a_posse_within_its_own),
        cmocka_unit_test(property_22_the_limit_is_the_same_on_any_number_of_executors),
        cmocka_unit_test(property_23_what_is_refused_has_not_started),
        cmocka_unit_test(property_27_the_result_is_the_sequential_one),
        cmocka_unit_test(property_30_random_trees_end),
        cmocka_unit_test(property_31_a_failure_surfaces_once_at_the_merge),
        cmocka_unit_test(property_33_killing_frees_nothing_before_all_have_answered),
    };
    return RUN_SIMULATED(tests);
}
