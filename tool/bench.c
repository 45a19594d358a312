/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/bench.h"
#include "tool.h"

static const struct benchmark {
    const char *name;
    int (*run)(unsigned reps);
    const char *help;
} benchmarks[] = {
    {"wake", bench_wake, "getting a sleeping pool to work, beside a bare futex"},
    {"idle", bench_idle, "what a pool with nothing to do costs"},
};

#define BENCHMARKS (sizeof benchmarks / sizeof benchmarks[0])

static void usage(void)
{
    puts("Usage: weft bench [OPTION]... [BENCHMARK]...\n"
         "Runs the benchmarks named, or all:\n");
    for (size_t i = 0; i < BENCHMARKS; i++)
        printf("  %-6s %s\n", benchmarks[i].name, benchmarks[i].help);
    puts("\n"
         "  -r, --reps N  repetitions (300)\n"
         "  -h, --help    show this");
}

static const struct benchmark *benchmark_find(const char *name)
{
    for (size_t i = 0; i < BENCHMARKS; i++)
        if (strcmp(benchmarks[i].name, name) == 0)
            return &benchmarks[i];
    warnx("there is no benchmark '%s'; 'weft bench --help' lists them", name);
    return NULL;
}

static int run_all(unsigned reps)
{
    int status = EXIT_SUCCESS;
    for (size_t i = 0; i < BENCHMARKS && status == EXIT_SUCCESS; i++)
        status = benchmarks[i].run(reps);
    return status;
}

int bench_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"reps", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    unsigned reps = 300;
    for (int c; (c = getopt_long(argc, argv, "r:h", options, NULL)) != -1;) {
        switch (c) {
        case 'r':
            if (!tool_number("--reps", optarg, 1, 1000000, &reps))
                return TOOL_EXIT_USAGE;
            break;
        case 'h':
            usage();
            return EXIT_SUCCESS;
        default:
            return TOOL_EXIT_USAGE;
        }
    }
    for (int i = optind; i < argc; i++)
        if (!benchmark_find(argv[i]))
            return TOOL_EXIT_USAGE;
    if (optind == argc)
        return run_all(reps);
    int status = EXIT_SUCCESS;
    for (int i = optind; i < argc && status == EXIT_SUCCESS; i++)
        status = benchmark_find(argv[i])->run(reps);
    return status;
}
