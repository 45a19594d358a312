/* SPDX-License-Identifier: MIT */
/* sized.h: configurations and infos. Each begins with its size, which the program sets: a program
 * of an older release has fewer fields than this library, one of a newer release more. */
#ifndef WEFT_CORE_SIZED_H
#define WEFT_CORE_SIZED_H

#include <stddef.h>

/* Copies a configuration to `full`, which has `size` bytes. Fields that the program's does not
 * have, and all if it is NULL, become zero: the default. -EINVAL: it did not start as its INIT
 * macro; -ENOTSUP: a field that this release does not have is not zero. */
int weft__sized_read(void *full, size_t size, const void *given);

/* Copies an info from `full`, but for its size. Fields that the program's does not have are left
 * out; those that this release does not have become zero. -EINVAL: NULL, or as above. */
int weft__sized_write(void *given, const void *full, size_t size);

#endif
