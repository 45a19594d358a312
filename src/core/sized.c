/* SPDX-License-Identifier: MIT */
#include "core/sized.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum {
    SIZE_LEAST = sizeof(size_t) + sizeof(unsigned), /* every release had at least two fields */
    SIZE_MOST = 4096,                               /* no release will have more */
};

static bool is_size(size_t size)
{
    return size >= SIZE_LEAST && size <= SIZE_MOST;
}

int weft__sized_read(void *full, size_t size, const void *given)
{
    memset(full, 0, size);
    if (given) {
        size_t theirs = *(const size_t *)given;
        if (!is_size(theirs))
            return -EINVAL;
        memcpy(full, given, theirs < size ? theirs : size);
        const char *bytes = given;
        for (size_t i = size; i < theirs; i++)
            if (bytes[i])
                return -ENOTSUP; /* the program sets a field that this release does not have */
    }
    *(size_t *)full = size;
    return 0;
}

int weft__sized_write(void *given, const void *full, size_t size)
{
    size_t theirs = given ? *(const size_t *)given : 0;
    if (!is_size(theirs))
        return -EINVAL;
    size_t known = theirs < size ? theirs : size;
    char *bytes = given;
    memcpy(bytes + sizeof theirs, (const char *)full + sizeof theirs, known - sizeof theirs);
    memset(bytes + known, 0, theirs - known);
    return 0;
}
