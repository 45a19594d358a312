/* SPDX-License-Identifier: MIT */
/* How long workers search before they sleep: what that costs, and how many wake-ups it saves. */
#include "../contest.h"
#include "loads.h"
#include "protocols.h"
#include "sleep.h"

#include <stdio.h>

enum {
    SPIN_REPS_QUICK = 1,
    SPIN_SIZE = 50, /* jobs of noop, bursts of bursty */
    SPIN_NAME_MAX = 32,
};

static const int rounds[] = {0, 8, 32, 128, 512};

enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

_Static_assert((int)ROUNDS <= (int)COLUMNS_MAX, "no room for all numbers of rounds");

static const struct load {
    const char *bench, *what;
    const struct contest *contest;
    unsigned flags;
    bool beside_twin; /* CPU time / the twin's; else percent of a core */
} loads[] = {
    {"noop", "an empty job every 10 ms: CPU time, % of a core", &noop_load, WEFT_NO_GUESTS, false},
    {"bursty", "bursty: CPU time / sequential program's", &bursty_contest, 0, true},
};

enum { LOADS = sizeof loads / sizeof loads[0] };

/* Results are kept until the end, with their names. */
static char names[LOADS][ROADS][ROUNDS][SPIN_NAME_MAX];

static void compare(struct match *match, const struct load *load, const char *bench,
                    struct column *column)
{
    const struct contender *twin = protocols_twin(match);
    for (int i = 0; i < PROTOCOLS; i++) {
        const struct contender *c = protocols_get(match, (enum protocol)i);
        column->values[i] = load->beside_twin ? samples_ratio(&c->cpu, &twin->cpu)
                                              : 100 * samples_ratio(&c->cpu, &c->seconds);
    }
    double jobs = match->contest->kernel->operations(match->data[0]);
    protocols_report(match, column, jobs, bench, REPORT_USAGE, NULL);
}

static bool measure(const struct bench_run *run, const struct load *load, enum road road, int round,
                    struct column *column)
{
    struct match match;
    char *bench = names[load - loads][road][round];
    const weft_config config = {
        .workers = run->workers,
        .flags = load->flags,
        .fork = road_fork(road),
        .spin_rounds = rounds[round] ? rounds[round] : -1,
    };
    snprintf(bench, SPIN_NAME_MAX, "sleep/spin-%s-%s-%d", load->bench, road_name(road),
             rounds[round]);
    snprintf(column->head, sizeof column->head, "%5d rounds", rounds[round]);
    bool good = protocols_run(&match, load->contest, run, &config);
    if (good)
        compare(&match, load, bench, column);
    match_close(&match);
    return good;
}

/* If it has to be quick, the first two. */
static bool sweep(const struct bench_run *run, const struct load *load, enum road road)
{
    struct bench_run own = *run;
    if (run->reps == 0 && run->quick)
        own.reps = SPIN_REPS_QUICK;
    own.size = run->quick ? 0 : SPIN_SIZE;
    struct table table = {.unit = load->beside_twin ? "" : " %"};
    while (table.count < (run->quick ? 2 : ROUNDS)) {
        struct column *column = &table.columns[table.count];
        if (!measure(&own, load, road, (int)table.count++, column))
            return false;
    }
    report_title(run->report, "sleep: searches before sleep; %s, %u workers, %s road\n", load->what,
                 run->workers, road_name(road));
    table_print(&table, run->report);
    report_title(run->report, "\n");
    return true;
}

bool sleep_spins(const struct bench_run *run)
{
    for (int i = 0; i < LOADS; i++)
        for (int road = 0; road < ROADS; road++)
            if (!sweep(run, &loads[i], (enum road)road))
                return false;
    return true;
}
