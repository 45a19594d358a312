/* SPDX-License-Identifier: MIT */
/* weft check: a program of its own, because it has the library's sources compiled in another
 * way. It lies beside this one. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

int check_main(int argc, char **argv)
{
    (void)argc;
    char path[PATH_MAX + sizeof "-check"];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length < 0)
        err(TOOL_EXIT_USAGE, "/proc/self/exe");
    strcpy(path + length, "-check");
    execv(path, argv);
    err(TOOL_EXIT_USAGE, "%s", path);
}
