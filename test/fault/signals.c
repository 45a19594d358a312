/* SPDX-License-Identifier: MIT */
/* signals.c: signals that interrupt, signals that kill, stacks that overflow, and clocks
 * that jump. */
#include "child.h"
#include "core/pool.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ---- Interruptions ---- */

static atomic_int signals;

static void on_signal(int signal)
{
    atomic_fetch_add(&signals, 1);
}

/* Without SA_RESTART: every system call that waits is interrupted. */
static void handle(int signal)
{
    struct sigaction action = {.sa_handler = on_signal};
    CHECK_EQUAL(sigaction(signal, &action, NULL), 0);
}

struct storm {
    pthread_t victim;
    atomic_bool stop;
};

static void *send_signals(void *arg)
{
    struct storm *storm = arg;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!atomic_load(&storm->stop)) {
        pthread_kill(storm->victim, SIGUSR1);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return NULL;
}

static void slow(weft *w, void *count)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    count_up(w, count);
}

static void fork_slow(weft *w, void *count)
{
    weft_join(w, slow, count, slow, count);
}

/* Ends a pool in the storm. ThreadSanitizer lets a handler run inside pthread_join(), also while
 * its own free() holds one of its own locks; the handler then takes that lock again and waits for
 * ever. So the caller blocks signals there, in that build alone. */
static void end_in_storm(weft_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    if (SANITIZED_THREAD)
        CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, &all, &before), 0);
    child_pool_end(pool);
    if (SANITIZED_THREAD)
        CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

static void wait_in_every_way(weft_pool *pool, atomic_int *ran, weft_task *last)
{
    weft_task task;
    CHECK_EQUAL(weft_run(pool, fork_slow, ran), 0);
    CHECK_EQUAL(weft_submit(pool, &task, fork_slow, ran), 0);
    UNTIL(atomic_load(ran) >= 2); /* perhaps it runs already */
    CHECK_EQUAL(weft_task_wait(&task), 0);
    CHECK_EQUAL(weft_broadcast(pool, slow, ran), 0);
    CHECK_EQUAL(weft_submit(pool, last, fork_slow, ran), 0); /* for destroy to wait for */
}

static void wait_for_pools_of_all_kinds(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags++) {
            for (int i = 0; i < SCALED(10, 5); i++) {
                atomic_int ran = 0;
                weft_pool *pool = child_pool(2, flags, way);
                weft_task last;
                wait_in_every_way(pool, &ran, &last);
                end_in_storm(pool);
                CHECK_EQUAL(atomic_load(&ran), 8);
            }
        }
    }
}

static void waits_survive_a_storm_of_signals(void)
{
    struct storm storm = {.victim = pthread_self()};
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    pthread_t sender;
    handle(SIGUSR1);
    handle(SIGALRM);
    child_thread(send_signals, &storm, &sender);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &often, NULL), 0);
    do
        wait_for_pools_of_all_kinds();
    while (atomic_load(&signals) <= 10);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
    atomic_store(&storm.stop, true);
    child_thread_join(sender);
}

/* A thread that can't be started yet is waited for in spite of signals. */
static atomic_int refusals;

static void *run_thread(void *p)
{
    void **call = p;
    ((void (*)(void *))(uintptr_t)call[0])(call[1]);
    free(call);
    return NULL;
}

static int refuse_twice(void (*run)(void *), void *arg, unsigned worker, void *data)
{
    if (atomic_fetch_add(&refusals, 1) < 2)
        return -EAGAIN;
    void **call = malloc(2 * sizeof *call);
    call[0] = (void *)(uintptr_t)run;
    call[1] = arg;
    child_thread(run_thread, call, data);
    return 0;
}

static void create_survives_a_storm_of_signals(void)
{
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    weft_config config = child_config(1, 0, WAY_SPIN);
    pthread_t thread;
    handle(SIGALRM);
    config.spawn_thread = refuse_twice;
    config.data = &thread;
    CHECK_EQUAL(setitimer(ITIMER_REAL, &often, NULL), 0);
    weft_pool *pool = child_pool_of(&config);
    end_in_storm(pool);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
    child_thread_join(thread);
}

/* ---- Workers and asynchronous signals ---- */

static void check_mask(weft *w, void *count)
{
    static const int asynchronous[] = {SIGALRM, SIGUSR1, SIGUSR2, SIGINT,   SIGTERM, SIGHUP,
                                       SIGCHLD, SIGPIPE, SIGPROF, SIGWINCH, SIGIO};
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t mask;
    CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    for (size_t i = 0; i < sizeof asynchronous / sizeof asynchronous[0]; i++)
        CHECK_EQUAL(sigismember(&mask, asynchronous[i]), 1);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        CHECK_EQUAL(sigismember(&mask, own[i]), 0);
    count_up(w, count);
}

static void workers_block_asynchronous_signals(void)
{
    FOR_EACH_WAY(way)
    {
        sigset_t before, after;
        atomic_int ran = 0;
        CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
        weft_pool *pool = child_pool(3, 0, way);
        CHECK_EQUAL(weft_broadcast(pool, check_mask, &ran), 0);
        CHECK_EQUAL(atomic_load(&ran), 3);
        CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
        for (int i = 1; i < 32; i++) /* the creator's own mask is as it was */
            CHECK_EQUAL(sigismember(&after, i), sigismember(&before, i));
        child_pool_end(pool);
    }
}

/* Threads that the program started itself, too. */
static void foreign_threads_block_asynchronous_signals(void)
{
    weft_config config = child_config(1, 0, WAY_SPIN);
    pthread_t thread;
    atomic_int ran = 0;
    atomic_store(&refusals, 2);
    config.spawn_thread = refuse_twice;
    config.data = &thread;
    weft_pool *pool = child_pool_of(&config);
    CHECK_EQUAL(weft_broadcast(pool, check_mask, &ran), 0);
    child_pool_end(pool);
    child_thread_join(thread);
    CHECK_EQUAL(atomic_load(&ran), 1);
}

/* So a signal sent to the process is handled by the program's threads. */
static pthread_t handled_by;

static void note_handler(int signal)
{
    handled_by = pthread_self();
    atomic_fetch_add(&signals, 1);
}

static void signals_to_the_process_reach_the_program(void)
{
    struct sigaction action = {.sa_handler = note_handler};
    CHECK_EQUAL(sigaction(SIGUSR2, &action, NULL), 0);
    weft_pool *pool = child_pool(3, 0, WAY_SPIN);
    for (int i = 1; i <= 100; i++) {
        CHECK_EQUAL(kill(getpid(), SIGUSR2), 0);
        UNTIL(atomic_load(&signals) == i);
        CHECK(pthread_equal(handled_by, pthread_self()));
    }
    child_pool_end(pool);
}

/* ---- Stack overflow ---- */

static volatile bool enough; /* never; but the compiler can't know */

__attribute__((noinline)) static int recurse(volatile char *above)
{
    volatile char room[2048];
    room[0] = above ? above[0] : 0;
    int deeper = enough ? 0 : recurse(room);
    return deeper + room[0];
}

static unsigned victim;

static void overflow_on_victim(weft *w, void *arg)
{
    if (weft_worker_index(w) == victim)
        recurse(NULL);
}

static weft_config small_stacks(unsigned flags)
{
    weft_config config = child_config(3, flags, WAY_SPIN);
    config.stack_size = 256 << 10;
    return config;
}

static void overflow(void *arg)
{
    weft_config config = small_stacks(0);
    victim = *(unsigned *)arg;
    weft_broadcast(child_pool_of(&config), overflow_on_victim, NULL);
}

static void stack_overflow_is_explained(void **state)
{
    for (unsigned i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "worker %u ", i);
        expect_abort(overflow, &i, WORDS(name, "stack_size", "overflow"));
    }
}

/* Also in a thread that the program started, which has the stack it was given. */
static int spawn_detached_thread(void (*run)(void *), void *arg, unsigned worker, void *data)
{
    void **call = malloc(2 * sizeof *call);
    pthread_t thread;
    pthread_attr_t attr;
    call[0] = (void *)(uintptr_t)run;
    call[1] = arg;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 10);
    return -pthread_create(&thread, &attr, run_thread, call);
}

static void overflow_foreign(void *arg)
{
    weft_config config = small_stacks(0);
    config.spawn_thread = spawn_detached_thread;
    victim = 1;
    weft_broadcast(child_pool_of(&config), overflow_on_victim, NULL);
}

static void stack_overflow_in_foreign_thread_is_explained(void **state)
{
    expect_abort(overflow_foreign, NULL, WORDS("worker 1 ", "stack_size", "overflow"));
}

/* And in the program's own threads, while they run jobs. */
static void overflow_here(weft *w, void *arg)
{
    recurse(NULL);
}

static void overflow_guest(void *flags)
{
    weft_config config = small_stacks(*(unsigned *)flags);
    config.workers = 1;
    weft_run(child_pool_of(&config), overflow_here, NULL);
}

static void *run_overflow_guest(void *flags)
{
    overflow_guest(flags);
    return NULL;
}

static void overflow_guest_thread(void *flags)
{
    pthread_t thread;
    child_thread(run_overflow_guest, flags, &thread);
    child_thread_join(thread);
}

static void stack_overflow_of_guest_is_explained(void **state)
{
    const char *const *words = WORDS("inside weft_run", "overflowed its stack", "1 job deep");
    expect_abort(overflow_guest, &(unsigned){0}, words);
    expect_abort(overflow_guest, &(unsigned){WEFT_USE_CALLER}, words);
    expect_abort(overflow_guest_thread, &(unsigned){0}, words);
    expect_abort(overflow_guest_thread, &(unsigned){WEFT_USE_CALLER}, words);
    expect_signal(overflow_guest, &(unsigned){WEFT_NO_SIGSEGV}, SIGSEGV);
}

/* Outside of jobs the thread is none of the library's business. */
static void overflow_after_run(void *arg)
{
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    CHECK_EQUAL(weft_run(pool, nothing, NULL), 0);
    recurse(NULL);
}

static void stack_overflow_after_run_is_not(void **state)
{
    expect_signal(overflow_after_run, NULL, SIGSEGV);
}

/* An alternate stack that the thread has, or gets later, stays. */
static void *keep_alternate_stack(void *late)
{
    static char room[64 << 10];
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    if (late)
        CHECK_EQUAL(weft_run(pool, nothing, NULL), 0);
    stack_t before;
    CHECK_EQUAL(sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, &before), 0);
    for (int i = 0; i < 3; i++) {
        stack_t now;
        CHECK_EQUAL(weft_run(pool, nothing, NULL), 0);
        CHECK_EQUAL(sigaltstack(NULL, &now), 0);
        CHECK(now.ss_sp == room && !(now.ss_flags & SS_DISABLE));
    }
    CHECK_EQUAL(sigaltstack(&before, NULL), 0); /* a sanitizer frees it with the thread */
    child_pool_end(pool);
    return NULL;
}

static void alternate_stack_of_guest_stays(void)
{
    pthread_t thread;
    for (int late = 0; late < 2; late++) {
        child_thread(keep_alternate_stack, late ? &late : NULL, &thread);
        child_thread_join(thread);
    }
}

/* Jobs on top of each other are counted. */
static void overflow_nested(weft *w, void *arg)
{
    weft_run(weft_pool_of(w), overflow_here, NULL);
}

static void overflow_in_two(void *arg)
{
    weft_config config = small_stacks(WEFT_NO_GUESTS);
    config.workers = 1;
    weft_run(child_pool_of(&config), overflow_nested, NULL);
}

static void stack_overflow_tells_how_deep(void **state)
{
    expect_abort(overflow_in_two, NULL, WORDS("worker 0 ", "KiB", "2 jobs deep"));
}

/* Unless the program does not want that. */
static void overflow_unexplained(void *arg)
{
    weft_config config = small_stacks(WEFT_NO_SIGSEGV);
    weft_broadcast(child_pool_of(&config), overflow_on_victim, NULL);
}

static void stack_overflow_without_handler(void **state)
{
    expect_signal(overflow_unexplained, NULL, SIGSEGV);
}

/* ---- Other faults ---- */

static char *volatile nowhere = (char *)(uintptr_t)8;

static void write_nowhere(weft *w, void *arg)
{
    *(volatile char *)nowhere = 1;
}

static void raise_segv(weft *w, void *arg)
{
    raise(SIGSEGV);
}

static void raise_bus(weft *w, void *arg)
{
    raise(SIGBUS);
}

/* A file that is shorter than its mapping. */
static void read_past_the_end(weft *w, void *arg)
{
    char name[] = "/tmp/weft-fault-XXXXXX";
    int fd = mkstemp(name);
    CHECK(fd >= 0);
    unlink(name);
    CHECK_EQUAL(ftruncate(fd, 4096), 0);
    volatile char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(p != MAP_FAILED);
    CHECK_EQUAL(ftruncate(fd, 0), 0);
    p[0] = 1;
}

static void die_on_worker(void *job)
{
    weft_run(child_pool(2, WEFT_NO_GUESTS, WAY_SPIN), (weft_fn *)(uintptr_t)job, NULL);
}

static void die_on_guest(void *job)
{
    weft_run(child_pool(2, 0, WAY_SPIN), (weft_fn *)(uintptr_t)job, NULL);
}

static void expect_death(weft_fn *job, int signal)
{
    expect_signal(die_on_worker, (void *)(uintptr_t)job, signal);
    expect_signal(die_on_guest, (void *)(uintptr_t)job, signal);
}

static void ordinary_segv_still_kills(void **state)
{
    expect_death(write_nowhere, SIGSEGV);
}

static void ordinary_bus_error_still_kills(void **state)
{
    expect_death(read_past_the_end, SIGBUS);
}

static void raised_segv_still_kills(void **state)
{
    expect_death(raise_segv, SIGSEGV);
    expect_death(raise_bus, SIGBUS);
}

static void ignored(void *arg)
{
    signal(SIGSEGV, SIG_IGN); /* before the pool: what others send is ignored then */
    CHECK_EQUAL(weft_run(child_pool(1, 0, WAY_SPIN), raise_segv, NULL), 0);
    _exit(42);
}

static void ignored_segv_stays_ignored(void **state)
{
    expect_exit(ignored, NULL, 42);
}

/* The program's own handlers get what is not ours. */
static void *expected_address;

static void own_handler(int signal, siginfo_t *info, void *context)
{
    _exit(signal == SIGSEGV && info->si_addr == expected_address ? 42 : 43);
}

static void own_simple_handler(int signal)
{
    _exit(signal == SIGSEGV ? 42 : 43);
}

static void with_own_handler(void *arg)
{
    struct sigaction action = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO};
    CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
    expected_address = nowhere;
    die_on_worker((void *)(uintptr_t)write_nowhere);
}

static void with_own_simple_handler(void *arg)
{
    struct sigaction action = {.sa_handler = own_simple_handler};
    CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
    die_on_worker((void *)(uintptr_t)write_nowhere);
}

static void own_handler_still_gets_it(void **state)
{
    expect_exit(with_own_handler, NULL, 42);
    expect_exit(with_own_simple_handler, NULL, 42);
}

static void overflow_with_own_handler(void *arg)
{
    struct sigaction action = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO};
    CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
    overflow(arg);
}

static void stack_overflow_is_explained_in_spite_of_own_handler(void **state)
{
    expect_abort(overflow_with_own_handler, &(unsigned){1}, WORDS("worker 1 ", "stack_size"));
}

/* ---- Clocks ---- */

/* Stands before the C library's. Nothing in the library may ask what time of day it is. */
static atomic_int asked_monotonic, asked_other;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    bool monotonic = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE;
    if (clock >= 0) /* negative: CPU time of a thread */
        atomic_fetch_add(monotonic ? &asked_monotonic : &asked_other, 1);
    return (int)syscall(SYS_clock_gettime, clock, t);
}

static void open_with_deadline(weft *w, void *ran)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 1000000);
    CHECK_EQUAL(weft_spawn(w, &scope, count_up, ran), 0);
    UNTIL(weft_cancelled(w));
    CHECK_EQUAL(weft_scope_close(w, &scope), -ETIMEDOUT);
}

static void clocks_are_monotonic(void)
{
    atomic_store(&asked_other, 0); /* cmocka asks, too */
    FOR_EACH_WAY(way)
    {
        atomic_int ran = 0;
        weft_pool *pool = child_pool(2, 0, way);
        CHECK_EQUAL(weft_run(pool, open_with_deadline, &ran), 0);
        CHECK_EQUAL(weft_run(pool, fork_slow, &ran), 0);
        child_pool_end(pool);
    }
    CHECK(atomic_load(&asked_monotonic) > 0);
    CHECK_EQUAL(atomic_load(&asked_other), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(waits_survive_a_storm_of_signals),
        IN_CHILD(create_survives_a_storm_of_signals),
        IN_CHILD(workers_block_asynchronous_signals),
        IN_CHILD(foreign_threads_block_asynchronous_signals),
        IN_CHILD(signals_to_the_process_reach_the_program),
        cmocka_unit_test(stack_overflow_is_explained),
        cmocka_unit_test(stack_overflow_in_foreign_thread_is_explained),
        cmocka_unit_test(stack_overflow_of_guest_is_explained),
        cmocka_unit_test(stack_overflow_after_run_is_not),
        IN_CHILD(alternate_stack_of_guest_stays),
        cmocka_unit_test(stack_overflow_tells_how_deep),
        cmocka_unit_test(stack_overflow_without_handler),
        cmocka_unit_test(stack_overflow_is_explained_in_spite_of_own_handler),
        cmocka_unit_test(ordinary_segv_still_kills),
        cmocka_unit_test(ordinary_bus_error_still_kills),
        cmocka_unit_test(raised_segv_still_kills),
        cmocka_unit_test(ignored_segv_stays_ignored),
        cmocka_unit_test(own_handler_still_gets_it),
        IN_CHILD(clocks_are_monotonic),
    };
    return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
