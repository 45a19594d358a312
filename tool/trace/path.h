/* SPDX-License-Identifier: MIT */
/* path.h: the longest chain of work that had to be done one after the other, up to some moment of a
 * thread: the critical path. Kept while the trace is read from its beginning on, a few words for
 * each thread, so that a long trace needs no more memory than a short one. */
#ifndef TRACE_PATH_H
#define TRACE_PATH_H

#include <stdint.h>

enum { PATH_PARTS = 4 };

struct path {
    uint64_t ns;
    struct {
        uint64_t function; /* 0: none; 1: blocked */
        uint64_t ns;
    } parts[PATH_PARTS]; /* the longest, more or less */
};

enum { PATH_BLOCKED = 1 };

void path_add(struct path *path, uint64_t function, uint64_t ns);

/* `path` becomes the longer one. */
static inline void path_join(struct path *path, const struct path *other)
{
    if (other->ns > path->ns)
        *path = *other;
}

#endif
