/* SPDX-License-Identifier: MIT */
/* The place of a searcher, which the look-out may take: one of the two begins a job. */
#include "blocking.h"
#include "core/search.h"

static struct weft__latch forked;
static bool begins[3];

/* Worker 0 searches, the others sleep, and guests have the other places. */
static void setup_searcher(unsigned workers)
{
    forked = (struct weft__latch){0};
    make_pool(workers, -1, NULL);
    struct weft__idle idle;
    for (unsigned i = 0; i < workers; i++) {
        weft__sleep_start_looking(&pool->sleep, &idle, 0);
        atomic_store_relaxed(&pool->workers[i]->seeks, SEEKS_FREELY);
        begins[i] = false;
        if (i == 0)
            continue;
        atomic_fetch_add_relaxed(&pool->sleep.counters, 1);
        atomic_store_relaxed(&pool->workers[i]->park->state, PARK_ASLEEP);
        weft__sleep_guest_entered(&pool->sleep);
    }
}

static void setup_searcher_and_one(void)
{
    setup_searcher(2);
}

static void setup_searcher_and_two(void)
{
    setup_searcher(3);
}

static void begin_as_searcher(void)
{
    begins[0] = weft__may_begin(pool->workers[0]);
}

static void get_up_and_overtake(unsigned i)
{
    struct weft__worker *me = pool->workers[i];
    atomic_store_relaxed(&me->park->state, PARK_AWAKE);
    atomic_fetch_sub_relaxed(&pool->sleep.counters, 1);
    begins[i] = weft__may_overtake(me);
}

static void overtake(void)
{
    get_up_and_overtake(1);
}

static void overtake_too(void)
{
    get_up_and_overtake(2);
}

/* The searcher has stepped back, and looks out, while the one in its place still searches. */
static void overtake_and_be_overtaken(void)
{
    overtake();
    atomic_fetch_add_relaxed(&pool->sleep.counters, 1);
    get_up_and_overtake(0);
}

/* A guest comes and forks; who overtakes sees the fork. */
static void come_and_fork(void)
{
    weft__sleep_guest_entered(&pool->sleep);
    weft__latch_set(&forked);
}

static void step_back_come_and_fork(void)
{
    atomic_store_relaxed(&pool->workers[0]->park->state, PARK_ASLEEP);
    atomic_fetch_add_relaxed(&pool->sleep.counters, 1);
    come_and_fork();
}

static void overtake_and_find(void)
{
    struct weft__worker *me = pool->workers[1];
    overtake();
    me->overtakes = begins[1];
    begins[1] = weft__latch_probe(&forked) && weft__may_begin(me);
}

static void none_begins(void)
{
    MODEL_ASSERT(!begins[1]);
}

static void one_begins(void)
{
    MODEL_ASSERT(begins[0] + begins[1] + begins[2] <= 1);
}

const struct harness overtake_harnesses[] = {
    {.name = "overtake",
     .what = "a searcher begins a job while the look-out takes its place",
     .setup = setup_searcher_and_one,
     .thread = {begin_as_searcher, overtake},
     .finish = one_begins},
    {.name = "overtake-two",
     .what = "two look-outs want the place of one searcher",
     .setup = setup_searcher_and_two,
     .thread = {overtake, overtake_too},
     .finish = one_begins},
    {.name = "overtake-back",
     .what = "a searcher that was overtaken takes its place back",
     .setup = setup_searcher_and_one,
     .thread = {overtake_and_be_overtaken},
     .finish = one_begins},
    {.name = "overtake-guest",
     .what = "a guest comes and forks after the look-out has taken the place of a searcher",
     .setup = setup_searcher_and_one,
     .thread = {come_and_fork, overtake_and_find},
     .finish = none_begins},
    {.name = "overtake-late",
     .what = "the searcher has stepped back, too, before that guest came",
     .setup = setup_searcher_and_one,
     .thread = {step_back_come_and_fork, overtake_and_find},
     .finish = none_begins},
    {0},
};
