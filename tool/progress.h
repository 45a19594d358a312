/* SPDX-License-Identifier: MIT */
/* progress.h: a bar on standard error that shows how far something is. Any thread may
 * step it, and one that steps draws it when it is time; there is no thread of its own.
 * Where standard error is no terminal, one line at the end is all. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *label;
    uint64_t total; /* steps until the end */
    uint64_t begun; /* by weft_now() */
    bool terminal, blocks, colour;
    atomic_uint_fast64_t done;   /* steps so far; written by every stepper */
    atomic_uint_fast64_t redraw; /* time of the next drawing; written by who draws it */
};

/* The label stays with the caller. */
void progress_begin(struct progress *p, const char *label, uint64_t total);

void progress_step(struct progress *p, uint64_t steps);

/* Takes the bar off the screen and returns the nanoseconds since the beginning. Nobody
 * may step any more. */
uint64_t progress_end(struct progress *p);

/* For what has no known end, and whose own output goes to the same terminal: a few words at the
 * right margin of the line that the cursor is on. The cursor stays where it is, so lines of others
 * are whole. NULL takes them off. Nothing happens where standard error is no terminal, or is that
 * of another job of the shell.
 *
 * Worst case: a line that reaches the right margin has its end covered, and words stay beside lines
 * that were written meanwhile. */
void progress_margin(const char *words);

#endif
