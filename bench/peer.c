/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

const struct peer_kind peer_kinds[PEERS] = {
    {"openmp-gnu", "OpenMP tasks, gcc and libgomp", "gcc"},
    {"openmp-llvm", "OpenMP tasks, clang and libomp", "clang libomp-dev"},
    {"tbb", "oneTBB: parallel_invoke; parallel_for and its like for loops", "g++ libtbb-dev"},
    {"std", "parallel algorithms of libstdc++, on oneTBB", "g++ libtbb-dev"},
    {"rayon", "Rayon, join", "rustc cargo librust-rayon-dev"},
};

/* In a build tree the peers are in a folder below this program's. */
static bool find_program(const char *name, char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n < 0)
        return false;
    path[n] = '\0';
    size_t folder = (size_t)(strrchr(path, '/') - path);
    int added = snprintf(path + folder, PATH_MAX - folder, "/bench/peers/%s", name);
    return (size_t)added < PATH_MAX - folder && access(path, X_OK) == 0;
}

bool peer_built(const char *name)
{
    char path[PATH_MAX];
    return find_program(name, path);
}

/* In the child, where only system calls are safe: other threads may have held locks. A stopped
 * peer that nobody continues would stay for ever, so it goes when this program does. */
static void become(char **argv, int socket, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && dup2(socket, STDIN_FILENO) >= 0 && dup2(socket, STDOUT_FILENO) >= 0)
        execv(argv[0], argv);
    _exit(127);
}

static bool spawn(struct peer *peer, char **argv)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(argv, ends[1], parent);
    close(ends[1]);
    peer->pid = pid > 0 ? pid : 0;
    peer->socket = fdopen(ends[0], "r");
    if (!peer->socket)
        close(ends[0]);
    return pid > 0 && peer->socket;
}

/* Returns only when all its threads stand still. */
static void halt(struct peer *peer)
{
    kill(peer->pid, SIGSTOP);
    siginfo_t info;
    waitid(P_PID, (id_t)peer->pid, &info, WSTOPPED | WEXITED | WNOWAIT);
}

static int end(struct peer *peer)
{
    if (peer->socket)
        fclose(peer->socket); /* it reads the end of its input */
    kill(peer->pid, SIGCONT);
    int status = 0;
    while (waitpid(peer->pid, &status, 0) < 0 && errno == EINTR)
        ;
    *peer = (struct peer){0};
    return status;
}

void peer_stop(struct peer *peer)
{
    if (peer->pid > 0)
        end(peer);
}

bool peer_start(struct peer *peer, const char *name, const char *benchmark, unsigned size,
                unsigned workers, bool *failed)
{
    char path[PATH_MAX], size_text[16], workers_text[16], kernel[64], line[64];
    snprintf(kernel, sizeof kernel, "%s", benchmark);
    snprintf(size_text, sizeof size_text, "%u", size);
    snprintf(workers_text, sizeof workers_text, "%u", workers);
    char *argv[] = {path, kernel, size_text, workers_text, NULL};
    *peer = (struct peer){.name = name};
    if (!find_program(name, path) || !spawn(peer, argv)) {
        warn("peer %s", name);
        *failed = true;
        peer_stop(peer);
        return false;
    }
    if (fgets(line, sizeof line, peer->socket) && strcmp(line, "ready\n") == 0) {
        halt(peer);
        return true;
    }
    int status = end(peer);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != PEER_EXIT_UNKNOWN) {
        warnx("peer %s does not start %s with %u workers", name, benchmark, workers);
        *failed = true;
    }
    return false;
}

static bool understand(const char *line, struct turn *turn)
{
    int at = 0, more;
    if (sscanf(line, "%lf %lf %" SCNx64 "%n", &turn->seconds, &turn->cpu, &turn->checksum, &at) !=
        3)
        return false;
    for (double time; turn->times && sscanf(line + at, "%lf%n", &time, &more) == 1; at += more)
        samples_add(turn->times, time);
    return true;
}

bool peer_turn(struct peer *peer, struct turn *turn)
{
    char line[128 + 24 * PEER_TIMES_MAX];
    kill(peer->pid, SIGCONT);
    /* Not through the stream: no signal if it is gone. */
    bool answered = send(fileno(peer->socket), "go\n", 3, MSG_NOSIGNAL) == 3 &&
                    fgets(line, sizeof line, peer->socket) && understand(line, turn);
    if (answered)
        halt(peer);
    else
        warnx("peer %s broke down", peer->name);
    return answered;
}
