/* SPDX-License-Identifier: MIT */
#include "emulated.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- What is tried ---- */

static bool thread_ends(void *(*run)(void *), void *arg)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, run, arg) == 0 && pthread_join(thread, NULL) == 0;
}

static void *nothing(void *arg)
{
    return arg;
}

/* A child that hangs takes no signal from an alarm: qemu hands signals to the program inside it,
 * which stands still. So the parent waits for the end of a pipe, for a minute, and kills the child.
 */
static bool child_starts_thread(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* qemu says much when it breaks */
        _exit(thread_ends(nothing, NULL) ? 0 : 1);
    }
    close(ends[1]);
    int status = -1;
    if (poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 60000) == 0)
        kill(child, SIGKILL);
    close(ends[0]);
    return waitpid(child, &status, 0) == child && status == 0;
}

static void *wait_for_end(void *pipe_end)
{
    char byte;
    return read(*(int *)pipe_end, &byte, 1) == 0 ? pipe_end : NULL;
}

/* Can a process with two threads fork, and the child start a thread? */
static bool forks(void)
{
    int ends[2];
    pthread_t other;
    if (pipe(ends) != 0 || pthread_create(&other, NULL, wait_for_end, &ends[0]) != 0)
        return false;
    bool works = child_starts_thread();
    close(ends[1]);
    pthread_join(other, NULL);
    close(ends[0]);
    return works;
}

/* Is a limit of the address space kept? One that limits nothing is tried. */
static bool limits(void)
{
    struct rlimit all, some;
    if (getrlimit(RLIMIT_AS, &all) != 0)
        return false;
    some = all;
    some.rlim_cur = all.rlim_cur == RLIM_INFINITY ? (rlim_t)1 << 46 : all.rlim_cur - 1;
    bool works = setrlimit(RLIMIT_AS, &some) == 0 && getrlimit(RLIMIT_AS, &some) == 0 &&
                 some.rlim_cur != all.rlim_cur;
    setrlimit(RLIMIT_AS, &all);
    return works;
}

/* Are there filters of system calls? */
static bool filters(void)
{
    unsigned allow = 0x7fff0000; /* SECCOMP_RET_ALLOW */
    return syscall(SYS_seccomp, 2 /* SECCOMP_GET_ACTION_AVAIL */, 0, &allow) == 0;
}

static long mapped_pages(void)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return pages;
}

/* Is all memory of a thread given back when it ends? What the first ones leave is used again. */
static bool gives_back(void)
{
    enum { THREADS = 64 };
    long before = 0;
    for (int i = 0; i < 2 * THREADS; i++) {
        if (i == THREADS)
            before = mapped_pages();
        thread_ends(nothing, NULL);
    }
    return mapped_pages() - before < THREADS; /* a page of each */
}

/* Can a program start itself again? The second one says so, and does nothing else. */
static const char again[] = "WEFT_TEST_STARTED_AGAIN";

__attribute__((constructor)) static void say_so(void)
{
    if (getenv(again))
        _exit(0);
}

static bool starts_again(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        setenv(again, "1", 1);
        execl("/proc/self/exe", "again", (char *)NULL);
        _exit(1);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

/* ---- Which tests need it ---- */

#define FORKS forks, "no forks beside threads"
#define LIMITS limits, "no limit of the address space"
#define FILTERS filters, "no filters of system calls"
#define STARTS_AGAIN starts_again, "a program can't start another one of its kind"
#define GIVES_BACK gives_back, "the emulator keeps memory of threads that have ended"

static const struct {
    const char *test; /* a pattern */
    bool (*works)(void);
    const char *reason;
} emulated[] = {
    {"a_report_without_a_handler_is_written", FORKS},
    {"empty_ranges_are_no_calls", FORKS},
    {"forked_beside_a_waker", FORKS},
    {"task_submitted_again_in_forked_child", FORKS},
    {"child_has_no_queue_of_the_parent", FORKS},
    {"bug_24_*", FORKS}, /* all about forks */
    {"bug_20_no_room_for_the_third_thread", LIMITS},
    {"without_membarrier_pools_are_eager", FILTERS},
    {"membarrier_may_go_later", FILTERS},
    {"blocked_owner_needs_no_membarrier", FILTERS},
    {"oom_create", GIVES_BACK},
    {"no_key_is_left", STARTS_AGAIN},
};

const char *ports_reason(const char *test)
{
    if (!getenv("WEFT_TEST_EMULATED"))
        return NULL;
    for (size_t i = 0; i < sizeof emulated / sizeof emulated[0]; i++)
        if (fnmatch(emulated[i].test, test, 0) == 0)
            return emulated[i].works() ? NULL : emulated[i].reason;
    return NULL;
}
