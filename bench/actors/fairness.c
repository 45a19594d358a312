/* SPDX-License-Identifier: MIT */
/* Small requests alone and beside a greedy one: as actors, as jobs of a plain pool, and in
 * oneTBB. */
#include "../../tool/progress.h"
#include "actors.h"
#include "fair.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FAIR_REPS = 5,
    FAIR_REPS_QUICK = 1,
    REQUESTS = 100,
    REQUESTS_QUICK = 10,
};

/* ---- The work, for both of weft's ---- */

struct range {
    uint64_t seed, result;
    unsigned lo, hi;
};

static uint64_t work(weft *w, uint64_t seed, unsigned lo, unsigned hi);

static void work_run(weft *w, void *arg)
{
    struct range *range = arg;
    range->result = work(w, range->seed, range->lo, range->hi);
}

static uint64_t work(weft *w, uint64_t seed, unsigned lo, unsigned hi)
{
    if (hi - lo == 1)
        return fair_leaf(seed, lo);
    unsigned middle = lo + (hi - lo) / 2;
    struct range right = {.seed = seed, .lo = middle, .hi = hi};
    weft *in = weft_fork(w, work_run, &right);
    uint64_t left = work(in, seed, lo, middle);
    return left + (weft_merge(w) ? right.result : work(w, seed, middle, hi));
}

struct greed {
    struct fair *fair;
    unsigned levels;
};

static void greed(weft *w, void *arg)
{
    struct greed *all = arg;
    if (fair_stopped(all->fair))
        return;
    if (all->levels == 0) {
        fair_greedy_leaf(all->levels);
        return;
    }
    struct greed half = {all->fair, all->levels - 1};
    weft_join(w, greed, &half, greed, &half);
}

static void request_job(weft *w, void *arg)
{
    struct fair_request *request = arg;
    fair_request_over(request, work(w, request->seed, 0, FAIR_LEAVES));
}

static void greedy_job(weft *w, void *arg)
{
    greed(w, &(struct greed){arg, FAIR_GREEDY_LEVELS});
    fair_greedy_over(arg);
}

/* ---- As actors, and as jobs ---- */

struct server {
    weft_pool *pool;
    weft_task greedy, *tasks;
    struct fair *fair;
};

static int request_actor(weft *w, void *arg)
{
    request_job(w, arg);
    return 0;
}

static int greedy_actor(weft *w, void *arg)
{
    greedy_job(w, arg);
    return 0;
}

static void start_actor(struct server *server, weft_actor_fn *fn, void *arg)
{
    weft_actor *actor = actors_start(server->pool, fn, arg, NULL);
    if (!actor)
        exit(EXIT_FAILURE); /* with its message: whoever waits for it would wait for ever */
    weft_actor_release(actor);
}

static void actors_request(struct fair_request *request, void *data)
{
    start_actor(data, request_actor, request);
}

static void actors_greedy(struct fair *fair, void *data)
{
    start_actor(data, greedy_actor, fair);
}

static void jobs_request(struct fair_request *request, void *data)
{
    struct server *server = data;
    weft_submit(server->pool, &server->tasks[request - server->fair->requests], request_job,
                request);
}

static void jobs_greedy(struct fair *fair, void *data)
{
    struct server *server = data;
    weft_submit(server->pool, &server->greedy, greedy_job, fair);
}

static void serve_actors(struct server *server)
{
    struct fair_runtime runtime = {actors_request, actors_greedy, server};
    fair_client(server->fair, &runtime);
}

static void serve_jobs(struct server *server)
{
    struct fair_runtime runtime = {jobs_request, jobs_greedy, server};
    fair_client(server->fair, &runtime);
    for (unsigned i = 0; i < server->fair->count; i++)
        weft_task_wait(&server->tasks[i]);
    if (server->fair->greedy)
        weft_task_wait(&server->greedy);
}

/* ---- Taking turns ---- */

enum { ALONE, BESIDE, CASES };
enum { ACTORS, JOBS, TBB, SERVERS };

static const char *const server_names[SERVERS] = {"actors", "plain pool", "tbb"};

struct contest_of {
    const char *bench, *what;
    const struct kernel *kernels[CASES];
};

static const struct contest_of contests[] = {
    {"actors/fair-stream", "one every 3 ms", {&fair_stream_kernel, &fair_stream_greedy_kernel}},
    {"actors/fair-together", "all at once", {&fair_together_kernel, &fair_together_greedy_kernel}},
};

struct fairness {
    const struct bench_run *run;
    const struct contest_of *contest;
    unsigned count, reps;
    weft_pool *pools[2]; /* actors', plain */
    struct fair *fair[CASES];
    weft_task *tasks;
    struct peer peers[CASES];
    bool has_peer;
    struct samples took[SERVERS][CASES]; /* all requests of all repetitions, */
    struct samples half[SERVERS][CASES], last[SERVERS][CASES]; /* and of each: p50, p99 */
    uint64_t checksum;
    bool known;
};

static bool open_peers(struct fairness *f)
{
    bool failed = false;
    f->has_peer = bench_has_peer(f->run, "tbb");
    for (int i = 0; i < CASES && f->has_peer; i++)
        f->has_peer = peer_start(&f->peers[i], "tbb", f->contest->kernels[i]->name, f->count,
                                 f->run->workers, &failed);
    return !failed;
}

static bool open(struct fairness *f)
{
    bool good = open_peers(f);
    for (int i = 0; i < 2 && good; i++) {
        f->pools[i] = bench_pool(&(weft_config){.workers = f->run->workers});
        good = f->pools[i] != NULL;
    }
    for (int i = 0; i < CASES && good; i++) {
        f->fair[i] = f->contest->kernels[i]->prepare(f->count);
        good = f->fair[i] != NULL;
        for (int s = 0; s < SERVERS && good; s++)
            good = samples_init(&f->took[s][i], (size_t)f->count * f->reps) &&
                   samples_init(&f->half[s][i], f->reps) && samples_init(&f->last[s][i], f->reps);
    }
    f->tasks = calloc(f->count, sizeof *f->tasks);
    return good && f->tasks;
}

static void close(struct fairness *f)
{
    for (int i = 0; i < 2; i++)
        if (f->pools[i])
            weft_pool_destroy(f->pools[i]);
    for (int i = 0; i < CASES; i++) {
        peer_stop(&f->peers[i]);
        if (f->fair[i])
            f->contest->kernels[i]->release(f->fair[i]);
        for (int s = 0; s < SERVERS; s++) {
            samples_free(&f->took[s][i]);
            samples_free(&f->half[s][i]);
            samples_free(&f->last[s][i]);
        }
    }
    free(f->tasks);
}

static uint64_t serve_here(struct fairness *f, int server, int beside, struct samples *took)
{
    const struct kernel *kernel = f->contest->kernels[beside];
    struct server own = {.pool = f->pools[server], .tasks = f->tasks, .fair = f->fair[beside]};
    kernel->reset(own.fair);
    bench_until_asleep(own.pool);
    if (server == ACTORS)
        serve_actors(&own);
    else
        serve_jobs(&own);
    bench_until_asleep(own.pool);
    unsigned count;
    const double *times = kernel->times(own.fair, &count);
    for (unsigned i = 0; i < count; i++)
        samples_add(took, times[i]);
    return kernel->checksum(own.fair);
}

static bool turn(struct fairness *f, int server, int beside)
{
    struct samples *took = &f->took[server][beside];
    size_t before = took->count;
    struct turn turn = {.times = took};
    if (server == TBB && !peer_turn(&f->peers[beside], &turn))
        return false;
    if (server != TBB)
        turn.checksum = serve_here(f, server, beside, took);
    struct samples these = {took->count - before, took->values + before};
    struct summary summary = samples_summary(&these);
    samples_add(&f->half[server][beside], summary.median);
    samples_add(&f->last[server][beside], summary.last);
    if (!f->known)
        f->checksum = turn.checksum;
    f->known = true;
    if (turn.checksum != f->checksum)
        warnx("%s: wrong result of %s: %" PRIx64 ", not %" PRIx64, f->contest->bench,
              server_names[server], turn.checksum, f->checksum);
    return turn.checksum == f->checksum;
}

static bool take_turns(struct fairness *f)
{
    int servers = f->has_peer ? SERVERS : SERVERS - 1;
    struct progress progress;
    bool good = true;
    progress_begin(&progress, f->contest->bench, (uint64_t)f->reps * (unsigned)(servers * CASES));
    for (unsigned rep = 0; rep < f->reps && good; rep++)
        for (int i = 0; i < servers * CASES && good; i++) {
            int server = (int)(rep + (unsigned)i / CASES) % servers;
            good = turn(f, server, i % CASES);
            progress_step(&progress, 1);
        }
    progress_end(&progress);
    return good;
}

/* ---- What came out ---- */

static void add_results(const struct fairness *f, int server)
{
    static const char *const cases[CASES] = {"alone", "beside a greedy one"};
    static char names[SERVERS][CASES][48]; /* the report keeps them */
    for (int i = 0; i < CASES; i++) {
        snprintf(names[server][i], sizeof names[server][i], "%s, %s", server_names[server],
                 cases[i]);
        struct summary seconds = samples_summary(&f->took[server][i]);
        report_add(f->run->report, &(struct result){
                                       .bench = f->contest->bench,
                                       .peer = names[server][i],
                                       .workers = f->run->workers,
                                       .seconds = seconds,
                                       .ns_per_op = seconds.median * 1e9,
                                       .checksum = f->checksum,
                                       .steals = -1,
                                       .measured = true,
                                       .value = samples_summary(&f->last[server][i]).median,
                                   });
    }
}

static void print(const struct fairness *f)
{
    struct report *report = f->run->report;
    report_title(report,
                 "actors: %u requests of 1 ms, %s, alone and beside one that forks without "
                 "end, %u workers: ms\n",
                 f->count, f->contest->what, f->run->workers);
    report_title(report, "  %-12s %12s %10s %14s %10s %14s\n", "", "alone: 50 %", "99 %",
                 "beside: 50 %", "99 %", "99 %, ratio");
    for (int s = 0; s < (f->has_peer ? SERVERS : SERVERS - 1); s++) {
        report_title(report, "  %-12s %12.2f %10.2f %14.2f %10.2f %14.2f\n", server_names[s],
                     samples_summary(&f->half[s][ALONE]).median * 1e3,
                     samples_summary(&f->last[s][ALONE]).median * 1e3,
                     samples_summary(&f->half[s][BESIDE]).median * 1e3,
                     samples_summary(&f->last[s][BESIDE]).median * 1e3,
                     samples_ratio(&f->last[s][BESIDE], &f->last[s][ALONE]));
        add_results(f, s);
    }
    actors_claim(f->run, f->contest->bench, "actors, 99th of 100: beside / alone",
                 samples_ratio(&f->last[ACTORS][BESIDE], &f->last[ACTORS][ALONE]), REPORT_AT_MOST,
                 1.5);
    report_title(report, "\n");
}

static bool contest(const struct bench_run *run, const struct contest_of *contest)
{
    struct fairness f = {
        .run = run,
        .contest = contest,
        .count = run->quick ? REQUESTS_QUICK : REQUESTS,
        .reps = run->reps    ? run->reps
                : run->quick ? FAIR_REPS_QUICK
                             : FAIR_REPS,
    };
    bool good = open(&f) && take_turns(&f);
    if (good)
        print(&f);
    close(&f);
    return good;
}

bool actors_fairness(const struct bench_run *run)
{
    for (size_t i = 0; i < sizeof contests / sizeof contests[0]; i++)
        if (!contest(run, &contests[i]))
            return false;
    return true;
}
