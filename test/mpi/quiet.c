/* SPDX-License-Identifier: MIT */
/* quiet.c: a job of a worker, a job of a guest, and an actor wait for a message that comes after a
 * second: less than 5 ms of CPU time, of all threads together, on a pool that was just used. */
#include "ranks.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <weft/actor.h>

enum { TRIES = 8 };

static int64_t cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * (int64_t)1000000000 +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * (int64_t)1000;
}

static void receive(weft *w)
{
    int got = 0;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    CHECK(weft_mpi_wait(w, &request, MPI_STATUS_IGNORE) == 0 && got == 1);
}

/* What else happens on the machine is counted, too: some tries. */
static void wait_for_it(weft *w, const char *where)
{
    int64_t cpu = INT64_MAX;
    for (int i = 1; i <= TRIES && cpu >= 5 * (int64_t)MS; i++) {
        uint64_t begin = weft_now();
        cpu = cpu_ns();
        receive(w);
        cpu = cpu_ns() - cpu;
        printf("%s: %.1f ms of CPU time in %.0f ms\n", where, (double)cpu / 1e6,
               (double)(weft_now() - begin) / 1e6);
        CHECK(weft_now() - begin > 900 * MS);
        int again = cpu >= 5 * (int64_t)MS && i < TRIES;
        MPI_Send(&again, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    CHECK(cpu < 5 * (int64_t)MS);
}

static atomic_bool begun;

static void job(weft *w, void *arg)
{
    atomic_store(&begun, true);
    wait_for_it(w, arg);
}

/* In a worker: the caller waits until one has begun. */
static void run_job(void *arg)
{
    weft_task task;
    CHECK(weft_submit(NULL, &task, job, arg) == 0);
    while (!atomic_load(&begun))
        sleep_ms(1);
    CHECK(weft_task_wait(&task) == 0);
}

static int actor_fn(weft *w, void *arg)
{
    wait_for_it(w, arg);
    return 0;
}

/* Threads and actors have to be there before it counts. */
static int nothing(weft *w, void *arg)
{
    (void)w, (void)arg;
    return 0;
}

static void run_actor(weft_actor_fn *fn, void *arg)
{
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, NULL, fn, arg, NULL) == 0);
    CHECK(weft_actor_run(actor) == 0 && weft_actor_wait(NULL, actor) == 0);
    weft_actor_release(actor);
}

static void answer(void)
{
    int one = 1;
    for (int again = 1; again;) {
        sleep_ms(1000);
        MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&again, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    enum { JOB, GUEST, ACTOR, ALL };
    begin(argc, argv);
    for (int i = 0; i < ALL; i++) {
        CHECK(weft_pool_default());
        run_actor(nothing, NULL);
        sleep_ms(100); /* until all sleep */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            answer();
        else if (i == JOB)
            run_job("job");
        else if (i == GUEST)
            CHECK(weft_run(NULL, job, "guest") == 0);
        else
            run_actor(actor_fn, "actor");
    }
    MPI_Finalize();
    return 0;
}
