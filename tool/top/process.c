/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process.h"

#include "page.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "PID (NAME) STATE ...": the name may have blanks and parentheses in it. */
static bool parse(const char *line, struct process *out)
{
    const char *open = strchr(line, '('), *close = strrchr(line, ')');
    unsigned long user, system;
    long threads, pages;
    if (!open || !close || close < open ||
        sscanf(close + 1,
               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %ld %*d %*u "
               "%*u %ld",
               &out->state, &user, &system, &threads, &pages) != 5)
        return false;
    uint64_t tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    out->cpu_ns = ((uint64_t)user + system) * tick;
    out->threads = threads > 0 ? (unsigned)threads : 0;
    out->memory = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(close - open - 1), open + 1);
    for (char *c = out->name; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
    return true;
}

static bool look(const char *path, struct process *out)
{
    char line[1024];
    FILE *in = fopen(path, "re");
    bool read = in && fgets(line, sizeof line, in);
    if (in)
        fclose(in);
    return read && parse(line, out);
}

bool process_look(pid_t pid, struct process *out)
{
    char path[64];
    *out = (struct process){.pid = pid};
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return look(path, out);
}

/* The kernel counts ticks there; schedstat has nanoseconds, where there is one. */
bool process_look_thread(pid_t pid, int thread, struct process *out)
{
    char path[80];
    uint64_t ns;
    *out = (struct process){.pid = thread};
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, thread);
    if (!look(path, out))
        return false;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, thread);
    FILE *in = fopen(path, "re");
    if (in && fscanf(in, "%" SCNu64, &ns) == 1 && ns > 0)
        out->cpu_ns = ns;
    if (in)
        fclose(in);
    return true;
}

static int compare(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return a < b ? -1 : a > b;
}

size_t process_list(pid_t **pids)
{
    size_t count = 0, room = 0;
    DIR *all = opendir("/proc");
    *pids = NULL;
    for (struct dirent *entry; all && (entry = readdir(all));) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid <= 0 || *end || !page_is_there((pid_t)pid))
            continue;
        if (count == room) {
            pid_t *more = realloc(*pids, (room = room ? 2 * room : 16) * sizeof **pids);
            if (!more)
                break;
            *pids = more;
        }
        (*pids)[count++] = (pid_t)pid;
    }
    if (all)
        closedir(all);
    if (count > 0)
        qsort(*pids, count, sizeof **pids, compare);
    return count;
}

char *process_modules(pid_t pid, size_t *size)
{
    char path[64], line[4096], *text = NULL;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *in = fopen(path, "re");
    FILE *out = in ? open_memstream(&text, size) : NULL;
    while (out && fgets(line, sizeof line, in))
        if (strstr(line, " r-xp "))
            fputs(line, out);
    if (in)
        fclose(in);
    if (out && fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
