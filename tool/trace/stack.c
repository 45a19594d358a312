/* SPDX-License-Identifier: MIT */
#include "stack.h"

#include <stdlib.h>

enum { DEPTH_MOST = 256 };

enum weft_trace_kind stack_ends(enum weft_trace_kind kind)
{
    switch (kind) {
    case WEFT_TRACE_JOB_END:
    case WEFT_TRACE_WAIT_END:
    case WEFT_TRACE_SEARCH_END:
    case WEFT_TRACE_SLEEP_END:
    case WEFT_TRACE_SPIN_END:
    case WEFT_TRACE_BLOCK_END:
    case WEFT_TRACE_GUEST_END:
    case WEFT_TRACE_TURN_END:
    case WEFT_TRACE_SPAN_END:
        return kind - 1;
    default:
        return WEFT_TRACE_NOTHING;
    }
}

bool stack_begins(enum weft_trace_kind kind)
{
    return kind + 1 < WEFT_TRACE_KINDS && stack_ends(kind + 1) == kind;
}

/* A search inside a wait is part of the wait. */
static enum activity activity_in(const struct frame *around, enum weft_trace_kind kind)
{
    bool waits = around && (around->in_job || around->activity == WAITING);
    switch (kind) {
    case WEFT_TRACE_JOB:
    case WEFT_TRACE_TURN:
        return BUSY;
    case WEFT_TRACE_WAIT:
        return WAITING;
    case WEFT_TRACE_SEARCH:
        return waits ? WAITING : SEARCHING;
    case WEFT_TRACE_SLEEP:
        return waits ? WAITING : ASLEEP;
    case WEFT_TRACE_SPIN:
    case WEFT_TRACE_BLOCK:
        return BLOCKED;
    default:
        return around ? around->activity : OUTSIDE;
    }
}

static bool has_room(struct stack *stack)
{
    if (stack->depth < stack->room)
        return true;
    if (stack->room >= DEPTH_MOST)
        return false;
    unsigned room = stack->room ? 2 * stack->room : 8;
    struct frame *more = realloc(stack->frames, room * sizeof *more);
    if (!more)
        return false;
    stack->frames = more;
    stack->room = room;
    return true;
}

struct frame *stack_push(struct stack *stack, const struct trace_event *event)
{
    if (stack->deeper > 0 || !has_room(stack)) {
        stack->deeper++;
        return NULL;
    }
    const struct frame *around = stack_top(stack);
    bool is_job = event->kind == WEFT_TRACE_JOB || event->kind == WEFT_TRACE_TURN;
    struct frame *frame = &stack->frames[stack->depth];
    *frame = (struct frame){
        .kind = event->kind,
        .activity = activity_in(around, event->kind),
        .in_job = is_job || (around && around->in_job),
        .job = is_job   ? stack->depth
               : around ? around->job
                        : 0,
        .begin = event->ns,
        .a = event->a,
        .b = event->b,
        .text = event->text,
        .size = event->size,
    };
    stack->depth++;
    return frame;
}

unsigned stack_after(struct stack *stack, enum weft_trace_kind end)
{
    enum weft_trace_kind begin = stack_ends(end);
    if (stack->deeper > 0) {
        stack->deeper--;
        return stack->depth;
    }
    for (unsigned i = stack->depth; i-- > 0;) {
        const struct frame *frame = &stack->frames[i];
        if (frame->kind == begin)
            return i;
        /* The program may end a span that it has not begun. */
        if (begin == WEFT_TRACE_SPAN && frame->in_job && frame->job == i)
            break;
    }
    return stack->depth;
}
