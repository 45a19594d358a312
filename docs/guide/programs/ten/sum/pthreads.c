/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 50000000, THREADS_MAX = 256 };

struct part {
    long begin, end;
    double sum;
    pthread_t thread;
};

static void *add(void *arg)
{
    struct part *part = arg;
    double sum = 0; /* not part->sum: neighbours would share a cache line */
    for (long i = part->begin; i < part->end; i++) {
        double x = ((double)i + 0.5) / N;
        sum += 4 / (1 + x * x);
    }
    part->sum = sum;
    return NULL;
}

int main(void)
{
    static struct part parts[THREADS_MAX];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    long n = cpus < 1 ? 1 : cpus > THREADS_MAX ? THREADS_MAX : cpus;
    double sum = 0;
    for (long i = 0; i < n; i++) {
        parts[i] = (struct part){.begin = N * i / n, .end = N * (i + 1) / n};
        if (pthread_create(&parts[i].thread, NULL, add, &parts[i]))
            return 1;
    }
    for (long i = 0; i < n; i++) {
        pthread_join(parts[i].thread, NULL);
        sum += parts[i].sum;
    }
    printf("%.9f\n", sum / N);
}
