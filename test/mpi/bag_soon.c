/* SPDX-License-Identifier: MIT */
/* bag_soon.c: a rank that has been busy for long, and runs out of work, gets some from another rank
 * soon, though no message came meanwhile. Items only sleep, so that a busy machine matters little;
 * for longer than the last hand looks for the answer by itself.
 */
#include "ranks.h"

#include <sched.h>

enum { ROUNDS = 9, SOON = 6, TRIES = 5, FIRST_MS = 300, ITEM_MS = 3, ITEMS = 270 };

struct items {
    size_t n;
    bool first; /* the one that rank 0 begins with */
};

static uint64_t ended, gap; /* of rank 0, which has one worker */

static bool process(weft *w, void *arg, size_t n, void *result, void *context)
{
    (void)w, (void)n, (void)result, (void)context;
    struct items *bag = arg;
    if (rank == 0 && ended && !gap)
        gap = weft_now() - ended;
    sleep_ms(bag->first ? FIRST_MS : ITEM_MS);
    if (bag->first)
        ended = weft_now();
    bag->first = false;
    bag->n--;
    return bag->n > 0;
}

static int split(weft *w, void *from, void *to, void *context)
{
    (void)w, (void)context;
    struct items *bag = from, *half = to;
    half->n = bag->n / 2;
    bag->n -= half->n;
    return half->n > 0;
}

static int merge(weft *w, void *to, void *from, void *context)
{
    (void)w, (void)context;
    struct items *bag = to, *other = from;
    bag->n += other->n;
    bag->first |= other->first;
    *other = (struct items){0};
    return 0;
}

static int64_t pack(weft *w, const void *from, void *to, size_t room, void *context)
{
    (void)w, (void)context;
    if (room >= sizeof(struct items))
        memcpy(to, from, sizeof(struct items));
    return sizeof(struct items);
}

static int unpack(weft *w, void *to, const void *from, size_t size, void *context)
{
    (void)w, (void)context;
    memcpy(to, from, size);
    return 0;
}

/* How many of the rounds were soon enough: by chance, if naps don't begin anew, a fifth. */
static int count_soon(void)
{
    const weft_mpi_bag kind = {.size = sizeof(struct items),
                               .items = 1,
                               .process = process,
                               .split = split,
                               .merge = merge,
                               .pack = pack,
                               .unpack = unpack};
    int soon = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct items mine = {.n = rank ? ITEMS : 1, .first = rank == 0};
        ended = gap = 0;
        CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &kind, &mine, NULL, NULL) == 0);
        CHECK(rank > 0 || gap > 0);
        soon += gap < 10 * MS;
    }
    return soon;
}

/* Do other programs run when a thread lets them? A rank that looks for its answer does. */
static bool is_busy(void)
{
    uint64_t begin = weft_now();
    for (int i = 0; i < 50; i++)
        sched_yield();
    return weft_now() - begin > 50 * MS;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int soon = 0;
    for (int i = 0; i < TRIES && soon < SOON; i++) {
        soon = count_soon();
        if (rank == 0)
            printf("%d of %d in less than 10 ms\n", soon, ROUNDS);
        MPI_Bcast(&soon, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    int busy = soon < SOON && is_busy();
    MPI_Allreduce(MPI_IN_PLACE, &busy, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (busy && rank == 0)
        printf("other programs keep the CPUs: nothing can be said\n");
    CHECK(soon >= SOON || busy);
    MPI_Finalize();
    return busy ? 77 : 0;
}
