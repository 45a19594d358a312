/* SPDX-License-Identifier: MIT */
/* What a trace costs the program that is traced: nqueens, bursty and spawn with and without one, in
 * turns; and what one record costs, in CPU time, with the file that it goes into. */
#include "../../tool/progress.h"
#include "../clock.h"
#include "../contest.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/trace.h>

enum { REPS = 41, REPS_QUICK = 2 };

/* 14 queens take so long that the beginning of a file, some 0.1 ms, is nothing to them. */
static const struct {
    const struct contest *contest;
    unsigned size; /* 0: the contest's own */
} programs[] = {{&nqueens_contest, 14}, {&bursty_contest, 0}, {&spawn_contest, 0}};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

struct contender {
    const char *name;
    struct samples seconds, cpu;
    uint64_t checksum;
};

struct program {
    const struct contest *contest;
    unsigned size;
    struct contender off, on;
};

/* A file of its own for each repetition: as if it was the first. */
static int measure(const struct contest *contest, weft_pool *pool, void *data, const char *path,
                   struct contender *one)
{
    contest->kernel->reset(data);
    int error = path ? weft_trace_start(path, 0) : 0;
    double begun = clock_now(), cpu = clock_cpu();
    contest->weft(pool, data);
    samples_add(&one->cpu, clock_cpu() - cpu);
    samples_add(&one->seconds, clock_now() - begun);
    if (path && !error)
        error = weft_trace_stop();
    one->checksum = contest->kernel->checksum(data);
    if (error)
        warnx("trace: %s", weft_strerror(error));
    return error ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool make_samples(struct program *program, unsigned reps)
{
    return samples_init(&program->off.seconds, reps) && samples_init(&program->off.cpu, reps) &&
           samples_init(&program->on.seconds, reps) && samples_init(&program->on.cpu, reps);
}

static int run_program(struct program *program, const struct bench_run *run, const char *path,
                       unsigned reps, struct progress *progress)
{
    const struct contest *contest = program->contest;
    weft_pool *pool = bench_pool(&(weft_config){.workers = run->workers});
    void *data = contest->kernel->prepare(run->quick ? contest->quick : program->size);
    int status = pool && data && make_samples(program, reps) ? EXIT_SUCCESS : EXIT_FAILURE;
    for (unsigned i = 0; i < reps && status == EXIT_SUCCESS; i++) {
        struct contender *first = i % 2 ? &program->on : &program->off;
        struct contender *second = i % 2 ? &program->off : &program->on;
        status = measure(contest, pool, data, first == &program->on ? path : NULL, first);
        if (status == EXIT_SUCCESS)
            status = measure(contest, pool, data, second == &program->on ? path : NULL, second);
        progress_step(progress, 1);
    }
    if (data)
        contest->kernel->release(data);
    if (pool)
        weft_pool_destroy(pool);
    return status;
}

static void print(struct report *report, const struct program *program, const struct contender *one,
                  unsigned workers)
{
    struct summary seconds = samples_summary(&one->seconds);
    report_row(report, &(struct result){
                           .bench = program->contest->kernel->name,
                           .peer = one->name,
                           .workers = workers,
                           .seconds = seconds,
                           .ns_per_op = seconds.median * 1e9,
                           .cpu = samples_summary(&one->cpu).median,
                           .checksum = one->checksum,
                           .times_twin = samples_ratio(&one->cpu, &program->off.cpu),
                           .steals = -1,
                       });
}

static void print_all(struct report *report, const struct program *all, unsigned workers)
{
    for (unsigned i = 0; i < PROGRAMS; i++) {
        report_title(report, "trace, %s: CPU time with a trace / without\n",
                     all[i].contest->kernel->name);
        report_head(report, "run");
        print(report, &all[i], &all[i].off, workers);
        print(report, &all[i], &all[i].on, workers);
        report_title(report, "\n");
    }
}

/* ---- One record ---- */

enum { RECORDS = 500000, RECORDS_QUICK = 5000, RECORD_REPS = 11 };

static void record_end(int64_t i)
{
    (void)i;
    weft_span_end();
}

static void record_mark(int64_t i)
{
    weft_trace_mark("a mark", i);
}

static const struct {
    const char *name;
    bool traced;
    void (*record)(int64_t i);
} ways[] = {
    {"off", false, record_end},
    {"on", true, record_end},
    {"with a name", true, record_mark},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static int measure_records(unsigned way, const char *path, int64_t count, struct samples *cpu)
{
    int error = ways[way].traced ? weft_trace_start(path, 0) : 0;
    double begun = clock_cpu_here();
    for (int64_t i = 0; i < count; i++)
        ways[way].record(i);
    samples_add(cpu, (clock_cpu_here() - begun) / (double)count);
    if (ways[way].traced && !error)
        error = weft_trace_stop();
    if (error)
        warnx("trace: %s", weft_strerror(error));
    return error ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_records(const struct bench_run *run, const char *path, unsigned reps)
{
    struct samples cpu[WAYS] = {{0}};
    int status = EXIT_SUCCESS;
    for (unsigned i = 0; i < WAYS && status == EXIT_SUCCESS; i++)
        status = samples_init(&cpu[i], reps) ? EXIT_SUCCESS : EXIT_FAILURE;
    for (unsigned i = 0; i < WAYS * reps && status == EXIT_SUCCESS; i++)
        status =
            measure_records(i % WAYS, path, run->quick ? RECORDS_QUICK : RECORDS, &cpu[i % WAYS]);
    if (status == EXIT_SUCCESS) {
        report_title(run->report, "trace: CPU time of one record\n");
        report_head(run->report, "record");
    }
    for (unsigned i = 0; i < WAYS; i++) {
        struct summary seconds =
            status == EXIT_SUCCESS ? samples_summary(&cpu[i]) : (struct summary){0};
        if (status == EXIT_SUCCESS)
            report_row(run->report, &(struct result){.bench = "record",
                                                     .peer = ways[i].name,
                                                     .workers = 1,
                                                     .seconds = seconds,
                                                     .ns_per_op = seconds.median * 1e9,
                                                     .cpu = seconds.median,
                                                     .steals = -1});
        samples_free(&cpu[i]);
    }
    return status;
}

int bench_trace(const struct bench_run *run)
{
    unsigned reps = run->reps ? run->reps : run->quick ? REPS_QUICK : REPS;
    char path[] = "/tmp/weft-bench-XXXXXX";
    struct program all[PROGRAMS] = {{0}};
    int fd = mkstemp(path);
    if (fd < 0) {
        warn("trace: %s", path);
        return EXIT_FAILURE;
    }
    close(fd);
    int status = EXIT_SUCCESS;
    struct progress progress;
    progress_begin(&progress, "trace", PROGRAMS * reps);
    for (unsigned i = 0; i < PROGRAMS && status == EXIT_SUCCESS; i++) {
        const struct contest *contest = programs[i].contest;
        all[i] = (struct program){.contest = contest, .off.name = "off", .on.name = "on"};
        all[i].size = programs[i].size ? programs[i].size : contest->size;
        status = run_program(&all[i], run, path, reps, &progress);
    }
    progress_end(&progress);
    if (status == EXIT_SUCCESS)
        print_all(run->report, all, run->workers);
    if (status == EXIT_SUCCESS)
        status = run_records(run, path, run->reps ? run->reps : run->quick ? 2 : RECORD_REPS);
    unlink(path);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        samples_free(&all[i].off.seconds);
        samples_free(&all[i].off.cpu);
        samples_free(&all[i].on.seconds);
        samples_free(&all[i].on.cpu);
    }
    return status;
}
