/* SPDX-License-Identifier: MIT */
#include "os/thread.h"

#include "os/atomic.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/overflow.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local struct {
    bool is;           /* if not, the other field means nothing */
    cpu_set_t allowed; /* where it may run without the pin */
} pinned;

static _Thread_local pid_t own_number; /* 0 until asked for, and in a forked child */

static pid_t number(void)
{
    if (own_number == 0)
        own_number = (pid_t)syscall(SYS_gettid);
    return own_number;
}

int weft__thread_number(void)
{
    return number();
}

static _Thread_local struct weft__stack stack; /* empty until asked for */

/* All signals but those that a thread causes itself, which can't wait. */
static void asynchronous_signals(sigset_t *set)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(set, own[i]);
}

static cpu_set_t only(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return one;
}

static bool is_one_of(const cpu_set_t *cpus, int cpu)
{
    return cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, cpus);
}

/* What a new thread is told. */
struct start {
    void *(*run)(void *arg);
    void *arg;
    bool pinned;
    cpu_set_t allowed;
};

/* glibc keeps a pointer into a block of memory for each thread, but none to its beginning. So a
 * tool that looks for leaks reports the block as possibly lost if the thread lives until the
 * program ends, as those of the default pool do. This is a pointer to its beginning. */
static _Thread_local void *volatile own_block;

static void keep_own_block(void)
{
#if defined __GLIBC__ && defined __x86_64__ && defined __LP64__
    char *inside;
    __asm__("mov %%fs:8, %0" : "=r"(inside)); /* the second word of the thread's descriptor, */
    own_block = inside - 16;                  /* behind the length */
#elif defined __GLIBC__ && defined __aarch64__
    own_block = *(char **)__builtin_thread_pointer() - 16;
#endif
}

static void *begin(void *p)
{
    struct start start = *(struct start *)p;
    weft__free(p);
    keep_own_block();
    pinned.is = start.pinned;
    pinned.allowed = start.allowed;
    return start.run(start.arg);
}

/* A thread that starts on its own CPU does not have to wait for the CPU of the thread that made it.
 * musl can't start one there. */
static void start_on(struct start *start, pthread_attr_t *attr, int cpu)
{
    if (sched_getaffinity(0, sizeof start->allowed, &start->allowed) != 0 ||
        !is_one_of(&start->allowed, cpu))
        return;
#ifdef __GLIBC__
    cpu_set_t one = only(cpu);
    start->pinned = pthread_attr_setaffinity_np(attr, sizeof one, &one) == 0;
#else
    (void)attr;
#endif
}

/* The system's minimum depends on the CPU: its registers are saved on the stack. */
static size_t at_least_the_minimum(size_t stack_size)
{
    long minimum = sysconf(_SC_THREAD_STACK_MIN);
    return minimum > 0 && stack_size < (size_t)minimum ? (size_t)minimum : stack_size;
}

static int create(pthread_t *thread, size_t stack_size, int cpu, struct start *start)
{
    enum { GUARD = 64 * 1024 }; /* a large frame must not step over it */
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error)
        return error;
    error = pthread_attr_setstacksize(&attr, at_least_the_minimum(stack_size));
    if (!error)
        error = pthread_attr_setguardsize(&attr, GUARD);
    if (!error) {
        sigset_t block, old;
        start_on(start, &attr, cpu);
        asynchronous_signals(&block);
        pthread_sigmask(SIG_BLOCK, &block, &old); /* the new thread inherits it */
        error = pthread_create(thread, &attr, begin, start);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_attr_destroy(&attr);
    return error;
}

enum { STACK_DEFAULT = 64 << 20, STACK_SHORT = 8 << 20 };

/* If address space is limited, a large stack takes it away from the program. */
static bool address_space_is_short(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

static int create_with_default(pthread_t *thread, int cpu, struct start *start)
{
    int error = ENOMEM;
    if (!address_space_is_short())
        error = create(thread, STACK_DEFAULT, cpu, start);
    /* EAGAIN may also mean that there is too little memory for a stack. */
    return error == ENOMEM || error == EAGAIN ? create(thread, STACK_SHORT, cpu, start) : error;
}

static int create_sized(pthread_t *thread, size_t stack_size, int cpu, struct start *start)
{
    return stack_size ? create(thread, stack_size, cpu, start)
                      : create_with_default(thread, cpu, start);
}

int weft__thread_start(pthread_t *thread, size_t stack_size, int cpu, void *(*run)(void *),
                       void *arg)
{
    struct start *start = weft__small(sizeof *start);
    if (!start)
        return -ENOMEM;
    *start = (struct start){.run = run, .arg = arg};
    int saved = errno, error = create_sized(thread, stack_size, cpu, start);
    if (error && start->pinned) { /* perhaps because it must not be pinned */
        start->pinned = false;
        error = create_sized(thread, stack_size, -1, start);
    }
    errno = saved;
    if (error)
        weft__free(start);
    return -error;
}

void weft__thread_be_punctual(void)
{
    enum { TIMER_SLACK_NS = 5000 }; /* usually 50 us: a twentieth of what work may wait for */
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
}

void weft__thread_enter(const char *name, unsigned index, bool explain_overflow)
{
    enum { NAME_MAX_LENGTH = 15 }; /* the kernel's */
    char full[NAME_MAX_LENGTH + 16], number[16];
    int digits = snprintf(number, sizeof number, "-%u", index);
    snprintf(full, sizeof full, "%.*s%s", NAME_MAX_LENGTH - digits, name, number);
    pthread_setname_np(pthread_self(), full);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    weft__thread_be_punctual(); /* the look-out's nap is short */
    sigset_t block;             /* again, for threads that the program started */
    asynchronous_signals(&block);
    pthread_sigmask(SIG_BLOCK, &block, NULL);
    if (explain_overflow)
        weft__overflow_enter(index);
}

void weft__thread_leave(void)
{
    weft__overflow_leave();
}

void weft__thread_pin(int cpu)
{
    int saved = errno;
    if (pinned.is || sched_getaffinity(0, sizeof pinned.allowed, &pinned.allowed) == 0) {
        if (is_one_of(&pinned.allowed, cpu)) {
            cpu_set_t one = only(cpu);
            pinned.is |= sched_setaffinity(0, sizeof one, &one) == 0;
        }
    }
    errno = saved;
}

void weft__thread_unpin(void)
{
    int saved = errno;
    if (pinned.is)
        sched_setaffinity(0, sizeof pinned.allowed, &pinned.allowed);
    pinned.is = false;
    errno = saved;
}

void weft__pin_set(struct weft__pin *pin, int thread, int cpu)
{
    int saved = errno;
    if (pin->thread == 0 && sched_getaffinity(thread, sizeof pin->allowed, &pin->allowed) != 0)
        CPU_ZERO(&pin->allowed);
    bool pinned_there = pin->thread != 0 && pin->cpu == cpu;
    if (!pinned_there && is_one_of(&pin->allowed, cpu)) {
        cpu_set_t one = only(cpu);
        if (sched_setaffinity(thread, sizeof one, &one) == 0) {
            pin->thread = thread;
            pin->cpu = cpu;
        }
    }
    errno = saved;
}

void weft__pin_clear(struct weft__pin *pin)
{
    int saved = errno;
    if (pin->thread != 0)
        sched_setaffinity(pin->thread, sizeof pin->allowed, &pin->allowed);
    pin->thread = 0;
    errno = saved;
}

int weft__thread_cpu(void)
{
    return sched_getcpu();
}

bool weft__thread_yield(void)
{
    enum { LONG_NS = 300000 }; /* far more than a yield on an idle CPU, less than a time slice */
    uint64_t before = weft__clock_now();
    sched_yield();
    return weft__clock_now() - before < LONG_NS;
}

uint64_t weft__thread_cpu_time(pthread_t thread)
{
    clockid_t clock;
    struct timespec t;
    if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct weft__stack weft__thread_stack(void)
{
    if (stack.high)
        return stack;
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &low, &size);
        pthread_attr_destroy(&attr);
    }
    stack = (struct weft__stack){low, (char *)low + size};
    return stack;
}

uint32_t weft__forks;

static void count_fork(void)
{
    own_number = 0;
    weft__forks++;
}

int weft__fork_watch(void (*in_child)(void))
{
    int error = pthread_atfork(NULL, NULL, count_fork);
    return -(error ? error : pthread_atfork(NULL, NULL, in_child));
}
