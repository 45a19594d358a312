/* SPDX-License-Identifier: MIT */
/* Messages are of one size. One that brings work is followed by its bytes, in pieces that have a
 * tag of their own; the receiver knows by then how many these are. */
#include "bag.h"

#include "look.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    PIECE = 1 << 20,     /* bytes */
    YOUNG = 2000000,     /* ns */
    SERIALIZED = 1000000 /* ns between two looks by hands, which wake the engine's thread then */
};

#define NOT_SENT "a message of weft_mpi_bag_run was not sent"
#define NOT_RECEIVED "a message of weft_mpi_bag_run was not received"

uint64_t weft__bag_random(struct weft__bag_run *run)
{
    run->random ^= run->random << 13;
    run->random ^= run->random >> 7;
    run->random ^= run->random << 17;
    return run->random;
}

/* What came a moment ago may be done in a moment: of such work half is not worth a message. Worst
 * case: a thief waits YOUNG longer, if all ranks that have work are young. */
void weft__bag_tell_age(struct weft__bag_run *run)
{
    run->lifeline.is_young = run->loot && weft_now() - run->loot < YOUNG;
}

/* ---- Parcels ---- */

static uint64_t pieces_of(uint64_t size)
{
    return size / PIECE + (size % PIECE > 0);
}

struct weft__parcel *weft__bag_parcel(struct weft__bag_run *run, int rank, uint64_t size)
{
    uint64_t n = 1 + pieces_of(size);
    if (n > INT_MAX)
        return NULL;
    size_t align = _Alignof(max_align_t), head = sizeof(struct weft__parcel);
    head = (head + n * sizeof(MPI_Request) + align - 1) / align * align;
    struct weft__parcel *parcel = size > SIZE_MAX - head ? NULL : malloc(head + size);
    if (!parcel)
        return NULL;
    *parcel = (struct weft__parcel){
        .run = run,
        .rank = rank,
        .message.size = size,
        .wait = {.kind = WEFT__MPI_ALL,
                 .quiet = true,
                 .uses = &run->ranks->uses,
                 .n = (int)n,
                 .statuses = MPI_STATUSES_IGNORE},
        .requests = (MPI_Request *)(void *)(parcel + 1),
        .bytes = (unsigned char *)parcel + head,
    };
    parcel->wait.requests = parcel->requests;
    return parcel;
}

typedef int piece_fn(struct weft__parcel *parcel, uint64_t begin, int size, MPI_Request *request);

static int send_piece(struct weft__parcel *parcel, uint64_t begin, int size, MPI_Request *request)
{
    return MPI_Isend(parcel->bytes + begin, size, MPI_BYTE, parcel->rank, parcel->run->tag + 1,
                     parcel->run->ranks->comm, request);
}

static int receive_piece(struct weft__parcel *parcel, uint64_t begin, int size,
                         MPI_Request *request)
{
    return MPI_Irecv(parcel->bytes + begin, size, MPI_BYTE, parcel->rank, parcel->run->tag + 1,
                     parcel->run->ranks->comm, request);
}

static int each_piece(struct weft__parcel *parcel, piece_fn *fn)
{
    uint64_t size = parcel->message.size, n = pieces_of(size);
    int result = MPI_SUCCESS;
    for (uint64_t i = 0; i < n && result == MPI_SUCCESS; i++) {
        uint64_t rest = size - i * PIECE;
        result = fn(parcel, i * PIECE, rest < PIECE ? (int)rest : PIECE, &parcel->requests[1 + i]);
    }
    return result;
}

/* MPI may be done with it already: mostly it is, as messages are short. Under the lock. */
static void hand_over(struct weft__parcel *parcel, void (*then)(struct weft__mpi_wait *wait))
{
    parcel->wait.then = then;
    (void)weft__mpi_submit(&parcel->wait); /* 0, as it is quiet */
}

static struct weft__parcel *parcel_of(struct weft__mpi_wait *wait)
{
    return (struct weft__parcel *)(void *)((char *)wait - offsetof(struct weft__parcel, wait));
}

/* ---- Out ---- */

static void was_sent(struct weft__mpi_wait *wait)
{
    struct weft__parcel *parcel = parcel_of(wait);
    struct weft__bag_run *run = parcel->run;
    if (wait->result != MPI_SUCCESS)
        weft__mpi_die(NOT_SENT);
    free(parcel);
    pthread_mutex_lock(&run->lock);
    run->posted--;
    weft_event_set(NULL, &run->changed);
    pthread_mutex_unlock(&run->lock); /* the last touch */
}

void weft__bag_post_parcel(struct weft__bag_run *run, struct weft__parcel *parcel)
{
    run->sent[parcel->rank]++;
    *run->last_out = parcel;
    run->last_out = &parcel->next;
}

void weft__bag_post(void *context, int to, const struct weft__bag_message *message)
{
    struct weft__bag_run *run = context;
    struct weft__parcel *parcel = weft__bag_parcel(run, to, 0);
    if (!parcel)
        weft__mpi_die("no memory");
    parcel->message = *message;
    weft__bag_post_parcel(run, parcel);
}

static void send_parcel(struct weft__bag_run *run, struct weft__parcel *parcel)
{
    int result = MPI_Isend(&parcel->message, (int)sizeof parcel->message, MPI_BYTE, parcel->rank,
                           run->tag, run->ranks->comm, &parcel->requests[0]);
    if (result == MPI_SUCCESS)
        result = each_piece(parcel, send_piece);
    if (result != MPI_SUCCESS)
        weft__mpi_die(NOT_SENT);
    if (weft__mpi_look(&parcel->wait)) {
        if (parcel->wait.result != MPI_SUCCESS)
            weft__mpi_die(NOT_SENT);
        free(parcel);
        return;
    }
    run->posted++;
    hand_over(parcel, was_sent);
}

/* In a call of MPI. */
static int flush(void *arg)
{
    struct weft__bag_run *run = arg;
    pthread_mutex_lock(&run->lock);
    while (run->out) {
        struct weft__parcel *parcel = run->out;
        run->out = parcel->next;
        if (!run->out)
            run->last_out = &run->out;
        send_parcel(run, parcel);
    }
    pthread_mutex_unlock(&run->lock);
    return MPI_SUCCESS;
}

void weft__bag_flush(weft *w, struct weft__bag_run *run)
{
    pthread_mutex_lock(&run->lock);
    bool is_needed = run->out;
    pthread_mutex_unlock(&run->lock);
    if (is_needed)
        weft__mpi_do(w, flush, run);
}

int weft__bag_quit(void *arg)
{
    struct weft__bag_run *run = arg;
    struct weft__bag_message message = {.kind = WEFT__BAG_QUIT};
    pthread_mutex_lock(&run->lock);
    weft__bag_post(run, run->ranks->rank, &message);
    pthread_mutex_unlock(&run->lock);
    return flush(run);
}

/* ---- In ---- */

/* Under the lock. */
static void add_arrived(struct weft__parcel *parcel)
{
    struct weft__bag_run *run = parcel->run;
    if (parcel->wait.result != MPI_SUCCESS)
        weft__mpi_die(NOT_RECEIVED);
    parcel->next = run->arrived;
    run->arrived = parcel;
}

static void has_arrived(struct weft__mpi_wait *wait)
{
    struct weft__parcel *parcel = parcel_of(wait);
    struct weft__bag_run *run = parcel->run;
    pthread_mutex_lock(&run->lock);
    add_arrived(parcel);
    run->incoming--;
    weft_event_set(NULL, &run->changed);
    pthread_mutex_unlock(&run->lock); /* the last touch */
}

static void expect_parcel(struct weft__bag_run *run, int from)
{
    struct weft__parcel *parcel = weft__bag_parcel(run, from, run->message.size);
    if (!parcel)
        weft__mpi_die("no memory for work that comes");
    parcel->requests[0] = MPI_REQUEST_NULL;
    if (each_piece(parcel, receive_piece) != MPI_SUCCESS)
        weft__mpi_die(NOT_RECEIVED);
    if (weft__mpi_look(&parcel->wait)) {
        add_arrived(parcel);
        return;
    }
    run->incoming++;
    hand_over(parcel, has_arrived);
}

static void handle(struct weft__bag_run *run)
{
    struct weft__bag_message message = run->message;
    int from = run->status.MPI_SOURCE;
    if (message.kind == WEFT__BAG_QUIT) {
        run->has_quit = true;
        return;
    }
    run->received++;
    if (message.kind == WEFT__BAG_LOOT)
        expect_parcel(run, from);
    if (message.kind == WEFT__BAG_LOOT && !run->lifeline.is_busy)
        run->loot = weft_now();
    weft__bag_tell_age(run);
    weft__lifeline_receive(&run->lifeline, from, &message, weft__bag_random(run));
    if (run->is_live && run->lifeline.is_over)
        weft_task_cancel(&run->task);
}

static void receive_next(struct weft__bag_run *run)
{
    if (MPI_Irecv(&run->message, (int)sizeof run->message, MPI_BYTE, MPI_ANY_SOURCE, run->tag,
                  run->ranks->comm, &run->request) != MPI_SUCCESS)
        weft__mpi_die(NOT_RECEIVED);
    (void)weft__mpi_submit(&run->wait); /* 0, as it is quiet */
}

/* In the engine's thread, or a hand's. */
static void has_come(struct weft__mpi_wait *wait)
{
    struct weft__bag_run *run =
        (struct weft__bag_run *)(void *)((char *)wait - offsetof(struct weft__bag_run, wait));
    if (wait->result != MPI_SUCCESS)
        weft__mpi_die(NOT_RECEIVED);
    pthread_mutex_lock(&run->lock);
    handle(run);
    bool is_last = run->has_quit;
    if (!is_last)
        receive_next(run);
    weft_event_set(NULL, &run->changed);
    pthread_mutex_unlock(&run->lock); /* the last touch, if it is the last message */
    if (!is_last)
        flush(run);
}

int weft__bag_listen(void *arg)
{
    struct weft__bag_run *run = arg;
    run->wait = (struct weft__mpi_wait){.kind = WEFT__MPI_ONE,
                                        .quiet = true,
                                        .uses = &run->ranks->uses,
                                        .n = 1,
                                        .requests = &run->request,
                                        .statuses = &run->status,
                                        .then = has_come};
    pthread_mutex_lock(&run->lock);
    receive_next(run);
    pthread_mutex_unlock(&run->lock);
    return flush(run);
}

void weft__bag_look(struct weft__bag_run *run)
{
    if (!weft__mpi_is_multiple()) {
        uint64_t now = weft_now();
        pthread_mutex_lock(&run->lock);
        bool is_early = now - run->looked < SERIALIZED;
        if (!is_early)
            run->looked = now;
        pthread_mutex_unlock(&run->lock);
        if (is_early)
            return;
    }
    while (weft__mpi_help(&run->wait))
        has_come(&run->wait);
}
