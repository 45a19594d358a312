/* SPDX-License-Identifier: MIT */
/* Calls alone and beside long tasks, in turns: the twin's, weft's, oneTBB's and Rayon's. */
#include "captured.h"

#include "../../tool/progress.h"
#include "../bench.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    REPS = 5,
    REPS_QUICK = 1,
    CALLS = 40,
    CALLS_QUICK = 4,
};

enum { ALONE, BESIDE, CASES };
enum { TWIN, WEFT, TBB, RAYON, SERVERS };

static const char *const names[SERVERS] = {"sequential", "weft", "tbb", "rayon"};
static const struct kernel *const kernels[CASES] = {&captured_alone_kernel,
                                                    &captured_beside_kernel};

struct trial {
    const struct bench_run *run;
    unsigned calls, reps;
    weft_pool *pool;
    struct captured *data[CASES];
    struct peer peers[SERVERS][CASES];
    bool absent[SERVERS];
    struct samples took[SERVERS][CASES]; /* all calls of all repetitions */
    uint64_t checksum;
    bool known;
};

/* ---- Setting up ---- */

/* False, with a message. */
static bool open_peer(struct trial *t, int server)
{
    bool failed = false;
    unsigned workers = t->run->workers, size = CAPTURED_SIZE(workers, t->calls);
    t->absent[server] = !bench_has_peer(t->run, names[server]);
    for (int i = 0; i < CASES && !t->absent[server]; i++)
        t->absent[server] = !peer_start(&t->peers[server][i], names[server], kernels[i]->name, size,
                                        workers, &failed);
    return !failed;
}

static bool open_data(struct trial *t)
{
    for (int i = 0; i < CASES; i++) {
        t->data[i] = kernels[i]->prepare(CAPTURED_SIZE(t->run->workers, t->calls));
        if (!t->data[i])
            return false;
        for (int s = 0; s < SERVERS; s++)
            if (!samples_init(&t->took[s][i], (size_t)t->calls * t->reps))
                return false;
    }
    return true;
}

/* Peers come first, for a fork is cheap only while there is no data. */
static bool open(struct trial *t)
{
    if (!open_peer(t, TBB) || !open_peer(t, RAYON))
        return false;
    t->pool = bench_pool(&(weft_config){.workers = t->run->workers});
    return t->pool && open_data(t);
}

static void close(struct trial *t)
{
    if (t->pool)
        weft_pool_destroy(t->pool);
    for (int i = 0; i < CASES; i++) {
        if (t->data[i])
            kernels[i]->release(t->data[i]);
        for (int s = 0; s < SERVERS; s++) {
            peer_stop(&t->peers[s][i]);
            samples_free(&t->took[s][i]);
        }
    }
}

/* ---- Taking turns ---- */

static void turn_here(struct trial *t, int server, int beside, struct turn *turn)
{
    const struct kernel *kernel = kernels[beside];
    struct captured *data = t->data[beside];
    kernel->reset(data);
    bench_until_asleep(t->pool);
    if (server == WEFT)
        captured_weft(t->pool, data);
    else
        kernel->sequential(data);
    bench_until_asleep(t->pool);
    unsigned count;
    const double *times = kernel->times(data, &count);
    for (unsigned i = 0; i < count; i++)
        samples_add(turn->times, times[i]);
    turn->checksum = kernel->checksum(data);
}

static bool agrees(struct trial *t, int server, uint64_t checksum)
{
    if (!t->known)
        t->checksum = checksum;
    t->known = true;
    if (checksum != t->checksum)
        warnx("captured: wrong result of %s: %" PRIx64 ", not %" PRIx64, names[server], checksum,
              t->checksum);
    return checksum == t->checksum;
}

static bool take_turn(struct trial *t, int server, int beside)
{
    struct turn turn = {.times = &t->took[server][beside]};
    if (server == TWIN || server == WEFT)
        turn_here(t, server, beside, &turn);
    else if (!peer_turn(&t->peers[server][beside], &turn))
        return false;
    return agrees(t, server, turn.checksum);
}

/* Alone and beside follow each other. The first is the twin's, which is right by definition. */
static bool take_turns(struct trial *t)
{
    struct progress progress;
    bool good = true;
    progress_begin(&progress, "captured", (uint64_t)t->reps * SERVERS);
    for (unsigned rep = 0; rep < t->reps && good; rep++)
        for (unsigned i = 0; i < SERVERS && good; i++) {
            int server = (int)((rep + i) % SERVERS);
            if (!t->absent[server])
                good = take_turn(t, server, ALONE) && take_turn(t, server, BESIDE);
            progress_step(&progress, 1);
        }
    progress_end(&progress);
    return good;
}

/* ---- What came out ---- */

static void add_result(const struct trial *t, int server, int beside)
{
    static const char *const cases[CASES] = {"alone", "beside long tasks"};
    static char texts[SERVERS][CASES][48]; /* the report keeps them */
    char *text = texts[server][beside];
    struct summary seconds = samples_summary(&t->took[server][beside]);
    snprintf(text, sizeof texts[server][beside], "%s, %s", names[server], cases[beside]);
    report_add(t->run->report, &(struct result){
                                   .bench = "captured",
                                   .peer = text,
                                   .workers = t->run->workers,
                                   .seconds = seconds,
                                   .ns_per_op = seconds.median * 1e9,
                                   .checksum = t->checksum,
                                   .steals = -1,
                                   .measured = true,
                                   .value = seconds.last,
                               });
}

static void print_row(const struct trial *t, int server)
{
    struct summary alone = samples_summary(&t->took[server][ALONE]);
    struct summary beside = samples_summary(&t->took[server][BESIDE]);
    report_title(t->run->report, "  %-12s %11.2f %9.2f %12.2f %9.2f %12.2f %9.2f\n", names[server],
                 alone.median * 1e3, alone.last * 1e3, beside.median * 1e3, beside.last * 1e3,
                 beside.median / alone.median, beside.last / alone.median);
    add_result(t, server, ALONE);
    add_result(t, server, BESIDE);
}

static void print_all(const struct trial *t)
{
    report_title(t->run->report,
                 "captured: %u calls of 2 ms of work, alone and while tasks of %.0f ms keep all "
                 "%u workers: ms\n",
                 t->calls * t->reps, CAPTURED_LONG * 1e3, t->run->workers);
    report_title(t->run->report, "  %-12s %11s %9s %12s %9s %12s %9s\n", "", "alone: 50 %", "99 %",
                 "beside: 50 %", "99 %", "/ alone 50 %", "99 %");
    for (int s = 0; s < SERVERS; s++)
        if (!t->absent[s])
            print_row(t, s);
    report_title(t->run->report, "\n");
}

int bench_captured(const struct bench_run *run)
{
    struct trial trial = {
        .run = run,
        .calls = run->quick ? CALLS_QUICK : CALLS,
        .reps = run->reps    ? run->reps
                : run->quick ? REPS_QUICK
                             : REPS,
    };
    bool good = open(&trial) && take_turns(&trial);
    if (good)
        print_all(&trial);
    close(&trial);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
