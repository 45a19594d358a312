/* SPDX-License-Identifier: MIT */
/* weft/lines.h: the lines of a text, in parallel.
 *
 * A line ends behind its newline, and the last one with the text. A carriage return before the
 * newline is part of the line. */
#ifndef WEFT_LINES_H
#define WEFT_LINES_H

#include "parallel.h" /* weft_reducer */

#ifdef __cplusplus
extern "C" {
#endif

/* Any memory, or a file. */
typedef struct weft_text {
    const char *bytes;
    size_t size;
} weft_text;

/* Maps a file into memory, to be read; or returns why it can't be opened or mapped. While it is
 * mapped, the file must not get shorter: reading beyond its end kills the program with SIGBUS.
 * What can't be mapped is read into memory: files of /proc and /sys; and a named pipe, which waits
 * for a writer, and for its end. -ENODEV: a folder or a device. */
WEFT_API WEFT_MUST_USE int weft_text_map(const char *path, weft_text *text);

/* Reads all that comes from a descriptor, such as a pipe or a socket, until its end. A job that may
 * wait here calls weft_block_begin() before, and weft_block_end() afterwards. */
WEFT_API WEFT_MUST_USE int weft_text_read(int fd, weft_text *text);

/* Gives back what any of the two has made. */
WEFT_API void weft_text_unmap(weft_text *text);

/* Calls body for stretches that make up the text, of whole lines each; they are split as by
 * weft_for(). An empty text is no call. */
typedef void weft_lines_fn(weft *w, const char *begin, const char *end, void *arg);
WEFT_API void weft_for_lines(weft *w, const weft_text *text, weft_lines_fn *body, void *arg);

/* The same with a state for each thread that takes part, see weft_state: a buffer, a table. */
typedef void weft_lines_state_fn(weft *w, const char *begin, const char *end, void *state,
                                 void *arg);
WEFT_API void weft_for_lines_with(weft *w, const weft_text *text, const weft_state *state,
                                  weft_lines_state_fn *body, void *arg);

/* weft_for_lines() of what comes from a descriptor: body gets the first lines while others are
 * still to come, and no more of them are in memory at a time than all workers need. Returns 0 at
 * the end; or why it can't be read, -ENOMEM, or what body has failed with: it is a computation of
 * its own. While it waits for input, another thread takes the place of its own, as by
 * weft_block_begin(); a failure is returned when that wait is over. */
WEFT_API WEFT_MUST_USE int weft_for_lines_fd(weft *w, int fd, weft_lines_fn *body, void *arg);

/* For a body: stores the next line from *at on, without its newline, and moves *at behind the
 * newline. False: *at is `end`, there is no line. */
WEFT_API bool weft_line_next(const char **at, const char *end, weft_text *line);

#define WEFT_LINES_BLOCK 65536

/* weft_reduce() of lines: fold gets stretches of whole lines in their order, as offsets in the
 * text, and the result is the same, bit for bit, for any number of workers. reducer->block is in
 * bytes, 0: WEFT_LINES_BLOCK; one call of fold gets the lines that begin in one block. */
WEFT_API void weft_reduce_lines(weft *w, const weft_text *text, const weft_reducer *reducer,
                                void *arg, void *result);

/* weft_reduce_unordered() of lines, in the same way: with `make`, `drop` or `move` there is one
 * accumulator for each thread that takes part. For what is large, such as a table of words. */
WEFT_API void weft_reduce_lines_unordered(weft *w, const weft_text *text,
                                          const weft_reducer *reducer, void *arg, void *result);

#ifdef __cplusplus
}
#endif

#endif
