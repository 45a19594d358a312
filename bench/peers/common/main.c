/* SPDX-License-Identifier: MIT */
#include "runtime.h"

#include "../../clock.h"
#include "../../peer.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct runtime_benchmark *find(const char *name)
{
    const struct runtime_benchmark *b = runtime_benchmarks;
    while (b->kernel && strcmp(b->kernel->name, name) != 0)
        b++;
    return b->kernel ? b : NULL;
}

static void answer(const struct runtime_benchmark *b, void *data)
{
    b->kernel->reset(data);
    double cpu = clock_cpu(), start = clock_now();
    b->run(data);
    double seconds = clock_now() - start;
    cpu = clock_cpu() - cpu;
    printf("%.9f %.9f %" PRIx64, seconds, cpu, b->kernel->checksum(data));
    unsigned count = 0;
    const double *times = b->kernel->times ? b->kernel->times(data, &count) : NULL;
    for (unsigned i = 0; i < count; i++)
        printf(" %.9f", times[i]);
    puts("");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        errx(2, "usage: %s BENCHMARK SIZE WORKERS; see bench/peer.h", argv[0]);
    const struct runtime_benchmark *b = find(argv[1]);
    if (!b)
        return PEER_EXIT_UNKNOWN;
    runtime_open((unsigned)strtoul(argv[3], NULL, 10));
    void *data = b->kernel->prepare((unsigned)strtoul(argv[2], NULL, 10));
    if (!data)
        errx(1, "no memory for %s", argv[1]);
    puts("ready");
    fflush(stdout);
    for (char line[16]; fgets(line, sizeof line, stdin);)
        answer(b, data);
    b->kernel->release(data);
    return 0;
}
