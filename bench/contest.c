/* SPDX-License-Identifier: MIT */
#include "contest.h"

#include "ring.h"

#include <stdlib.h>
#include <string.h>

static struct contender *find(struct ring *ring, enum ring_kind kind, unsigned workers)
{
    for (unsigned i = 0; i < ring->count; i++)
        if (ring->contenders[i].kind == kind && ring->contenders[i].workers == workers)
            return &ring->contenders[i];
    return NULL;
}

static const struct contender *fastest_peer(const struct ring *ring)
{
    const struct contender *fastest = NULL;
    for (unsigned i = 0; i < ring->count; i++) {
        const struct contender *c = &ring->contenders[i];
        if (c->kind == RING_PEER && c->workers == 1 &&
            (!fastest || c->result.seconds.median < fastest->result.seconds.median))
            fastest = c;
    }
    return fastest;
}

static void claim_one_worker(struct ring *ring)
{
    const struct report *report = ring->run->report;
    const struct claims *claims = &ring->contest->claims;
    const struct contender *twin = find(ring, RING_SEQUENTIAL, 1), *one = find(ring, RING_WEFT, 1),
                           *recursive = find(ring, RING_RECURSIVE, 1), *peer = fastest_peer(ring);
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

static void claim_share(struct ring *ring)
{
    const struct report *report = ring->run->report;
    unsigned workers = ring->run->workers;
    const struct contender *copies = find(ring, RING_COPIES, workers),
                           *twin = find(ring, RING_SEQUENTIAL, 1), *one = find(ring, RING_WEFT, 1),
                           *all = find(ring, RING_WEFT, workers);
    if (!copies)
        return;
    double achieved = workers / samples_ratio(&copies->seconds, &twin->seconds);
    double speed_up = samples_ratio(&one->seconds, &all->seconds);
    report_claim(report, "all workers: speed-up over one worker", speed_up, REPORT_AT_LEAST, 0);
    report_claim(report, "  that / what as many copies of the twin achieve", speed_up / achieved,
                 REPORT_AT_LEAST, ring->contest->claims.share);
    report_claim(report, "  work done / what the copies do in that time",
                 samples_ratio(&copies->seconds, &all->seconds) / workers, REPORT_AT_LEAST, 0);
}

static void claim_all_workers(struct ring *ring)
{
    const struct report *report = ring->run->report;
    const struct claims *claims = &ring->contest->claims;
    const struct contender *twin = find(ring, RING_SEQUENTIAL, 1),
                           *all = find(ring, RING_WEFT, ring->run->workers);
    claim_share(ring);
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
static void print_title(const struct ring *ring)
{
    const char *what = ring->contest->what, *size = strstr(what, "SIZE");
    report_title(ring->run->report, "%s: %.*s%u%s\n", ring->contest->kernel->name,
                 (int)(size - what), what, ring->size, size + strlen("SIZE"));
}

static void print_all(struct ring *ring)
{
    print_title(ring);
    report_head(ring->run->report, ring->contest->operation);
    for (unsigned i = 0; i < ring->count; i++)
        report_row(ring->run->report, &ring->contenders[i].result);
    claim_one_worker(ring);
    claim_all_workers(ring);
    report_title(ring->run->report, "\n");
}

int contest_run(const struct contest *contest, const struct bench_run *run)
{
    struct ring ring;
    bool good = ring_open(&ring, contest, run) && ring_run(&ring);
    if (good) {
        ring_summarise(&ring);
        print_all(&ring);
    }
    ring_close(&ring);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
