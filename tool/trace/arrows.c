/* SPDX-License-Identifier: MIT */
#include "arrows.h"

static struct arrow_origin *origin(struct arrow_origin *list, uint64_t key)
{
    return &list[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ARROWS_KEPT];
}

static bool make(struct arrow *arrow, enum arrow_kind kind, const struct arrow_origin *from,
                 const struct trace_event *event)
{
    *arrow = (struct arrow){kind, from->thread, event->thread, from->ns, event->ns};
    return arrow->from != arrow->to;
}

static bool steal(struct arrows *arrows, const struct trace_event *event, struct arrow *arrow)
{
    int owner = trace_find_thread(arrows->trace, event->a);
    struct arrow_origin from = {event->b, event->ns, (unsigned)owner};
    return owner >= 0 && make(arrow, ARROW_STEAL, &from, event);
}

static bool wake(struct arrows *arrows, const struct trace_event *event, struct arrow *arrow)
{
    int woken = trace_find_thread(arrows->trace, event->a);
    *arrow = (struct arrow){ARROW_WAKE, event->thread, (unsigned)woken, event->ns, event->ns};
    return woken >= 0 && arrow->from != arrow->to;
}

static bool task(struct arrows *arrows, const struct trace_event *event, struct arrow *arrow)
{
    struct arrow_origin *from = origin(arrows->submitted, event->b);
    if (event->b == 0 || from->key != event->b)
        return false;
    from->key = 0;
    return make(arrow, ARROW_SUBMIT, from, event);
}

bool arrows_note(struct arrows *arrows, const struct trace_event *event, struct arrow *arrow)
{
    switch (event->kind) {
    case WEFT_TRACE_STEAL:
        return steal(arrows, event, arrow);
    case WEFT_TRACE_WAKE:
        return wake(arrows, event, arrow);
    case WEFT_TRACE_TASK:
        return task(arrows, event, arrow);
    case WEFT_TRACE_SUBMIT:
        *origin(arrows->submitted, event->b) =
            (struct arrow_origin){event->b, event->ns, event->thread};
        return false;
    default:
        return false;
    }
}

static bool merge(struct arrows *arrows, const struct trace_event *event, const struct frame *wait,
                  struct arrow *arrow)
{
    struct arrow_origin *from = origin(arrows->ended, wait->a);
    if (wait->a == 0 || from->key != wait->a || from->ns < wait->begin)
        return false;
    from->key = 0;
    return make(arrow, ARROW_MERGE, from, event);
}

bool arrows_end(struct arrows *arrows, const struct trace_event *event, const struct frame *over,
                struct arrow *arrow)
{
    if (over->kind == WEFT_TRACE_JOB && over->b)
        *origin(arrows->ended, over->b) = (struct arrow_origin){over->b, event->ns, event->thread};
    return over->kind == WEFT_TRACE_WAIT && merge(arrows, event, over, arrow);
}
