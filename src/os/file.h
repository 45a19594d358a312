/* SPDX-License-Identifier: MIT */
/* file.h: files as memory, and what is read from descriptors. Functions that return an int or a
 * size return a negative errno value if they fail. */
#ifndef WEFT_OS_FILE_H
#define WEFT_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* All of a file, to be read only; nothing has no memory. What can't be mapped is read into memory:
 * a pipe to its end, and files of /proc. */
int weft__file_map(const char *path, const char **bytes, size_t *size);

/* All that comes from a descriptor, to its end. */
int weft__fd_read_all(int fd, const char **bytes, size_t *size);

/* Of both. */
void weft__file_unmap(const char *bytes, size_t size);

/* Would a read return at once? */
bool weft__fd_is_ready(int fd);

/* Reads at most `size` bytes, and waits for the first; 0: the end. */
ptrdiff_t weft__fd_read(int fd, void *to, size_t size);

#endif
