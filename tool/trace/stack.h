/* SPDX-License-Identifier: MIT */
/* stack.h: what is open on one thread at a moment of a trace: jobs, waits, and so on, the innermost
 * last. Records may be lost or noise: an end without its beginning is skipped, and a beginning
 * whose end is missing ends with what is around it. */
#ifndef TRACE_STACK_H
#define TRACE_STACK_H

#include "path.h"
#include "reader.h"

enum activity { OUTSIDE, BUSY, WAITING, SEARCHING, ASLEEP, BLOCKED, ACTIVITIES };

struct frame {
    enum weft_trace_kind kind;
    enum activity activity; /* of the thread while this is the innermost */
    bool in_job;            /* a job or a turn is open, here or around it */
    unsigned job;           /* if so: its frame */
    uint64_t begin;
    uint64_t a, b;
    const char *text; /* as in an event */
    uint32_t size;
    /* For who makes statistics: */
    bool stolen;
    uint64_t self;      /* busy time in a job; in a wait, the time in which nothing ran */
    uint64_t area;      /* busy time of all threads before a wait */
    struct path before; /* of the thread, when it began */
};

struct stack {
    struct frame *frames;
    unsigned depth, room;
    uint64_t deeper; /* open, and too many to be kept */
};

/* The kind that a record of this kind ends, or WEFT_TRACE_NOTHING. */
enum weft_trace_kind stack_ends(enum weft_trace_kind kind);
bool stack_begins(enum weft_trace_kind kind);

/* The new innermost frame; NULL: there are too many, or no memory. */
struct frame *stack_push(struct stack *stack, const struct trace_event *event);

/* How deep the stack is when the record's end has been obeyed: frames from there on are over.
 * `depth`: it ends nothing. */
unsigned stack_after(struct stack *stack, enum weft_trace_kind end);

static inline struct frame *stack_top(const struct stack *stack)
{
    return stack->depth > 0 ? &stack->frames[stack->depth - 1] : NULL;
}

static inline enum activity stack_activity(const struct stack *stack)
{
    return stack->depth > 0 ? stack_top(stack)->activity : OUTSIDE;
}

static inline bool stack_in_job(const struct stack *stack)
{
    return stack->depth > 0 && stack_top(stack)->in_job;
}

/* The innermost job or turn, or NULL. */
static inline struct frame *stack_job(const struct stack *stack)
{
    return stack_in_job(stack) ? &stack->frames[stack_top(stack)->job] : NULL;
}

#endif
