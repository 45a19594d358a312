/* SPDX-License-Identifier: MIT */
#include "sim.h"

#include "watchdog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 400000, PLENTY = 32 << 20 };

weft_pool *sim_pool;

int sim_pool_setup(void **state)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    watchdog_start();
    return weft_pool_create(&sim_pool, &config);
}

int sim_pool_teardown(void **state)
{
    return weft_pool_destroy(sim_pool);
}

const char *sim_only_those(void)
{
    return getenv("TEST_ONLY");
}

void sim_failed(struct sim *sim, const char *file, int line, const char *what)
{
    const struct sim_setup *s = &sim->setup;
    fprintf(stderr,
            "TEST_SEED=%" PRIu64 " (%s, %u executors, quantum %u, %u actors of %u nodes, cabal %u, "
            "limit %zu) after %" PRIu64 " steps (%u stolen, %u answered, %u refused): ",
            s->seed, s->steal == WEFT_STEAL_STRICT ? "strict" : "live", s->executors, s->counted,
            s->actors, s->nodes, s->cabal_max, s->limit, sim->steps, sim->steals, sim->answered,
            sim->refused);
    check_failed(file, line, what);
}

/* ---- Plans ---- */

void sim_setup_random(struct sim_setup *setup, uint64_t seed)
{
    struct dice dice = {seed};
    *setup = (struct sim_setup){
        .seed = seed,
        .executors = 2 + (unsigned)dice_below(&dice, 4),
        .counted = 2 + (unsigned)dice_below(&dice, 20),
        .actors = 1 + (unsigned)dice_size(&dice, 4),
        .nodes = 20 + (unsigned)dice_below(&dice, 120),
        .share = 1 + (unsigned)dice_size(&dice, 2),
        .steal = dice_below(&dice, 2) ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE,
        .yields = dice_below(&dice, 3) == 0,
        .receives = dice_below(&dice, 3) == 0,
        .blocks = dice_below(&dice, 2) ? 600 : 0,
        .marks = dice_below(&dice, 2),
        .opens = dice_below(&dice, 2),
    };
    setup->pace = setup->counted;
    if (dice_below(&dice, 3) == 0)
        setup->cabal_max = 1 + (unsigned)dice_below(&dice, setup->executors);
}

static uint64_t mix(uint64_t key, uint64_t left, uint64_t right)
{
    struct dice dice = {key ^ (left << 1) ^ (right * 0x9e3779b97f4a7c15u)};
    return dice_roll(&dice);
}

static unsigned polls(struct dice *dice, unsigned pace)
{
    return (unsigned)dice_size(dice, 3 * pace);
}

/* A tree of `count` nodes, an odd number; *next: the first that is not used. */
static struct node *grow(struct play *play, struct node **next, size_t count, unsigned lean)
{
    struct sim *sim = play->sim;
    const struct sim_setup *setup = &sim->setup;
    struct dice *dice = &sim->dice;
    struct node *node = (*next)++;
    *node = (struct node){
        .play = play,
        .before = polls(dice, setup->pace),
        .between = polls(dice, setup->pace),
        .after = polls(dice, setup->pace),
        .yields = setup->yields && dice_below(dice, 8) == 0,
        .key = dice_roll(dice),
    };
    if (setup->blocks) {
        node->scratch = dice_below(dice, 3) ? 0 : 1 + dice_below(dice, setup->blocks);
        node->result = dice_below(dice, 3) ? 0 : 1 + dice_below(dice, setup->blocks);
    }
    node->marks = setup->marks && dice_below(dice, 3) == 0;
    node->opens = setup->opens && !setup->fails && dice_below(dice, 4) == 0;
    node->fails = setup->fails && dice_below(dice, setup->nodes) == 0;
    if (count < 3)
        return node;
    size_t sides = (count - 1) / 2; /* each an odd number */
    size_t right = lean == 0   ? 1 + 2 * dice_below(dice, sides)
                   : lean == 1 ? 1 + 2 * dice_size(dice, sides - 1)
                               : 2 * sides - 1 - 2 * dice_size(dice, sides - 1);
    node->right = grow(play, next, right, lean);
    node->left = grow(play, next, count - 1 - right, lean);
    node->left->parent = node->right->parent = node;
    return node;
}

static uint64_t evaluate(const struct node *node)
{
    return node->right ? mix(node->key, evaluate(node->left), evaluate(node->right))
                       : mix(node->key, 0, 0);
}

/* What a single thread uses after it, and at most: it knows nothing of forks. */
static size_t use_after(const struct node *node, size_t use, size_t *peak)
{
    size_t before = use;
    use += node->scratch ? weft__arena_round(node->scratch) : 0;
    *peak = use > *peak ? use : *peak;
    if (node->right) {
        use = use_after(node->left, use, peak);
        use = use_after(node->right, use, peak);
    }
    if (node->marks)
        use = before;
    use += node->result ? weft__arena_round(node->result) : 0;
    *peak = use > *peak ? use : *peak;
    return use;
}

static void plan(struct sim *sim, struct play *play)
{
    play->sim = sim;
    play->count = sim->setup.nodes | 1;
    play->nodes = calloc(play->count, sizeof play->nodes[0]);
    CHECK(play->nodes);
    struct node *next = play->nodes;
    grow(play, &next, play->count, (unsigned)dice_below(&sim->dice, 3));
    CHECK(next == play->nodes + play->count);
    play->expected = evaluate(play->nodes);
    use_after(play->nodes, 0, &play->peak);
    if (sim->setup.receives) /* what is on the leftmost path is never stolen */
        for (struct node *node = play->nodes; node; node = node->left)
            node->receives = dice_below(&sim->dice, 3) == 0;
}

/* ---- What actors do ---- */

/* What fails here cancels what is inside of the innermost scope, and nothing else. */
static const void *scope_around(const struct node *node)
{
    const struct node *inside = node;
    for (node = node->parent; node && !node->opens; node = node->parent)
        inside = node;
    return node ? (const void *)&node->scope : (const void *)&inside->play->actor->group;
}

static void user(struct sim *sim, struct node *node, weft *w, struct weft__member *member)
{
    const void *group = weft__group_whole(weft__context_of(w)->group);
    SIM_HOLDS(sim, group == scope_around(node) || (node->opens && group == &node->scope));
    sim->now++;
    if (sim->watch->user)
        sim->watch->user(sim, node, w, member);
}

static void poll(struct sim *sim, struct node *node, weft *w, struct weft__member *member,
                 unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        weft_poll(w);
        user(sim, node, w, member);
    }
}

static bool is_filled(const unsigned char *bytes, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != (unsigned char)key)
            return false;
    return true;
}

static unsigned char *fill(unsigned char *bytes, size_t n, uint64_t key)
{
    return memset(bytes, (unsigned char)key, n);
}

static void receive(struct sim *sim, weft *w)
{
    void *message = NULL;
    SIM_HOLDS(sim, weft_receive(w, &message) == 0);
    SIM_HOLDS(sim, message == sim);
}

/* Whatever it waits for, somebody else ran meanwhile, or not. */
static void pause_for(struct sim *sim, struct node *node, weft *w)
{
    struct context *c = sim_context(sim, weft__fiber_of(w));
    uint64_t since = c->switched_at;
    if (node->receives)
        receive(sim, w);
    if (node->yields)
        weft_yield(w);
    c->blocks |= c->switched_at != since;
}

static bool sides_are_done(const struct node *node)
{
    return node->left->ended && node->right->ended;
}

static void run_node(weft *w, void *arg);

static void run_sides(weft *w, struct node *node, struct weft__member *member)
{
    struct sim *sim = node->play->sim;
    struct node *right = node->right;
    right->forked_on = weft__executor_of(weft__fiber_of(w));
    right->forked_in = right->forked_on->quanta;
    right->forked_at = ++sim->now;
    right->lineage = member->lineage + member->arena.account.used;
    weft *in = weft_fork(w, run_node, right);
    user(sim, node, in, member);
    run_node(in, node->left);
    poll(sim, node, in, member, node->between);
    if (!weft_merge(w))
        run_node(w, right);
    user(sim, node, w, member);
    SIM_HOLDS(sim, !node->play->failures || weft_cancelled(w));
    SIM_HOLDS(sim, sides_are_done(node) || node->play->failures);
}

/* What its sides have left, and not released, is there. */
static void check_results(const struct node *node)
{
    struct sim *sim = node->play->sim;
    if (!node->right || node->play->failures)
        return;
    const struct node *sides[] = {node->left, node->right};
    for (int i = 0; i < 2; i++) {
        SIM_HOLDS(sim, is_filled(sides[i]->bytes, sides[i]->result, sides[i]->key));
        if (!sides[i]->marks)
            check_results(sides[i]);
    }
}

static void run_node(weft *w, void *arg)
{
    struct node *node = arg;
    struct sim *sim = node->play->sim;
    struct weft__member *member = weft__fiber_of(w)->top;
    volatile uint64_t frame = node->key;
    SIM_HOLDS(sim, node->starts++ == 0); /* nothing is ever done twice */
    node->kept = NULL;
    node->frame = &frame;
    user(sim, node, w, member);
    weft_mark mark = weft_alloc_mark(w);
    if (node->scratch)
        node->kept = fill(weft_alloc(w, node->scratch), node->scratch, node->key);
    poll(sim, node, w, member, node->before);
    if (node->fails) {
        node->play->failures++;
        node->failed = true;
        weft_fail(w, -EDOM);
    }
    if (node->opens)
        weft_scope_open(w, &node->scope);
    if (node->right)
        run_sides(w, node, member);
    if (node->opens)
        weft_scope_close(w, &node->scope);
    pause_for(sim, node, w);
    SIM_HOLDS(sim, is_filled(node->kept, node->scratch, node->key));
    node->kept = NULL;
    if (node->marks) {
        check_results(node);
        weft_alloc_release(w, mark);
    }
    if (node->result)
        node->bytes = fill(weft_alloc(w, node->result), node->result, node->key);
    poll(sim, node, w, member, node->after);
    node->frame = NULL;
    node->value =
        node->right ? mix(node->key, node->left->value, node->right->value) : mix(node->key, 0, 0);
    node->ended = true;
}

static int perform(weft *w, void *arg)
{
    struct play *play = arg;
    struct sim *sim = play->sim;
    run_node(w, play->nodes);
    for (size_t i = 0; i < play->count && !play->failures; i++)
        SIM_HOLDS(sim, play->nodes[i].ended);
    if (!play->nodes[0].marks)
        check_results(play->nodes);
    return 0;
}

static void is_over(weft_actor *actor, int reason, void *data)
{
    struct play *play = data;
    struct sim *sim = play->sim;
    play->over = true;
    play->reason = reason;
    play->reports++;
    sim->left--;
    if (sim->watch->over)
        sim->watch->over(sim, play);
}

/* ---- The second account ---- */

struct context *sim_context(struct sim *sim, const struct weft__fiber *fiber)
{
    for (struct context *c = sim->contexts; c < sim->contexts_end; c++)
        if (fiber && c->fiber == fiber)
            return c;
    return NULL;
}

struct actor_member *sim_member(struct sim *sim, const struct weft__member *member)
{
    for (struct actor_member *m = sim->members; m < sim->members_end; m++)
        if (member && m->member == member)
            return m;
    return NULL;
}

struct node *sim_node(weft *slot)
{
    return atomic_load_relaxed(&weft__slot_of(slot)->arg);
}

bool sim_slot_is_pending(weft *slot)
{
    return atomic_load_relaxed(&weft__slot_of(slot)->fn) != NULL;
}

bool sim_slot_is_eligible(struct context *context, weft *slot)
{
    weft_fn *fn = atomic_load_relaxed(&weft__slot_of(slot)->fn);
    return fn && fn != run_node && /* it is marked */
           (int32_t)(context->executor->quanta - weft__actor_slot_of(slot)->quantum) > 0;
}

unsigned sim_eligible(struct context *context, struct weft__member *member)
{
    weft *end = NULL;
    unsigned count = 0;
    if (atomic_load_relaxed(&member->outcome) != OUTCOME_RUNS)
        return 0;
    for (struct weft__member *m = context->fiber->top; m != member; m = m->below)
        end = m->base;
    for (weft *w = member->cursor; w != end && sim_slot_is_eligible(context, w); w++)
        count++;
    return count;
}

static struct context *context_make(struct sim *sim, const struct weft__event *event)
{
    struct context *c = sim->contexts;
    while (c->fiber)
        SIM_HOLDS(sim, ++c < sim->contexts + CONTEXTS);
    if (c >= sim->contexts_end)
        sim->contexts_end = c + 1;
    *c = (struct context){
        .fiber = event->fiber,
        .actor = event->fiber->actor,
        .play = event->fiber->actor->data,
        .executor = event->executor,
        .first_quantum = event->executor->quanta,
    };
    return c;
}

static void member_push(struct sim *sim, struct context *c, struct weft__member *member,
                        struct node *entry)
{
    struct actor_member *m = sim->members;
    while (m->member)
        SIM_HOLDS(sim, ++m < sim->members + MEMBERS);
    if (m >= sim->members_end)
        sim->members_end = m + 1;
    *m = (struct actor_member){
        .member = member,
        .victim = member->victim,
        .entry = entry,
        .context = c,
        .next = member->victim ? member->base : c->fiber->context.first,
    };
    SIM_HOLDS(sim, c->depth < STACKED);
    c->stack[c->depth++] = m;
}

static void member_pop(struct sim *sim, struct context *c)
{
    SIM_HOLDS(sim, c->depth > 0);
    struct actor_member *m = c->stack[--c->depth];
    SIM_HOLDS(sim, m->pending == 0);
    *m = (struct actor_member){0};
}

static void answered(struct sim *sim, const struct weft__event *event)
{
    struct actor_member *victim = sim_member(sim, event->member);
    SIM_HOLDS(sim, victim && victim->pending > 0);
    if (--victim->pending == 0)
        victim->zero_at = sim->now;
}

static struct context *account(struct sim *sim, const struct weft__event *event)
{
    struct context *c = sim_context(sim, event->fiber);
    struct actor_member *victim;
    switch (event->kind) {
    case EVENT_SWITCH:
        if (!c) {
            c = context_make(sim, event);
            if (event->fiber->is_root)
                member_push(sim, c, &c->actor->root, c->play->nodes);
        }
        c->just_ended = c->waits = false;
        c->switched_at = sim->now;
        break;
    case EVENT_MOVE:
        c->quanta += c->executor->quanta - c->first_quantum;
        c->first_quantum = event->executor->quanta;
        c->executor = event->executor;
        c->came_at = sim->now;
        c->came_in = event->executor->quanta;
        sim->moves++;
        break;
    case EVENT_START:
        member_push(sim, c, event->member, sim_node(event->slot));
        c->just_ended = false;
        if (++c->play->delegates > c->play->most_delegates)
            c->play->most_delegates = c->play->delegates;
        break;
    case EVENT_END:
        SIM_HOLDS(sim, sim_top(c)->member == event->member);
        member_pop(sim, c);
        c->play->delegates--;
        c->ends++;
        c->just_ended = true;
        c->ended_in = c->executor->quanta;
        break;
    case EVENT_STEAL:
        victim = sim_member(sim, event->member);
        SIM_HOLDS(sim, victim);
        victim->pending++;
        victim->scattered |= event->slot != victim->next++;
        victim->zero_at = 0;
        c->thefts += event->to != NULL;
        sim->steals++;
        sim->thefts += !event->seamless;
        sim->seamless += event->seamless;
        break;
    case EVENT_ANSWER:
        answered(sim, event);
        sim->answered++;
        break;
    case EVENT_REFUSE:
        answered(sim, event);
        SIM_HOLDS(sim, sim_node(event->slot)->starts == 0);
        sim->refused++;
        break;
    case EVENT_RESUME:
        sim->resumes++;
        break;
    case EVENT_ATTEMPT:
        if (event->seamless)
            c->seamless_attempts++;
        else
            c->attempts++;
        break;
    case EVENT_QUANTUM:
        c->full += event->full;
        c->blocked = c->blocks;
        c->blocks = c->forbidden = false;
        c->thefts = 0;
        break;
    case EVENT_MERGE:
        victim = sim_member(sim, event->member);
        victim->scattered |= event->slot != --victim->next;
        break;
    case EVENT_WAIT:
        c->blocks = c->waits = true;
        sim->waits++;
        break;
    default:
        break;
    }
    return c;
}

static void trace(void *data, const struct weft__event *event)
{
    struct sim *sim = data;
    sim->now++;
    struct context *c = account(sim, event);
    if (sim->watch->event)
        sim->watch->event(sim, event, c);
    if (event->kind == EVENT_RETIRE) {
        if (c->depth)
            member_pop(sim, c);
        SIM_HOLDS(sim, c->depth == 0);
        *c = (struct context){0};
    }
}

/* ---- Who goes next ---- */

static struct weft__executor *pick(struct sim *sim)
{
    unsigned n = sim->system->executor_count;
    for (;;) {
        unsigned i = (unsigned)dice_below(&sim->dice, n);
        if (!sim->slow[i] || dice_below(&sim->dice, 16) == 0)
            return &sim->system->executors[i];
    }
}

static void disturb(struct sim *sim)
{
    const struct sim_setup *setup = &sim->setup;
    struct play *play = &sim->plays[dice_below(&sim->dice, setup->actors)];
    if (sim->steps % 64 == 0)
        for (unsigned i = 0; i < setup->executors; i++)
            sim->slow[i] = dice_below(&sim->dice, 4) == 0;
    if (play->over)
        return;
    if (setup->receives && dice_below(&sim->dice, 4) == 0)
        weft_actor_try_send(NULL, play->actor, sim);
    if (setup->moves_pins && dice_below(&sim->dice, 32) == 0)
        weft_actor_pin(play->actor, (int)dice_below(&sim->dice, setup->executors + 1) - 1);
    if (setup->kills && dice_below(&sim->dice, 64) == 0) {
        play->killed = true;
        weft_actor_kill(play->actor);
    }
}

static void act(weft *w, void *arg)
{
    struct sim *sim = arg;
    struct weft__worker *me = weft__worker_of(w);
    while (sim->left > 0) {
        SIM_HOLDS(sim, ++sim->steps < STEPS_MAX); /* it ends */
        struct weft__executor *executor = pick(sim);
        if (sim->watch->before_step)
            sim->watch->before_step(sim, executor);
        weft__executor_step(executor, me);
        if (sim->watch->step)
            sim->watch->step(sim, executor);
        disturb(sim);
    }
    for (unsigned i = 0; i < sim->setup.executors; i++)
        while (weft__executor_step(&sim->system->executors[i], me))
            SIM_HOLDS(sim, ++sim->steps < STEPS_MAX);
}

static void cast(struct sim *sim, struct play *play, unsigned i)
{
    const struct sim_setup *setup = &sim->setup;
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.memory = WEFT_ACTOR_STACK + (setup->limit ? setup->limit : PLENTY);
    config.cabal_max = setup->cabal_max;
    config.share = setup->share;
    config.steal = setup->steal;
    config.pin = setup->pins && i % 2 ? 1 + (int)(i % setup->executors) : 0;
    config.supervisor = is_over;
    config.data = play;
    plan(sim, play);
    if (setup->exact && play->peak > 1)
        config.memory = WEFT_ACTOR_STACK + play->peak - i % 2;
    CHECK(weft__actor_make(&play->actor, sim->system, perform, play, &config) == 0);
    CHECK(weft_actor_run(play->actor) == 0);
}

/* Whatever happens, this holds at the end. */
static void check_end(struct sim *sim)
{
    for (unsigned i = 0; i < sim->setup.actors; i++) {
        struct play *play = &sim->plays[i];
        struct weft_actor *actor = play->actor;
        SIM_HOLDS(sim, play->reports == 1 && weft_actor_done(actor));
        SIM_HOLDS(sim, atomic_load_relaxed(&actor->counts->memory) == 0);
        SIM_HOLDS(sim, atomic_load_relaxed(&actor->unmerged) == 0);
        SIM_HOLDS(sim, !actor->places || actor->cabal == 1);
        for (unsigned e = 0; actor->places && e < sim->setup.executors; e++)
            SIM_HOLDS(sim, actor->places[e].served <= 1);
    }
    for (unsigned i = 0; i < sim->setup.executors; i++) {
        struct weft__executor *executor = &sim->system->executors[i];
        SIM_HOLDS(sim, executor->runnable == 0 && !executor->ageing);
        SIM_HOLDS(sim, !weft__inbox_has_letters(&executor->inbox));
        SIM_HOLDS(sim, !atomic_load_relaxed(&executor->reserved));
        SIM_HOLDS(sim, !atomic_load_relaxed(&executor->inbox.posted));
    }
    for (struct context *c = sim->contexts; c < sim->contexts + CONTEXTS; c++)
        SIM_HOLDS(sim, !c->fiber);
}

void sim_run(struct sim *sim, const struct sim_setup *setup, const struct watch *watch)
{
    void *data = sim->data;
    memset(sim, 0, sizeof *sim);
    sim->setup = *setup;
    sim->watch = watch;
    sim->dice.state = setup->seed;
    sim->left = setup->actors;
    sim->contexts_end = sim->contexts;
    sim->members_end = sim->members;
    sim->data = data;
    weft_actors_config config = {
        .size = sizeof config,
        .executors = setup->executors,
        .counted = setup->counted,
        .seed = setup->seed,
    };
    CHECK(weft__actors_make(&sim->system, sim_pool, &config, true) == 0);
    sim->system->trace = trace;
    sim->system->trace_data = sim;
    sim->plays = calloc(setup->actors, sizeof sim->plays[0]);
    CHECK(sim->plays);
    for (unsigned i = 0; i < setup->actors; i++)
        cast(sim, &sim->plays[i], i);
    CHECK(weft_run(sim_pool, act, sim) == 0);
    check_end(sim);
    for (unsigned i = 0; i < setup->actors; i++) {
        weft_actor_release(sim->plays[i].actor);
        free(sim->plays[i].nodes);
    }
    free(sim->plays);
    weft__actors_free(sim->system);
    watchdog_kick();
}

struct sim_totals sim_trials(const struct watch *watch, sim_shape *shape, unsigned times)
{
    static uint64_t next = 1;
    static struct sim sim;
    struct sim_totals totals = {0};
    const char *only = getenv("TEST_SEED"), *more = getenv("TEST_TIMES");
    if (more)
        times *= (unsigned)strtoul(more, NULL, 0);
    for (unsigned t = 0; t < (only ? 1 : times); t++) {
        struct sim_setup setup;
        sim_setup_random(&setup, only ? strtoull(only, NULL, 0) : next++);
        if (shape)
            shape(&setup);
        sim_run(&sim, &setup, watch);
        totals.steals += sim.steals;
        totals.thefts += sim.thefts;
        totals.seamless += sim.seamless;
        totals.refused += sim.refused;
        totals.moves += sim.moves;
        totals.waits += sim.waits;
        totals.answered += sim.answered;
        totals.resumes += sim.resumes;
    }
    return totals;
}
