/* SPDX-License-Identifier: MIT */
/* arrows.h: what led to what on another thread: a fork and its thief, the end of a whole and
 * the wait for it, a submission and where its task began, a wake-up and who was woken.
 *
 * Where an arrow begins is kept until it ends, in tables of a fixed size: a later one may take the
 * place of an earlier one, whose arrow is missing then. */
#ifndef TRACE_ARROWS_H
#define TRACE_ARROWS_H

#include "stack.h"

enum arrow_kind { ARROW_STEAL, ARROW_MERGE, ARROW_SUBMIT, ARROW_WAKE, ARROW_KINDS };

struct arrow {
    enum arrow_kind kind;
    unsigned from, to; /* threads, which are two */
    uint64_t begin, end;
};

enum { ARROWS_KEPT = 4096 };

/* Where one begins: the last job of a whole that has ended, or a task that was submitted. */
struct arrow_origin {
    uint64_t key, ns;
    unsigned thread;
};

struct arrows {
    const struct trace *trace;
    struct arrow_origin ended[ARROWS_KEPT], submitted[ARROWS_KEPT];
};

/* True: an arrow ends with this record, which begins and ends nothing. */
bool arrows_note(struct arrows *arrows, const struct trace_event *event, struct arrow *arrow);

/* The same for a record that ends `over`. */
bool arrows_end(struct arrows *arrows, const struct trace_event *event, const struct frame *over,
                struct arrow *arrow);

#endif
