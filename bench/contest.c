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

/* Copies do the work as many times as there are of them. */
static double per_work(const struct contender *c, double value)
{
    return c->kind == RING_COPIES ? value / c->workers : value;
}

/* The twin is the first of them. */
static void summarise(struct ring *ring)
{
    const struct result *twin = &ring->contenders[0].result;
    double operations = ring->contest->kernel->operations(ring->data[0]);
    for (unsigned i = 0; i < ring->count; i++) {
        struct contender *c = &ring->contenders[i];
        c->result = (struct result){
            .bench = ring->contest->kernel->name,
            .peer = c->name,
            .workers = c->workers,
            .seconds = samples_summary(&c->seconds),
            .cpu = samples_summary(&c->cpu).median,
            .checksum = ring->checksum,
            .steals = c->kind == RING_WEFT ? samples_summary(&c->steals).median : -1,
        };
        double seconds = per_work(c, c->result.seconds.median);
        c->result.ns_per_op = seconds * 1e9 / operations;
        c->result.times_twin = seconds / twin->seconds.median;
        c->result.plotted =
            ring->contest->mostly_asleep ? c->result.cpu / twin->cpu : c->result.times_twin;
    }
}

static double fastest_peer(const struct ring *ring)
{
    double fastest = 0;
    for (unsigned i = 0; i < ring->count; i++) {
        const struct contender *c = &ring->contenders[i];
        double median = c->result.seconds.median;
        if (c->kind == RING_PEER && c->workers == 1 && (fastest == 0 || median < fastest))
            fastest = median;
    }
    return fastest;
}

static void claim_one_worker(struct ring *ring)
{
    const struct report *report = ring->run->report;
    const struct claims *claims = &ring->contest->claims;
    const struct result *twin = &find(ring, RING_SEQUENTIAL, 1)->result,
                        *one = &find(ring, RING_WEFT, 1)->result;
    const struct contender *recursive = find(ring, RING_RECURSIVE, 1);
    double peer = fastest_peer(ring);
    if (claims->ns_above_twin > 0)
        report_claim(report, "one worker, above the twin, ns an operation",
                     one->ns_per_op - twin->ns_per_op, REPORT_AT_MOST, claims->ns_above_twin);
    if (claims->times_twin > 0)
        report_claim(report, "one worker / twin", one->times_twin, REPORT_AT_MOST,
                     claims->times_twin);
    if (claims->times_recursive > 0 && recursive)
        report_claim(report, "one worker / twin that is not inlined",
                     one->seconds.median / recursive->result.seconds.median, REPORT_AT_MOST,
                     claims->times_recursive);
    if (peer > 0)
        report_claim(report, "the fastest peer / weft, one worker each", peer / one->seconds.median,
                     REPORT_AT_LEAST, claims->times_faster_than_peers);
}

static void claim_all_workers(struct ring *ring)
{
    const struct report *report = ring->run->report;
    const struct claims *claims = &ring->contest->claims;
    unsigned workers = ring->run->workers;
    const struct contender *copies = find(ring, RING_COPIES, workers);
    const struct result *twin = &find(ring, RING_SEQUENTIAL, 1)->result,
                        *all = &find(ring, RING_WEFT, workers)->result;
    if (copies)
        report_claim(report, "all workers: share of what copies achieve",
                     copies->result.ns_per_op / all->ns_per_op, REPORT_AT_LEAST, claims->share);
    if (claims->times_twin_cpu > 0)
        report_claim(report, "all workers: CPU time / twin", all->cpu / twin->cpu, REPORT_AT_MOST,
                     claims->times_twin_cpu);
    if (claims->times_twin_wall > 0)
        report_claim(report, "all workers: wall time / twin", all->times_twin, REPORT_AT_MOST,
                     claims->times_twin_wall);
    if (claims->steals > 0)
        report_claim(report, "all workers: steals", all->steals, REPORT_BELOW, claims->steals);
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
        summarise(&ring);
        print_all(&ring);
    }
    ring_close(&ring);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
