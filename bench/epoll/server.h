/* SPDX-License-Identifier: MIT */
/* epoll: a server. Requests come over a socket to a loop that must not compute: it hands each to
 * other threads, and sends the answer when they are done. A client keeps eight requests under way.
 * Loop and client are the same for all runtimes; each brings a way to start a request, and tells
 * of those that are over, by a descriptor. */
#ifndef BENCH_EPOLL_SERVER_H
#define BENCH_EPOLL_SERVER_H

#include "../kernel.h"

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SERVER_WINDOW = 8,     /* requests under way */
    SERVER_ROUNDS = 30000, /* of a request: 50 microseconds */
};

struct server_request {
    uint64_t number, answer;
    struct server_request *next; /* in a list of those that are over */
};

struct server {
    unsigned requests; /* of a run */
    uint64_t sum;      /* of the answers, by the client */
    struct server_request window[SERVER_WINDOW];
    /* those that are over, for runtimes that have nothing of this kind */
    pthread_mutex_t mutex;
    struct server_request *over;
    int over_fd;
};

struct server_runtime {
    void (*start)(struct server_request *request, void *data);
    int fd; /* readable when one is over */
    /* One that is over, or NULL. */
    struct server_request *(*next)(void *data);
    void *data;
};

/* What a request is, for other threads. */
void server_compute(struct server_request *request);

/* Serves all requests of a run; returns when the client has its last answer. */
void server_loop(struct server *server, const struct server_runtime *runtime);

/* Tells of a request that is over, by over_fd; and `next` for such a runtime: data is the server.
 */
void server_tell(struct server *server, struct server_request *request);
struct server_request *server_next(void *server);

#ifdef __cplusplus
}
#endif

#endif
