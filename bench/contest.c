/* SPDX-License-Identifier: MIT */
#include "contest.h"

#include "match.h"

#include <stdlib.h>
#include <string.h>

static struct contender *find(struct match *match, enum match_kind kind, unsigned workers)
{
    for (unsigned i = 0; i < match->count; i++)
        if (match->contenders[i].kind == kind && match->contenders[i].workers == workers)
            return &match->contenders[i];
    return NULL;
}

static const struct contender *fastest_peer(const struct match *match, unsigned workers)
{
    const struct contender *fastest = NULL;
    for (unsigned i = 0; i < match->count; i++) {
        const struct contender *c = &match->contenders[i];
        if (c->kind == MATCH_PEER && c->workers == workers &&
            (!fastest || c->result.seconds.median < fastest->result.seconds.median))
            fastest = c;
    }
    return fastest;
}

static void claim_one_worker(struct match *match)
{
    const struct report *report = match->run->report;
    const struct claims *claims = &match->contest->claims;
    const struct contender *twin = find(match, MATCH_SEQUENTIAL, 1),
                           *one = find(match, MATCH_WEFT, 1),
                           *recursive = find(match, MATCH_RECURSIVE, 1),
                           *peer = fastest_peer(match, 1);
    if (claims->ns_above_twin > 0)
        report_claim(report, "one worker, above the twin, ns an operation",
                     (one->result.times_twin - 1) * twin->result.ns_per_op, REPORT_AT_MOST,
                     claims->ns_above_twin);
    if (claims->times_twin > 0)
        report_claim(report, "one worker / twin", one->result.times_twin, REPORT_AT_MOST,
                     claims->times_twin);
    if (claims->times_recursive > 0 && recursive)
        report_claim(report, "one worker / twin that is not inlined",
                     samples_ratio(&one->seconds, &recursive->seconds), REPORT_AT_MOST,
                     claims->times_recursive);
    if (peer)
        report_claim(report, "the fastest peer / weft, one worker each",
                     samples_ratio(&peer->seconds, &one->seconds), REPORT_AT_LEAST,
                     claims->times_faster_than_peers);
}

static void claim_share(struct match *match)
{
    const struct report *report = match->run->report;
    unsigned workers = match->run->workers;
    const struct contender *copies = find(match, MATCH_COPIES, workers),
                           *twin = find(match, MATCH_SEQUENTIAL, 1),
                           *one = find(match, MATCH_WEFT, 1),
                           *all = find(match, MATCH_WEFT, workers);
    if (!copies)
        return;
    double achieved = workers / samples_ratio(&copies->seconds, &twin->seconds);
    double speed_up = samples_ratio(&one->seconds, &all->seconds);
    report_claim(report, "all workers: speed-up over one worker", speed_up, REPORT_AT_LEAST, 0);
    report_claim(report, "  that / what as many copies of the twin achieve", speed_up / achieved,
                 REPORT_AT_LEAST, match->contest->claims.share);
    report_claim(report, "  work done / what the copies do in that time",
                 samples_ratio(&copies->seconds, &all->seconds) / workers, REPORT_AT_LEAST, 0);
}

static void claim_all_workers(struct match *match)
{
    const struct report *report = match->run->report;
    const struct claims *claims = &match->contest->claims;
    const struct contender *twin = find(match, MATCH_SEQUENTIAL, 1),
                           *all = find(match, MATCH_WEFT, match->run->workers),
                           *peer = fastest_peer(match, match->run->workers);
    claim_share(match);
    if (claims->times_faster_together > 0 && peer)
        report_claim(report, "the fastest peer / weft, all workers",
                     samples_ratio(&peer->seconds, &all->seconds), REPORT_AT_LEAST,
                     claims->times_faster_together);
    if (claims->times_twin_cpu > 0)
        report_claim(report, "all workers: CPU time / twin", samples_ratio(&all->cpu, &twin->cpu),
                     REPORT_AT_MOST, claims->times_twin_cpu);
    if (claims->times_twin_wall > 0)
        report_claim(report, "all workers: wall time / twin", all->result.times_twin,
                     REPORT_AT_MOST, claims->times_twin_wall);
    if (claims->steals > 0)
        report_claim(report, "all workers: steals", all->result.steals, REPORT_BELOW,
                     claims->steals);
}

/* SIZE in the description is what it says. */
static void print_title(const struct match *match)
{
    const char *what = match->contest->what;
    report_title(match->run->report, "%s: ", match->contest->kernel->name);
    for (const char *size; (size = strstr(what, "SIZE")); what = size + strlen("SIZE"))
        report_title(match->run->report, "%.*s%u", (int)(size - what), what, match->size);
    report_title(match->run->report, "%s\n", what);
}

static void print_all(struct match *match)
{
    print_title(match);
    report_head(match->run->report, match->contest->operation);
    for (unsigned i = 0; i < match->count; i++)
        report_row(match->run->report, &match->contenders[i].result);
    claim_one_worker(match);
    claim_all_workers(match);
    report_title(match->run->report, "\n");
}

int contest_run(const struct contest *contest, const struct bench_run *run)
{
    struct match match;
    bool good = match_open(&match, contest, run) && match_run(&match);
    if (good) {
        match_summarise(&match);
        print_all(&match);
    }
    match_close(&match);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
