/* SPDX-License-Identifier: MIT */
/* CPU time on loads that leave most workers without work. */
#include "../contest.h"
#include "loads.h"
#include "protocols.h"
#include "sleep.h"

#include <stdio.h>

enum {
    USAGE_REPS_QUICK = 1,
    NOOP_WORKERS = 4, /* as published */
    BURSTS = 100,
};

static const unsigned usual_workers[] = {2, 8, 32};

enum { USUAL = sizeof usual_workers / sizeof usual_workers[0] };

struct usage {
    const char *bench[ROADS], *what;
    const struct contest *contest;
    unsigned size;             /* 0: its own */
    unsigned workers;          /* 0: the usual ones */
    weft_config config;        /* but for the workers and the road */
    bool beside_twin;          /* CPU time / the twin's; else percent of a core */
    bool many_jobs;            /* each of its operations is one; else the whole is */
    struct said before, after; /* published */
    void (*claim[ROADS])(const struct table *table, const struct bench_run *run);
};

/* ---- What it should be ---- */

static void claim_events_by_tickle(const struct table *table, const struct bench_run *run)
{
    for (unsigned i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        char what[64];
        snprintf(what, sizeof what, "events / tickle, %u workers", column->workers);
        report_claim(run->report, what, column->events_by_tickle, REPORT_AT_MOST,
                     column->workers < 32 ? 1 : 1 / 3.0);
    }
}

static void claim_bursty(const struct table *table, const struct bench_run *run)
{
    claim_events_by_tickle(table, run);
    for (unsigned i = 0; i < table->count; i++)
        if (table->columns[i].workers == run->workers)
            report_claim(run->report, "events / sequential, a worker for each CPU",
                         table->columns[i].values[EVENTS], REPORT_AT_MOST, 1.3);
}

/* The RFC says that two idle workers as the aim cost more CPU time than one. */
static void claim_two_cost_more(const struct table *table, const struct bench_run *run)
{
    const struct column *column = &table->columns[0];
    report_claim(run->report, "counters-two / counters",
                 column->values[COUNTERS_TWO] / column->values[COUNTERS], REPORT_AT_LEAST, 1);
}

static void claim_others_asleep(const struct table *table, const struct bench_run *run)
{
    for (unsigned i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        double most = 0;
        for (int p = COUNTERS; p < PROTOCOLS; p++)
            most = column->values[p] > most ? column->values[p] : most;
        char what[64];
        snprintf(what, sizeof what, "the most of all but tickle's, %u workers, %%",
                 column->workers);
        report_claim(run->report, what, most, REPORT_BELOW, 1);
    }
}

/* ---- The loads ---- */

static const struct usage usages[] = {
    {
        .bench = {"sleep/noop", "sleep/noop-eager"},
        .what = "an empty job every 10 ms: CPU time, % of a core",
        .contest = &noop_load,
        .workers = NOOP_WORKERS,
        .config = {.flags = WEFT_NO_GUESTS},
        .many_jobs = true,
        .before = {"15.6 %", 0, 15.6},
        .after = {"5.4 %", 0, 5.4},
        .claim = {claim_two_cost_more, claim_two_cost_more},
    },
    {
        .bench = {"sleep/idle", "sleep/idle-eager"},
        .what = "nothing to do, after all were awake: CPU time, % of a core",
        .contest = &idle_load,
    },
    {
        .bench = {"sleep/bursty", "sleep/bursty-eager"},
        .what = "bursty: CPU time / sequential program's",
        .contest = &bursty_contest,
        .size = BURSTS,
        .beside_twin = true,
        .many_jobs = true,
        .claim = {claim_bursty, claim_events_by_tickle},
    },
    {
        .bench = {"sleep/long-job", "sleep/long-job-eager"},
        .what = "a long job on one worker: CPU time of the others, % of a core",
        .contest = &long_load,
        .config = {.flags = WEFT_NO_GUESTS},
        .claim = {claim_others_asleep, claim_others_asleep},
    },
    {
        .bench = {"sleep/long-job-guest", "sleep/long-job-guest-eager"},
        .what = "a long job of a guest: CPU time of the workers, % of a core",
        .contest = &long_load,
        .claim = {claim_others_asleep, claim_others_asleep},
    },
};

enum { USAGES = sizeof usages / sizeof usages[0] };

static void compare(struct match *match, const struct usage *usage, enum road road,
                    struct column *column)
{
    const struct contender *twin = protocols_twin(match);
    double percent[PROTOCOLS];
    for (int i = 0; i < PROTOCOLS; i++) {
        const struct contender *c = protocols_get(match, (enum protocol)i);
        percent[i] = 100 * samples_ratio(&c->cpu, &c->seconds);
        column->values[i] = usage->beside_twin ? samples_ratio(&c->cpu, &twin->cpu) : percent[i];
    }
    column->events_by_tickle =
        samples_ratio(&protocols_get(match, EVENTS)->cpu, &protocols_get(match, TICKLE)->cpu);
    column->said[TICKLE_SEQCST] = usage->before;
    column->said[EVENTS] = usage->after;
    double jobs = usage->many_jobs ? match->contest->kernel->operations(match->data[0]) : 1;
    protocols_report(match, column, jobs, usage->bench[road], REPORT_USAGE, percent);
}

static bool measure(const struct bench_run *run, const struct usage *usage, enum road road,
                    struct table *table, unsigned workers)
{
    struct match match;
    weft_config config = usage->config;
    config.workers = workers;
    config.fork = road_fork(road);
    struct column *column = &table->columns[table->count++];
    column->workers = workers;
    snprintf(column->head, sizeof column->head, "%5u workers", workers);
    bool good = protocols_run(&match, usage->contest, run, &config);
    if (good)
        compare(&match, usage, road, column);
    match_close(&match);
    return good;
}

/* The usual numbers of workers, the first of them if it has to be quick; and "all" if that is
 * another one. */
static bool measure_all(const struct bench_run *run, const struct usage *usage, enum road road,
                        struct table *table)
{
    if (usage->workers)
        return measure(run, usage, road, table, usage->workers);
    bool all_is_usual = false;
    for (int i = 0; i < (run->quick ? 1 : USUAL); i++) {
        all_is_usual = all_is_usual || usual_workers[i] == run->workers;
        if (!measure(run, usage, road, table, usual_workers[i]))
            return false;
    }
    return all_is_usual || measure(run, usage, road, table, run->workers);
}

static bool use(const struct bench_run *run, const struct usage *usage, enum road road)
{
    struct bench_run own = *run;
    if (run->reps == 0 && run->quick)
        own.reps = USAGE_REPS_QUICK;
    own.size = run->quick ? 0 : usage->size;
    struct table table = {.unit = usage->beside_twin ? "" : " %"};
    if (!measure_all(&own, usage, road, &table))
        return false;
    report_title(run->report, "sleep: %s; %s road\n", usage->what, road_name(road));
    table_print(&table, run->report);
    if (usage->claim[road])
        usage->claim[road](&table, run);
    report_title(run->report, "\n");
    return true;
}

bool sleep_usage(const struct bench_run *run)
{
    for (int i = 0; i < USAGES; i++)
        for (int road = 0; road < ROADS; road++)
            if (!use(run, &usages[i], (enum road)road))
                return false;
    return true;
}
