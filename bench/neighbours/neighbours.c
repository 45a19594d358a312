/* SPDX-License-Identifier: MIT */
/* What one user of the library costs the others: forks while somebody else has a deadline, runs
 * that fail beside runs that don't in pools of any size, and the question where one is under many
 * pending forks. In turns, each beside its twin: the same without the neighbour. */
#include "../../tool/progress.h"
#include "../bench.h"
#include "../clock.h"
#include "../peer.h"
#include "joins.h"

#include <err.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPS = 31,
    REPS_QUICK = 2,
    FORKS = 1000, /* one sample */
    ROUNDS = 100, /* of them in a repetition */
    ROUNDS_QUICK = 2,
    RUNS = 200,
    RUNS_QUICK = 5,
    SMALL = 2,
    MIDDLE = 64,
    LARGE = 256,
    FEW_PENDING = 10,
    MANY_PENDING = 30000,
};

#define AN_HOUR UINT64_C(3600000000000)

enum row {
    FORKS_ALONE,
    FORKS_BESIDE,
    FORKS_UNDER,
    RUN_SMALL,
    FAIL_SMALL,
    FAIL_MIDDLE,
    RUN_LARGE,
    FAIL_LARGE,
    HERE_FEW,
    HERE_MANY,
    RUN_FEW,
    RUN_MANY,
    JOIN_WEFT, /* of each runtime: its joins that succeed, that fail, and that throw */
    JOIN_WEFT_FAILS,
    JOIN_TBB,
    JOIN_TBB_FAILS,
    JOIN_TBB_THROWS,
    JOIN_RAYON,
    JOIN_RAYON_FAILS,
    JOIN_RAYON_THROWS,
    ROWS
};

static const char *const names[ROWS] = {
    [FORKS_ALONE] = "1000 forks, nobody has a deadline",
    [FORKS_BESIDE] = "1000 forks, somebody else has one",
    [FORKS_UNDER] = "1000 forks under a deadline",
    [RUN_SMALL] = "a run that succeeds, 2 workers",
    [FAIL_SMALL] = "a run that fails, 2 workers",
    [FAIL_MIDDLE] = "a run that fails, 64 workers",
    [RUN_LARGE] = "a run that succeeds, 256 workers",
    [FAIL_LARGE] = "a run that fails, 256 workers",
    [HERE_FEW] = "weft_here, 10 forks pending",
    [HERE_MANY] = "weft_here, 30,000 forks pending",
    [RUN_FEW] = "weft_run inside a job, 10 forks pending",
    [RUN_MANY] = "weft_run inside a job, 30,000 forks pending",
    [JOIN_WEFT] = "a join that succeeds, weft",
    [JOIN_WEFT_FAILS] = "a join that fails, weft",
    [JOIN_TBB] = "a join that succeeds, tbb",
    [JOIN_TBB_FAILS] = "a join that is cancelled, tbb",
    [JOIN_TBB_THROWS] = "a join that throws, tbb",
    [JOIN_RAYON] = "a join that succeeds, rayon",
    [JOIN_RAYON_FAILS] = "a join that returns Err, rayon",
    [JOIN_RAYON_THROWS] = "a join that panics, rayon",
};

static bool is_of_peer(enum row row)
{
    return row >= JOIN_TBB;
}

struct neighbours {
    weft_pool *alone; /* one worker, which is the caller: nobody else is there to look for */
    weft_pool *small, *middle, *large;
    unsigned rounds, runs;
    struct peer peers[ROWS]; /* of their rows; those that are not there have no pid */
    struct samples took[ROWS];
};

static void nothing(weft *w, void *arg)
{
    (void)w;
    (void)arg;
}

/* ---- Forks ---- */

struct forks {
    unsigned rounds;
    bool under; /* a deadline of their own */
    double each;
};

static void fork_rounds(weft *w, struct forks *forks)
{
    double start = clock_now();
    for (unsigned i = 0; i < forks->rounds * FORKS; i++) {
        weft_fork(w, nothing, NULL);
        if (!weft_merge(w))
            nothing(w, NULL);
    }
    forks->each = (clock_now() - start) / forks->rounds;
}

static void fork_many(weft *w, void *arg)
{
    struct forks *forks = arg;
    weft_scope scope;
    if (!forks->under) {
        fork_rounds(w, forks);
        return;
    }
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + AN_HOUR);
    fork_rounds(w, forks);
    weft_scope_close(w, &scope);
}

static void measure_forks(struct neighbours *n, enum row row)
{
    struct forks forks = {.rounds = n->rounds, .under = row == FORKS_UNDER};
    weft_run(n->alone, fork_many, &forks);
    samples_add(&n->took[row], forks.each);
}

/* The neighbour: another thread, in another pool, with a deadline that is far away. */
struct holder {
    weft_pool *pool;
    sem_t holds, over;
};

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ; /* a signal */
}

static void hold(weft *w, void *arg)
{
    struct holder *holder = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + AN_HOUR);
    sem_post(&holder->holds);
    wait_for(&holder->over);
    weft_scope_close(w, &scope);
}

static void *hold_in_thread(void *arg)
{
    struct holder *holder = arg;
    weft_run(holder->pool, hold, holder);
    return NULL;
}

static void measure_forks_beside(struct neighbours *n)
{
    struct holder holder = {.pool = n->small};
    pthread_t thread;
    sem_init(&holder.holds, 0, 0);
    sem_init(&holder.over, 0, 0);
    int error = pthread_create(&thread, NULL, hold_in_thread, &holder);
    if (error)
        errx(EXIT_FAILURE, "neighbours: no thread: %s", strerror(error));
    wait_for(&holder.holds);
    measure_forks(n, FORKS_BESIDE);
    sem_post(&holder.over);
    pthread_join(thread, NULL);
    sem_destroy(&holder.holds);
    sem_destroy(&holder.over);
}

/* ---- Failing ---- */

static void fail(weft *w, void *arg)
{
    (void)arg;
    weft_fail(w, 1);
}

static void join_and_fail(weft *w, void *arg)
{
    weft_join(w, fail, arg, nothing, NULL);
}

static void join(weft *w, void *arg)
{
    weft_join(w, nothing, arg, nothing, NULL);
}

static void measure_runs(struct neighbours *n, enum row row, weft_pool *pool, weft_fn *fn)
{
    int failed = 0;
    double start = clock_now();
    for (unsigned i = 0; i < n->runs; i++)
        failed += weft_run(pool, fn, NULL);
    samples_add(&n->took[row], (clock_now() - start) / n->runs);
    if ((unsigned)failed != (fn == fail || fn == join_and_fail ? n->runs : 0))
        errx(EXIT_FAILURE, "neighbours: %d runs failed", failed);
}

/* A process for each row: it is stopped between its turns. */
static bool start_peer(struct neighbours *n, const struct bench_run *run, enum row row,
                       const char *name, const struct kernel *kernel)
{
    bool failed = false;
    if (bench_has_peer(run, name))
        peer_start(&n->peers[row], name, kernel->name, n->runs, SMALL, &failed);
    return !failed;
}

static bool start_peers(struct neighbours *n, const struct bench_run *run)
{
    return start_peer(n, run, JOIN_TBB, "tbb", &joins_fine_kernel) &&
           start_peer(n, run, JOIN_TBB_FAILS, "tbb", &joins_failing_kernel) &&
           start_peer(n, run, JOIN_TBB_THROWS, "tbb", &joins_throwing_kernel) &&
           start_peer(n, run, JOIN_RAYON, "rayon", &joins_fine_kernel) &&
           start_peer(n, run, JOIN_RAYON_FAILS, "rayon", &joins_failing_kernel) &&
           start_peer(n, run, JOIN_RAYON_THROWS, "rayon", &joins_throwing_kernel);
}

static bool is_there(const struct neighbours *n, enum row row)
{
    return !is_of_peer(row) || n->peers[row].pid > 0;
}

static void measure_peer(struct neighbours *n, enum row row)
{
    struct turn turn = {.times = NULL};
    if (!is_there(n, row))
        return;
    bool fine = row == JOIN_TBB || row == JOIN_RAYON;
    if (!peer_turn(&n->peers[row], &turn) || turn.checksum != (fine ? 0 : n->runs))
        errx(EXIT_FAILURE, "neighbours: %s went wrong", names[row]);
    samples_add(&n->took[row], turn.seconds / n->runs);
}

/* ---- Where am I ---- */

struct depth {
    struct neighbours *all;
    unsigned pending;
    bool many;
};

static void ask(weft *w, struct depth *depth)
{
    struct neighbours *n = depth->all;
    double start = clock_now();
    for (unsigned i = 0; i < n->runs; i++)
        if (weft_here() != w)
            errx(EXIT_FAILURE, "neighbours: weft_here is wrong");
    double between = clock_now();
    for (unsigned i = 0; i < n->runs; i++)
        if (weft_run(n->alone, nothing, NULL) != 0)
            errx(EXIT_FAILURE, "neighbours: a run failed");
    samples_add(&n->took[depth->many ? HERE_MANY : HERE_FEW], (between - start) / n->runs);
    samples_add(&n->took[depth->many ? RUN_MANY : RUN_FEW], (clock_now() - between) / n->runs);
}

static void ask_above(weft *w, void *arg)
{
    struct depth *depth = arg;
    weft *in = w;
    for (unsigned i = 0; i < depth->pending; i++)
        in = weft_fork(in, nothing, NULL);
    ask(in, depth);
    while (in-- > w)
        if (!weft_merge(in))
            nothing(in, NULL);
}

static void measure_here(struct neighbours *n, bool many)
{
    struct depth depth = {n, many ? MANY_PENDING : FEW_PENDING, many};
    weft_run(n->alone, ask_above, &depth);
}

/* ---- Together ---- */

static void measure(struct neighbours *n)
{
    measure_forks(n, FORKS_ALONE);
    measure_forks_beside(n);
    measure_forks(n, FORKS_UNDER);
    measure_runs(n, RUN_SMALL, n->small, nothing);
    measure_runs(n, FAIL_SMALL, n->small, fail);
    measure_runs(n, FAIL_MIDDLE, n->middle, fail);
    measure_runs(n, RUN_LARGE, n->large, nothing);
    measure_runs(n, FAIL_LARGE, n->large, fail);
    measure_here(n, false);
    measure_here(n, true);
    measure_runs(n, JOIN_WEFT, n->small, join);
    measure_runs(n, JOIN_WEFT_FAILS, n->small, join_and_fail);
    for (int row = JOIN_TBB; row < ROWS; row++)
        measure_peer(n, (enum row)row);
}

static unsigned workers_of(enum row row)
{
    if (row == RUN_SMALL || row == FAIL_SMALL || row >= JOIN_WEFT)
        return SMALL;
    if (row == RUN_LARGE || row == FAIL_LARGE)
        return LARGE;
    return row == FAIL_MIDDLE ? MIDDLE : 1;
}

static void claim(struct neighbours *n, const struct report *report, const char *what, enum row row,
                  enum row twin, double limit)
{
    report_claim(report, what, samples_ratio(&n->took[row], &n->took[twin]), REPORT_AT_MOST, limit);
}

/* Of peers nothing is claimed. */
static void report_ratio(struct neighbours *n, const struct report *report, const char *what,
                         enum row row, enum row twin)
{
    if (is_there(n, row) && is_there(n, twin))
        claim(n, report, what, row, twin, 0);
}

static void print_all(struct neighbours *n, struct report *report)
{
    report_title(report, "neighbours: what others cost: us, median (10%% to 90%%)\n");
    for (int row = 0; row < ROWS; row++) {
        if (!is_there(n, (enum row)row))
            continue;
        struct summary seconds = samples_summary(&n->took[row]);
        report_sample(report, &(struct result){
                                  .bench = "neighbours",
                                  .peer = names[row],
                                  .workers = workers_of((enum row)row),
                                  .seconds = seconds,
                                  .ns_per_op = seconds.median * 1e9,
                                  .steals = -1,
                              });
    }
    claim(n, report, "a fork beside a deadline / alone", FORKS_BESIDE, FORKS_ALONE, 1.2);
    claim(n, report, "a run that fails / one that succeeds, 2 workers", FAIL_SMALL, RUN_SMALL, 1.5);
    claim(n, report, "a run that fails / one that succeeds, 256 workers", FAIL_LARGE, RUN_LARGE,
          1.5);
    claim(n, report, "a join that fails / one that succeeds, weft", JOIN_WEFT_FAILS, JOIN_WEFT,
          1.5);
    report_ratio(n, report, "the same, tbb, cancelled", JOIN_TBB_FAILS, JOIN_TBB);
    report_ratio(n, report, "the same, tbb, thrown", JOIN_TBB_THROWS, JOIN_TBB);
    report_ratio(n, report, "the same, rayon, Err", JOIN_RAYON_FAILS, JOIN_RAYON);
    report_ratio(n, report, "the same, rayon, a panic", JOIN_RAYON_THROWS, JOIN_RAYON);
    claim(n, report, "weft_here, 30,000 forks pending / 10", HERE_MANY, HERE_FEW, 3);
    report_title(report, "\n");
}

static bool open_all(struct neighbours *n, unsigned reps)
{
    n->alone = bench_pool(&(weft_config){.workers = 1, .flags = WEFT_USE_CALLER});
    n->small = bench_pool(&(weft_config){.workers = SMALL});
    n->middle = bench_pool(&(weft_config){.workers = MIDDLE});
    n->large = bench_pool(&(weft_config){.workers = LARGE});
    for (int row = 0; row < ROWS; row++)
        if (!samples_init(&n->took[row], reps))
            return false;
    return n->alone && n->small && n->middle && n->large;
}

static void close_all(struct neighbours *n)
{
    for (int row = 0; row < ROWS; row++)
        peer_stop(&n->peers[row]);
    weft_pool *const pools[] = {n->large, n->middle, n->small, n->alone};
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++)
        if (pools[i])
            weft_pool_destroy(pools[i]);
    for (int row = 0; row < ROWS; row++)
        samples_free(&n->took[row]);
}

int bench_neighbours(const struct bench_run *run)
{
    unsigned reps = run->reps ? run->reps : run->quick ? REPS_QUICK : REPS;
    struct neighbours all = {.rounds = run->quick ? ROUNDS_QUICK : ROUNDS,
                             .runs = run->quick ? RUNS_QUICK : RUNS};
    bool ready = start_peers(&all, run) && open_all(&all, reps); /* forks come first */
    if (ready) {
        struct progress progress;
        progress_begin(&progress, "neighbours", reps);
        for (unsigned i = 0; i < reps; i++) {
            measure(&all);
            progress_step(&progress, 1);
        }
        progress_end(&progress);
        print_all(&all, run->report);
    }
    close_all(&all);
    return ready ? EXIT_SUCCESS : EXIT_FAILURE;
}
