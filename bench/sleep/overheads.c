/* SPDX-License-Identifier: MIT */
/* What Rayon's README told of its alternatives: every fork is published, and says so. On both
 * roads, and with programs that hardly do anything but fork. */
#include "../contest.h"
#include "dense.h"
#include "protocols.h"
#include "sleep.h"

#include <stdio.h>

enum {
    OVERHEAD_REPS = 51,
    OVERHEAD_REPS_QUICK = 1,
    SUBJECTS = 3,
};

/* Another machine and another runtime: between half of it and twice as much is met. */
#define SAYS(text_, low_, high_)                          \
    {                                                     \
        .text = text_, .low = low_ / 2, .high = high_ * 2 \
    }

struct subject {
    const char *bench[ROADS];
    const struct contest *contest;
    unsigned size;          /* near that of Rayon's benchmark of this name */
    struct said flag, swap; /* what the document found, where every fork is published */
};

static const struct subject usual[SUBJECTS] = {
    {{"sleep/join-recursively-lazy", "sleep/join-recursively"},
     &join_contest,
     16,
     SAYS("40 %", 40.0, 40.0),
     SAYS("245 %", 245.0, 245.0)},
    {{"sleep/increment-all-lazy", "sleep/increment-all"},
     &increment_contest,
     20,
     SAYS("15 %", 15.0, 15.0),
     SAYS("35 %", 35.0, 35.0)},
    {{"sleep/nbody-parreduce-lazy", "sleep/nbody-parreduce"},
     &nbody_contest,
     1000,
     SAYS("8-10 %", 8.0, 10.0),
     SAYS("8-10 %", 8.0, 10.0)},
};

static const struct subject dense[SUBJECTS] = {
    {{"sleep/dense-join-lazy", "sleep/dense-join"},
     &join_contest,
     12, /* fewer elements, so that they are near, and a fork is all there is */
     SAYS("40 %", 40.0, 40.0),
     SAYS("245 %", 245.0, 245.0)},
    {{"sleep/dense-increment-lazy", "sleep/dense-increment"},
     &dense_increment,
     20,
     SAYS("15 %", 15.0, 15.0),
     SAYS("35 %", 35.0, 35.0)},
    {{"sleep/dense-nbody-lazy", "sleep/dense-nbody"},
     &dense_nbody,
     500,
     SAYS("8-10 %", 8.0, 10.0),
     SAYS("8-10 %", 8.0, 10.0)},
};

static void compare(struct match *match, const struct subject *subject, enum road road,
                    struct column *column)
{
    const struct contender *base = protocols_get(match, TICKLE_SEQCST);
    double ratios[PROTOCOLS];
    for (int i = 0; i < PROTOCOLS; i++) {
        const struct contender *c = protocols_get(match, (enum protocol)i);
        ratios[i] = samples_ratio(&c->seconds, &base->seconds);
        column->values[i] = 100 * (ratios[i] - 1);
    }
    if (road == EAGER) { /* on the other one, forks are not published */
        column->said[TICKLE_FLAG] = subject->flag;
        column->said[TICKLE_SWAP] = subject->swap;
    }
    snprintf(column->head, sizeof column->head, "%s", subject->contest->kernel->name);
    protocols_report(match, column, 1, subject->bench[road], REPORT_OVERHEADS, ratios);
}

static bool measure(const struct bench_run *run, const struct subject *subject, enum road road,
                    struct column *column)
{
    struct match match;
    struct bench_run own = *run;
    if (run->reps == 0)
        own.reps = run->quick ? OVERHEAD_REPS_QUICK : OVERHEAD_REPS;
    own.size = run->quick ? 0 : subject->size;
    const weft_config config = {.workers = run->workers, .fork = road_fork(road)};
    bool good = protocols_run(&match, subject->contest, &own, &config);
    if (good)
        compare(&match, subject, road, column);
    match_close(&match);
    return good;
}

/* The document on events says that a counter of all posts is too expensive, and has no number. */
static void claim_plain_costs_more(const struct table *table, const struct report *report)
{
    for (unsigned i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        char what[64];
        snprintf(what, sizeof what, "events-plain / events, %s", column->head);
        report_claim(report, what,
                     (100 + column->values[EVENTS_PLAIN]) / (100 + column->values[EVENTS]),
                     REPORT_AT_LEAST, 1);
    }
}

static bool measure_all(const struct bench_run *run, const struct subject subjects[SUBJECTS],
                        enum road road, const char *what)
{
    struct table table = {.unit = " %", .count = SUBJECTS};
    for (int i = 0; i < SUBJECTS; i++)
        if (!measure(run, &subjects[i], road, &table.columns[i]))
            return false;
    report_title(run->report, "sleep: %s: time beyond that of tickle-seqcst, %u workers, %s road\n",
                 what, run->workers, road_name(road));
    table_print(&table, run->report);
    if (road == EAGER && subjects == dense)
        claim_plain_costs_more(&table, run->report);
    report_title(run->report, "\n");
    return true;
}

bool sleep_overheads(const struct bench_run *run)
{
    for (int road = 0; road < ROADS; road++)
        if (!measure_all(run, usual, (enum road)road, "programs that fork") ||
            !measure_all(run, dense, (enum road)road, "programs that hardly do anything but fork"))
            return false;
    return true;
}
