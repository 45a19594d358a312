/* SPDX-License-Identifier: MIT */
/* file.h: files as memory. */
#ifndef WEFT_OS_FILE_H
#define WEFT_OS_FILE_H

#include <stddef.h>

/* Read only; an empty file has no memory. 0, or a negative errno value. */
int weft__file_map(const char *path, const char **bytes, size_t *size);
void weft__file_unmap(const char *bytes, size_t size);

#endif
