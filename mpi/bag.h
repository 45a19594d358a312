/* SPDX-License-Identifier: MIT */
/* bag.h: one call of weft_mpi_bag_run() on one rank.
 *
 *   lifeline.c   which rank asks which for work, and when all is done: no threads, no MPI
 *   bag_mail.c   the messages of that, and those that bring work
 *   bag_hand.c   the bags of this rank, and the jobs that empty them
 *   bag.c        the caller, who waits while there is no work, and cleans up
 *
 * While the rank has work, a task runs: hands, one for each bag, in a scope. A hand does some
 * items, and then attends to what has come. The engine's thread takes messages meanwhile, but calls
 * nothing of the program's. When the scope closes, the rank is idle: the task asks other ranks for
 * work, and ends if the answer takes long. Then the caller waits for `changed`.
 *
 * `lock` is for everything below it, and held for moments: calls of MPI that don't wait are made
 * under it, and the engine's lock is taken, but nothing of the program's is called. */
#ifndef WEFT_MPI_BAG_H
#define WEFT_MPI_BAG_H

#include "lifeline.h"
#include "ranks.h"

#include <pthread.h>
#include <weft/task.h>

/* A message on its way out, or work on its way in. */
struct weft__parcel {
    struct weft__bag_run *run;
    struct weft__parcel *next;
    int rank; /* the other one */
    struct weft__bag_message message;
    struct weft__mpi_wait wait;
    MPI_Request *requests; /* the message's own, and those of its pieces */
    unsigned char *bytes;  /* message.size of them */
};

/* A bag and a result, one behind the other, and used again. */
struct weft__part {
    struct weft__bag_run *run;
    struct weft__part *next;  /* that no hand has */
    struct weft__part *older; /* of all */
    size_t items;             /* for the next call of process */
    void *bag, *result;
};

struct weft__bag_run {
    const weft_mpi_bag *kind;
    void *arg, *mine;
    struct weft__mpi_ranks *ranks;
    int tag; /* of messages; the next one is that of pieces */
    uint64_t when;
    weft_scope *scope; /* of the hands */
    int error;         /* of the scope */
    weft_task task;

    pthread_mutex_t lock;
    weft_event changed; /* something that the caller may wait for */
    struct weft__lifeline lifeline;
    uint64_t random;
    uint64_t loot;     /* when it came to a rank that had no work; 0: never */
    unsigned hands;    /* that have work, or will begin */
    uint64_t looked;   /* when a hand looked for messages last */
    bool is_live;      /* the task may be cancelled */
    bool has_quit;     /* the last message has come */
    uint64_t *sent;    /* messages to each rank */
    uint64_t received; /* from all */
    uint64_t expected; /* once all ranks have said what they sent; the caller's */
    unsigned posted;   /* parcels that MPI has and is not done with */
    unsigned incoming; /* work that has been announced and is not there yet */
    struct weft__parcel *out, **last_out;
    struct weft__parcel *arrived;
    struct weft__part *spare, *parts;

    struct weft__mpi_wait wait; /* for the next message */
    MPI_Request request;
    MPI_Status status;
    struct weft__bag_message message;
};

/* ---- bag_mail.c ---- */

/* The machine's send(). Under the lock; weft__bag_flush() makes MPI send it. */
void weft__bag_post(void *run, int to, const struct weft__bag_message *message);

/* The same for a parcel with work. */
void weft__bag_post_parcel(struct weft__bag_run *run, struct weft__parcel *parcel);

/* Room for size bytes; NULL: no memory. */
struct weft__parcel *weft__bag_parcel(struct weft__bag_run *run, int rank, uint64_t size);

/* Without the lock. */
void weft__bag_flush(weft *w, struct weft__bag_run *run);

/* Messages are received from now on. In a call of MPI. */
int weft__bag_listen(void *run);

/* A hand looks for messages between two calls of `process`. */
void weft__bag_look(struct weft__bag_run *run);

/* Sends the last message, to this rank itself. In a call of MPI. */
int weft__bag_quit(void *run);

/* Tells the machine whether this rank has had work for a short time only. Under the lock. */
void weft__bag_tell_age(struct weft__bag_run *run);

/* Any number. Under the lock. */
uint64_t weft__bag_random(struct weft__bag_run *run);

/* ---- bag_hand.c ---- */

/* What the task runs: returns when this rank has no work and has asked for some, or has failed. */
void weft__bag_work(weft *w, void *run);

/* Frees all parts when the run is over, and adds their results to `result`, unless that is NULL. */
void weft__bag_drop_parts(weft *w, struct weft__bag_run *run, void *result);

#endif
