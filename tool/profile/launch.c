/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "launch.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};

/* What the program gets back. */
struct before {
    sigset_t mask;
    struct sigaction child; /* who ignores SIGCHLD can't wait for it */
};

/* Signals come by a descriptor from here on. */
static int catch_signals(struct before *before)
{
    sigset_t set;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        sigaddset(&set, passed_on[i]);
    sigaction(SIGCHLD, &plain, &before->child);
    sigprocmask(SIG_BLOCK, &set, &before->mask);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void restore_signals(const struct before *before)
{
    sigaction(SIGCHLD, &before->child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* The child. If it can't become the program, errno goes through the pipe, which exec closes. */
static _Noreturn void become(char **argv, const struct before *before, int pipe)
{
    restore_signals(before);
    execvp(argv[0], argv);
    int error = errno;
    (void)!write(pipe, &error, sizeof error);
    _exit(LAUNCH_NOT_FOUND);
}

/* A process for the program. -1: there is none, and errno says why. */
static pid_t split(struct launch *l, const struct before *before, int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        become(l->argv, before, ends[1]);
    int error = errno;
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    errno = error;
    return pid;
}

/* False: `pid` is 0, and `status` says of whom it is the fault. */
static bool start(struct launch *l, const struct before *before)
{
    int ends[2], error = 0;
    l->pid = split(l, before, ends);
    if (l->pid < 0) {
        warn("no process for %s", l->argv[0]);
        l->status = LAUNCH_FAILED;
        l->pid = 0;
        return false;
    }
    if (read(ends[0], &error, sizeof error) != sizeof error)
        error = 0;
    close(ends[0]);
    if (!error)
        return true;
    waitpid(l->pid, NULL, 0);
    warnx("%s: %s", l->argv[0], strerror(error));
    l->status = error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_STARTED;
    l->pid = 0;
    return false;
}

/* A terminal sends to the whole group, which the program may have left. */
static void pass_on(const struct launch *l, const struct signalfd_siginfo *info)
{
    bool had_it = info->ssi_code == SI_KERNEL && getpgid(l->pid) == getpgrp();
    if (info->ssi_signo != SIGCHLD && !had_it)
        kill(l->pid, (int)info->ssi_signo);
}

static bool is_over(struct launch *l)
{
    int status;
    if (waitpid(l->pid, &status, WNOHANG) != l->pid)
        return false;
    l->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    l->core = l->signal && WCOREDUMP(status);
    l->status = l->signal ? LAUNCH_SIGNAL + l->signal : WEXITSTATUS(status);
    return true;
}

static void drain(const struct launch *l, int signals, bool over)
{
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info)
        if (!over)
            pass_on(l, &info);
}

static void wait_for(struct launch *l, int signals)
{
    struct pollfd fd = {.fd = signals, .events = POLLIN};
    while (drain(l, signals, false), !is_over(l))
        if (poll(&fd, 1, LAUNCH_TICK_MS) == 0 && l->tick)
            l->tick(l->arg, l->pid);
    /* What came before the end must not end this process afterwards. */
    drain(l, signals, true);
}

void launch(struct launch *l)
{
    struct before before;
    int signals = catch_signals(&before);
    l->pid = 0;
    l->status = LAUNCH_FAILED;
    if (signals < 0)
        warn("signals");
    else if (start(l, &before))
        wait_for(l, signals);
    if (signals >= 0)
        close(signals);
    restore_signals(&before);
}
