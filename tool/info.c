/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

#include "tool.h"

static const char *const variables[] = {"WEFT_WORKERS", "WEFT_SLEEP",      "WEFT_FORK",
                                        "WEFT_SPIN",    "WEFT_QUANTUM_US", "WEFT_SPARES"};

static void usage(void)
{
    puts("Usage: weft info [OPTION]...\n"
         "Shows the library's version, its default pool and the environment it obeys.\n"
         "\n"
         "  -d, --dump  the state of every worker, too\n"
         "  -h, --help  show this");
}

static void print_pool(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    printf("version         %s\n", weft_version());
    printf("workers         %u%s\n", info.workers,
           info.threads ? "" : " (no thread could be started: weft_run() works alone)");
    printf("CPUs            %u\n", info.cpus);
    printf("sleep           %s\n", info.sleep);
    printf("fork            %s\n", info.fork);
}

static void print_environment(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        printf("%-15s %s\n", variables[i], value ? value : "not set");
    }
}

int info_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"dump", no_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    bool dump = false;

    for (int c; (c = getopt_long(argc, argv, "dh", options, NULL)) != -1;) {
        switch (c) {
        case 'd':
            dump = true;
            break;
        case 'h':
            usage();
            return EXIT_SUCCESS;
        default:
            return TOOL_EXIT_USAGE;
        }
    }
    if (!tool_no_more(argc, argv))
        return TOOL_EXIT_USAGE;

    weft_pool *pool = weft_pool_default();
    if (!pool) {
        warnx("the default pool could not be made: out of memory or threads");
        return EXIT_FAILURE;
    }
    print_pool(pool);
    print_environment();
    if (dump)
        weft_pool_dump(pool, stdout);
    return EXIT_SUCCESS;
}
