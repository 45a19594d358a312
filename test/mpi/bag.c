/* SPDX-License-Identifier: MIT */
/* bag.c: irregular work on all ranks, wherever it begins, and whatever goes wrong. An item is a
 * number; one that is not 0 leaves two that are less by one. So an item n makes 2^(n + 1) - 1. */
#include "ranks.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <weft/actor.h>
#include <weft/parallel.h>

struct items {
    unsigned char *numbers;
    size_t n, room;
};

struct sum {
    uint64_t items, bits;
};

/* What this rank does besides. */
struct how {
    size_t padding; /* bytes in each message, for nothing */
    bool endless;   /* an item leaves itself */
    bool lingers;   /* a call of process lasts until it is cancelled */
    bool loops;     /* process uses other workers */
    bool slow;      /* so that work comes from several ranks at a time */
    int fails;      /* the code that items fail with */
    int pack_fails, unpack_fails, split_fails, merge_fails;
    bool pack_lies;  /* about the size */
    atomic_int bags; /* that have memory */
};

static int reserve(struct items *bag, size_t more, struct how *how)
{
    if (bag->n + more <= bag->room)
        return 0;
    how->bags += !bag->numbers;
    size_t room = 2 * (bag->n + more);
    unsigned char *numbers = realloc(bag->numbers, room);
    CHECK(numbers);
    bag->numbers = numbers;
    bag->room = room;
    return 0;
}

static void add(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w;
    atomic_fetch_add((atomic_ullong *)arg, end - begin);
}

static void linger(weft *w)
{
    while (!weft_cancelled(w))
        sleep_ms(1);
}

static bool process(weft *w, void *arg, size_t n, void *result, void *context)
{
    struct items *bag = arg;
    struct sum *sum = result;
    struct how *how = context;
    CHECK(n > 0);
    for (; n > 0 && bag->n > 0; n--) {
        unsigned char number = bag->numbers[--bag->n];
        atomic_ullong counted = 0;
        if (how->loops)
            weft_for(w, 0, 100, add, &counted);
        CHECK(counted == 100U * how->loops || weft_cancelled(w));
        if (how->fails)
            weft_fail(w, how->fails);
        if (how->lingers)
            linger(w);
        if (how->slow)
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        reserve(bag, 2, how);
        if (number > 0 || how->endless) {
            bag->numbers[bag->n++] = (unsigned char)(number - (number > 0));
            bag->numbers[bag->n++] = (unsigned char)(number - (number > 0));
        }
        if (how->endless && bag->n > 1000)
            bag->n--; /* enough for all */
        sum->items++;
        sum->bits |= (uint64_t)1 << number;
    }
    return bag->n > 0;
}

static void take(struct items *bag, const unsigned char *numbers, size_t n, struct how *how)
{
    reserve(bag, n, how);
    if (n)
        memcpy(bag->numbers + bag->n, numbers, n);
    bag->n += n;
}

static int split(weft *w, void *arg, void *to, void *context)
{
    struct items *bag = arg, *half = to;
    struct how *how = context;
    CHECK(w && half->n == 0);
    if (how->split_fails)
        return how->split_fails;
    size_t n = bag->n / 2;
    if (n == 0)
        return 0;
    take(half, bag->numbers, n, how);
    memmove(bag->numbers, bag->numbers + n, bag->n - n);
    bag->n -= n;
    return 1;
}

static int merge(weft *w, void *arg, void *from, void *context)
{
    struct items *other = from;
    struct how *how = context;
    CHECK(w);
    if (how->merge_fails)
        return how->merge_fails;
    take(arg, other->numbers, other->n, how);
    other->n = 0;
    return 0;
}

static int64_t pack(weft *w, const void *arg, void *to, size_t room, void *context)
{
    const struct items *bag = arg;
    struct how *how = context;
    size_t size = bag->n + how->padding;
    CHECK(w && bag->n > 0);
    if (how->pack_fails)
        return how->pack_fails;
    if (size > room)
        return (int64_t)size;
    if (how->pack_lies)
        return (int64_t)size - 1;
    memset(to, 0xa5, size);
    memcpy((char *)to + how->padding, bag->numbers, bag->n);
    return (int64_t)size;
}

static int unpack(weft *w, void *arg, const void *from, size_t size, void *context)
{
    struct items *bag = arg;
    struct how *how = context;
    const unsigned char *bytes = from;
    CHECK(w && bag->n == 0 && size > how->padding);
    if (how->unpack_fails)
        return how->unpack_fails;
    for (size_t i = 0; i < how->padding; i++)
        CHECK(bytes[i] == 0xa5);
    take(bag, bytes + how->padding, size - how->padding, how);
    return 0;
}

static void clear(weft *w, void *arg, void *context)
{
    (void)w;
    struct items *bag = arg;
    struct how *how = context;
    how->bags -= bag->numbers != NULL;
    free(bag->numbers);
}

static void combine(weft *w, void *left, const void *right, void *context)
{
    (void)w, (void)context;
    struct sum *a = left;
    const struct sum *b = right;
    a->items += b->items;
    a->bits |= b->bits;
}

static const weft_mpi_bag kind = {
    .size = sizeof(struct items),
    .result_size = sizeof(struct sum),
    .process = process,
    .split = split,
    .merge = merge,
    .pack = pack,
    .unpack = unpack,
    .clear = clear,
    .combine = combine,
};

/* One item on this rank, or none. */
static int one_bag(weft *w, int number, struct how *how, struct sum *sum, uint64_t when)
{
    struct items mine = {0};
    if (number >= 0) {
        reserve(&mine, 1, how);
        mine.numbers[mine.n++] = (unsigned char)number;
    }
    int error = weft_mpi_bag_run_until(w, MPI_COMM_WORLD, &kind, number >= 0 ? &mine : NULL, how,
                                       sum, when);
    CHECK(error || mine.n == 0);
    clear(w, &mine, how);
    CHECK(how->bags == 0); /* nothing is lost */
    return error;
}

/* `owner` has an item, or all ranks have (ANYBODY), or none (NOBODY). */
enum { ANYBODY = -1, NOBODY = -2 };

static void count(weft *w, int owner, int number, size_t padding)
{
    struct how how = {.padding = padding};
    struct sum sum = {7, 7};
    bool is_mine = owner == rank || owner == ANYBODY;
    CHECK(one_bag(w, is_mine ? number : -1, &how, &sum, WEFT_FOREVER) == 0);
    uint64_t owners = owner == NOBODY ? 0 : owner == ANYBODY ? (uint64_t)ranks : 1;
    CHECK(sum.items == owners * (((uint64_t)2 << number) - 1));
    CHECK(sum.bits == (owners ? ((uint64_t)2 << number) - 1 : 0));
}

static void counts(weft *w, void *arg)
{
    (void)arg;
    count(w, 0, 14, 0);
    count(w, ranks - 1, 14, 0);
    count(w, ANYBODY, 12, 0);
    count(w, NOBODY, 0, 0);
    count(w, 0, 0, 0);
    count(w, ranks - 1, 0, 0);
    count(w, ranks / 2, 16, 3000017);
    count(w, ANYBODY, 10, (size_t)1 << 20);
}

static void forks(weft *w, void *arg)
{
    (void)arg;
    struct how how = {.loops = true};
    struct sum sum;
    CHECK(one_bag(w, 10, &how, &sum, WEFT_FOREVER) == 0);
    CHECK(sum.items == (uint64_t)ranks * 2047);
}

static void slow(weft *w, void *arg)
{
    (void)arg;
    for (int i = 0; i < 4; i++) {
        struct how how = {.slow = true, .padding = 100000};
        struct sum sum;
        CHECK(one_bag(w, rank == i % ranks ? 11 : -1, &how, &sum, WEFT_FOREVER) == 0);
        CHECK(sum.items == 4095);
    }
}

/* ---- Failures: the same error everywhere, and the next bag is as if nothing had been ---- */

static void expect(int error, weft *w, int number, struct how *how, uint64_t when)
{
    struct sum sum;
    int got = one_bag(w, number, how, &sum, when);
    if (got != error)
        fprintf(stderr, "rank %d: %d\n", rank, got);
    CHECK(got == error);
    count(w, ANYBODY, 4, 0);
}

static void failures(weft *w, void *arg)
{
    (void)arg;
    for (int who = 0; who < ranks; who++) {
        struct how endless = {.endless = true};
        struct how fails = {.endless = true, .fails = -EDOM};
        expect(-EDOM, w, 3, who == rank ? &fails : &endless, WEFT_FOREVER);
        /* The others notice in the middle of a call. */
        struct how lingers = {.lingers = true};
        expect(-EDOM, w, 3, who == rank ? &fails : &lingers, WEFT_FOREVER);
        /* Much is on its way. */
        struct how heavy = {.endless = true, .padding = 3000017};
        struct how heavy_fails = {.endless = true, .padding = 3000017, .fails = -EDOM};
        if (ranks > 1)
            expect(-EDOM, w, who == rank ? -1 : 3, who == rank ? &heavy_fails : &heavy,
                   WEFT_FOREVER);
    }
}

static void bad_functions(weft *w, void *arg)
{
    (void)arg;
    struct how pack_fails = {.endless = true, .pack_fails = -ENOMEM};
    struct how pack_lies = {.endless = true, .pack_lies = true};
    struct how unpack_fails = {.endless = true, .unpack_fails = -EBADMSG};
    struct how split_fails = {.endless = true, .split_fails = -EPROTO};
    struct how merge_fails = {.endless = true, .merge_fails = -ENOSPC};
    for (int owner = 0; owner < ranks && ranks > 1; owner++) {
        int number = owner == rank ? 3 : -1;
        expect(-ENOMEM, w, number, &pack_fails, WEFT_FOREVER);
        expect(-EINVAL, w, number, &pack_lies, WEFT_FOREVER);
        expect(-EBADMSG, w, number, &unpack_fails, WEFT_FOREVER);
        expect(-EPROTO, w, number, &split_fails, WEFT_FOREVER);
        expect(-ENOSPC, w, number, &merge_fails, WEFT_FOREVER);
    }
}

/* The rank that has the limit is busy, or another one is, in the middle of a call. */
static void deadlines(weft *w, void *arg)
{
    (void)arg;
    for (int who = 0; who < ranks; who++)
        for (int owner = 0; owner < ranks; owner++) {
            struct how endless = {.endless = true}, lingers = {.lingers = true};
            int number = owner == rank ? 3 : -1;
            uint64_t when = who == rank ? weft_now() + 5 * MS : WEFT_FOREVER;
            expect(-ETIMEDOUT, w, number, &endless, when);
            when = who == rank ? weft_now() + 5 * MS : WEFT_FOREVER;
            expect(-ETIMEDOUT, w, number, &lingers, when);
        }
}

static void cancelled(weft *w, void *arg)
{
    (void)arg;
    for (int who = 0; who < ranks; who++)
        for (int owner = 0; owner < ranks; owner++) {
            struct how endless = {.endless = true};
            struct sum sum;
            weft_scope scope;
            weft_scope_open(w, &scope);
            if (who == rank)
                weft_scope_deadline(&scope, weft_now() + 5 * MS);
            int error = one_bag(w, owner == rank ? 3 : -1, &endless, &sum, WEFT_FOREVER);
            CHECK(error == -ECANCELED);
            CHECK(weft_scope_close(w, &scope) == (who == rank ? -ETIMEDOUT : 0));
            count(w, ANYBODY, 4, 0);
        }
}

/* ---- How many items in a call ---- */

static size_t least, most; /* that were asked for; one hand at a time: there is one bag */

static bool note_items(weft *w, void *arg, size_t n, void *result, void *context)
{
    struct items *bag = arg;
    (void)w, (void)result;
    least = n < least ? n : least;
    most = n > most ? n : most;
    if (*(int *)context)
        sleep_ms(*(int *)context);
    bag->n--;
    return bag->n > 0;
}

static int split_never(weft *w, void *bag, void *half, void *context)
{
    (void)w, (void)bag, (void)half, (void)context;
    return 0;
}

static int merge_items(weft *w, void *arg, void *from, void *context)
{
    (void)w, (void)context;
    *(struct items *)arg = *(struct items *)from;
    return 0;
}

/* A call that takes long gets fewer the next time, and one that is short more; or what is said. */
static void sizes(weft *w, void *arg)
{
    (void)arg;
    weft_mpi_bag some = kind;
    some.result_size = 0;
    some.process = note_items;
    some.split = split_never;
    some.merge = merge_items;
    some.clear = NULL;
    for (size_t items = 0; items < 4; items += 3)
        for (int ms = 0; ms < 2; ms++) {
            struct items mine = {.n = 40};
            some.items = items;
            least = SIZE_MAX;
            most = 0;
            CHECK(weft_mpi_bag_run(w, MPI_COMM_WORLD, &some, &mine, &ms, NULL) == 0);
            if (items)
                CHECK(least == items && most == items);
            else
                CHECK(ms ? least == 1 : most > 1000);
        }
}

/* ---- All workers ---- */

static atomic_int hands;

/* After the first call there is something for the other worker, which takes it. */
static bool meet(weft *w, void *arg, size_t n, void *result, void *context)
{
    struct items *bag = arg;
    (void)n, (void)result, (void)context;
    if (bag->room == 0) { /* it has not been split */
        bag->room = 1;
        return true;
    }
    atomic_fetch_add(&hands, 1);
    while (atomic_load(&hands) < 2 && !weft_cancelled(w))
        sleep_ms(1);
    bag->n = 0;
    return false;
}

static int split_once(weft *w, void *arg, void *to, void *context)
{
    struct items *bag = arg, *half = to;
    (void)w, (void)context;
    if (bag->n < 2)
        return 0;
    bag->n = 1;
    *half = *bag;
    return 1;
}

static int64_t pack_never(weft *w, const void *bag, void *to, size_t room, void *context)
{
    (void)w, (void)bag, (void)to, (void)room, (void)context;
    return -ENOTSUP;
}

/* Ranks have no thieves: each calls it for itself. */
static void shared(weft *w, void *arg)
{
    (void)arg;
    weft_mpi_bag some = kind;
    struct items mine = {.n = 2};
    some.result_size = 0;
    some.process = meet;
    some.split = split_once;
    some.merge = merge_items;
    some.pack = pack_never;
    some.clear = NULL;
    atomic_store(&hands, 0);
    CHECK(weft_mpi_bag_run(w, MPI_COMM_SELF, &some, &mine, NULL, NULL) == 0);
    CHECK(atomic_load(&hands) == 2);
}

/* ---- A thief that was refused gets something later ---- */

static atomic_bool has_come; /* something, to rank 1 */
static uint64_t opens;

static bool process_until(weft *w, void *arg, size_t n, void *result, void *context)
{
    struct items *bag = arg;
    int flag = 0;
    (void)w, (void)n, (void)result, (void)context;
    if (rank == 0)
        MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    else if (!atomic_exchange(&has_come, true))
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (flag)
        atomic_store(&has_come, true);
    sleep_ms(1);
    bag->n = atomic_load(&has_come) ? 0 : bag->n;
    return bag->n > 0;
}

static int split_later(weft *w, void *arg, void *to, void *context)
{
    struct items *bag = arg, *half = to;
    (void)w, (void)context;
    half->n = weft_now() < opens ? 0 : bag->n / 2;
    bag->n -= half->n;
    return half->n > 0;
}

static int64_t pack_number(weft *w, const void *bag, void *to, size_t room, void *context)
{
    (void)w, (void)context;
    if (room >= sizeof(struct items))
        memcpy(to, bag, sizeof(struct items));
    return sizeof(struct items);
}

static int unpack_number(weft *w, void *bag, const void *from, size_t size, void *context)
{
    (void)w, (void)context;
    memcpy(bag, from, size);
    return 0;
}

static void refused_first(void)
{
    weft_mpi_bag some = kind;
    struct items mine = {.n = 1 << 20};
    int got;
    some.result_size = 0;
    some.process = process_until;
    some.split = split_later;
    some.merge = merge_items;
    some.pack = pack_number;
    some.unpack = unpack_number;
    some.clear = NULL;
    opens = weft_now() + 100 * MS;
    CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &some, rank ? NULL : &mine, NULL, NULL) == 0);
    if (rank == 0)
        MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- The rest ---- */

static void late(void)
{
    for (int who = 0; who < ranks; who++) {
        if (who == rank)
            sleep_ms(100);
        count(NULL, 0, 12, 0);
    }
}

static void many(int n)
{
    for (int i = 0; i < n; i++)
        count(NULL, i % (ranks + 2) - 2, i % 7, 0);
}

/* Messages of the program, on the same communicator with any tag. */
static void own_messages(void)
{
    int got = -1, mine = rank;
    bool done = true;
    MPI_Request requests[2];
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    count(NULL, 0, 10, 0);
    CHECK(weft_mpi_test(NULL, &requests[0], &done, MPI_STATUS_IGNORE) == 0 && !done);
    MPI_Isend(&mine, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]);
    CHECK(weft_mpi_waitall(NULL, 2, requests, MPI_STATUSES_IGNORE) == 0 && got == rank);
}

/* Half of the ranks, twice, between loops of all. */
static void halves(void)
{
    for (int i = 0; i < 2; i++) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        struct how how = {0};
        struct items mine = {0};
        struct sum sum;
        reserve(&mine, 1, &how);
        mine.numbers[mine.n++] = 5;
        CHECK(weft_mpi_bag_run(NULL, half, &kind, &mine, &how, &sum) == 0);
        CHECK(sum.items == 63U * (unsigned)(ranks / 2 + (rank % 2 == 0 && ranks % 2 == 1)));
        clear(NULL, &mine, &how);
        MPI_Comm_free(&half);
        atomic_ullong counted = 0;
        CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, add, &counted) == 0);
    }
}

static double cpu_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

/* A rank without work, for half a second. */
static void dormant(void)
{
    struct how lingers = {.lingers = true};
    struct sum sum;
    double before = cpu_ms();
    uint64_t when = rank == 0 ? weft_now() + 500 * MS : WEFT_FOREVER;
    CHECK(one_bag(NULL, rank == 0 ? 3 : -1, &lingers, &sum, when) == -ETIMEDOUT);
    if (rank > 0 && cpu_ms() - before > 50)
        fprintf(stderr, "rank %d: %.1f ms\n", rank, cpu_ms() - before);
    CHECK(rank == 0 || cpu_ms() - before < 50);
}

static int in_actor(weft *w, void *arg)
{
    struct sum sum;
    return weft_mpi_bag_run(w, MPI_COMM_WORLD, &kind, NULL, arg, &sum);
}

static void wrong(void)
{
    struct how how = {0};
    struct sum sum;
    weft_mpi_bag bad = kind;
    CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, NULL, NULL, &how, &sum) == -EINVAL);
    CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &kind, NULL, &how, NULL) == -EINVAL);
    CHECK(weft_mpi_bag_run(NULL, MPI_COMM_NULL, &kind, NULL, &how, &sum) == -EINVAL);
    bad.split = NULL;
    CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &bad, NULL, &how, &sum) == -EINVAL);
    bad = kind;
    bad.combine = NULL;
    CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &bad, NULL, &how, &sum) == -EINVAL);
    bad.result_size = 0;
    CHECK(weft_mpi_bag_run(NULL, MPI_COMM_WORLD, &bad, NULL, &how, NULL) == 0);
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, NULL, in_actor, &how, NULL) == 0);
    CHECK(weft_actor_run(actor) == 0 && weft_actor_wait(NULL, actor) == -EPERM);
    weft_actor_release(actor);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    bool is_serialized = argc > 1 && strcmp(argv[1], "serialized") == 0;
    wrong();
    counts(NULL, NULL);
    run(counts, NULL);
    run(forks, NULL);
    run(sizes, NULL);
    if (weft_pool_workers(NULL) > 1)
        run(shared, NULL);
    run(slow, NULL);
    late();
    run(failures, NULL);
    failures(NULL, NULL); /* outside: it runs the task itself */
    run(bad_functions, NULL);
    run(deadlines, NULL);
    run(cancelled, NULL);
    if (!is_serialized) { /* they call MPI themselves */
        own_messages();
        halves();
        if (ranks == 2)
            refused_first();
    }
    dormant();
    many(argc > 2 ? atoi(argv[2]) : 600); /* tags are used again after 512 */
    MPI_Finalize();
    return 0;
}
