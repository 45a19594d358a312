/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* A message either way: the request's place in the window, and its number or its answer. */
struct message {
    uint64_t place, value;
};

struct client {
    struct server *server;
    int socket;
};

static void send_message(int socket, uint64_t place, uint64_t value)
{
    struct message message = {place, value};
    if (write(socket, &message, sizeof message) != sizeof message)
        abort();
}

static void *client_run(void *arg)
{
    const struct client *client = arg;
    struct server *server = client->server;
    unsigned sent = 0;
    for (; sent < SERVER_WINDOW && sent < server->requests; sent++)
        send_message(client->socket, sent, sent);
    for (unsigned i = 0; i < server->requests; i++) {
        struct message answer;
        if (read(client->socket, &answer, sizeof answer) != sizeof answer)
            abort();
        server->sum += answer.value;
        if (sent < server->requests)
            send_message(client->socket, answer.place, sent++);
    }
    return NULL;
}

void server_compute(struct server_request *request)
{
    uint64_t x = request->number;
    for (int i = 0; i < SERVER_ROUNDS; i++)
        x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u;
    request->answer = x;
}

void server_tell(struct server *server, struct server_request *request)
{
    pthread_mutex_lock(&server->mutex);
    request->next = server->over;
    server->over = request;
    pthread_mutex_unlock(&server->mutex);
    if (eventfd_write(server->over_fd, 1))
        abort();
}

struct server_request *server_next(void *data)
{
    struct server *server = data;
    pthread_mutex_lock(&server->mutex);
    struct server_request *request = server->over;
    if (request) {
        server->over = request->next;
    } else {
        eventfd_t count;
        eventfd_read(server->over_fd, &count); /* may be empty */
    }
    pthread_mutex_unlock(&server->mutex);
    return request;
}

static void take_request(struct server *server, int socket, const struct server_runtime *runtime)
{
    struct message message;
    while (recv(socket, &message, sizeof message, MSG_DONTWAIT) == sizeof message) {
        struct server_request *request = &server->window[message.place];
        request->number = message.value;
        runtime->start(request, runtime->data);
    }
}

void server_loop(struct server *server, const struct server_runtime *runtime)
{
    int pair[2], loop = epoll_create1(EPOLL_CLOEXEC);
    if (loop < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        abort();
    struct client client = {server, pair[1]};
    pthread_t thread;
    if (pthread_create(&thread, NULL, client_run, &client))
        abort();
    struct epoll_event in = {.events = EPOLLIN, .data.fd = pair[0]};
    struct epoll_event over = {.events = EPOLLIN, .data.fd = runtime->fd};
    if (epoll_ctl(loop, EPOLL_CTL_ADD, pair[0], &in) ||
        epoll_ctl(loop, EPOLL_CTL_ADD, runtime->fd, &over))
        abort();
    for (unsigned answered = 0; answered < server->requests;) {
        struct epoll_event event;
        if (epoll_wait(loop, &event, 1, -1) != 1)
            continue; /* a signal */
        if (event.data.fd == pair[0]) {
            take_request(server, pair[0], runtime);
            continue;
        }
        for (struct server_request *request; (request = runtime->next(runtime->data)); answered++)
            send_message(pair[0], (uint64_t)(request - server->window), request->answer);
    }
    pthread_join(thread, NULL);
    close(pair[0]);
    close(pair[1]);
    close(loop);
}
