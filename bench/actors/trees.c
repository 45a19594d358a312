/* SPDX-License-Identifier: MIT */
/* The same forks in the pool itself and in an actor, live and strict. */
#include "../match.h"
#include "actors.h"

#include <stdio.h>
#include <stdlib.h>

/* Larger than in the contests, for right sides are given away after quanta of a millisecond. */
static const struct {
    const struct contest *contest;
    const char *bench;
    unsigned size, reps;
} trees[] = {
    {&fib_contest, "actors/fib", 37, 9},
    {&treesum_contest, "actors/treesum", 23, 9},
    {&nqueens_contest, "actors/nqueens", 13, 15},
};

enum { TREES = sizeof trees / sizeof trees[0] };

enum tree_kind { POOL, LIVE, STRICT, KINDS };

static const char *const kind_names[KINDS] = {"pool", "live", "strict"};

struct tally {
    enum weft_steal steal;
    struct samples steals, delegates, given_back;
};

struct inside {
    const struct contender *contender;
    const struct contest *contest;
    void *data;
};

static int run_inside(weft *w, void *arg)
{
    struct inside *inside = arg;
    (void)w; /* weft_run() finds it */
    inside->contest->weft(inside->contender->pool, inside->data);
    return 0;
}

static void run_actor(const struct contender *c, const struct contest *contest, void *data)
{
    struct tally *tally = c->own;
    struct inside inside = {c, contest, data};
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.steal = tally->steal;
    weft_actor *actor = actors_start(c->pool, run_inside, &inside, &config);
    if (!actor)
        return; /* the checksum tells */
    weft_actor_wait(NULL, actor);
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    weft_actor_get_info(actor, &info);
    weft_actor_release(actor);
    samples_add(&tally->steals, (double)info.steals);
    samples_add(&tally->delegates, (double)info.delegates);
    samples_add(&tally->given_back, (double)info.given_back);
}

struct field {
    struct match match;
    const struct contender *one[KINDS], *all[KINDS];
    struct tally tallies[2][KINDS];
};

static const struct contender *add(struct field *field, enum tree_kind kind, unsigned workers,
                                   struct tally *tally)
{
    struct contender *c = match_add_weft(&field->match, &(weft_config){.workers = workers});
    if (!c)
        return NULL;
    c->name = kind_names[kind];
    if (kind == POOL)
        return c;
    tally->steal = kind == LIVE ? WEFT_STEAL_LIVE : WEFT_STEAL_STRICT;
    c->run = run_actor;
    c->own = tally;
    bool room = samples_init(&tally->steals, field->match.reps) &&
                samples_init(&tally->delegates, field->match.reps) &&
                samples_init(&tally->given_back, field->match.reps);
    return room ? c : NULL;
}

static bool open(struct field *field)
{
    unsigned workers = field->match.run->workers;
    match_add_twin(&field->match);
    for (int kind = 0; kind < KINDS; kind++)
        if (!(field->one[kind] = add(field, (enum tree_kind)kind, 1, &field->tallies[0][kind])))
            return false;
    for (int kind = 0; kind < KINDS && workers > 1; kind++)
        if (!(field->all[kind] =
                  add(field, (enum tree_kind)kind, workers, &field->tallies[1][kind])))
            return false;
    return match_make(&field->match);
}

static void close(struct field *field)
{
    match_close(&field->match);
    for (int i = 0; i < 2; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            samples_free(&field->tallies[i][kind].steals);
            samples_free(&field->tallies[i][kind].delegates);
            samples_free(&field->tallies[i][kind].given_back);
        }
}

static void print_rows(struct field *field, const char *bench)
{
    struct match *match = &field->match;
    struct report *report = match->run->report;
    report_head(report, match->contest->operation);
    for (unsigned i = 0; i < match->count; i++) {
        struct contender *c = &match->contenders[i];
        const struct tally *tally = c->own;
        c->result.bench = bench;
        if (tally)
            c->result.steals = samples_summary(&tally->steals).median;
        report_row(report, &c->result);
    }
}

static void claim(struct field *field, const char *bench, const char *what,
                  const struct contender *a, const struct contender *b, double limit)
{
    actors_claim(field->match.run, bench, what, samples_ratio(&a->seconds, &b->seconds),
                 REPORT_AT_MOST, limit);
}

/* Which says more where others are at work, too. */
static void claim_cpu(struct field *field, const char *bench, const char *what,
                      const struct contender *a, const struct contender *b)
{
    actors_claim(field->match.run, bench, what, samples_ratio(&a->cpu, &b->cpu), REPORT_AT_MOST, 0);
}

static void print_steals(struct field *field, enum tree_kind kind)
{
    const struct tally *tally = &field->tallies[1][kind];
    report_title(field->match.run->report,
                 "  %s: %.0f stolen, %.0f of these sent to other executors, %.0f given back\n",
                 kind_names[kind], samples_summary(&tally->steals).median,
                 samples_summary(&tally->delegates).median,
                 samples_summary(&tally->given_back).median);
}

static void print(struct field *field, const char *bench)
{
    report_title(field->match.run->report, "%s, size %u: in the pool itself and in an actor\n",
                 bench, field->match.size);
    print_rows(field, bench);
    claim(field, bench, "one worker: live / pool", field->one[LIVE], field->one[POOL], 1.05);
    claim_cpu(field, bench, "  one worker: live / pool, CPU time", field->one[LIVE],
              field->one[POOL]);
    claim(field, bench, "one worker: strict / pool", field->one[STRICT], field->one[POOL], 1.05);
    claim_cpu(field, bench, "  one worker: strict / pool, CPU time", field->one[STRICT],
              field->one[POOL]);
    if (field->all[POOL]) {
        claim(field, bench, "all workers: live / pool", field->all[LIVE], field->all[POOL], 1.05);
        claim(field, bench, "all workers: strict / pool", field->all[STRICT], field->all[POOL], 0);
        claim(field, bench, "all workers: strict / live", field->all[STRICT], field->all[LIVE], 0);
        claim_cpu(field, bench, "  all workers: strict / live, CPU time", field->all[STRICT],
                  field->all[LIVE]);
        print_steals(field, LIVE);
        print_steals(field, STRICT);
    }
    report_title(field->match.run->report, "\n");
}

static bool grow(const struct bench_run *run, int i)
{
    struct bench_run own = *run;
    struct field field = {0};
    own.size = run->quick ? 0 : trees[i].size;
    own.reps = run->reps || run->quick ? run->reps : trees[i].reps;
    match_begin(&field.match, trees[i].contest, &own);
    bool good = open(&field) && match_run(&field.match);
    if (good) {
        match_summarise(&field.match);
        print(&field, trees[i].bench);
    }
    close(&field);
    return good;
}

bool actors_trees(const struct bench_run *run)
{
    for (int i = 0; i < TREES; i++)
        if (!grow(run, i))
            return false;
    return true;
}
