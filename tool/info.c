/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <err.h>
#include <getopt.h>
#include <sched.h>
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

static const struct {
    const char *name, *rank, *size, *local_rank, *local_size;
} launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
};

/* Under mpirun: who this is. Their default pools share the CPUs of the machine. */
static void print_launcher(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        const char *rank = getenv(launchers[i].rank), *size = getenv(launchers[i].size);
        const char *local_rank = getenv(launchers[i].local_rank);
        const char *local_size = getenv(launchers[i].local_size);
        if (!rank || !size || !local_rank || !local_size)
            continue;
        printf("launcher        %s: rank %s of %s; %s of %s on this machine\n", launchers[i].name,
               rank, size, local_rank, local_size);
        return;
    }
}

/* As the kernel writes lists of CPUs: 0-3,8 */
static void print_cpus(unsigned count)
{
    cpu_set_t set;
    const char *comma = "";
    printf("CPUs            %u", count);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        fputs(": ", stdout);
        for (size_t i = 0; i < CPU_SETSIZE; i++) {
            if (!CPU_ISSET(i, &set))
                continue;
            size_t last = i;
            while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
                last++;
            printf("%s%zu", comma, i);
            if (last > i)
                printf("-%zu", last);
            comma = ",";
            i = last;
        }
    }
    putchar('\n');
}

static void print_pool(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    printf("version         %s\n", weft_version());
    printf("workers         %u%s\n", info.workers,
           info.threads ? "" : " (no thread could be started: weft_run() works alone)");
    print_cpus(info.cpus);
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
        default:
            return tool_other_option(c, usage);
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
    print_launcher();
    print_environment();
    if (dump)
        weft_pool_dump(pool, stdout);
    return EXIT_SUCCESS;
}
