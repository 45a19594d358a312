/* SPDX-License-Identifier: MIT */
/* engine.h: the requests that somebody waits for, and the thread that looks at them.
 *
 * One engine per process. A wait is memory of the waiter:
 *
 *   -submit-> OUT -poll-> OVER        by the engine's thread, which sets the event
 *             OUT -withdraw-> nobody's     by the waiter, whose limit is reached
 *
 * Everything is under one lock, which is held during a look at CHUNK requests, or at one set. The
 * engine does not touch a wait any more once it has set its event. */
#ifndef WEFT_MPI_ENGINE_H
#define WEFT_MPI_ENGINE_H

#include <weft/mpi.h>
#include <weft/sync.h>

enum weft__mpi_kind { WEFT__MPI_ONE, WEFT__MPI_ALL, WEFT__MPI_ANY };

/* How many quiet waits use a communicator. Under the engine's lock. */
struct weft__mpi_uses {
    size_t n;
    weft_event *none; /* is set when n is 0; or NULL */
};

struct weft__mpi_wait {
    enum weft__mpi_kind kind;
    bool quiet; /* of the library's own, and not worth a line; `then` is not NULL */
    bool own;   /* of the library's own, and a thread waits for it */
    struct weft__mpi_uses *uses; /* quiet: of the same communicator; the engine counts */
    size_t bytes;                /* own: how many move now, as all ranks have come; 0: not known */
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

/* After ready. Is the caller the engine's thread, in a function that it calls? */
bool weft__mpi_is_engine(void);

/* The thread looks at it from now on. 0 or -ENOMEM; but without memory for one of the library's
 * own, which MPI has already, the program ends with a line. */
int weft__mpi_submit(struct weft__mpi_wait *wait);

/* A message can't be sent or received, so that another rank would wait for ever: a line, and
 * MPI_Abort(). */
_Noreturn void weft__mpi_die(const char *what);

/* True: the wait is the caller's again. False: the engine has set its event. */
bool weft__mpi_withdraw(struct weft__mpi_wait *wait);

/* A wait has ended by the caller's own looks: no line about waits is due for a while. */
void weft__mpi_ended_alone(void);

/* The caller waits for a message whose receive was posted long ago: naps are short again. */
void weft__mpi_hurry(void);

/* The same; and this wait counts for the line about waits. */
void weft__mpi_wait_begins(void);
void weft__mpi_wait_ends(void);

/* Returns when there are no uses: before MPI frees the communicator. Also in the engine's thread.
 * This wait counts for the line about waits. */
void weft__mpi_settle(const struct weft__mpi_uses *uses);

/* The same for a job, or a thread outside, that MPI has not called. One at a time. */
void weft__mpi_await(weft *w, struct weft__mpi_uses *uses);

/* A busy thread may look at a wait with `then` itself, and need not wait for the end of the
 * engine's nap. True: it is over, and the caller calls `then`. With MPI_THREAD_SERIALIZED the
 * engine's thread is woken, and does it. */
bool weft__mpi_help(struct weft__mpi_wait *wait);

/* Waits for it: wait.c. `when` NULL: no limit, whatever happens. Errors as of weft_mpi_wait(). */
int weft__mpi_wait(weft *w, struct weft__mpi_wait *wait, const uint64_t *when);

/* Waits for messages of the library's own, which have so many bytes, if that is known. If one
 * fails, the program ends with a line. */
void weft__mpi_finish(weft *w, int n, MPI_Request *requests, size_t bytes);

/* fn(arg), as weft_mpi_call(), after ready; returns what fn returned. Not in actors. */
int weft__mpi_do(weft *w, weft_mpi_fn *fn, void *arg);

/* The same in actors, too. 0; or -ECANCELED: the actor was killed, holds a mutex, and fn was not
 * called; -ENOMEM. */
int weft__mpi_try(weft *w, weft_mpi_fn *fn, void *arg, int *result);

#endif
