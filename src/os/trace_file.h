/* SPDX-License-Identifier: MIT */
/* trace_file.h: the file of a trace, mapped as a whole; see weft/trace_format.h. All functions are
 * called under the trace's lock.
 *
 * Blocks are given disk space before they are used, so a full disk ends the trace, and not the
 * program. When the file is closed, other threads may be about to write a record into it, so its
 * addresses stay in use for ever; but plain memory is there then, and the file is let go. */
#ifndef WEFT_OS_TRACE_FILE_H
#define WEFT_OS_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <weft/trace_format.h>

struct weft__trace_file {
    struct weft_trace_header *header; /* the whole file, in memory */
    size_t mapped;                    /* bytes */
    uint64_t most;                    /* blocks */
    uint64_t ready;                   /* blocks that have disk space */
    int fd;
};

/* 0 or a negative errno. At most so many bytes, beside the header. */
int weft__trace_file_open(struct weft__trace_file *file, const char *path, size_t bytes);
void weft__trace_file_close(struct weft__trace_file *file);

/* In a forked child: the file is the parent's. */
void weft__trace_file_forget(struct weft__trace_file *file);

/* A new block, or NULL: the file is as long as it may be, or the disk is full. */
struct weft_trace_block *weft__trace_file_take(struct weft__trace_file *file);

/* The trace has come this far. */
void weft__trace_file_touch(struct weft__trace_file *file);

/* Written after what it counts: when the program is killed, that is there. Other processes read the
 * file, and no thread of this one. */
void weft__trace_block_used(struct weft_trace_block *block, uint32_t used);

#endif
