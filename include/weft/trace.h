/* SPDX-License-Identifier: MIT */
/* trace.h: a record of what the threads of a program do, in a file that `weft trace` explains.
 *
 * Nothing has to be compiled again: WEFT_TRACE=FILE in the environment records a whole program.
 * Recording costs some dozens of nanoseconds for each steal, wait, wake-up and submission; forks
 * that nobody steals are not recorded, and cost nothing. */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a trace of the whole process in a new file; one of that name is removed. "%p" in the path
 * becomes the number of the process. The file becomes no longer than `bytes`; 0: 64 MiB. After
 * that, new records take the place of old ones. -EBUSY: there is a trace already; -EINVAL;
 * -EAGAIN: no thread-specific key is left; or a negative errno: the file can't be made. */
WEFT_API WEFT_MUST_USE int weft_trace_start(const char *path, size_t bytes);

/* Ends it. The end of the program does so, too. -EINVAL: there is none. */
WEFT_API int weft_trace_stop(void);

/* A part of the program's work, shown by its name from begin to end. Spans nest, within a job or a
 * turn of an actor: what is open at its end, or is ended elsewhere, ends there. The name is copied;
 * up to 240 bytes of it. Nothing happens while there is no trace. */
WEFT_API void weft_span_begin(const char *name);
WEFT_API void weft_span_end(void);

/* A moment, and a value that belongs to it. */
WEFT_API void weft_trace_mark(const char *name, int64_t value);

#ifdef __cplusplus
}
#endif

#endif
