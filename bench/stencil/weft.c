/* SPDX-License-Identifier: MIT */
/* Steps of several lengths: how long has a loop to be until it is worth to share it? */
#include "stencil.h"

#include "../clock.h"
#include "../contest.h"
#include "../match.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/parallel.h>

/* ---- weft's ---- */

static void body(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w;
    const struct stencil *s = arg;
    stencil_range(s->y, s->x, begin, end);
}

static void step(weft *w, void *data)
{
    struct stencil *s = data;
    weft_for(w, 0, s->count, body, s);
    stencil_swap(s);
}

static void steps(weft *w, void *data)
{
    for (int i = 0; i < STENCIL_STEPS; i++)
        step(w, data);
}

static void steps_again(weft *w, void *data)
{
    struct stencil *s = data;
    weft_again again = WEFT_AGAIN_INIT;
    for (int i = 0; i < STENCIL_STEPS; i++) {
        weft_for_again(w, &again, 0, s->count, body, s);
        stencil_swap(s);
    }
}

static void run_each(const struct contender *c, const struct contest *contest, void *data)
{
    (void)contest;
    for (int i = 0; i < STENCIL_STEPS; i++)
        weft_run(c->pool, step, data);
}

/* ---- How many elements ---- */

enum {
    FIRST_COUNT = 10000,
    GUESSES = 3,       /* one is not enough: what fits into a cache takes less time */
    PROBE_STEPS = 501, /* long enough to outlast most of what disturbs a machine */
};

static double probe_step(struct stencil *s)
{
    double start = clock_now();
    stencil_range(s->y, s->x, 0, s->count);
    double seconds = clock_now() - start;
    stencil_swap(s);
    return seconds;
}

/* The median of a step, in seconds; 0, with a message: no memory. */
static double probe(unsigned count)
{
    struct samples seconds = {0};
    struct stencil *s = stencil_kernel.prepare(count);
    if (!s)
        warnx("stencil: no memory for the data");
    if (s && samples_init(&seconds, PROBE_STEPS)) {
        stencil_kernel.reset(s);
        for (int i = 0; i < PROBE_STEPS; i++)
            samples_add(&seconds, probe_step(s));
    }
    double median = samples_summary(&seconds).median;
    samples_free(&seconds);
    if (s)
        stencil_kernel.release(s);
    return median;
}

/* So many that a sequential step takes that long; 0, with a message, if that can't be told. */
static unsigned calibrate(double seconds)
{
    double count = FIRST_COUNT;
    for (int i = 0; i < GUESSES; i++) {
        double took = probe((unsigned)count);
        if (took <= 0)
            return 0;
        count *= seconds / took;
    }
    return (unsigned)count;
}

/* ---- All of them ---- */

static const struct length {
    const char *bench;
    double seconds; /* of a sequential step */
} lengths[] = {
    {"stencil/25us", 25e-6},   {"stencil/50us", 50e-6},   {"stencil/100us", 100e-6},
    {"stencil/200us", 200e-6}, {"stencil/400us", 400e-6},
};

enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

#define WEFT_EACH "weft, runs"   /* a weft_run for each step */
#define WEFT_AGAIN "weft, again" /* weft_for_again */

static const struct contest contest = {.kernel = &stencil_kernel, .reps = 15};

static bool add_weft(struct match *match)
{
    const weft_config config = {.workers = match->run->workers};
    struct contender *once = match_add_weft(match, &config), *each = match_add_weft(match, &config),
                     *again = match_add_weft(match, &config);
    if (!once || !each || !again)
        return false;
    again->name = WEFT_AGAIN;
    again->fn = steps_again;
    once->fn = steps;
    each->name = WEFT_EACH;
    each->run = run_each;
    return true;
}

static bool add_peers(struct match *match)
{
    for (unsigned i = 0; i < PEERS; i++)
        if (match->run->peers[i] && !match_add_peer(match, peer_kinds[i].name, stencil_kernel.name,
                                                    peer_kinds[i].name, match->run->workers))
            return false;
    return true;
}

static bool run_all(struct match *match)
{
    match_add_twin(match);
    bool good = add_peers(match) && add_weft(match) && match_make(match) && match_run(match);
    if (good)
        match_summarise(match);
    return good;
}

/* ---- What came out ---- */

static const struct contender *find(const struct match *match, const char *name)
{
    for (unsigned i = 0; i < match->count; i++)
        if (strcmp(match->contenders[i].name, name) == 0)
            return &match->contenders[i];
    return NULL;
}

static void claim(const struct match *match, const char *ours, const char *theirs)
{
    char what[64];
    const struct contender *a = find(match, ours), *b = find(match, theirs);
    if (!a || !b)
        return;
    snprintf(what, sizeof what, "%s / %s", ours, theirs);
    report_claim(match->run->report, what, samples_ratio(&a->seconds, &b->seconds), REPORT_AT_MOST,
                 0);
}

static void print_all(struct match *match, const struct length *length)
{
    report_title(match->run->report, "stencil: %d steps of %.0f us over %u doubles\n",
                 STENCIL_STEPS, length->seconds * 1e6, match->size);
    report_head(match->run->report, "step");
    for (unsigned i = 0; i < match->count; i++) {
        match->contenders[i].result.bench = length->bench;
        report_row(match->run->report, &match->contenders[i].result);
    }
    for (unsigned i = 0; i < PEERS; i++)
        claim(match, "weft", peer_kinds[i].name);
    claim(match, WEFT_EACH, "weft");
    claim(match, WEFT_AGAIN, "weft");
    for (unsigned i = 0; i < PEERS; i++)
        claim(match, WEFT_AGAIN, peer_kinds[i].name);
    report_title(match->run->report, "\n");
}

static bool measure(const struct bench_run *run, const struct length *length)
{
    struct match match;
    match_begin(&match, &contest, run);
    match.size = calibrate(length->seconds);
    bool good = match.size > 0 && run_all(&match);
    if (good)
        print_all(&match, length);
    match_close(&match);
    return good;
}

/* The first of them if it has to be quick. */
int bench_stencil(const struct bench_run *run)
{
    for (int i = 0; i < (run->quick ? 1 : LENGTHS); i++)
        if (!measure(run, &lengths[i]))
            return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
