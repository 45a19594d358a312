/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include "look.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <weft/actor.h>

static int keyval = MPI_KEYVAL_INVALID; /* written once, under `claims` */

struct lookup {
    MPI_Comm comm;
    struct weft__mpi_ranks *ranks;
    MPI_Request request;
    struct lookup *next; /* that make something */
};

/* For what is in use, and for the list of those that are made just now. Held for moments, and while
 * MPI makes `keyval`. */
static pthread_mutex_t claims = PTHREAD_MUTEX_INITIALIZER;
static struct lookup *makers;

/* MPI frees a communicator of the program. What belongs to MPI_COMM_WORLD ends with MPI itself. */
static int drop(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)key, (void)unused;
    struct weft__mpi_ranks *ranks = value;
    weft__mpi_settle(&ranks->uses);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&ranks->comm);
    free(ranks);
    return MPI_SUCCESS;
}

static int make_keyval(void)
{
    int result = MPI_SUCCESS;
    pthread_mutex_lock(&claims);
    if (keyval == MPI_KEYVAL_INVALID)
        result = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &keyval, NULL);
    pthread_mutex_unlock(&claims);
    return result;
}

static int find(void *arg)
{
    struct lookup *lookup = arg;
    int found = 0, inter = 0, result = make_keyval();
    if (result == MPI_SUCCESS)
        result = MPI_Comm_test_inter(lookup->comm, &inter);
    if (inter)
        return MPI_ERR_COMM;
    if (result == MPI_SUCCESS)
        result = MPI_Comm_get_attr(lookup->comm, keyval, &lookup->ranks, &found);
    if (!found)
        lookup->ranks = NULL;
    return result;
}

static int begin_copy(void *arg)
{
    struct lookup *lookup = arg;
    return MPI_Comm_idup(lookup->comm, &lookup->ranks->comm, &lookup->request);
}

static int keep(void *arg)
{
    struct lookup *lookup = arg;
    MPI_Comm_rank(lookup->comm, &lookup->ranks->rank);
    MPI_Comm_size(lookup->comm, &lookup->ranks->size);
    return MPI_Comm_set_attr(lookup->comm, keyval, lookup->ranks);
}

static int make(weft *w, struct lookup *lookup)
{
    lookup->ranks = calloc(1, sizeof *lookup->ranks);
    if (!lookup->ranks)
        return -ENOMEM;
    int error = weft__mpi_errno(weft__mpi_do(w, begin_copy, lookup));
    if (!error) {
        weft__mpi_finish(w, 1, &lookup->request, 0);
        error = weft__mpi_errno(weft__mpi_do(w, keep, lookup));
    }
    if (error)
        free(lookup->ranks);
    return error;
}

/* Of two threads that come first, one makes it. */
static int begin_making(struct lookup *mine)
{
    pthread_mutex_lock(&claims);
    struct lookup *other = makers;
    while (other && other->comm != mine->comm)
        other = other->next;
    if (!other) {
        mine->next = makers;
        makers = mine;
    }
    pthread_mutex_unlock(&claims);
    return other ? -EBUSY : 0;
}

static void end_making(struct lookup *mine)
{
    struct lookup **before = &makers;
    pthread_mutex_lock(&claims);
    while (*before != mine)
        before = &(*before)->next;
    *before = mine->next;
    pthread_mutex_unlock(&claims);
}

/* Another thread may have made it before this one began. */
static int make_once(weft *w, struct lookup *lookup)
{
    int error = begin_making(lookup);
    if (error)
        return error;
    error = weft__mpi_errno(weft__mpi_do(w, find, lookup));
    if (!error && !lookup->ranks)
        error = make(w, lookup);
    end_making(lookup);
    return error;
}

static int find_or_make(weft *w, MPI_Comm comm, struct weft__mpi_ranks **ranks)
{
    struct lookup lookup = {.comm = comm};
    int error = weft__mpi_errno(weft__mpi_do(w, find, &lookup));
    if (!error && !lookup.ranks)
        error = make_once(w, &lookup);
    *ranks = lookup.ranks;
    return error;
}

static int begin_barrier(void *arg)
{
    struct lookup *lookup = arg;
    return MPI_Ibarrier(lookup->ranks->comm, &lookup->request);
}

/* Rank 0 comes last: it has all messages of the others then. */
static void await_all(weft *w, struct weft__mpi_ranks *ranks)
{
    struct lookup lookup = {.ranks = ranks};
    if (ranks->rank == 0)
        weft__mpi_await(w, &ranks->uses);
    if (weft__mpi_do(w, begin_barrier, &lookup) != MPI_SUCCESS)
        weft__mpi_die("ranks can't wait for each other");
    weft__mpi_finish(w, 1, &lookup.request, 0);
}

int weft__mpi_next_tag(weft *w, struct weft__mpi_ranks *ranks)
{
    int number = (int)(ranks->loops++ % WEFT__MPI_LOOPS);
    if (number == 0 && ranks->loops > 1)
        await_all(w, ranks);
    return number * WEFT__MPI_TAGS;
}

int weft__mpi_enter(weft *w, MPI_Comm comm, struct weft__mpi_ranks **ranks)
{
    if (w && weft_actor_self(w))
        return -EPERM;
    if (comm == MPI_COMM_NULL)
        return -EINVAL;
    int error = weft__mpi_ready();
    if (!error)
        error = weft__mpi_is_engine() ? -EDEADLK : find_or_make(w, comm, ranks);
    if (error)
        return error;
    pthread_mutex_lock(&claims);
    error = (*ranks)->is_in_use ? -EBUSY : 0;
    (*ranks)->is_in_use = true;
    pthread_mutex_unlock(&claims);
    return error;
}

void weft__mpi_leave(struct weft__mpi_ranks *ranks)
{
    pthread_mutex_lock(&claims);
    ranks->is_in_use = false;
    pthread_mutex_unlock(&claims);
}
