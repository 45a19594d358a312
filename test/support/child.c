/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <alloca.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SECONDS = 1000, /* far more than any child needs, even on a busy machine */
    GRANDCHILD_SECONDS = 200,
    CODE_LEAKED = 98,
};

/* Is there in AddressSanitizer's builds. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

/* ---- In the child ---- */

void child_check_equal(const char *file, int line, const char *what, long long a, long long b)
{
    if (a == b)
        return;
    fprintf(stderr, "%s:%d: not true: %s, %lld is not %lld\n", file, line, what, a, b);
    abort();
}

void child_nap(unsigned tries)
{
    if (tries < 20)
        wait_a_moment();
    else
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
}

weft_config child_config(unsigned workers, unsigned flags, enum way way)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.flags = flags;
    config.spin_rounds = way == WAY_NO_SPIN || way == WAY_EAGER_NO_SPIN ? -1 : 0;
    config.fork = way < WAY_EAGER_NO_SPIN ? WEFT_FORK_LAZY : WEFT_FORK_EAGER;
    return config;
}

weft_pool *child_pool_of(const weft_config *config)
{
    weft_pool *pool;
    CHECK_EQUAL(weft_pool_create(&pool, config), 0);
    return pool;
}

weft_pool *child_pool(unsigned workers, unsigned flags, enum way way)
{
    weft_config config = child_config(workers, flags, way);
    return child_pool_of(&config);
}

void child_pool_end(weft_pool *pool)
{
    CHECK_EQUAL(weft_pool_destroy(pool), 0);
}

void until_asleep(weft_pool *pool, unsigned workers)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    UNTIL((weft_pool_get_info(pool, &info), info.sleeping >= workers));
}

void count_up(weft *w, void *count)
{
    atomic_fetch_add((atomic_int *)count, 1);
}

void nothing(weft *w, void *arg)
{
}

void fib(weft *w, void *arg)
{
    long n = *(long *)arg;
    if (n < 2)
        return;
    long a = n - 1, b = n - 2;
    fib(weft_fork(w, fib, &b), &a);
    if (!weft_merge(w))
        fib(w, &b);
    *(long *)arg = a + b;
}

void pass_gate(weft *w, void *arg)
{
    struct child_gate *gate = arg;
    atomic_fetch_add(&gate->started, 1);
    UNTIL(atomic_load(&gate->open));
}

void child_thread(void *(*run)(void *), void *arg, pthread_t *thread)
{
    CHECK_EQUAL(pthread_create(thread, NULL, run, arg), 0);
}

void child_thread_join(pthread_t thread)
{
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

__attribute__((noinline)) void deep_down(size_t bytes, child_fn *fn, void *arg)
{
    volatile char *room = alloca(bytes);
    for (size_t i = 0; i < bytes; i += 4096) /* from the top, as a stack grows */
        room[bytes - 1 - i] = 0;
    fn(arg);
    room[0] = 0;
}

static _Noreturn void child_main(int out, child_fn *fn, void *arg)
{
    static const int cmockas[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
    for (size_t i = 0; i < sizeof cmockas / sizeof cmockas[0]; i++)
        signal(cmockas[i], SIG_DFL);  /* it takes them for failed tests */
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* who kills the test kills this too */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    dup2(out, STDERR_FILENO);
    close(out);
    fn(arg);
    if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
        _exit(CODE_LEAKED);
    _exit(0);
}

int grandchild(child_fn *fn, void *arg)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGALRM, SIG_DFL);
        sigset_t none;
        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, &none, NULL); /* a worker's would keep the alarm away */
        alarm(GRANDCHILD_SECONDS);
        fn(arg);
        _exit(0);
    }
    int status;
    UNTIL(waitpid(pid, &status, WNOHANG) == pid);
    return status;
}

/* ---- In the test ---- */

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Reads until the child, and all it left behind, have closed the pipe. False: too late. */
static bool listen_to(struct child *child, int in)
{
    size_t length = 0;
    uint64_t end = now_ms() + SECONDS * 1000;
    for (uint64_t now; (now = now_ms()) < end;) {
        struct pollfd p = {.fd = in, .events = POLLIN};
        if (poll(&p, 1, (int)(end - now)) <= 0)
            continue;
        char lost[256];
        size_t room = sizeof child->said - 1 - length;
        ssize_t n = read(in, room ? child->said + length : lost, room ? room : sizeof lost);
        if (n <= 0)
            return true;
        if (room)
            length += (size_t)n;
    }
    return false;
}

void child_run(struct child *child, child_fn *fn, void *arg)
{
    memset(child, 0, sizeof *child);
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(fds[0]);
        child_main(fds[1], fn, arg);
    }
    close(fds[1]);
    child->hung = !listen_to(child, fds[0]);
    if (child->hung)
        kill(pid, SIGKILL);
    close(fds[0]);
    assert_int_equal(waitpid(pid, &child->status, 0), pid);
}

static void tell(const struct child *child)
{
    if (child->hung)
        print_error("the child hung\n");
    else if (WIFSIGNALED(child->status))
        print_error("the child died of signal %d\n", WTERMSIG(child->status));
    else
        print_error("the child ended with %d\n", WEXITSTATUS(child->status));
    if (child->said[0])
        print_error("and said: %s\n", child->said);
}

static void expect(const struct child *child, bool as_wanted)
{
    if (as_wanted && !child->hung)
        return;
    tell(child);
    fail();
}

void expect_exit(child_fn *fn, void *arg, int code)
{
    static struct child child;
    child_run(&child, fn, arg);
    expect(&child, WIFEXITED(child.status) && WEXITSTATUS(child.status) == code);
}

void expect_fine(child_fn *fn, void *arg)
{
    expect_exit(fn, arg, 0);
}

void expect_signal(child_fn *fn, void *arg, int signal)
{
    static struct child child;
    child_run(&child, fn, arg);
    expect(&child, WIFSIGNALED(child.status) && WTERMSIG(child.status) == signal);
}

/* Of the library's, that is; a sanitizer or an emulator may have something to add. */
static bool one_line(const char *said)
{
    const char *end = strchr(said, '\n');
    bool others_speak = SANITIZED || getenv("WEFT_TEST_EMULATED");
    return strncmp(said, "weft: ", 6) == 0 && end &&
           (end[1] == '\0' || (others_speak && !strstr(end, "\nweft: ")));
}

void expect_abort(child_fn *fn, void *arg, const char *const *words)
{
    static struct child child;
    child_run(&child, fn, arg);
    expect(&child, WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGABRT);
    expect(&child, one_line(child.said));
    for (; *words; words++) {
        if (strstr(child.said, *words))
            continue;
        print_error("it should speak of \"%s\"\n", *words);
        expect(&child, false);
    }
}

static void call_test(void *arg)
{
    ((child_test_fn *)(uintptr_t)arg)();
}

void child_test(void **state)
{
    expect_fine(call_test, *state);
}
