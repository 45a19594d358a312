/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 1 << 20, CHUNK = 1024, THREADS_MAX = 256 };
static unsigned numbers[N];
static atomic_long next;

static void *steps(void *arg)
{
    (void)arg;
    long begin;
    while ((begin = atomic_fetch_add(&next, CHUNK)) < N)
        for (long i = begin; i < begin + CHUNK; i++) {
            unsigned long n = (unsigned long)i + 1;
            unsigned count = 0;
            for (; n != 1; count++)
                n = n % 2 ? 3 * n + 1 : n / 2;
            numbers[i] = count;
        }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS_MAX];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), started = 0;
    while (started < cpus - 1 && started < THREADS_MAX &&
           pthread_create(&threads[started], NULL, steps, NULL) == 0)
        started++;
    steps(NULL);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    printf("%u\n", numbers[837798]);
}
