/* SPDX-License-Identifier: MIT */
#include "killed.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char line[160];

/* Only calls that a signal handler may make. */
static void end(int signal)
{
    ssize_t ignored = write(STDERR_FILENO, line, strlen(line));
    (void)ignored;
    raise(signal); /* SA_RESETHAND: as if there had been no handler, once this returns */
}

void weft__mpi_tell_when_killed(int rank, int ranks)
{
    struct sigaction action = {.sa_handler = end, .sa_flags = (int)SA_RESETHAND}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTERM, NULL, &old) || old.sa_handler != SIG_DFL)
        return;
    snprintf(
        line, sizeof line,
        "weft-mpi: rank %d of %d ends by SIGTERM: another rank has died, or somebody stops the "
        "program\n",
        rank, ranks);
    sigaction(SIGTERM, &action, NULL);
}
