/* SPDX-License-Identifier: MIT */
/* sized.h: configurations and infos. Each begins with its size, which the program sets: a program
 * of an older release has fewer fields than this library, one of a newer release more. */
#ifndef WEFT_CORE_SIZED_H
#define WEFT_CORE_SIZED_H

#include <stddef.h>

/* Copies the program's configuration `given` to `full`, which has `size` bytes. Fields that `given`
 * does not have, or all if it is NULL, become zero: the default. -EINVAL: `given` did not start as
 * its INIT macro. -ENOTSUP: a field that this release does not have is not zero. */
int weft__sized_read(void *full, size_t size, const void *given);

/* Copies an info from `full` to the program's `given`, without the size. Fields that `given` does
 * not have are left out; fields that this release does not have become zero. -EINVAL: `given` is
 * NULL, or did not start as its INIT macro. */
int weft__sized_write(void *given, const void *full, size_t size);

#endif
