/* SPDX-License-Identifier: MIT */
#include "ring.h"

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

static struct contender *add(struct ring *ring, enum ring_kind kind, const char *name,
                             unsigned workers)
{
    struct contender *c = &ring->contenders[ring->count++];
    *c = (struct contender){.kind = kind, .name = name, .workers = workers};
    return c;
}

void ring_add_twin(struct ring *ring)
{
    add(ring, RING_SEQUENTIAL, "sequential", 1);
}

struct contender *ring_add_weft(struct ring *ring, const weft_config *config)
{
    struct contender *c = add(ring, RING_WEFT, "weft", config->workers);
    c->pool = bench_pool(config);
    if (c->pool)
        bench_until_asleep(c->pool); /* a new pool's workers look around first */
    return c->pool ? c : NULL;
}

static bool add_weft(struct ring *ring, unsigned workers)
{
    return ring_add_weft(ring, &(weft_config){.workers = workers}) != NULL;
}

bool ring_add_peer(struct ring *ring, const char *peer, const char *benchmark, const char *name,
                   unsigned workers)
{
    bool failed = false;
    struct contender *c = add(ring, RING_PEER, name, workers);
    if (!peer_start(&c->peer, peer, benchmark, ring->size, workers, &failed))
        ring->count--;
    return !failed;
}

static bool add_peer(struct ring *ring, const char *name, unsigned workers)
{
    return ring_add_peer(ring, name, ring->contest->kernel->name, name, workers);
}

/* Peers come first, for a fork is cheap only while there is no data. */
static bool add_peers(struct ring *ring)
{
    for (unsigned i = 0; i < PEERS; i++) {
        if (!ring->run->peers[i])
            continue;
        if (!add_peer(ring, peer_kinds[i].name, 1) ||
            (ring->run->workers > 1 && !add_peer(ring, peer_kinds[i].name, ring->run->workers)))
            return false;
    }
    return true;
}

static bool has_limit(const struct ring *ring)
{
    return ring->run->workers > 1 && !ring->contest->mostly_asleep;
}

static bool add_contenders(struct ring *ring)
{
    unsigned workers = ring->run->workers;
    ring_add_twin(ring);
    if (ring->contest->kernel->recursive)
        add(ring, RING_RECURSIVE, "not inlined", 1);
    if (has_limit(ring))
        add(ring, RING_COPIES, "copies", workers);
    return add_weft(ring, 1) && (workers == 1 || add_weft(ring, workers)) && add_peers(ring);
}

static unsigned copies_in(const struct ring *ring)
{
    for (unsigned i = 0; i < ring->count; i++)
        if (ring->contenders[i].kind == RING_COPIES)
            return ring->contenders[i].workers;
    return 1;
}

static bool make_data(struct ring *ring)
{
    unsigned count = copies_in(ring);
    ring->data = calloc(count + 1, sizeof *ring->data);
    for (unsigned i = 0; ring->data && i < count; i++) {
        ring->data[i] = ring->contest->kernel->prepare(ring->size);
        if (!ring->data[i])
            break;
    }
    bool made = ring->data && ring->data[count - 1];
    if (!made)
        warnx("%s: no memory for the data", ring->contest->kernel->name);
    return made;
}

static bool make_samples(struct ring *ring)
{
    for (unsigned i = 0; i < ring->count; i++) {
        struct contender *c = &ring->contenders[i];
        if (!samples_init(&c->seconds, ring->reps) || !samples_init(&c->cpu, ring->reps) ||
            !samples_init(&c->steals, ring->reps) || !samples_init(&c->wakes, ring->reps))
            return false;
    }
    return true;
}

void ring_begin(struct ring *ring, const struct contest *contest, const struct bench_run *run)
{
    *ring = (struct ring){
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

bool ring_make(struct ring *ring)
{
    return make_samples(ring) && make_data(ring);
}

bool ring_open(struct ring *ring, const struct contest *contest, const struct bench_run *run)
{
    ring_begin(ring, contest, run);
    return add_contenders(ring) && ring_make(ring);
}

void ring_close(struct ring *ring)
{
    for (unsigned i = 0; i < ring->count; i++) {
        struct contender *c = &ring->contenders[i];
        if (c->pool)
            weft_pool_destroy(c->pool);
        peer_stop(&c->peer);
        samples_free(&c->seconds);
        samples_free(&c->cpu);
        samples_free(&c->steals);
        samples_free(&c->wakes);
    }
    for (void **data = ring->data; data && *data; data++)
        ring->contest->kernel->release(*data);
    free(ring->data);
}

/* ---- Taking turns ---- */

static void run_here(const struct ring *ring, const struct contender *c)
{
    if (c->run)
        c->run(c, ring->contest, ring->data[0]);
    else if (c->kind == RING_WEFT && c->fn)
        weft_run(c->pool, c->fn, ring->data[0]);
    else if (c->kind == RING_WEFT)
        ring->contest->weft(c->pool, ring->data[0]);
    else if (c->kind == RING_RECURSIVE)
        ring->contest->kernel->recursive(ring->data[0]);
    else
        ring->contest->kernel->sequential(ring->data[0]);
}

static void turn_here(const struct ring *ring, const struct contender *c, struct turn *turn)
{
    const struct kernel *kernel = ring->contest->kernel;
    kernel->reset(ring->data[0]);
    double cpu = clock_cpu(), start = clock_now();
    run_here(ring, c);
    turn->seconds = clock_now() - start;
    turn->cpu = clock_cpu() - cpu;
    if (ring->contest->own_cpu)
        turn->cpu -= ring->contest->own_cpu(ring->data[0]);
    turn->checksum = kernel->checksum(ring->data[0]);
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
static void turn_weft(const struct ring *ring, struct contender *c, struct turn *turn)
{
    if (ring->contest->ready) {
        ring->contest->ready(c->pool, ring->data[0]);
        bench_until_asleep(c->pool);
    }
    struct deeds before = deeds(c->pool);
    turn_here(ring, c, turn);
    bench_until_asleep(c->pool);
    struct deeds after = deeds(c->pool);
    samples_add(&c->steals, after.steals - before.steals);
    samples_add(&c->wakes, after.wakes - before.wakes);
}

static bool turn_take(struct ring *ring, struct contender *c, struct turn *turn)
{
    switch (c->kind) {
    case RING_WEFT:
        turn_weft(ring, c, turn);
        return true;
    case RING_PEER:
        return peer_turn(&c->peer, turn);
    case RING_COPIES:
        return copies_turn(ring->contest->kernel, ring->data, c->workers, turn);
    default:
        turn_here(ring, c, turn);
        return true;
    }
}

static bool agrees(struct ring *ring, const struct contender *c, uint64_t checksum)
{
    if (!ring->known) {
        ring->known = true;
        ring->checksum = checksum;
    }
    if (checksum != ring->checksum)
        warnx("%s: wrong result: %s with %u workers has checksum %" PRIx64 ", not %" PRIx64,
              ring->contest->kernel->name, c->name, c->workers, checksum, ring->checksum);
    return checksum == ring->checksum;
}

static bool one_turn(struct ring *ring, struct contender *c)
{
    if (c->seconds.count >= SLOW_REPS && c->spent > SLOW_SECONDS)
        return true;
    struct turn turn = {0};
    if (!turn_take(ring, c, &turn))
        return false;
    samples_add(&c->seconds, turn.seconds);
    samples_add(&c->cpu, turn.cpu);
    c->spent += turn.seconds;
    return agrees(ring, c, turn.checksum);
}

/* Each round begins with another contender, so that none always follows the same one. The
 * first begins with the sequential twin, which therefore is right by definition. */
bool ring_run(struct ring *ring)
{
    struct progress progress;
    progress_begin(&progress, ring->contest->kernel->name, (uint64_t)ring->reps * ring->count);
    bool good = true;
    for (unsigned rep = 0; rep < ring->reps && good; rep++)
        for (unsigned i = 0; i < ring->count && good; i++) {
            good = one_turn(ring, &ring->contenders[(rep + i) % ring->count]);
            progress_step(&progress, 1);
        }
    progress_end(&progress);
    return good;
}

/* ---- What came out ---- */

/* Copies do the work as many times as there are of them. */
static double per_work(const struct contender *c, double value)
{
    return c->kind == RING_COPIES ? value / c->workers : value;
}

/* The twin is the first of them. */
void ring_summarise(struct ring *ring)
{
    const struct contender *twin = &ring->contenders[0];
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
        c->result.ns_per_op = per_work(c, c->result.seconds.median) * 1e9 / operations;
        c->result.times_twin = per_work(c, samples_ratio(&c->seconds, &twin->seconds));
        c->result.plotted = ring->contest->mostly_asleep ? samples_ratio(&c->cpu, &twin->cpu)
                                                         : c->result.times_twin;
    }
}
