/* SPDX-License-Identifier: MIT */
/* What Rayon's README told of its alternatives: every fork is published, and says so. */
#include "../contest.h"
#include "protocols.h"
#include "sleep.h"

#include <stdio.h>

enum {
    OVERHEAD_REPS = 51,
    OVERHEAD_REPS_QUICK = 1,
};

static const struct subject {
    const char *bench;
    const struct contest *contest;
    unsigned size;           /* near that of Rayon's benchmark of this name */
    const char *flag, *swap; /* what the document found */
} subjects[] = {
    {"sleep/join-recursively", &join_contest, 16, "40 %", "245 %"},
    {"sleep/increment-all", &increment_contest, 20, "15 %", "35 %"},
    {"sleep/nbody-parreduce", &nbody_contest, 1000, "8-10 %", "8-10 %"},
};

enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static void compare(struct ring *ring, const struct subject *subject, struct column *column)
{
    const struct contender *base = protocols_get(ring, TICKLE_SEQCST);
    double ratios[PROTOCOLS];
    for (int i = 0; i < PROTOCOLS; i++) {
        const struct contender *c = protocols_get(ring, (enum protocol)i);
        ratios[i] = samples_ratio(&c->seconds, &base->seconds);
        column->values[i] = 100 * (ratios[i] - 1);
    }
    column->published[TICKLE_FLAG] = subject->flag;
    column->published[TICKLE_SWAP] = subject->swap;
    snprintf(column->head, sizeof column->head, "%s", subject->contest->kernel->name);
    protocols_report(ring, subject->bench, REPORT_OVERHEADS, ratios);
}

static bool measure(const struct bench_run *run, const struct subject *subject,
                    struct column *column)
{
    struct ring ring;
    struct bench_run own = *run;
    if (run->reps == 0)
        own.reps = run->quick ? OVERHEAD_REPS_QUICK : OVERHEAD_REPS;
    own.size = run->quick ? 0 : subject->size;
    const weft_config eager = {.workers = run->workers, .fork = WEFT_FORK_EAGER};
    bool good = protocols_run(&ring, subject->contest, &own, &eager);
    if (good)
        compare(&ring, subject, column);
    ring_close(&ring);
    return good;
}

bool sleep_overheads(const struct bench_run *run)
{
    struct table table = {.unit = " %", .count = SUBJECTS};
    for (int i = 0; i < SUBJECTS; i++)
        if (!measure(run, &subjects[i], &table.columns[i]))
            return false;
    report_title(run->report,
                 "sleep: time beyond that of tickle-seqcst, %u workers, eager road; in brackets "
                 "what the document says\n",
                 run->workers);
    table_print(&table, run->report);
    report_title(run->report, "\n");
    return true;
}
