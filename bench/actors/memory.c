/* SPDX-License-Identifier: MIT */
/* Actors that want more memory than they may have, beside one that does not. */
#include "../../tool/progress.h"
#include "../clock.h"
#include "actors.h"
#include "fair.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMORY_REPS = 10,
    MEMORY_REPS_QUICK = 1,
    LEAF_BYTES = 4000,
    LEAF_ROUNDS = 12000, /* 20 microseconds, so that right sides wait for a quantum */
    TIMES_TOO_MUCH = 100,
};

static const char part[] = "actors/memory";
static const size_t limit = (size_t)2 * WEFT_ACTOR_STACK;

/* A tree whose leaves all allocate, and hold what they have until the end. */
static void tree(weft *w, void *arg);

struct part_of {
    unsigned long leaves;
};

static void tree(weft *w, void *arg)
{
    unsigned long leaves = ((struct part_of *)arg)->leaves;
    if (leaves == 1) {
        void *mine = weft_alloc(w, LEAF_BYTES);
        memset(mine, 1, LEAF_BYTES);
        volatile uint64_t result = fair_rounds(1, LEAF_ROUNDS);
        (void)result;
        return;
    }
    struct part_of left = {leaves / 2}, right = {leaves - leaves / 2};
    weft_join(w, tree, &left, tree, &right);
}

static int tree_actor(weft *w, void *arg)
{
    tree(w, arg);
    return 0;
}

/* The neighbour, which must not notice. */
static uint64_t sum(weft *w, unsigned lo, unsigned hi);

struct range {
    unsigned lo, hi;
    uint64_t result;
};

static void sum_run(weft *w, void *arg)
{
    struct range *range = arg;
    range->result = sum(w, range->lo, range->hi);
}

static uint64_t sum(weft *w, unsigned lo, unsigned hi)
{
    if (hi - lo == 1)
        return fair_rounds(lo, LEAF_ROUNDS) != 0 ? lo : 0;
    unsigned middle = lo + (hi - lo) / 2;
    struct range right = {middle, hi, 0};
    weft *in = weft_fork(w, sum_run, &right);
    uint64_t left = sum(in, lo, middle);
    return left + (weft_merge(w) ? right.result : sum(w, middle, hi));
}

enum { NEIGHBOUR_LEAVES = 1024 };

static int neighbour(weft *w, void *arg)
{
    sum_run(w, arg);
    return 0;
}

struct outcome {
    unsigned fitted, failed_alone, otherwise, neighbours;
    double peak; /* / all that it may have, the most of all */
    double delegates, given_back;
};

static bool run_beside(weft_pool *pool, enum weft_steal steal, double times, struct outcome *out)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.memory = limit;
    config.steal = steal;
    struct part_of whole = {(unsigned long)(times * (double)limit / (double)LEAF_BYTES)};
    struct range range = {1, NEIGHBOUR_LEAVES + 1, 0};
    weft_actor *beside = actors_start(pool, neighbour, &range, NULL);
    weft_actor *actor = beside ? actors_start(pool, tree_actor, &whole, &config) : NULL;
    if (!actor)
        return false;
    int reason = weft_actor_wait(NULL, actor);
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    weft_actor_get_info(actor, &info);
    /* The stack is counted with each executor's limit, but not with what is in use. */
    double peak = (double)info.memory_peak /
                  ((double)(info.memory_limit - WEFT_ACTOR_STACK) * weft_pool_workers(pool));
    out->fitted += reason == 0;
    out->failed_alone += reason == -ENOMEM;
    out->otherwise += reason != 0 && reason != -ENOMEM;
    out->peak = peak > out->peak ? peak : out->peak;
    out->delegates += (double)info.delegates;
    out->given_back += (double)info.given_back;
    weft_actor_release(actor);
    out->neighbours += actors_reap(NULL, beside) == 0 &&
                       range.result == (uint64_t)NEIGHBOUR_LEAVES * (NEIGHBOUR_LEAVES + 1) / 2;
    return true;
}

static void print(const struct bench_run *run, const char *what, const struct outcome *out,
                  unsigned count, const char *peak, const char *right)
{
    report_title(run->report,
                 "actors: %s: %u of %u ended with -ENOMEM, %u with 0; %.0f right "
                 "sides were sent away, %.0f given back\n",
                 what, out->failed_alone, count, out->fitted, out->delegates, out->given_back);
    actors_claim(run, part, peak, out->peak, REPORT_AT_MOST, 1);
    actors_claim(run, part, right, (double)out->neighbours / count, REPORT_AT_LEAST, 1);
}

static bool is_good(const struct outcome *out, unsigned count)
{
    bool good = out->otherwise == 0 && out->neighbours == count && out->peak <= 1;
    if (!good)
        warnx("actors: memory: %u ended otherwise, %u of %u neighbours were right, peak %g",
              out->otherwise, out->neighbours, count, out->peak);
    return good;
}

bool actors_memory(const struct bench_run *run)
{
    unsigned reps = run->reps ? run->reps : run->quick ? MEMORY_REPS_QUICK : MEMORY_REPS;
    weft_pool *pool = bench_pool(&(weft_config){.workers = run->workers});
    struct outcome much = {0}, little = {0};
    struct progress progress;
    bool good = pool != NULL;
    progress_begin(&progress, part, reps);
    for (unsigned i = 0; i < reps && good; i++) {
        enum weft_steal steal = i % 2 ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE;
        good =
            run_beside(pool, steal, TIMES_TOO_MUCH, &much) && run_beside(pool, steal, 0.4, &little);
        progress_step(&progress, 1);
    }
    progress_end(&progress);
    if (pool)
        weft_pool_destroy(pool);
    if (!good)
        return false;
    print(run, "a tree that wants 100 times its limit", &much, reps,
          "100 times: peak / (executors x (limit - stack))", "100 times: neighbours right, of 1");
    print(run, "a tree that wants 0.4 times its limit", &little, reps,
          "0.4 times: peak / (executors x (limit - stack))", "0.4 times: neighbours right, of 1");
    report_title(run->report, "\n");
    return is_good(&much, reps) && is_good(&little, reps);
}
