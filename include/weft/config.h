/* SPDX-License-Identifier: MIT */
/* weft/config.h: what a pool is made of. Part of weft.h. */
#ifndef WEFT_CONFIG_H
#define WEFT_CONFIG_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_WORKERS_MAX 4096
#define WEFT_QUANTUM 30000

/* How idle workers go to sleep, and which workers new jobs wake. The default is what WEFT_SLEEP
 * names (events, counters-local and so on), else EVENTS. The others are there for comparison;
 * weft_pool_create(3) says which wake-ups each may miss. */
enum weft_sleep {
    WEFT_SLEEP_DEFAULT,
    WEFT_SLEEP_TICKLE,          /* every event wakes all workers; not for weakly ordered CPUs */
    WEFT_SLEEP_TICKLE_SEQCST,   /* the same, sequentially consistent */
    WEFT_SLEEP_COUNTERS,        /* a new job wakes one worker, if too few are idle */
    WEFT_SLEEP_EVENTS,          /* new jobs wake as many workers as are missing, and keep
                                   workers awake that are about to sleep */
    WEFT_SLEEP_TICKLE_FLAG,     /* TICKLE_SEQCST with a flag per deque: no fork is missed */
    WEFT_SLEEP_TICKLE_SWAP,     /* TICKLE, but a waker writes even if no worker sleeps */
    WEFT_SLEEP_COUNTERS_LOCAL,  /* COUNTERS, but a fork wakes if its deque is not empty */
    WEFT_SLEEP_COUNTERS_BLOCKS, /* COUNTERS, but wakes until a power of two is awake */
    WEFT_SLEEP_COUNTERS_ALL,    /* COUNTERS, but wakes as many as are missing */
    WEFT_SLEEP_EVENTS_PLAIN,    /* EVENTS, but all new jobs and forks are counted */
    WEFT_SLEEP_EVENTS_LATCH,    /* EVENTS, but a worker that waits needs one step less to sleep */
    WEFT_SLEEP_COUNTERS_TWO,    /* COUNTERS, but wakes until two are idle */
};

/* How forks are published. */
enum weft_fork {
    WEFT_FORK_DEFAULT,
    WEFT_FORK_LAZY,  /* the default: a fork is two stores; an idle worker that wants the right
                        side comes and takes it. Where the kernel has no membarrier(2), pools
                        are eager; weft_pool_get_info() tells */
    WEFT_FORK_EAGER, /* every fork goes on the worker's deque */
};

/* Where worker threads run. */
enum weft_pin {
    WEFT_PIN_DEFAULT,
    WEFT_PIN_ASLEEP, /* the default: a worker sleeps on a CPU of its own, so that it is not
                        woken on the CPU of the thread that wakes it, and is free to move
                        while it works */
    WEFT_PIN_ALWAYS, /* one CPU for good, for machines that do nothing else */
    WEFT_PIN_NEVER,
};

enum weft_flag {
    WEFT_USE_CALLER = 1 << 0,     /* the thread that creates the pool is its worker 0; it works
                                     while it is inside weft_run, a wait or weft_pool_destroy.
                                     Only it may destroy the pool. Broadcasts wait for it, too */
    WEFT_NO_GUESTS = 1 << 1,      /* outside threads hand their job to a worker and sleep
                                     instead of working */
    WEFT_NO_SIGSEGV = 1 << 2,     /* don't install the handler that explains stack overflows */
    WEFT_GUESTS_HELP = 1 << 3,    /* a guest that waits runs any job of the pool meanwhile, however
                                     long it takes; otherwise only parts of its own job */
    WEFT_DEADLOCK_PLAIN = 1 << 4, /* report as well when all threads of the pool are blocked or
                                     asleep, one at least blocked, though something outside may
                                     end a wait */
};

/* Starts a thread that calls run(arg), once, and returns 0 or a negative errno value.
 * The thread may end only after run() has returned. */
typedef int weft_thread_spawner(void (*run)(void *), void *arg, unsigned worker, void *data);

/* Called when no thread in the pool can go on, or, with WEFT_DEADLOCK_PLAIN, when none does.
 * `report` says which of the two, and what each thread waits for; `graph` is the same for Graphviz.
 * Called on a thread of the pool, with a lock held: it must neither block nor end a wait in this
 * pool. When it returns, the thread goes to sleep like the others. weft_pool_destroy() also calls
 * it, for actors whose waits can't end. */
typedef void weft_deadlock_fn(weft_pool *pool, const char *report, const char *graph, void *data);

/* Starts as WEFT_CONFIG_INIT; zero means the default everywhere.
 *
 * All configurations have their size first. A configuration of an older release is shorter: fields
 * that it lacks have their defaults. One of a newer release is longer: -ENOTSUP, unless all unknown
 * fields are zero. */
typedef struct weft_config {
    size_t size;      /* set by WEFT_CONFIG_INIT */
    unsigned workers; /* default: WEFT_WORKERS, else what the affinity mask and the
                         cgroup's CPU quota allow, at least 1 */
    unsigned flags;   /* enum weft_flag */
    enum weft_sleep sleep;
    enum weft_fork fork;
    enum weft_pin pin;
    int64_t quantum;   /* nanoseconds that a right side waits on the lazy road before it may be
                          taken; default WEFT_QUANTUM_US, else WEFT_QUANTUM; or WEFT_NONE */
    int spin_rounds;   /* searches in vain before a worker gets sleepy; default WEFT_SPIN, else 32,
                          and none on a single CPU; or WEFT_NONE */
    size_t stack_size; /* of a worker, in bytes; default 64 MiB, of which only what is touched takes
                          memory, or 8 MiB where address space is limited (ulimit -v); 64 KiB or
                          more, and raised to the system's minimum */
    const char *name;  /* threads are called NAME-0, NAME-1, ...; default "weft" */
    /* Called on the worker's thread, before its first and after its last job. */
    void (*on_start)(weft_pool *pool, unsigned worker, void *data);
    void (*on_exit)(weft_pool *pool, unsigned worker, void *data);
    weft_thread_spawner *spawn_thread; /* default: pthread_create */
    void *data;                        /* passed to the functions above and below */
    weft_deadlock_fn *deadlock; /* default: writes the report to standard error, and the graph
                                   to the file that WEFT_DEADLOCK_DOT names */
    int spares;                 /* threads at most that take the places of blocked workers; default
                                   WEFT_SPARES, else 16; or WEFT_NONE */
} weft_config;

#define WEFT_CONFIG_INIT WEFT_SIZED_(weft_config)

#ifdef __cplusplus
}
#endif

#endif
