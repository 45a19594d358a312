/* SPDX-License-Identifier: MIT */
#include "match.h"

#include "../tool/progress.h"
#include "clock.h"
#include "copies.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    QUICK_REPS = 3,
    SLOW_REPS = 3, /* a contender with so many repetitions behind it ... */
};
#define SLOW_SECONDS 10.0 /* ... and so much time sits out the rest */

/* ---- Setting up ---- */

static struct contender *add(struct match *match, enum match_kind kind, const char *name,
                             unsigned workers)
{
    struct contender *c = &match->contenders[match->count++];
    *c = (struct contender){.kind = kind, .name = name, .workers = workers};
    return c;
}

void match_add_twin(struct match *match)
{
    add(match, MATCH_SEQUENTIAL, "sequential", 1);
}

struct contender *match_add_weft(struct match *match, const weft_config *config)
{
    struct contender *c = add(match, MATCH_WEFT, "weft", config->workers);
    c->pool = bench_pool(config);
    if (c->pool)
        bench_until_asleep(c->pool); /* a new pool's workers look around first */
    return c->pool ? c : NULL;
}

static bool add_weft(struct match *match, unsigned workers)
{
    return match_add_weft(match, &(weft_config){.workers = workers}) != NULL;
}

bool match_add_peer(struct match *match, const char *peer, const char *benchmark, const char *name,
                    unsigned workers)
{
    bool failed = false;
    struct contender *c = add(match, MATCH_PEER, name, workers);
    if (!peer_start(&c->peer, peer, benchmark, match->size, workers, &failed))
        match->count--;
    return !failed;
}

static bool add_peer(struct match *match, const char *name, unsigned workers)
{
    return match_add_peer(match, name, match->contest->kernel->name, name, workers);
}

/* Peers come first, for a fork is cheap only while there is no data. */
static bool add_peers(struct match *match)
{
    for (unsigned i = 0; i < PEERS; i++) {
        if (!match->run->peers[i])
            continue;
        if (!add_peer(match, peer_kinds[i].name, 1) ||
            (match->run->workers > 1 && !add_peer(match, peer_kinds[i].name, match->run->workers)))
            return false;
    }
    return true;
}

static bool has_limit(const struct match *match)
{
    return match->run->workers > 1 && !match->contest->mostly_asleep;
}

static bool add_contenders(struct match *match)
{
    unsigned workers = match->run->workers;
    match_add_twin(match);
    if (match->contest->kernel->recursive)
        add(match, MATCH_RECURSIVE, "not inlined", 1);
    if (has_limit(match))
        add(match, MATCH_COPIES, "copies", workers);
    return add_weft(match, 1) && (workers == 1 || add_weft(match, workers)) && add_peers(match);
}

static unsigned copies_in(const struct match *match)
{
    for (unsigned i = 0; i < match->count; i++)
        if (match->contenders[i].kind == MATCH_COPIES)
            return match->contenders[i].workers;
    return 1;
}

static bool make_data(struct match *match)
{
    unsigned count = copies_in(match);
    match->data = calloc(count + 1, sizeof *match->data);
    for (unsigned i = 0; match->data && i < count; i++) {
        match->data[i] = match->contest->kernel->prepare(match->size);
        if (!match->data[i])
            break;
    }
    bool made = match->data && match->data[count - 1];
    if (!made)
        warnx("%s: no memory for the data", match->contest->kernel->name);
    return made;
}

static bool make_samples(struct match *match)
{
    for (unsigned i = 0; i < match->count; i++) {
        struct contender *c = &match->contenders[i];
        if (!samples_init(&c->seconds, match->reps) || !samples_init(&c->cpu, match->reps) ||
            !samples_init(&c->steals, match->reps) || !samples_init(&c->wakes, match->reps))
            return false;
    }
    return true;
}

void match_begin(struct match *match, const struct contest *contest, const struct bench_run *run)
{
    *match = (struct match){
        .contest = contest,
        .run = run,
        .size = run->size    ? run->size
                : run->quick ? contest->quick
                             : contest->size,
        .reps = run->reps    ? run->reps
                : run->quick ? QUICK_REPS
                             : contest->reps,
    };
}

bool match_make(struct match *match)
{
    return make_samples(match) && make_data(match);
}

bool match_open(struct match *match, const struct contest *contest, const struct bench_run *run)
{
    match_begin(match, contest, run);
    return add_contenders(match) && match_make(match);
}

void match_close(struct match *match)
{
    for (unsigned i = 0; i < match->count; i++) {
        struct contender *c = &match->contenders[i];
        if (c->pool)
            weft_pool_destroy(c->pool);
        peer_stop(&c->peer);
        samples_free(&c->seconds);
        samples_free(&c->cpu);
        samples_free(&c->steals);
        samples_free(&c->wakes);
    }
    for (void **data = match->data; data && *data; data++)
        match->contest->kernel->release(*data);
    free(match->data);
}

/* ---- Taking turns ---- */

static void run_here(const struct match *match, const struct contender *c)
{
    if (c->run)
        c->run(c, match->contest, match->data[0]);
    else if (c->kind == MATCH_WEFT && c->fn)
        weft_run(c->pool, c->fn, match->data[0]);
    else if (c->kind == MATCH_WEFT)
        match->contest->weft(c->pool, match->data[0]);
    else if (c->kind == MATCH_RECURSIVE)
        match->contest->kernel->recursive(match->data[0]);
    else
        match->contest->kernel->sequential(match->data[0]);
}

static void turn_here(const struct match *match, const struct contender *c, struct turn *turn)
{
    const struct kernel *kernel = match->contest->kernel;
    kernel->reset(match->data[0]);
    double cpu = clock_cpu(), start = clock_now();
    run_here(match, c);
    turn->seconds = clock_now() - start;
    turn->cpu = clock_cpu() - cpu;
    if (match->contest->own_cpu)
        turn->cpu -= match->contest->own_cpu(match->data[0]);
    turn->checksum = kernel->checksum(match->data[0]);
}

/* By the workers; a guest's are not told. */
struct deeds {
    double steals, wakes;
};

static struct deeds deeds(weft_pool *pool)
{
    struct deeds sum = {0, 0};
    weft_worker_info info = WEFT_WORKER_INFO_INIT;
    for (unsigned i = 0; weft_worker_get_info(pool, i, &info) == 0; i++) {
        sum.steals += (double)info.steals;
        sum.wakes += (double)info.sleeps; /* until somebody woke it */
    }
    return sum;
}

/* Whoever is next finds a quiet machine. */
static void turn_weft(const struct match *match, struct contender *c, struct turn *turn)
{
    if (match->contest->ready) {
        match->contest->ready(c->pool, match->data[0]);
        bench_until_asleep(c->pool);
    }
    struct deeds before = deeds(c->pool);
    turn_here(match, c, turn);
    bench_until_asleep(c->pool);
    struct deeds after = deeds(c->pool);
    samples_add(&c->steals, after.steals - before.steals);
    samples_add(&c->wakes, after.wakes - before.wakes);
}

static bool turn_take(struct match *match, struct contender *c, struct turn *turn)
{
    switch (c->kind) {
    case MATCH_WEFT:
        turn_weft(match, c, turn);
        return true;
    case MATCH_PEER:
        return peer_turn(&c->peer, turn);
    case MATCH_COPIES:
        return copies_turn(match->contest->kernel, match->data, c->workers, turn);
    default:
        turn_here(match, c, turn);
        return true;
    }
}

static bool agrees(struct match *match, const struct contender *c, uint64_t checksum)
{
    if (!match->known) {
        match->known = true;
        match->checksum = checksum;
    }
    if (checksum != match->checksum)
        warnx("%s: wrong result: %s with %u workers has checksum %" PRIx64 ", not %" PRIx64,
              match->contest->kernel->name, c->name, c->workers, checksum, match->checksum);
    return checksum == match->checksum;
}

static bool one_turn(struct match *match, struct contender *c)
{
    if (c->seconds.count >= SLOW_REPS && c->spent > SLOW_SECONDS)
        return true;
    struct turn turn = {0};
    if (!turn_take(match, c, &turn))
        return false;
    samples_add(&c->seconds, turn.seconds);
    samples_add(&c->cpu, turn.cpu);
    c->spent += turn.seconds;
    return agrees(match, c, turn.checksum);
}

/* Each round begins with another contender, so that none always follows the same one. The
 * first begins with the sequential twin, which therefore is right by definition. */
bool match_run(struct match *match)
{
    struct progress progress;
    progress_begin(&progress, match->contest->kernel->name, (uint64_t)match->reps * match->count);
    bool good = true;
    for (unsigned rep = 0; rep < match->reps && good; rep++)
        for (unsigned i = 0; i < match->count && good; i++) {
            good = one_turn(match, &match->contenders[(rep + i) % match->count]);
            progress_step(&progress, 1);
        }
    progress_end(&progress);
    return good;
}

/* ---- What came out ---- */

/* Copies do the work as many times as there are of them. */
static double per_work(const struct contender *c, double value)
{
    return c->kind == MATCH_COPIES ? value / c->workers : value;
}

/* The twin is the first of them. */
void match_summarise(struct match *match)
{
    const struct contender *twin = &match->contenders[0];
    double operations = match->contest->kernel->operations(match->data[0]);
    for (unsigned i = 0; i < match->count; i++) {
        struct contender *c = &match->contenders[i];
        c->result = (struct result){
            .bench = match->contest->kernel->name,
            .peer = c->name,
            .workers = c->workers,
            .seconds = samples_summary(&c->seconds),
            .cpu = samples_summary(&c->cpu).median,
            .checksum = match->checksum,
            .steals = c->kind == MATCH_WEFT ? samples_summary(&c->steals).median : -1,
        };
        c->result.ns_per_op = per_work(c, c->result.seconds.median) * 1e9 / operations;
        c->result.times_twin = per_work(c, samples_ratio(&c->seconds, &twin->seconds));
        c->result.plotted = match->contest->mostly_asleep ? samples_ratio(&c->cpu, &twin->cpu)
                                                          : c->result.times_twin;
    }
}
