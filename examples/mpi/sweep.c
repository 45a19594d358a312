/* SPDX-License-Identifier: MIT */
/* sweep.c: an experiment for each of many parameters, some of which take a hundred times as long as
 * others. Ranks take the next ones when they have time. Each rank counts what it has done, and a
 * job on rank 0 asks for the sum of all now and then, and draws a bar.
 *
 *     mpirun -n 4 example-mpi-sweep [PARAMETERS] */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/mpi.h>
#include <weft/timer.h>

enum { WIDTH = 40, TAG = 1 };

static struct {
    int rank, ranks;
    size_t all;
    atomic_size_t done;    /* here */
    size_t reported[1024]; /* rank 0: by each */
    atomic_size_t longest; /* steps of the longest orbit */
} sweep;

/* How long the orbit of a point takes to leave the circle: from one step to a hundred thousand. */
static void experiment(weft *w, size_t begin, size_t end, void *arg)
{
    (void)arg;
    for (size_t i = begin; i < end && !weft_cancelled(w); i++) {
        double c = -2 + 2.5 * (double)i / (double)sweep.all, x = 0;
        size_t steps = 0, longest = atomic_load(&sweep.longest);
        for (; steps < 100000 && fabs(x) <= 2; steps++)
            x = x * x + c;
        while (steps > longest && !atomic_compare_exchange_weak(&sweep.longest, &longest, steps))
            ;
        atomic_fetch_add(&sweep.done, 1);
    }
}

static void draw(size_t done)
{
    int filled = (int)(done * WIDTH / sweep.all);
    printf("\r[%.*s%*s] %3zu%%", filled, "########################################", WIDTH - filled,
           "", 100 * done / sweep.all);
    fflush(stdout);
}

/* Every 50 ms, on rank 0: what the others have reported since. */
static void draw_progress(weft *w, void *arg)
{
    (void)w, (void)arg;
    size_t sum = atomic_load(&sweep.done);
    for (int here = 1; here;) {
        MPI_Status status;
        size_t n;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &here, &status);
        if (here) {
            MPI_Recv(&n, sizeof n, MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status);
            sweep.reported[status.MPI_SOURCE] = n;
        }
    }
    for (int i = 1; i < sweep.ranks; i++)
        sum += sweep.reported[i];
    draw(sum);
}

/* Every 50 ms, on the others. */
static void report_progress(weft *w, void *arg)
{
    (void)arg;
    MPI_Request request;
    size_t n = atomic_load(&sweep.done);
    MPI_Isend(&n, sizeof n, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
    if (weft_mpi_wait(w, &request, MPI_STATUS_IGNORE))
        weft_fail(w, -1);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &sweep.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &sweep.ranks);
    sweep.all = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    if (sweep.ranks > 1024 || sweep.all == 0)
        MPI_Abort(MPI_COMM_WORLD, 1);

    weft_timer timer;
    uint64_t often = 50000000;
    int error = weft_timer_start(NULL, &timer, weft_now() + often, often,
                                 sweep.rank ? report_progress : draw_progress, NULL);
    if (!error)
        error = weft_mpi_for(NULL, MPI_COMM_WORLD, 0, sweep.all, experiment, NULL);
    if (weft_timer_stop(&timer) || error)
        MPI_Abort(MPI_COMM_WORLD, 1);

    size_t here[2] = {atomic_load(&sweep.done), atomic_load(&sweep.longest)}, most, longest, sum;
    MPI_Reduce(&here[0], &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&here[0], &most, 1, MPI_UNSIGNED_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&here[1], &longest, 1, MPI_UNSIGNED_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (sweep.rank == 0) {
        draw_progress(NULL, NULL); /* takes what is still under way */
        draw(sum);
        printf("\n%zu experiments, the longest of %zu steps; one rank did %zu of them\n", sum,
               longest, most);
    }
    MPI_Finalize();
    return 0;
}
