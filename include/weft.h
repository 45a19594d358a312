/* SPDX-License-Identifier: MIT */
/* weft.h: fork-join parallelism for C.
 *
 * A pool has worker threads. weft_run() makes the calling thread a guest of the pool
 * and runs a job; the job forks, and idle workers take what was forked. Every function
 * that runs inside a pool gets its context, `weft *w`, and passes it on.
 *
 * Functions that can fail return 0 or a negative errno value; weft_strerror() says what it means.
 * A NULL pool means the default one, in every function that takes a pool but weft_pool_destroy()
 * and weft_pool_dump(). A broken rule ends the process, with one line on standard error that says
 * which: weft_mistakes(7) has a list.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

#if defined __GNUC__
#define WEFT_API __attribute__((visibility("default")))
#define WEFT_MUST_USE __attribute__((warn_unused_result)) /* to ignore this is a mistake */
#define WEFT_INLINE inline
#else
#define WEFT_API
#define WEFT_MUST_USE
#define WEFT_INLINE
#endif

/* Fork misuse is checked where this is 1: in unoptimised builds of the program that
 * includes this header, or wherever it is defined so on the compiler's command line. */
#ifndef WEFT_DEBUG
#if defined NDEBUG || defined __OPTIMIZE__
#define WEFT_DEBUG 0
#else
#define WEFT_DEBUG 1
#endif
#endif

#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define WEFT_ATOMIC_LOADS
#endif
#endif

#if defined __cplusplus && defined __cpp_exceptions
#define WEFT_THROWS /* functions may be left by an exception */
#endif

#ifdef __cplusplus
#include <exception>
#define WEFT_ALIGNAS(n) alignas(n)
extern "C" {
#else
#define WEFT_ALIGNAS(n) _Alignas(n)
#endif

typedef struct weft weft; /* the context: passed along, never stored */
typedef struct weft_pool weft_pool;
typedef void weft_fn(weft *w, void *arg);

/* The version of the library that is linked, "0.1.0". */
WEFT_API const char *weft_version(void);

/* What a function of the library means by the value that it returned, or the word of strerror(3)
 * for it, whatever its sign. */
WEFT_API const char *weft_strerror(int error);

/* ---- Pools ------------------------------------------------------------------- */

#define WEFT_WORKERS_MAX 4096
#define WEFT_QUANTUM 30000
#define WEFT_QUANTUM_NONE UINT64_MAX

/* How idle workers go to sleep, and whom new work wakes. The default is what WEFT_SLEEP names
 * (events, counters-local and so on), else EVENTS. The others are there to be compared with;
 * weft_pool_create(3) says what each may miss. */
enum weft_sleep {
    WEFT_SLEEP_DEFAULT,
    WEFT_SLEEP_TICKLE,          /* whatever happens wakes everybody; not for weakly ordered CPUs */
    WEFT_SLEEP_TICKLE_SEQCST,   /* the same, sequentially consistent; */
    WEFT_SLEEP_COUNTERS,        /* a new job wakes one worker, if nobody is idle */
    WEFT_SLEEP_EVENTS,          /* a new job wakes one worker, if too few are idle, and keeps
                                   those awake who were about to sleep */
    WEFT_SLEEP_TICKLE_FLAG,     /* TICKLE_SEQCST with a flag per deque, for forks too; */
    WEFT_SLEEP_TICKLE_SWAP,     /* TICKLE, but waking writes even if nobody sleeps */
    WEFT_SLEEP_COUNTERS_LOCAL,  /* COUNTERS, but a fork asks whether its own deque is empty; */
    WEFT_SLEEP_COUNTERS_BLOCKS, /* waking up to the next power of two; */
    WEFT_SLEEP_COUNTERS_ALL,    /* waking as many as there are new jobs */
    WEFT_SLEEP_EVENTS_PLAIN,    /* EVENTS, but every new job and fork counts, for forks too; */
    WEFT_SLEEP_EVENTS_LATCH,    /* with one step less to sleep where something is waited for */
    WEFT_SLEEP_COUNTERS_TWO,    /* COUNTERS, waking until two are idle */
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
                                     while it is inside weft_run, a wait or the pool's destruction,
                                     which is its business alone. Broadcasts wait for it, too */
    WEFT_NO_GUESTS = 1 << 1,      /* outside threads hand their job to a worker and sleep
                                     instead of working */
    WEFT_NO_SIGSEGV = 1 << 2,     /* don't install the handler that explains stack overflows */
    WEFT_GUESTS_HELP = 1 << 3,    /* a guest that waits runs anybody's jobs meanwhile, however long
                                     they take; otherwise only parts of its own computation */
    WEFT_DEADLOCK_PLAIN = 1 << 4, /* report as well when all threads of the pool are blocked or
                                     asleep, one at least blocked, though something outside may
                                     end a wait */
};

/* Starts a thread that calls run(arg), once, and returns 0 or a negative errno value.
 * The thread may end only after run() has returned. */
typedef int weft_thread_spawner(void (*run)(void *), void *arg, unsigned worker, void *data);

/* Nobody in the pool can go on, or, with WEFT_DEADLOCK_PLAIN, nobody does: `report` says which, and
 * who waits for what, `graph` the same for Graphviz. Called on one of its threads, with a lock
 * held: it must neither block nor end a wait in this pool. When it returns, that thread goes to
 * sleep like the others. */
typedef void weft_deadlock_fn(weft_pool *pool, const char *report, const char *graph, void *data);

/* Starts as WEFT_CONFIG_INIT; zero means the default everywhere. */
typedef struct weft_config {
    size_t size;      /* sizeof (weft_config), set by WEFT_CONFIG_INIT */
    unsigned workers; /* default: WEFT_WORKERS, else what the affinity mask and the
                         cgroup's CPU quota allow, at least 1 */
    unsigned flags;   /* enum weft_flag */
    enum weft_sleep sleep;
    enum weft_fork fork;
    enum weft_pin pin;
    uint64_t quantum;  /* nanoseconds: a right side that has not waited so long is not taken
                          from the lazy road; default WEFT_QUANTUM_US, else WEFT_QUANTUM.
                          WEFT_QUANTUM_NONE: none */
    int spin_rounds;   /* fruitless searches before a worker gets sleepy; -1: none */
    size_t stack_size; /* of a worker, in bytes; default 64 MiB, of which only what is touched takes
                          memory, or 8 MiB where address space is limited (ulimit -v) */
    const char *name;  /* threads are called NAME-0, NAME-1, ...; default "weft" */
    void (*on_start)(weft_pool *pool, unsigned worker, void *data); /* on the worker's thread, */
    void (*on_exit)(weft_pool *pool, unsigned worker, void *data);  /* first and last */
    weft_thread_spawner *spawn_thread;                              /* default: pthread_create */
    void *data;                 /* passed to the functions above and below */
    weft_deadlock_fn *deadlock; /* default: writes the report to standard error, and the graph
                                   to the file that WEFT_DEADLOCK_DOT names */
    int spares; /* how many threads at most take the places of blocked workers; default 16,
                   -1: none */
} weft_config;

#ifdef __cplusplus
static inline weft_config weft_config_init(void)
{
    weft_config config = weft_config();
    config.size = sizeof config;
    return config;
}
#define WEFT_CONFIG_INIT weft_config_init()
#else
/* clang-format off */
#define WEFT_CONFIG_INIT {.size = sizeof(weft_config)}
/* clang-format on */
#endif

/* -EINVAL: a value out of range, or a config that does not start as WEFT_CONFIG_INIT; -ENOTSUP: a
 * field this release does not have; -EBUSY: WEFT_USE_CALLER on a thread that is in a pool already;
 * -ENOMEM; or why a thread could not be started. Nothing is left behind on failure. */
WEFT_API WEFT_MUST_USE int weft_pool_create(weft_pool **pool, const weft_config *config);

/* Finishes everything that was submitted, kills actors that are left (weft/actor.h), then joins the
 * workers. -EDEADLK: called from inside a job of this pool; -EPERM: made with WEFT_USE_CALLER by
 * another thread; -ESHUTDOWN: somebody else is destroying it already; -ECHILD: as weft_run(). */
WEFT_API int weft_pool_destroy(weft_pool *pool);

/* Made on first use, with default values; NULL if that fails. May be destroyed like any
 * other, also while others use it as NULL: a use that began is finished, the next one makes it
 * anew. A forked child gets one of its own. */
WEFT_API weft_pool *weft_pool_default(void);

WEFT_API unsigned weft_pool_workers(const weft_pool *pool); /* 0: there is no default pool */

/* Runs fn(w, arg) and returns what it failed with, or 0.
 * The caller becomes a guest of the pool and runs the job itself while workers help. It takes the
 * place of one: no more threads compute than the pool has workers, or guests if these are more. (A
 * worker that is in the middle of a job when a guest comes ends that job first.)
 * While it waits, it runs parts of its own job only (see WEFT_GUESTS_HELP). A worker of the same
 * pool runs the job directly.
 * -EINVAL: no function; -ESHUTDOWN: the pool is being destroyed; -ENOMEM; -ECHILD: this
 * process was forked after the pool was made. */
WEFT_API WEFT_MUST_USE int weft_run(weft_pool *pool, weft_fn *fn, void *arg);

/* A task lives with its caller and must stay where it is until weft_task_wait() has
 * returned. What is in it is the library's business. */
typedef struct weft_task {
    WEFT_ALIGNAS(8) unsigned char opaque[160];
} weft_task;

/* Queues fn(w, arg) for any worker. Errors as of weft_run(); -EBUSY: this task is pending. */
WEFT_API WEFT_MUST_USE int weft_submit(weft_pool *pool, weft_task *task, weft_fn *fn, void *arg);

/* Waits until the task is over and returns what it failed with, or 0. A caller that
 * comes before any worker runs the task itself (unless WEFT_NO_GUESTS); a worker runs
 * other work meanwhile. Any number of outside threads may wait, and one job: a second
 * one gets -EBUSY. From a job, wait only for tasks that the job itself submitted. -EINVAL: a task
 * that is zero, and was never submitted; -EDEADLK: the caller is part of the task. */
WEFT_API WEFT_MUST_USE int weft_task_wait(weft_task *task);

WEFT_API bool weft_task_done(const weft_task *task);

/* An eventfd that becomes readable when the task is over, for poll, epoll, libuv and
 * io_uring. It belongs to the task: weft_task_wait() closes it. Or a negative errno. */
WEFT_API WEFT_MUST_USE int weft_task_fd(weft_task *task);

/* Runs fn(w, arg) once on each worker; the first returns when all have. Inside fn,
 * weft_worker_index() tells which one it is. */
WEFT_API WEFT_MUST_USE int weft_broadcast(weft_pool *pool, weft_fn *fn, void *arg);
WEFT_API WEFT_MUST_USE int weft_broadcast_detached(weft_pool *pool, weft_fn *fn, void *arg);

/* ---- Fork and join ----------------------------------------------------------- */

/* The primitive. The left side runs in the context that fork returns; merge, fork's
 * mirror, is called with fork's own `w`:
 *
 *     weft *in = weft_fork(w, right_fn, &right);
 *     left = compute(in, ...);
 *     if (!weft_merge(w))
 *         right.result = compute(w, ...);
 *
 * weft_merge() returns true if the right side is done, false if nobody took it and the
 * caller should run it now, in w. Once the computation has failed or was cancelled, a
 * right side that has not started is skipped: merge returns true and what the right
 * side would have written is not. */
WEFT_API WEFT_INLINE weft *weft_fork(weft *w, weft_fn *right, void *arg);
WEFT_API WEFT_MUST_USE WEFT_INLINE bool weft_merge(weft *w);

/* Runs left(w', l) and right(w'', r), perhaps at the same time; returns when both are over.
 * The left side always runs. C++ has one of its own, through which exceptions pass: see the end of
 * this file. */
#ifndef WEFT_THROWS
WEFT_API WEFT_INLINE void weft_join(weft *w, weft_fn *left, void *l, weft_fn *right, void *r);
#endif

/* Forking and merging are a few instructions, so they are here, for the compiler to put in
 * place. What follows is the library's business.
 *
 * A context is a block of slots, aligned to its size, and `w` points to the first free
 * one. The block begins with the guard: whoever wants the attention of the thread that
 * owns the context raises it above `w`, and forks take the slow road. Who wants a slot says
 * so in the slot itself, and its merge takes the slow road. */
struct weft {
    weft_fn *fn_; /* NULL: free */
    void *arg_;
    uint64_t rest_[5];
    uintptr_t wanted_; /* 0, or above any address: the cheapest to test is what fork tests */
#ifdef __cplusplus
    class fork_guard; /* see the end of this file */
    class scope_guard;
#endif
};

#define WEFT_BLOCK_SIZE ((uintptr_t)4 << 20)

WEFT_API void weft_fork_slow(weft *w);
WEFT_API bool weft_merge_slow(weft *w);

#if defined __GNUC__
/* The guard, or `wanted_`, is read after the slot is written. Only the compiler has to keep
 * that order: who raises it makes every running thread of the process execute a barrier
 * before it looks at the slot (membarrier(2)). So it is a relaxed load. For x86-64 that is spelled
 * out: with a relaxed load, compilers need two instructions where one compares with memory. */
#if defined __x86_64__ && defined __LP64__ && defined __GCC_ASM_FLAG_OUTPUTS__ && \
    !defined __SANITIZE_THREAD__ && !defined WEFT_ATOMIC_LOADS
#define WEFT_IS_ABOVE(p, w)                                 \
    (__extension__({                                        \
        bool above_;                                        \
        __asm__ volatile("cmp{q %1, %2| %2, %1}"            \
                         : "=@ccb"(above_)                  \
                         : "m"(*(p)), "r"((uintptr_t)(w))); \
        above_;                                             \
    }))
#else
#define WEFT_IS_ABOVE(p, w) (__atomic_load_n((p), __ATOMIC_RELAXED) > (uintptr_t)(w))
#endif
#define WEFT_SLOW(condition) \
    (__atomic_signal_fence(__ATOMIC_SEQ_CST), __builtin_expect(condition, 0))
#define WEFT_GUARD(w) ((const uintptr_t *)((uintptr_t)(w) & ~(WEFT_BLOCK_SIZE - 1)))
#define WEFT_IS_CALLED(w) WEFT_SLOW(WEFT_IS_ABOVE(WEFT_GUARD(w), w))

inline weft *weft_fork(weft *w, weft_fn *right, void *arg)
{
    __atomic_store_n(&w->arg_, arg, __ATOMIC_RELAXED);
    __atomic_store_n(&w->fn_, right, __ATOMIC_RELEASE);
    if (WEFT_IS_CALLED(w))
        weft_fork_slow(w);
    return w + 1;
}

inline bool weft_merge(weft *w)
{
    __atomic_store_n(&w->fn_, (weft_fn *)0, __ATOMIC_RELAXED);
    return WEFT_SLOW(WEFT_IS_ABOVE(&w->wanted_, w)) && weft_merge_slow(w);
}

#ifndef WEFT_THROWS
inline void weft_join(weft *w, weft_fn *left, void *l, weft_fn *right, void *r)
{
    left(weft_fork(w, right, r), l);
    if (!weft_merge(w))
        right(w, r);
}
#endif
#endif

/* Typed forks. WEFT_FORKABLE makes a function that takes a context and arguments of any
 * types forkable: its result type, its name, its arguments as members `a->...`, and the call.
 * WEFT_FORK declares a fork of it and its left side's context, and WEFT_MERGE is its result:
 *
 *     long fib(weft *w, long n);
 *     WEFT_FORKABLE(long, fib, long n;, fib(w, a->n))
 *
 *     WEFT_FORK(w, fib, right, n - 2);
 *     long left = fib(right_in, n - 1);
 *     return left + WEFT_MERGE(w, fib, right);
 */
#define WEFT_FORKABLE(type, function, arguments, ...)                                 \
    struct function##_arguments {                                                     \
        arguments                                                                     \
    };                                                                                \
    struct function##_fork {                                                          \
        type result;                                                                  \
        struct function##_arguments arguments_;                                       \
    };                                                                                \
    static inline type function##_call(weft *w, const struct function##_arguments *a) \
    {                                                                                 \
        return __VA_ARGS__;                                                           \
    }                                                                                 \
    static void function##_forked(weft *w, void *fork)                                \
    {                                                                                 \
        struct function##_fork *f = (struct function##_fork *)fork;                   \
        f->result = function##_call(w, &f->arguments_);                               \
    }
#define WEFT_FORK(w, function, right, ...)                         \
    struct function##_fork right;                                  \
    right.arguments_ = (struct function##_arguments){__VA_ARGS__}; \
    weft *right##_in = weft_fork((w), function##_forked, &right)
#define WEFT_MERGE(w, function, right) \
    (weft_merge(w) ? (right).result : function##_call((w), &(right).arguments_))

WEFT_API weft *weft_fork_checked(weft *w, weft_fn *right, void *arg, const char *where);
WEFT_API WEFT_MUST_USE bool weft_merge_checked(weft *w, const char *where);
WEFT_API void weft_join_checked(weft *w, weft_fn *left, void *l, weft_fn *right, void *r,
                                const char *where);
#if WEFT_DEBUG
#define WEFT_STRING_(x) #x
#define WEFT_STRING(x) WEFT_STRING_(x)
#define WEFT_WHERE __FILE__ ":" WEFT_STRING(__LINE__)
/* Arguments as they are: a compound literal or a lambda has commas of its own. */
#define weft_fork(...) weft_fork_checked(__VA_ARGS__, WEFT_WHERE)
#define weft_merge(...) weft_merge_checked(__VA_ARGS__, WEFT_WHERE)
#ifndef WEFT_THROWS
#define weft_join(...) weft_join_checked(__VA_ARGS__, WEFT_WHERE)
#endif
#endif

/* ---- Scopes ------------------------------------------------------------------ */

/* A scope waits for any number of children. It lives in the frame of the job that opens
 * it; children, and children of children, may spawn into it until it is closed. */
typedef struct weft_scope {
    WEFT_ALIGNAS(8) unsigned char opaque[160];
} weft_scope;

WEFT_API void weft_scope_open(weft *w, weft_scope *scope);

/* Cancels the scope with -ETIMEDOUT once weft_now() passes `when`. Call it after open. */
WEFT_API void weft_scope_deadline(weft_scope *scope, uint64_t when);

/* Runs fn(w, arg) sometime before the scope closes. What one worker spawned, it runs
 * last in, first out; the _fifo kind first in, first out. -EINVAL, -ENOMEM, or -ECHILD in a
 * forked child: not spawned. A scope that is closed is a broken rule. */
WEFT_API WEFT_MUST_USE int weft_spawn(weft *w, weft_scope *scope, weft_fn *fn, void *arg);
WEFT_API WEFT_MUST_USE int weft_spawn_fifo(weft *w, weft_scope *scope, weft_fn *fn, void *arg);

/* Nobody waits for it but the pool's destruction. */
WEFT_API WEFT_MUST_USE int weft_spawn_detached(weft *w, weft_fn *fn, void *arg);

/* Waits for all children; returns the first failure, -ETIMEDOUT, -ECANCELED or 0. Called with
 * the context that opened the scope. */
WEFT_API WEFT_MUST_USE int weft_scope_close(weft *w, weft_scope *scope);

/* ---- Failure and cancellation ------------------------------------------------ */

/* The job has failed with `code`, not 0, usually a negative errno value. The first
 * failure in a scope, a run or a task cancels what is left of it: children that have not
 * started never will, and weft_cancelled() is true in those that run. The code is what
 * weft_scope_close(), weft_run() or weft_task_wait() returns; it goes no further out. */
WEFT_API void weft_fail(weft *w, int code);

/* Has this computation, or one around it, failed or passed its deadline? For long loops. */
WEFT_API bool weft_cancelled(weft *w);

/* ---- Where am I -------------------------------------------------------------- */

WEFT_API weft *weft_here(void); /* NULL outside a worker or guest */
WEFT_API weft_pool *weft_pool_of(weft *w);

/* Workers have 0 to weft_pool_workers() - 1; guests and spares have the smallest free numbers
 * from there on, so k of them at once stay below weft_pool_workers() + k. */
WEFT_API unsigned weft_worker_index(weft *w);

/* Does one piece of other work, if there is any; true if it did. */
WEFT_API bool weft_yield(weft *w);

/* Is there work of this worker's own that nobody has taken yet? */
WEFT_API bool weft_has_pending(weft *w);

WEFT_API uint64_t weft_now(void); /* monotonic, in nanoseconds */

/* ---- Looking inside ---------------------------------------------------------- */

typedef struct weft_pool_info {
    unsigned workers;
    unsigned cpus;     /* in the affinity mask when the pool was made */
    unsigned idle;     /* workers awake, searching */
    unsigned sleeping; /* workers asleep */
    unsigned guests;   /* outside threads working in the pool now */
    size_t queued;     /* submitted tasks nobody has started */
    const char *sleep; /* the protocol, as WEFT_SLEEP names it: "events" */
    const char *fork;  /* "lazy", "eager", or "eager (...)" and why lazy can't be had */
    uint64_t quantum;  /* nanoseconds; 0: none */
    unsigned blocked;  /* workers and guests blocked in weft_block_begin, mutexes and so on */
    unsigned spares;   /* threads that stand in for them now */
} weft_pool_info;

/* All zero: there is no default pool. */
WEFT_API void weft_pool_get_info(weft_pool *pool, weft_pool_info *info);

/* What one worker has done so far. */
typedef struct weft_worker_info {
    uint64_t jobs;      /* run from a queue, not counting right sides run by merge's caller */
    uint64_t steals;    /* of these, taken from others */
    uint64_t injected;  /* of these, submitted from outside */
    uint64_t sleeps;    /* times it slept until somebody woke it */
    unsigned depth_max; /* of jobs run while another one waited */
    uint64_t cpu_ns;    /* CPU time of its thread, 0 if unknown */
} weft_worker_info;

/* -EINVAL: no such worker; -ENOMEM: no default pool. */
WEFT_API WEFT_MUST_USE int weft_worker_get_info(weft_pool *pool, unsigned worker,
                                                weft_worker_info *info);

/* Writes what every thread of the pool does, one line each, and what it waits for: for finding out
 * why something does not move. NULL: the default pool, if there is one. */
WEFT_API void weft_pool_dump(weft_pool *pool, FILE *out);

#ifdef __cplusplus
}

/* ---- C++ --------------------------------------------------------------------- */

/* If an exception leaves the left side of a fork, nobody merges, and whoever takes the right side
 * finds a frame that is gone. A guard merges, however its frame is left: its destructor takes the
 * right side back, or waits for the one who has taken it. What a right side throws on another
 * thread leaves merge(). weft(3) says what is promised.
 *
 *     weft::fork_guard right(w, right_fn, &r);
 *     left = compute(right.context(), ...);
 *     if (!right.merge())
 *         r.result = compute(w, ...);
 */
#if WEFT_DEBUG
#define WEFT_GUARD_WHERE "weft::fork_guard" /* for messages */
#else
#define WEFT_GUARD_WHERE nullptr /* nothing is checked */
#endif

class weft::fork_guard
{
  public:
    fork_guard(weft *w, weft_fn *right, void *arg, const char *where = WEFT_GUARD_WHERE)
        : right_(right), arg_(arg), w_(w)
    {
        if (where)
            weft_fork_checked(w, right ? run : nullptr, this, where);
        else
            (weft_fork)(w, run, this);
    }

    ~fork_guard()
    {
        if (w_ && (weft_merge)(w_))
            return; /* if it threw, there is another exception already */
    }

    fork_guard(const fork_guard &) = delete;
    fork_guard &operator=(const fork_guard &) = delete;

    /* The left side's, until merge(). */
    weft *context() const
    {
        return w_ + 1;
    }

    WEFT_MUST_USE bool merge(const char *where = WEFT_GUARD_WHERE)
    {
        weft *w = w_;
        w_ = nullptr;
        bool over = where ? weft_merge_checked(w, where) : (weft_merge)(w);
        if (over && thrown_)
            std::rethrow_exception(thrown_);
        return over;
    }

  private:
    static void run(weft *w, void *self)
    {
        fork_guard *guard = static_cast<fork_guard *>(self);
#ifdef WEFT_THROWS
        try {
            guard->right_(w, guard->arg_);
        } catch (...) {
            guard->thrown_ = std::current_exception();
        }
#else
        guard->right_(w, guard->arg_);
#endif
    }

    weft_fn *right_;
    void *arg_;
    weft *w_;                   /* nullptr: merged */
    std::exception_ptr thrown_; /* by the thief; read after the merge */
};

#ifdef WEFT_THROWS
inline void weft_join(weft *w, weft_fn *left, void *l, weft_fn *right, void *r)
{
    weft::fork_guard guard(w, right, r, nullptr);
    left(guard.context(), l);
    if (!guard.merge(nullptr))
        right(w, r);
}

#if WEFT_DEBUG
static inline void weft_join_guarded(weft *w, weft_fn *left, void *l, weft_fn *right, void *r,
                                     const char *where)
{
    weft::fork_guard guard(w, left ? right : nullptr, r, where);
    left(guard.context(), l);
    if (!guard.merge(where))
        right(w, r);
}
#define weft_join(...) weft_join_guarded(__VA_ARGS__, WEFT_WHERE)
#endif
#endif

/* A scope that is closed however its frame is left: the destructor waits for all children. close()
 * is weft_scope_close(). */
class weft::scope_guard : public weft_scope
{
  public:
    explicit scope_guard(weft *w) : w_(w)
    {
        weft_scope_open(w, this);
    }

    ~scope_guard()
    {
        if (w_ && close())
            return; /* nobody asks */
    }

    scope_guard(const scope_guard &) = delete;
    scope_guard &operator=(const scope_guard &) = delete;

    WEFT_MUST_USE int close()
    {
        weft *w = w_;
        w_ = nullptr;
        return weft_scope_close(w, this);
    }

  private:
    weft *w_; /* nullptr: closed */
};
#endif

#include "weft/parallel.h"
#include "weft/sync.h"

#endif
