/* SPDX-License-Identifier: MIT */
#include "proc.h"

#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of /proc/self/task/TID, as a string of at most `size` bytes; empty, if there is no
 * such thread any more. */
static void read_file(pid_t tid, const char *name, char *text, size_t size)
{
    char path[100];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, name);
    FILE *file = fopen(path, "r");
    text[file ? fread(text, 1, size - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
}

bool thread_is_asleep(pid_t tid)
{
    char text[1000];
    read_file(tid, "stat", text, sizeof text);
    const char *end_of_name = strrchr(text, ')');
    CHECK(end_of_name);
    return end_of_name[2] == 'S';
}

bool threads_all_sleep(pid_t but)
{
    bool all = true;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder);
    for (struct dirent *entry; all && (entry = readdir(folder));) {
        pid_t tid = atoi(entry->d_name);
        char text[1000];
        if (tid == 0 || tid == but)
            continue;
        read_file(tid, "stat", text, sizeof text);
        const char *end_of_name = strrchr(text, ')'); /* NULL: it has ended meanwhile */
        all = !end_of_name || end_of_name[2] != 'R';
    }
    closedir(folder);
    return all;
}

static unsigned long number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    CHECK(at);
    return strtoul(at + strlen(key), NULL, 10);
}

unsigned long thread_switches(pid_t tid)
{
    char text[4000];
    read_file(tid, "status", text, sizeof text);
    return number_after(text, "\nvoluntary_ctxt_switches:") +
           number_after(text, "\nnonvoluntary_ctxt_switches:");
}

unsigned threads_called(const char *prefix, pid_t *tids, unsigned max)
{
    unsigned n = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        pid_t tid = atoi(entry->d_name);
        char name[100];
        if (tid == 0)
            continue; /* "." and ".." */
        read_file(tid, "comm", name, sizeof name);
        if (strncmp(name, prefix, strlen(prefix)) == 0 && n++ < max)
            tids[n - 1] = tid;
    }
    closedir(folder);
    return n;
}

size_t mapped_bytes(void)
{
    size_t pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm && fscanf(statm, "%zu", &pages) == 1);
    fclose(statm);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}
