/* SPDX-License-Identifier: MIT */
/* long.c [MEGABYTES [ROUNDS]]: a long message, which MPI moves in pieces, while both sides look: by
 * weft_mpi_wait(), and by MPI_Wait(), if both sides come at the same time, or one of them comes
 * later. Prints the time from when the later one comes, which is for people to look at. */
#include "ranks.h"

#include <errno.h>

enum { LATER = 300 }; /* ms */

struct message {
    char *bytes;
    int size;
    bool by_mpi;
};

static void move(weft *w, void *arg)
{
    struct message *m = arg;
    MPI_Request request;
    if (rank == 0)
        MPI_Isend(m->bytes, m->size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(m->bytes, m->size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
    if (m->by_mpi)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        CHECK(weft_mpi_wait(w, &request, MPI_STATUS_IGNORE) == 0);
}

/* ns, as the one that comes later sees it; late: NOBODY, or which one. */
enum { NOBODY = -1 };

static uint64_t measure(struct message *m, int late)
{
    memset(m->bytes, rank ? 0 : 1, (size_t)m->size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late)
        sleep_ms(LATER);
    uint64_t begin = weft_now(), ns;
    run(move, m);
    ns = weft_now() - begin;
    CHECK(m->bytes[0] == 1 && m->bytes[m->size - 1] == 1);
    MPI_Bcast(&ns, 1, MPI_UINT64_T, late == NOBODY ? 1 : late, MPI_COMM_WORLD);
    return ns;
}

/* A time limit ends the wait also while data moves. With other programs beside this one a message
 * may be through before the receiver sees how late it is: so once in some tries will do. */
static void limit_ends_the_wait(struct message *m)
{
    bool has_ended = false;
    for (int i = 0; i < 9; i++) {
        MPI_Request request;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Isend(m->bytes, m->size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        else
            MPI_Irecv(m->bytes, m->size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        if (rank == 1)
            has_ended |= weft_mpi_wait_until(NULL, &request, MPI_STATUS_IGNORE,
                                             weft_now() + MS / 10) == -ETIMEDOUT;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(rank == 0 || has_ended);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
    enum { MOST = 101 };
    static const char *const who[] = {"both come at once", "the sender is late",
                                      "the receiver is late"};
    begin(argc, argv);
    int megabytes = argc > 1 ? atoi(argv[1]) : 16, rounds = argc > 2 ? atoi(argv[2]) : 3;
    CHECK(megabytes > 0 && megabytes < 2048 && rounds > 0 && rounds <= MOST);
    struct message m = {.size = megabytes << 20};
    CHECK(m.bytes = malloc((size_t)m.size));
    for (int late = NOBODY; late < 2; late++) {
        uint64_t ns[2][MOST];
        for (int i = 0; i < 2 * rounds; i++) {
            m.by_mpi = i % 2;
            ns[i % 2][i / 2] = measure(&m, late);
        }
        for (int i = 0; i < 2; i++)
            qsort(ns[i], (size_t)rounds, sizeof **ns, by_size);
        if (rank == 0)
            printf("%d MB, %s: %.1f ms (%.1f to %.1f); by MPI_Wait() %.1f (%.1f to %.1f)\n",
                   megabytes, who[late + 1], (double)ns[0][rounds / 2] / 1e6,
                   (double)ns[0][0] / 1e6, (double)ns[0][rounds - 1] / 1e6,
                   (double)ns[1][rounds / 2] / 1e6, (double)ns[1][0] / 1e6,
                   (double)ns[1][rounds - 1] / 1e6);
    }
    limit_ends_the_wait(&m);
    free(m.bytes);
    MPI_Finalize();
    return 0;
}
