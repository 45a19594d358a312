/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { BLOCKS = 1000, SIZE = 4096 };

struct block {
    uint64_t sum;
    unsigned char bytes[SIZE];
};

static void fill(struct block *b, uint64_t *state) /* in order */
{
    for (int i = 0; i < SIZE; i++)
        b->bytes[i] =
            (unsigned char)((*state = *state * 6364136223846793005u + 1442695040888963407u) >> 56);
}

static void digest(struct block *b) /* of any number at the same time */
{
    b->sum = 14695981039346656037u;
    for (int round = 0; round < 32; round++)
        for (int i = 0; i < SIZE; i++)
            b->sum = (b->sum ^ b->bytes[i]) * 1099511628211u;
}

enum { SLOTS = 64, THREADS_MAX = 256 };
static struct block slots[SLOTS];
static int made, taken, written, ready[SLOTS]; /* all under the mutex */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *work(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mutex);
    while (taken < BLOCKS) {
        if (taken == made) {
            pthread_cond_wait(&changed, &mutex);
            continue;
        }
        int slot = taken++ % SLOTS;
        pthread_mutex_unlock(&mutex);
        digest(&slots[slot]);
        pthread_mutex_lock(&mutex);
        ready[slot] = 1;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS_MAX];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), n = cpus > THREADS_MAX ? THREADS_MAX : cpus;
    uint64_t state = 1, all = 0;
    for (long i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    pthread_mutex_lock(&mutex);
    while (written < BLOCKS) {
        if (ready[written % SLOTS]) {
            ready[written % SLOTS] = 0;
            all = all * 31 + slots[written++ % SLOTS].sum;
        } else if (made < BLOCKS && made - written < SLOTS) {
            pthread_mutex_unlock(&mutex);
            fill(&slots[made % SLOTS], &state);
            pthread_mutex_lock(&mutex);
            made++;
            pthread_cond_broadcast(&changed);
        } else {
            pthread_cond_wait(&changed, &mutex);
        }
    }
    pthread_mutex_unlock(&mutex);
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("%016llx\n", (unsigned long long)all);
}
