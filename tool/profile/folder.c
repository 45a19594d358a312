/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "folder.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool folder_make(struct folder *folder, const char *in)
{
    char *root = realpath(in, NULL); /* the program may go elsewhere */
    folder->path = NULL;
    if (!root) {
        warn("%s", in);
        return false;
    }
    /* The library puts the number in the place of the first one. */
    if (strstr(root, "%p"))
        warnx("%s: there must be no %%p in the name of a folder", root);
    else if (asprintf(&folder->path, "%s/weft-profile-XXXXXX", root) < 0)
        folder->path = NULL, warn("%s", root);
    else if (!mkdtemp(folder->path)) {
        warn("%s: there is no place for the trace", root);
        free(folder->path);
        folder->path = NULL;
    }
    free(root);
    return folder->path;
}

char *folder_variable(const struct folder *folder)
{
    char *value;
    return asprintf(&value, "%s/%%p.trace", folder->path) < 0 ? NULL : value;
}

static int is_trace(const struct dirent *entry)
{
    int pid, end = 0;
    return sscanf(entry->d_name, "%d.trace%n", &pid, &end) == 1 && end > 0 && !entry->d_name[end];
}

bool folder_list(const struct folder *folder, struct folder_list *list)
{
    struct dirent **entries;
    *list = (struct folder_list){0};
    int count = scandir(folder->path, &entries, is_trace, versionsort);
    if (count < 0)
        return false;
    list->traces = calloc((size_t)count + 1, sizeof *list->traces);
    for (int i = 0; i < count; i++) {
        struct folder_trace *one = &list->traces[list->count];
        struct stat there;
        if (list->traces && asprintf(&one->path, "%s/%s", folder->path, entries[i]->d_name) >= 0) {
            one->pid = (pid_t)strtol(entries[i]->d_name, NULL, 10);
            one->size = stat(one->path, &there) == 0 ? (uint64_t)there.st_blocks * 512 : 0;
            list->count++;
        }
        free(entries[i]);
    }
    free(entries);
    return list->traces;
}

void folder_list_free(struct folder_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->traces[i].path);
    free(list->traces);
    *list = (struct folder_list){0};
}

void folder_leave(struct folder *folder)
{
    if (folder->path)
        rmdir(folder->path); /* keeps one that has files */
    free(folder->path);
    folder->path = NULL;
}
