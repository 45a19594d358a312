/* SPDX-License-Identifier: MIT */
#include "os/syscall.h"

#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct call {
    long number;
    const char *name;
    bool takes_descriptor; /* first */
};

/* System calls that may wait. Not every machine has all of them. */
static const struct call calls[] = {
    {SYS_read, "read", true},
    {SYS_write, "write", true},
    {SYS_readv, "readv", true},
    {SYS_writev, "writev", true},
    {SYS_pread64, "pread", true},
    {SYS_pwrite64, "pwrite", true},
    {SYS_connect, "connect", true},
    {SYS_accept4, "accept4", true},
    {SYS_recvfrom, "recv", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_sendto, "send", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_ioctl, "ioctl", true},
    {SYS_epoll_pwait, "epoll_wait", true},
    {SYS_close, "close", true},
    {SYS_ppoll, "poll", false},
    {SYS_pselect6, "select", false},
    {SYS_openat, "open", false},
    {SYS_futex, "futex", false},
    {SYS_nanosleep, "nanosleep", false},
    {SYS_clock_nanosleep, "clock_nanosleep", false},
    {SYS_wait4, "wait4", false},
    {SYS_waitid, "waitid", false},
    {SYS_rt_sigsuspend, "sigsuspend", false},
    {SYS_rt_sigtimedwait, "sigtimedwait", false},
    {SYS_sched_yield, "sched_yield", false},
    {SYS_getrandom, "getrandom", false},
    {SYS_mmap, "mmap", false},
    {SYS_munmap, "munmap", false},
    {SYS_madvise, "madvise", false},
    {SYS_membarrier, "membarrier", false},
#ifdef SYS_accept
    {SYS_accept, "accept", true},
#endif
#ifdef SYS_open
    {SYS_open, "open", false},
#endif
#ifdef SYS_poll
    {SYS_poll, "poll", false},
#endif
#ifdef SYS_select
    {SYS_select, "select", false},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait", true},
#endif
#ifdef SYS_pause
    {SYS_pause, "pause", false},
#endif
#ifdef SYS_semtimedop
    {SYS_semtimedop, "semtimedop", false},
#endif
#ifdef SYS_semop
    {SYS_semop, "semop", false},
#endif
#ifdef SYS_msgrcv
    {SYS_msgrcv, "msgrcv", false},
#endif
#ifdef SYS_io_uring_enter
    {SYS_io_uring_enter, "io_uring_enter", true},
#endif
};

static const struct call *call_of(long number)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

/* The first line of a file about a thread. False: there is no such file, or it is empty. */
static bool read_line(int thread, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text[0] != '\0';
}

/* Are the kernel's numbers those of this program? The kernel below an emulator of processes, like
 * qemu-user, is for another processor. This thread's own call is known: it reads. */
static bool numbers_are_ours(void)
{
    char line[200], *end;
    if (!read_line(weft__thread_number(), "syscall", line, sizeof line))
        return false;
    return strtol(line, &end, 10) == SYS_read && end != line;
}

/* "NUMBER ARGUMENT ..."; "running"; or "-1 ..." if it waits for something else, such as a page. */
static bool by_number(int thread, char *text, size_t size)
{
    char line[200], *end;
    if (!read_line(thread, "syscall", line, sizeof line) || !numbers_are_ours())
        return false;
    long number = strtol(line, &end, 10);
    if (end == line || number < 0)
        return false;
    unsigned long first = strtoul(end, NULL, 16);
    const struct call *call = call_of(number);
    if (!call)
        snprintf(text, size, "system call %ld", number);
    else if (call->takes_descriptor)
        snprintf(text, size, "system call %s of descriptor %d", call->name, (int)first);
    else
        snprintf(text, size, "system call %s", call->name);
    return true;
}

/* The function of the kernel that the thread waits in; "0": none, or the kernel hides it. */
static bool by_place(int thread, char *text, size_t size)
{
    char line[100];
    if (!read_line(thread, "wchan", line, sizeof line) || strcmp(line, "0") == 0)
        return false;
    snprintf(text, size, "the kernel's %.50s", line);
    return true;
}

bool weft__syscall_of(int thread, char *text, size_t size)
{
    int saved = errno;
    bool known = thread > 0 && (by_number(thread, text, size) || by_place(thread, text, size));
    errno = saved;
    return known;
}
