/* SPDX-License-Identifier: MIT */
/* bag_die.c: what its argument says: "killed": a rank is killed while it does items, and the others
 * would compute for ever; "absent": a rank comes some seconds late, and is missed; "steady": ranks
 * compute for some seconds, and nobody is missed. */
#include "ranks.h"

#include <signal.h>

static bool is_killed, is_long;

/* A bag is a number of items. */
static bool process(weft *w, void *bag, size_t n, void *result, void *arg)
{
    (void)result, (void)arg;
    uint64_t *items = bag, since = weft_now();
    while (is_killed && !weft_cancelled(w)) {
        if (rank == ranks - 1 && weft_now() - since > 200 * MS)
            raise(SIGKILL);
        sleep_ms(1);
    }
    if (is_long)
        sleep_ms(3000);
    *items = *items > n ? *items - n : 0;
    return *items > 0;
}

static int split(weft *w, void *bag, void *half, void *arg)
{
    (void)w, (void)arg;
    uint64_t *items = bag, *other = half;
    *other = *items / 2;
    *items -= *other;
    return *other > 0;
}

static int merge(weft *w, void *bag, void *other, void *arg)
{
    (void)w, (void)arg;
    *(uint64_t *)bag += *(uint64_t *)other;
    *(uint64_t *)other = 0;
    return 0;
}

static int64_t pack(weft *w, const void *bag, void *to, size_t room, void *arg)
{
    (void)w, (void)arg;
    if (room >= sizeof(uint64_t))
        memcpy(to, bag, sizeof(uint64_t));
    return sizeof(uint64_t);
}

static int unpack(weft *w, void *bag, const void *from, size_t size, void *arg)
{
    (void)w, (void)arg;
    memcpy(bag, from, size);
    return 0;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    CHECK(argc > 1);
    is_killed = strcmp(argv[1], "killed") == 0;
    const weft_mpi_bag kind = {.size = sizeof(uint64_t),
                               .process = process,
                               .split = split,
                               .merge = merge,
                               .pack = pack,
                               .unpack = unpack};
    uint64_t mine = 1000;
    if (strcmp(argv[1], "steady") == 0) {
        CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &kind, NULL, NULL, NULL) == 0);
        is_long = true;
        mine = 1;
        CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &kind, &mine, NULL, NULL) == 0);
        is_long = false;
    } else if (!is_killed) {
        CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &kind, &mine, NULL, NULL) == 0);
        if (rank == ranks - 1)
            sleep_ms(2500);
    }
    mine = 1000;
    CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &kind, &mine, NULL, NULL) == 0);
    CHECK(!is_killed && mine == 0);
    MPI_Finalize();
    return 0;
}
