/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <weft.h>

cpu_set_t hog_set_of(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return one;
}

int hog_other_cpu(const cpu_set_t *all, int cpu)
{
    for (int other = 0; other < CPU_SETSIZE; other++)
        if (CPU_ISSET((size_t)other, all) && other != cpu)
            return other;
    return -1;
}

static void *keep_the_cpu(void *arg)
{
    struct hog *hog = arg;
    uint64_t begun = weft_now();
    atomic_store(&hog->runs, true);
    while (!atomic_load(&hog->stop) && weft_now() - begun < hog->ns)
        ;
    return NULL;
}

bool hog_start(struct hog *hog, int cpu, uint64_t ns)
{
    pthread_attr_t attr;
    struct sched_param param = {.sched_priority = 1};
    cpu_set_t one = hog_set_of(cpu);
    *hog = (struct hog){.ns = ns};
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    pthread_attr_setaffinity_np(&attr, sizeof one, &one);
    int error = pthread_create(&hog->thread, &attr, keep_the_cpu, hog);
    pthread_attr_destroy(&attr);
    return error == 0;
}

void hog_stop(struct hog *hog)
{
    atomic_store(&hog->stop, true);
    pthread_join(hog->thread, NULL);
}
