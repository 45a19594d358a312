/* SPDX-License-Identifier: MIT */
/* engine.h: the requests that somebody waits for, and the thread that looks at them.
 *
 * One engine per process. A wait is memory of the waiter:
 *
 *   -submit-> OUT -poll-> OVER        by the engine's thread, which sets the event
 *             OUT -withdraw-> nobody's     by the waiter, whose limit is reached
 *
 * Everything is under one lock, which is held during a look at CHUNK requests, not more. The engine
 * touches a wait no more once it has set its event. */
#ifndef WEFT_MPI_ENGINE_H
#define WEFT_MPI_ENGINE_H

#include <weft/mpi.h>
#include <weft/sync.h>

enum weft__mpi_kind { WEFT__MPI_ONE, WEFT__MPI_ALL, WEFT__MPI_ANY };

struct weft__mpi_wait {
    enum weft__mpi_kind kind;
    bool quiet;   /* of the library's own, and not worth a line; `then` is not NULL */
    bool own;     /* of the library's own, and a thread waits for it */
    size_t *uses; /* quiet: how many such waits use the same communicator; the engine counts them */
    int n;
    MPI_Request *requests;
    MPI_Status *statuses; /* one, unless kind is ALL */
    int index;            /* ANY: which one */
    int first;            /* ALL: those before it have ended */
    bool moves;           /* ALL: by the last look */
    int result;           /* what MPI returned */
    weft_event done;
    void (*then)(struct weft__mpi_wait *wait); /* in place of the event, in the engine's thread,
                                                  which holds no lock. NULL: none */
    size_t place;                              /* OUT: among those of its kind */
    bool out;
    struct weft__mpi_wait *next; /* OVER, until its event is set */
};

/* Whatever calls MPI asks this before. Starts the thread, the first time. 0, -ENOTSUP as in the
 * header, or the error of starting a thread. */
int weft__mpi_ready(void);

/* After ready. May calls be made by any thread at any time? */
bool weft__mpi_is_multiple(void);

/* The thread looks at it from now on. 0 or -ENOMEM; but without memory for one of the library's
 * own, which MPI has already, the program ends with a line. */
int weft__mpi_submit(struct weft__mpi_wait *wait);

/* A message can't be sent or received, so that another rank would wait for ever: a line, and
 * MPI_Abort(). */
_Noreturn void weft__mpi_die(const char *what);

/* False: it is over, or will be at once, and the event tells so. */
bool weft__mpi_withdraw(struct weft__mpi_wait *wait);

/* A thread waits for what a request with `then` will bring, though the request may be old: it
 * counts for the line about waits, and naps are short again. */
void weft__mpi_wait_begins(void);
void weft__mpi_wait_ends(void);

/* Returns when *uses is 0: before MPI frees the communicator. Also in the engine's thread. */
void weft__mpi_settle(const size_t *uses);

/* A busy thread that cares for a wait with `then` gets the answer sooner than by the engine's nap.
 * True: it is over, and the caller calls `then` itself. With MPI_THREAD_SERIALIZED the engine's
 * thread is woken, and does it. */
bool weft__mpi_help(struct weft__mpi_wait *wait);

/* Waits for it: wait.c. `when` NULL: no limit, whatever happens. Errors as of weft_mpi_wait(). */
int weft__mpi_wait(weft *w, struct weft__mpi_wait *wait, const uint64_t *when);

/* Waits for messages of the library's own. If one fails, the program ends with a line. */
void weft__mpi_finish(weft *w, int n, MPI_Request *requests);

/* fn(arg), as weft_mpi_call(), after ready; returns what fn returned. */
int weft__mpi_do(weft *w, weft_mpi_fn *fn, void *arg);

#endif
