/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#include "../bench/bench.h"
#include "../bench/contest.h"
#include "../bench/plot.h"
#include "../bench/sort/sorts.h"
#include "tool.h"

enum { BENCH_CHOSEN_MAX = 256 };

struct bench {
    struct bench_run run;
    const char *plot;
    unsigned count;
    struct choice {
        const struct benchmark *benchmark;
        unsigned size; /* 0: its own */
    } chosen[BENCH_CHOSEN_MAX];
};

static void list(void)
{
    puts("Benchmarks, and their usual size:");
    for (size_t i = 0; i < benchmarks_count; i++) {
        const struct benchmark *b = &benchmarks[i];
        if (b->contest)
            printf("  %-17s %5u  %s\n", b->name, b->contest->size, b->contest->what);
        else
            printf("  %-17s %5s  %s\n", b->name, "", b->help);
    }
    puts("Peers:");
    for (size_t i = 0; i < PEERS; i++)
        printf("  %-17s        %s%s%s\n", peer_kinds[i].name, peer_kinds[i].help,
               peer_built(peer_kinds[i].name) ? "" : "; not built, needs ",
               peer_built(peer_kinds[i].name) ? "" : peer_kinds[i].packages);
}

static void usage(void)
{
    puts("Usage: weft bench [OPTION]... [BENCHMARK[=SIZE]]...\n"
         "Runs the benchmarks named, or all: weft beside the sequential program and beside other\n"
         "runtimes, in turns. What counts are the ratios of one run.\n"
         "\n"
         "  -r, --reps N       repetitions; default: each benchmark's own number\n"
         "  -w, --workers N    workers to compare with one; default: WEFT_WORKERS, else one per "
         "CPU\n"
         "  -p, --peers LIST   names with commas between, or none; default: all that were built\n"
         "      --pattern NAME what to sort: random, sorted, reversed, few, organ, runs or nearly\n"
         "  -q, --quick        small sizes and few repetitions, to see that it works\n"
         "  -j, --json         JSON lines instead of tables\n"
         "      --plot FILE    a picture of it all, too, in SVG; needs gnuplot\n"
         "  -l, --list         show which benchmarks and peers there are\n"
         "  -h, --help         show this");
}

static const struct benchmark *benchmark_find(const char *name, size_t length)
{
    for (size_t i = 0; i < benchmarks_count; i++)
        if (strlen(benchmarks[i].name) == length && strncmp(benchmarks[i].name, name, length) == 0)
            return &benchmarks[i];
    warnx("there is no benchmark '%.*s'; 'weft bench --list' shows them", (int)length, name);
    return NULL;
}

static bool add(struct bench *bench, const struct benchmark *benchmark, unsigned size)
{
    if (bench->count == BENCH_CHOSEN_MAX) {
        warnx("that is too much at once");
        return false;
    }
    bench->chosen[bench->count++] = (struct choice){benchmark, size};
    return true;
}

/* NAME or NAME=SIZE. */
static bool choose(struct bench *bench, const char *text)
{
    size_t length = strcspn(text, "=");
    const struct benchmark *benchmark = benchmark_find(text, length);
    unsigned size = 0;
    if (!benchmark)
        return false;
    if (text[length] == '=') {
        if (!benchmark->contest) {
            warnx("'%s' has no size", benchmark->name);
            return false;
        }
        if (!tool_number(benchmark->name, text + length + 1, 1, benchmark->contest->most, &size))
            return false;
    }
    return add(bench, benchmark, size);
}

static bool choose_all(struct bench *bench)
{
    bool added = true;
    for (size_t i = 0; i < benchmarks_count && added; i++)
        added = benchmarks[i].is_part || add(bench, &benchmarks[i], 0);
    return added;
}

static bool choose_peer(struct bench *bench, const char *name, size_t length)
{
    for (size_t i = 0; i < PEERS; i++) {
        const struct peer_kind *kind = &peer_kinds[i];
        if (strlen(kind->name) != length || strncmp(kind->name, name, length) != 0)
            continue;
        bench->run.peers[i] = peer_built(kind->name);
        if (!bench->run.peers[i])
            warnx("--peers: %s was not built; it needs Debian's %s", kind->name, kind->packages);
        return bench->run.peers[i];
    }
    warnx("--peers: there is no peer '%.*s'; 'weft bench --list' shows them", (int)length, name);
    return false;
}

static bool choose_peers(struct bench *bench, const char *list_text)
{
    memset(bench->run.peers, 0, sizeof bench->run.peers);
    if (strcmp(list_text, "none") == 0)
        return true;
    for (const char *name = list_text;; name++) {
        size_t length = strcspn(name, ",");
        if (!choose_peer(bench, name, length))
            return false;
        name += length;
        if (*name == '\0')
            return true;
    }
}

static bool choose_pattern(struct bench *bench, const char *name)
{
    for (unsigned i = 0; i < SORTS_PATTERNS; i++)
        if (strcmp(sorts_patterns[i], name) == 0) {
            bench->run.pattern = i;
            return true;
        }
    warnx("--pattern: there is no '%s'", name);
    return false;
}

static void defaults(struct bench *bench)
{
    for (size_t i = 0; i < PEERS; i++)
        bench->run.peers[i] = peer_built(peer_kinds[i].name);
}

static int run_chosen(struct bench *bench)
{
    int status = EXIT_SUCCESS;
    for (unsigned i = 0; i < bench->count && status == EXIT_SUCCESS; i++) {
        bench->run.size = bench->chosen[i].size;
        status = benchmark_run(bench->chosen[i].benchmark, &bench->run);
    }
    if (status == EXIT_SUCCESS && bench->plot && !plot_draw(bench->run.report, bench->plot))
        status = EXIT_FAILURE;
    return status;
}

/* Small sizes say nothing about what weft should keep. */
static int run_bench(struct bench *bench)
{
    bench->run.report->judge = !bench->run.quick;
    if (bench->plot && !plot_possible(bench->plot))
        return EXIT_FAILURE;
    if (bench->run.workers == 0) {
        weft_pool *pool = bench_pool(&(weft_config){0});
        if (!pool)
            return EXIT_FAILURE;
        bench->run.workers = weft_pool_workers(pool);
        weft_pool_destroy(pool);
    }
    return run_chosen(bench);
}

/* -1: run; else an exit status. */
static int parse(struct bench *bench, int argc, char **argv)
{
    static const struct option options[] = {
        {"reps", required_argument, NULL, 'r'},  {"workers", required_argument, NULL, 'w'},
        {"peers", required_argument, NULL, 'p'}, {"pattern", required_argument, NULL, 'o'},
        {"quick", no_argument, NULL, 'q'},       {"json", no_argument, NULL, 'j'},
        {"plot", required_argument, NULL, 'P'},  {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},        {0},
    };
    for (int c; (c = getopt_long(argc, argv, "r:w:p:qjlh", options, NULL)) != -1;) {
        bool good = true;
        switch (c) {
        case 'r':
            good = tool_number("--reps", optarg, 1, 1000000, &bench->run.reps);
            break;
        case 'w':
            good = tool_number("--workers", optarg, 1, WEFT_WORKERS_MAX, &bench->run.workers);
            break;
        case 'p':
            good = choose_peers(bench, optarg);
            break;
        case 'o':
            good = choose_pattern(bench, optarg);
            break;
        case 'q':
            bench->run.quick = true;
            break;
        case 'j':
            bench->run.report->json = true;
            break;
        case 'P':
            bench->plot = optarg;
            break;
        case 'l':
            list();
            return EXIT_SUCCESS;
        case 'h':
            usage();
            return EXIT_SUCCESS;
        default:
            good = false;
        }
        if (!good)
            return TOOL_EXIT_USAGE;
    }
    return -1;
}

int bench_main(int argc, char **argv)
{
    struct report report = {0};
    struct bench bench = {.run = {.report = &report}};
    defaults(&bench);
    int status = parse(&bench, argc, argv);
    if (status >= 0)
        return status;
    for (int i = optind; i < argc; i++)
        if (!choose(&bench, argv[i]))
            return TOOL_EXIT_USAGE;
    if (optind == argc && !choose_all(&bench))
        return TOOL_EXIT_USAGE;
    status = run_bench(&bench);
    report_free(&report);
    return status;
}
