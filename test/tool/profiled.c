/* SPDX-License-Identifier: MIT */
/* profiled.c WHAT [ARGUMENT]...: a program that `weft profile` runs. */
#include <weft.h>
#include <weft/trace.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct piece {
    const char *name;
    uint64_t least; /* nanoseconds */
};

static void piece_run(weft *w, void *arg)
{
    (void)w;
    const struct piece *piece = arg;
    weft_span_begin(piece->name);
    for (uint64_t begun = weft_now(); weft_now() - begun < piece->least;)
        continue;
    weft_span_end();
}

/* `count` spans of that name, of which the first takes so long. */
static void work(unsigned count, const char *name, uint64_t least)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    weft_pool *pool;
    if (weft_pool_create(&pool, &config) != 0)
        exit(1);
    for (unsigned i = 0; i < count; i++) {
        struct piece piece = {name, i == 0 ? least : 0};
        if (weft_run(pool, piece_run, &piece) != 0)
            exit(1);
    }
    weft_pool_destroy(pool);
}

/* Copies standard input to both outputs, and ends with this status. */
static int copies(int status)
{
    char line[256];
    work(1, "copies", 0);
    while (fgets(line, sizeof line, stdin)) {
        fprintf(stdout, "out %s", line);
        fprintf(stderr, "err %s", line);
    }
    return status;
}

static void note(int number)
{
    char text[] = "got 00\n";
    text[4] = (char)('0' + number / 10);
    text[5] = (char)('0' + number % 10);
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
}

/* Says so, and waits to be killed; or first for `count` signals that it can stand. No process stays
 * behind where the test has failed. */
static int waits(unsigned count)
{
    sigset_t set;
    int number;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    if (count > 0)
        sigprocmask(SIG_BLOCK, &set, NULL);
    work(1, "waits", 0);
    puts("ready");
    fflush(stdout);
    for (; count > 0 && sigwait(&set, &number) == 0; count--)
        note(number);
    sigemptyset(&set);
    sigsuspend(&set);
    return 1;
}

static int run_child(char *self, unsigned count, uint64_t least)
{
    char pieces[16], ns[32];
    int status;
    snprintf(pieces, sizeof pieces, "%u", count);
    snprintf(ns, sizeof ns, "%llu", (unsigned long long)least);
    pid_t pid = fork();
    if (pid == 0)
        _exit((execl(self, self, "works", pieces, ns, (char *)NULL), 1));
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : 1;
}

/* Children that run this program anew; and at last this process or one more child works twice as
 * long as all others had time to, however busy the machine is. */
static int has_children(char *self, bool works)
{
    uint64_t begun = weft_now();
    if (!works)
        work(1, "parent", 0);
    if (run_child(self, 10, 0) != 0 || run_child(self, 20, 0) != 0)
        return 1;
    uint64_t least = 2 * (weft_now() - begun);
    if (!works)
        return run_child(self, 100, least);
    work(100, "parent", least);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    unsigned number = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    if (strcmp(what, "copies") == 0)
        return copies((int)number);
    if (strcmp(what, "waits") == 0)
        return waits(argc > 2 ? number : 0);
    if (strcmp(what, "children") == 0)
        return has_children(argv[0], argc > 2);
    if (strcmp(what, "crashes") == 0) {
        work(50, "before", 0);
        raise(SIGABRT);
    }
    if (strcmp(what, "ends") == 0)
        return 0; /* without a pool */
    if (strcmp(what, "works") != 0)
        return 2;
    work(number, "child", argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
    return 0;
}
