/* SPDX-License-Identifier: MIT */
/* far.c: messages that take FAR_US microseconds (500) until they arrive, and cost no CPU time
 * meanwhile, as on a network. Preloaded before a program that MPI starts: MPI_Isend() leaves its
 * message with a thread that sends it later. Only contiguous types; messages should be short
 * enough to be sent without an answer (overlap.sh sees to that). */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct message {
    struct message *next;
    struct timespec due;
    int count, to, tag;
    MPI_Datatype type;
    MPI_Comm comm;
    char bytes[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct message *first, **last = &first;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static long far_us = 500;

static struct message *take(void)
{
    pthread_mutex_lock(&lock);
    while (!first)
        pthread_cond_wait(&more, &lock);
    struct message *message = first;
    first = message->next;
    if (!first)
        last = &first;
    pthread_mutex_unlock(&lock);
    return message;
}

static void *deliver(void *unused)
{
    (void)unused;
    for (;;) {
        struct message *message = take();
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &message->due, NULL);
        PMPI_Send(message->bytes, message->count, message->type, message->to, message->tag,
                  message->comm);
        free(message);
    }
    return NULL;
}

static void begin(void)
{
    const char *text = getenv("FAR_US");
    pthread_t thread;
    if (text)
        far_us = strtol(text, NULL, 10);
    if (pthread_create(&thread, NULL, deliver, NULL))
        abort();
    pthread_detach(thread);
}

static void leave(struct message *message)
{
    clock_gettime(CLOCK_MONOTONIC, &message->due);
    message->due.tv_nsec += far_us * 1000;
    message->due.tv_sec += message->due.tv_nsec / 1000000000;
    message->due.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    *last = message;
    last = &message->next;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
}

/* The caller's request has ended: the message is copied. */
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int size = 0;
    pthread_once(&once, begin);
    PMPI_Type_size(type, &size);
    if (to != MPI_PROC_NULL) {
        size_t bytes = (size_t)size * (size_t)count;
        struct message *message = malloc(sizeof *message + bytes);
        if (!message)
            return MPI_ERR_NO_MEM;
        *message =
            (struct message){.count = count, .to = to, .tag = tag, .type = type, .comm = comm};
        memcpy(message->bytes, buffer, bytes);
        leave(message);
    }
    return PMPI_Isend(NULL, 0, type, MPI_PROC_NULL, tag, comm, request);
}
