/* SPDX-License-Identifier: MIT */
/* quiet.c: a job, and an actor, wait for a message that comes after a second: less than 5 ms of CPU
 * time, of all threads together. */
#include "ranks.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <weft/actor.h>

static int64_t cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * (int64_t)1000000000 +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * (int64_t)1000;
}

/* After an actor has run, and for a second, one worker is the pool's look-out, which costs some
 * milliseconds whatever the actor does (src/sleep/README.md). So with actors workers don't count.
 */
static bool without_workers;

static int64_t counted_ns(void)
{
    int64_t all = cpu_ns();
    for (unsigned i = 0; without_workers && i < weft_pool_workers(NULL); i++) {
        weft_worker_info info = WEFT_WORKER_INFO_INIT;
        CHECK(weft_worker_get_info(NULL, i, &info) == 0);
        all -= (int64_t)info.cpu_ns;
    }
    return all;
}

static void receive(weft *w)
{
    int got = 0;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    CHECK(weft_mpi_wait(w, &request, MPI_STATUS_IGNORE) == 0 && got == 1);
}

/* What else happens on the machine is counted, too: three tries. */
static void wait_for_it(weft *w, const char *where)
{
    int64_t cpu = INT64_MAX;
    for (int i = 1; i <= 3 && cpu >= 5 * (int64_t)MS; i++) {
        uint64_t begin = weft_now();
        cpu = counted_ns();
        receive(w);
        cpu = counted_ns() - cpu;
        printf("%s: %.1f ms of CPU time in %.0f ms\n", where, (double)cpu / 1e6,
               (double)(weft_now() - begin) / 1e6);
        CHECK(weft_now() - begin > 900 * MS);
        int again = cpu >= 5 * (int64_t)MS && i < 3;
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

/* In a worker, and not in a guest, for which a pool has a look-out, too. */
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

int main(int argc, char **argv)
{
    int one = 1;
    begin(argc, argv);
    for (int i = 0; i < 2; i++) {
        CHECK(weft_pool_default());
        if (i == 1)
            run_actor(nothing, NULL);
        sleep_ms(100); /* until all sleep */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            for (int again = 1; again;) {
                sleep_ms(1000);
                MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
                MPI_Recv(&again, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        } else if (i == 0) {
            run_job("job");
        } else {
            without_workers = true;
            run_actor(actor_fn, "actor");
        }
    }
    MPI_Finalize();
    return 0;
}
