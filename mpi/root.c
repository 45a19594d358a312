/* SPDX-License-Identifier: MIT */
#include "root.h"

#include "look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sending ---- */

struct letter {
    struct weft__mpi_wait wait; /* first: it is freed by it */
    MPI_Request request;
    int64_t numbers[4];
};

static void letter_sent(struct weft__mpi_wait *wait)
{
    if (wait->result != MPI_SUCCESS)
        weft__mpi_die("a message of a loop was not sent");
    free(wait);
}

void weft__mpi_post(struct weft__mpi_ranks *ranks, int to, int tag, const int64_t numbers[4])
{
    struct letter *letter = calloc(1, sizeof *letter);
    if (!letter)
        weft__mpi_die("no memory");
    memcpy(letter->numbers, numbers, sizeof letter->numbers);
    letter->wait = (struct weft__mpi_wait){.kind = WEFT__MPI_ONE,
                                           .quiet = true,
                                           .uses = &ranks->uses,
                                           .n = 1,
                                           .requests = &letter->request,
                                           .statuses = MPI_STATUS_IGNORE,
                                           .then = letter_sent};
    letter->wait.result =
        MPI_Isend(letter->numbers, 4, MPI_INT64_T, to, tag, ranks->comm, &letter->request);
    if (letter->wait.result != MPI_SUCCESS || weft__mpi_look(&letter->wait))
        letter_sent(&letter->wait);
    else
        (void)weft__mpi_submit(&letter->wait); /* 0, as it is quiet */
}

/* ---- Giving out ---- */

void weft__mpi_root_take(struct weft__mpi_root *root, size_t least, int64_t part[4])
{
    pthread_mutex_lock(&root->lock);
    size_t left = root->has_verdict ? 0 : root->end - root->next;
    size_t n = left / (4 * (size_t)root->ranks->size);
    if (n < least)
        n = least;
    if (n > root->most)
        n = root->most;
    if (n > left)
        n = left;
    part[0] = (int64_t)root->next;
    root->next += n;
    part[1] = (int64_t)root->next;
    part[2] = part[3] = 0;
    pthread_mutex_unlock(&root->lock);
}

/* ---- Hearing ---- */

static void send_verdict(struct weft__mpi_root *root, int verdict)
{
    root->has_verdict = true;
    root->verdict = verdict;
    for (int to = 1; to < root->ranks->size; to++)
        weft__mpi_post(root->ranks, to, root->tag + WEFT__MPI_STOP, (int64_t[4]){verdict});
}

static void end_worry(struct weft__mpi_root *root)
{
    if (root->worries)
        weft__mpi_wait_ends();
    root->worries = false;
}

static void note_seen(struct weft__mpi_root *root, int from)
{
    if (root->seen[from])
        return;
    root->seen[from] = true;
    if (--root->not_seen == 0)
        end_worry(root);
}

void weft__mpi_root_worry(struct weft__mpi_root *root)
{
    pthread_mutex_lock(&root->lock);
    if (root->not_seen > 0 && !root->worries) {
        root->worries = true;
        weft__mpi_wait_begins();
    }
    pthread_mutex_unlock(&root->lock);
}

/* Returns whether this makes the verdict. */
static bool note(struct weft__mpi_root *root, int from, int64_t kind, int code)
{
    pthread_mutex_lock(&root->lock);
    bool had = root->has_verdict;
    note_seen(root, from);
    root->not_done -= kind == WEFT__MPI_DONE;
    root->not_gone -= kind == WEFT__MPI_BYE;
    bool fails = (kind == WEFT__MPI_DONE || kind == WEFT__MPI_FAIL) && code;
    if (!had && (fails || root->not_done == 0))
        send_verdict(root, code);
    bool makes = !had && root->has_verdict;
    pthread_mutex_unlock(&root->lock);
    return makes;
}

void weft__mpi_root_hear(struct weft__mpi_root *root, int from, const int64_t message[4])
{
    if (message[0] == WEFT__MPI_ASK) {
        int64_t part[4];
        note(root, from, WEFT__MPI_ASK, 0);
        weft__mpi_root_take(root, (size_t)message[1], part);
        weft__mpi_post(root->ranks, from, root->tag + WEFT__MPI_GRANT + (int)message[2], part);
        return;
    }
    if (note(root, from, message[0], (int)message[1]))
        weft__mpi_loop_stop(root->local, root->verdict);
}

/* ---- Its life ---- */

static void end(struct weft__mpi_root *root)
{
    pthread_mutex_lock(&root->lock);
    struct weft__mpi_loop *local = root->local;
    pthread_mutex_unlock(&root->lock);
    if (local)
        weft_event_set(NULL, &local->gone); /* the last touch of the loop */
    pthread_mutex_destroy(&root->lock);
    free(root->seen);
    free(root);
}

static void heard(struct weft__mpi_wait *wait);

static bool listen(struct weft__mpi_root *root)
{
    root->wait = (struct weft__mpi_wait){.kind = WEFT__MPI_ONE,
                                         .quiet = true,
                                         .uses = &root->ranks->uses,
                                         .n = 1,
                                         .requests = &root->request,
                                         .statuses = &root->status,
                                         .then = heard};
    return MPI_Irecv(root->message, 4, MPI_INT64_T, MPI_ANY_SOURCE, root->tag + WEFT__MPI_TO_ROOT,
                     root->ranks->comm, &root->request) == MPI_SUCCESS &&
           weft__mpi_submit(&root->wait) == 0;
}

/* In the engine's thread, which ends it when all have gone, rank 0 among them. */
static void heard(struct weft__mpi_wait *wait)
{
    struct weft__mpi_root *root =
        (struct weft__mpi_root *)((char *)wait - offsetof(struct weft__mpi_root, wait));
    if (wait->result != MPI_SUCCESS)
        weft__mpi_die("a message of a loop was not received");
    weft__mpi_root_hear(root, root->status.MPI_SOURCE, root->message);
    if (root->not_gone == 0)
        end(root);
    else if (!listen(root))
        weft__mpi_die("messages of a loop are not received");
}

void weft__mpi_root_leave(struct weft__mpi_root *root)
{
    pthread_mutex_lock(&root->lock);
    root->local = NULL;
    end_worry(root);
    pthread_mutex_unlock(&root->lock);
}

struct weft__mpi_root *weft__mpi_root_begin(struct weft__mpi_loop *loop)
{
    struct weft__mpi_root *root = calloc(1, sizeof *root);
    if (!root)
        return NULL;
    int size = loop->ranks->size;
    root->seen = calloc((size_t)size, sizeof *root->seen);
    *root = (struct weft__mpi_root){
        .local = loop,
        .ranks = loop->ranks,
        .tag = loop->tag,
        .next = loop->begin,
        .end = loop->end,
        .most = loop->most,
        .not_seen = size,
        .not_done = size,
        .not_gone = size,
        .seen = root->seen,
    };
    pthread_mutex_init(&root->lock, NULL);
    if (root->seen && listen(root))
        return root;
    root->local = NULL;
    end(root);
    return NULL;
}
