/* SPDX-License-Identifier: MIT */
/* weft/mpi.h: weft in programs of several processes that MPI starts, and between which MPI moves
 * the data. The library is libweft-mpi; libweft itself does not know of it.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
 *
 * MPI_THREAD_MULTIPLE is best. With MPI_THREAD_SERIALIZED one thread of this library makes all its
 * calls of MPI; from the first call of a function here on, the program makes its own through
 * weft_mpi_call(), and MPI_Finalize() when all is over. If MPI provides less, before
 * MPI_Init_thread() and after MPI_Finalize(), every function here returns -ENOTSUP; the first such
 * call writes a line to standard error that says what to ask for.
 *
 * Functions return 0 or a negative errno value. If the error handler of MPI returns, an error of
 * MPI is -EMSGSIZE (a message is too long), -EINVAL (arguments), -ENOMEM or -EIO. A message of
 * this library's own that fails, or has no memory, ends the program with a line and MPI_Abort():
 * other ranks would wait for it. */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

#include <mpi.h>
#include <weft.h>
#include <weft/parallel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library writes these lines to standard error; each begins with "weft-mpi: ".
 *   - No message that this rank waits for has come for 8 s: how many waits there are; again after
 *     16, 32 s and so on. WEFT_MPI_WATCH=SECONDS in the environment changes the 8. A rank that
 *     waits for others that compute is silent: parts of a loop may take as long as they like.
 *   - The rank ends by SIGTERM, as launchers end all ranks when one has died. Not if the program
 *     has a handler or ignores that signal when it first calls a function of this header.
 * WEFT_MPI_WATCH=0: neither. */

/* ---- Waiting ----------------------------------------------------------------- */

/* As the functions of MPI with the same names, but the job waits and its worker does not: an actor
 * is suspended, and the place of another job is taken by a spare worker (weft_config.spares: 16. If
 * that many jobs wait already, the worker waits with its job. If thousands have to wait at a time,
 * make each an actor, or let one job wait for all). Threads outside pools pass NULL for `w`. The
 * status may be MPI_STATUS_IGNORE, the statuses MPI_STATUSES_IGNORE.
 *
 * The end of a request is noticed by the job itself, which looks for 0.5 ms if its thread has
 * nothing else to do, and lets other threads run in between; and then by one thread, which sleeps
 * while no request is out. It looks again after 20 to 200 us, and later after a third of the time
 * that the youngest request has been waited for. The end is noticed late by at most a third of
 * the time waited, and by at most 64 ms. In a wait of a second the thread uses some 3 ms of CPU
 * time; up to a quarter of a CPU while short waits come one after the other, and up to a third if
 * tens of thousands of requests are out.
 *
 * MPI may move a long message (megabytes) in pieces, some at each look of both sides: in shared
 * memory where the kernel forbids one process to read another, and by TCP. The thread sees by the
 * time that its looks take that data moves, and looks more often then. If both sides begin to wait
 * within 0.5 ms, and no other program wants their CPUs, such a message takes as long as by
 * MPI_Wait(); otherwise it takes mostly 0.1 to 0.4 s more, and up to four times as long as by
 * MPI_Wait() where others want the CPUs. At worst the thread does not see it: then each piece, some
 * 100 KB, costs a nap, and 100 MB take a minute.
 *
 * The kinds with _until wait until `when` at the latest, or until the computation is cancelled, as
 * those in weft/sync.h do: -ETIMEDOUT, -ECANCELED. The requests stay out then, and belong to the
 * caller. No request of a set of up to 256 is changed. In a longer set some may have ended: these
 * are MPI_REQUEST_NULL, or inactive, and their statuses are filled in. Read them before the next
 * call, which empties them.
 *
 * If an actor is killed while it waits, the request is still out, or has ended and is
 * MPI_REQUEST_NULL. If it holds a mutex, and so goes on, its wait returns -ECANCELED; so do
 * weft_mpi_test() and weft_mpi_call() with MPI_THREAD_SERIALIZED. */
WEFT_API WEFT_MUST_USE int weft_mpi_wait(weft *w, MPI_Request *request, MPI_Status *status);
WEFT_API WEFT_MUST_USE int weft_mpi_waitall(weft *w, int n, MPI_Request *requests,
                                            MPI_Status *statuses);
WEFT_API WEFT_MUST_USE int weft_mpi_waitany(weft *w, int n, MPI_Request *requests, int *index,
                                            MPI_Status *status);
WEFT_API WEFT_MUST_USE int weft_mpi_wait_until(weft *w, MPI_Request *request, MPI_Status *status,
                                               uint64_t when);
WEFT_API WEFT_MUST_USE int weft_mpi_waitall_until(weft *w, int n, MPI_Request *requests,
                                                  MPI_Status *statuses, uint64_t when);
WEFT_API WEFT_MUST_USE int weft_mpi_waitany_until(weft *w, int n, MPI_Request *requests, int *index,
                                                  MPI_Status *status, uint64_t when);

/* Looks without waiting; `done` says what was seen. */
WEFT_API WEFT_MUST_USE int weft_mpi_test(weft *w, MPI_Request *request, bool *done,
                                         MPI_Status *status);

/* Calls fn(arg), which calls MPI and returns what MPI returned: at once, with MPI_THREAD_MULTIPLE;
 * with MPI_THREAD_SERIALIZED in the thread that makes all calls, while the job waits. It must not
 * block there: what it begins, the job waits for with the functions above. In fn itself these waits
 * are -EDEADLK then, unless the request has ended, and so are the calls for all ranks below.
 * (MPI_Comm_free() may wait for ranks that are late, see below: not in an actor that may be
 * killed.) */
typedef int weft_mpi_fn(void *arg);
WEFT_API WEFT_MUST_USE int weft_mpi_call(weft *w, weft_mpi_fn *fn, void *arg);

/* ---- Loops over all ranks ------------------------------------------------------ */

/* What follows is called by all ranks of a communicator, with the same range, and in the same
 * order, as collective calls of MPI are; the communicator's messages and these don't mix. They run
 * in jobs, or in threads outside with NULL for `w`, but not in actors: -EPERM. A rank makes one
 * call at a time with a communicator, so none inside the body of another: -EBUSY. (In a body, use
 * weft_for().)
 *
 * Ranks get a part of the range at a time, shorter and shorter ones, from rank 0, which gives them
 * out while it works itself. So ranks that are slower, or have the longer elements, do fewer of
 * them. At worst a rank waits for those that have begun the last elements, and two naps more, as
 * above.
 *
 * All ranks return the same value. If an element fails (weft_fail) on any rank, or a rank's own
 * computation is cancelled (-ECANCELED), no more parts are given out, parts that run are cancelled,
 * and all ranks return that code: of the first rank whose code reaches rank 0. The kinds with
 * _until return -ETIMEDOUT on all ranks once `when` has passed on one of them; WEFT_FOREVER: no
 * limit. Then no rank waits any longer for ranks that have not called yet; only rank 0 is always
 * waited for. They still have to call: until they have, MPI_Finalize() and MPI_Comm_free() wait for
 * them on rank 0, and so does every 512th call with a communicator on all ranks, as does the first,
 * which makes a copy of it: whatever happens. A rank that is killed ends the program, as MPI does
 * it. -EINVAL: no function, end before begin or from 2^63 on, or no communicator of one group;
 * -ENOTSUP; -ENOMEM: this rank has not taken part, and the others wait until it calls again.
 *
 * While a job is in such a call, other threads of the pool do the work. (A thread outside takes
 * part in it.) So as many jobs as the pool has spares can be in such calls at a time, with a
 * communicator each. If there are more, none of them may end, and the pool reports a deadlock. */

/* Calls body for ranges that make up [begin, end), each element on one rank: weft_for() in each. */
WEFT_API WEFT_MUST_USE int weft_mpi_for(weft *w, MPI_Comm comm, size_t begin, size_t end,
                                        weft_range_fn *body, void *arg);
WEFT_API WEFT_MUST_USE int weft_mpi_for_until(weft *w, MPI_Comm comm, size_t begin, size_t end,
                                              weft_range_fn *body, void *arg, uint64_t when);

/* Makes one value of the elements from begin to end - 1, on all ranks: the same bits as
 * weft_reduce() in one process, for any number of ranks and workers, if the ranks compute alike.
 * The range is cut into up to 1024 parts; the accumulators of all parts, 1 MB or 64 of them at
 * most, go to every rank, which combines them itself. -ENOTSUP: a reducer with halt, make, drop or
 * move; -EINVAL: no job. */
WEFT_API WEFT_MUST_USE int weft_mpi_reduce(weft *w, MPI_Comm comm, size_t begin, size_t end,
                                           const weft_reducer *reducer, void *arg, void *result);
WEFT_API WEFT_MUST_USE int weft_mpi_reduce_until(weft *w, MPI_Comm comm, size_t begin, size_t end,
                                                 const weft_reducer *reducer, void *arg,
                                                 void *result, uint64_t when);

/* Calls map for each block of the n bytes at `in`, which every rank has, such as a file that each
 * has mapped with weft_text_map() of weft/lines.h; of `block` bytes each. With a delimiter that is
 * not negative, such as '\n', a block ends after the first such byte that is not before the last
 * byte it would have without. What map puts into `out`, 256 MB at most, reaches `write` on rank 0
 * in the order of the blocks, one call for each block that has put something, when all blocks are
 * done. Until then it stays in the memory of the rank that has made it. `write` runs in the
 * caller's job, or with NULL outside; what it fails with is that job's. -EINVAL: also if `block` is
 * 0, or there are more than a thousand million blocks. */
typedef struct weft_mpi_out weft_mpi_out;
typedef void weft_mpi_map_fn(weft *w, const void *in, size_t n, weft_mpi_out *out, void *arg);
typedef void weft_mpi_write_fn(weft *w, const void *bytes, size_t n, void *arg);
WEFT_API WEFT_MUST_USE int weft_mpi_map(weft *w, MPI_Comm comm, const void *in, size_t n,
                                        size_t block, int delimiter, weft_mpi_map_fn *map,
                                        weft_mpi_write_fn *write, void *arg);

/* Appends n bytes. -ENOMEM: then the whole fails with it. */
WEFT_API int weft_mpi_put(weft_mpi_out *out, const void *bytes, size_t n);

/* ---- Irregular work ------------------------------------------------------------ */

/* Work of which nobody knows beforehand how much it is, and where: items in bags, and an item that
 * is done may leave new ones. Trees that are searched are like that. Each rank has some bags, one
 * for each worker that is busy; the program says what a bag is:
 *
 *   process   does up to n items of the bag, and adds what they leave; collects in `result` what
 *             they yield. True: the bag has more. It is a job: it may fork, wait, and fail.
 *   split     moves about half of the bag into `half`, which is empty. 1: done; 0: there is too
 *             little. Give away what is likely to be large: the items nearest the root of a tree.
 *   merge     moves all of `other` into the bag.
 *   pack      the bytes that the bag takes in a message, written to `to` if there is room; it is
 *             called with NULL and 0 first.
 *   unpack    fills an empty bag from such bytes.
 *   clear     frees the memory of a bag that was packed, and of all bags at the end. NULL: none.
 *   combine   adds what the result on the right has to that on the left. It has to be associative
 *             and commutative: who does which item is different each time.
 *
 * Where they return a number, a negative errno value is a failure. In clear and combine w may be
 * NULL.
 *
 * A worker shares its bag when others have nothing to do: those of its own rank, and then those of
 * other ranks, which ask for it. A rank without work asks its lifelines, log2 of the ranks, which
 * give it something when they can, and 4 others, chosen at random, one after the other. Then it
 * waits for work, as for a message. A rank asks for more already when one of its workers has
 * nothing to do. Workers answer between two calls of `process`, and not in the first 2 ms after
 * work has come to a rank: at worst a rank without work waits that long, and as long as a call
 * takes. */
typedef struct weft_mpi_bag {
    size_t size;        /* of a bag. One that is zeros is empty; it is not moved in memory */
    size_t result_size; /* of a result, which begins as zeros, and is sent as it is */
    bool (*process)(weft *w, void *bag, size_t n, void *result, void *arg);
    int (*split)(weft *w, void *bag, void *half, void *arg);
    int (*merge)(weft *w, void *bag, void *other, void *arg);
    int64_t (*pack)(weft *w, const void *bag, void *to, size_t room, void *arg);
    int (*unpack)(weft *w, void *bag, const void *from, size_t size, void *arg);
    void (*clear)(weft *w, void *bag, void *arg);
    void (*combine)(weft *w, void *left, const void *right, void *arg);
    size_t items; /* n of process. 0: as many as took 0.05 to 0.2 ms the last time; at worst, if
                     items take longer all at once, that many of these */
} weft_mpi_bag;

/* Does all items of the bags `mine` of all ranks; NULL: this rank has none to begin with. When all
 * are done, anywhere, `result` is what all of them have yielded, the same on all ranks; without
 * result_size it may be NULL. `mine` is empty then; after a failure it is either empty or
 * unchanged.
 *
 * What is said of loops above goes for this, too: who calls it, what it returns if a rank fails, is
 * cancelled or passes `when`. But a rank that has not come yet is waited for, whatever happened. */
WEFT_API WEFT_MUST_USE int weft_mpi_bag_run(weft *w, MPI_Comm comm, const weft_mpi_bag *kind,
                                            void *mine, void *arg, void *result);
WEFT_API WEFT_MUST_USE int weft_mpi_bag_run_until(weft *w, MPI_Comm comm, const weft_mpi_bag *kind,
                                                  void *mine, void *arg, void *result,
                                                  uint64_t when);

#ifdef __cplusplus
}
#endif

#endif
