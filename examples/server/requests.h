/* SPDX-License-Identifier: MIT */
/* requests.h: the requests that are being worked on, each of which is an actor.
 *
 * A request with a connection suspends it and resumes it when the actor is over: the one thread
 * that speaks HTTP waits for none of them. One without a connection goes on by itself; nobody
 * gets its answer, but it is seen in the list and can be killed. */
#ifndef SERVER_REQUESTS_H
#define SERVER_REQUESTS_H

#include "work.h"

#include <stdio.h>

struct requests_config {
    unsigned workers; /* 0: as many as there are processors */
    unsigned most;    /* requests at once */
    size_t memory;    /* bytes, for each request on each worker */
};

struct request {
    struct work work; /* its answer, if the reason is 0 */
    const struct work_kind *kind;
    int reason; /* once it is over: 0 or a negative errno value, as of weft_actor_wait() */
    uint64_t began, took; /* nanoseconds */

    weft_actor *actor; /* what follows is requests.c's business */
    struct MHD_Connection *connection;
    struct request *next, *prev;
};

int requests_open(const struct requests_config *config);

/* Kills what is left and waits until it is over; nothing starts any more. */
void requests_close(void);

/* 0, and the request is on its way: with a connection it comes back to the connection's handler
 * and is freed by request_free(); without one it frees itself, and only *id is left of it. -EBUSY:
 * too many; -ESHUTDOWN; or as weft_actor_create(). */
int request_start(struct request **request, unsigned *id, const struct work_kind *kind,
                  unsigned number, struct MHD_Connection *connection);
void request_free(struct request *request);

/* False: there is no such request, or it is over already. */
bool requests_kill(unsigned id);
unsigned requests_kill_all(void);

/* As JSON. */
void requests_write(FILE *out);

const struct requests_config *requests_limits(void);

#endif
