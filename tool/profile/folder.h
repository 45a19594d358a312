/* SPDX-License-Identifier: MIT */
/* folder.h: the folder into which a program and its children write their traces, one file each.
 *
 * It is made anew, so what is in it is of this run. A file is called PID.trace. */
#ifndef PROFILE_FOLDER_H
#define PROFILE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct folder {
    char *path; /* from the root */
};

struct folder_trace {
    char *path;
    pid_t pid;
    uint64_t size; /* bytes on the disk */
};

struct folder_list {
    struct folder_trace *traces; /* the oldest process, by its number, first */
    size_t count;
};

/* Makes one in the folder `in`. Complains and returns false if it can't be. */
bool folder_make(struct folder *folder, const char *in);

/* What WEFT_TRACE has to be; NULL: no memory. The caller frees it. */
char *folder_variable(const struct folder *folder);

/* What is there now. False: no memory, or the folder is gone. */
bool folder_list(const struct folder *folder, struct folder_list *list);
void folder_list_free(struct folder_list *list);

/* Removes the folder, if it is empty, and forgets it. */
void folder_leave(struct folder *folder);

#endif
