/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The loop computes after all, and other requests wait. */
static void start(struct server_request *request, void *data)
{
    server_compute(request);
    server_tell(data, request);
}

static void sequential(void *data)
{
    struct server *server = data;
    server_loop(server, &(struct server_runtime){start, server->over_fd, server_next, server});
}

static void release(void *data)
{
    struct server *server = data;
    close(server->over_fd);
    pthread_mutex_destroy(&server->mutex);
    free(server);
}

static void *prepare(unsigned size)
{
    struct server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->requests = size;
    pthread_mutex_init(&server->mutex, NULL);
    server->over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->over_fd < 0) {
        release(server);
        return NULL;
    }
    return server;
}

static void reset(void *data)
{
    struct server *server = data;
    server->sum = 0;
}

static uint64_t checksum(const void *data)
{
    const struct server *server = data;
    return server->sum;
}

static double operations(const void *data)
{
    const struct server *server = data;
    return server->requests;
}

const struct kernel epoll_kernel = {
    .name = "epoll",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
