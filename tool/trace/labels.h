/* SPDX-License-Identifier: MIT */
/* labels.h: what the intervals of a trace are: a job with this function, a wait for that, the turns
 * of an actor. Each has a number, and counts what it had. There are 4096 at most; what comes later
 * is label 0, together. Two texts with the same hash are one label. */
#ifndef TRACE_LABELS_H
#define TRACE_LABELS_H

#include "reader.h"
#include "table.h"

struct label {
    enum weft_trace_kind kind; /* WEFT_TRACE_NOTHING: label 0 */
    uint64_t a;                /* a function, or an actor that has no name */
    const char *text;          /* as in an event, or NULL */
    uint32_t size;
    uint64_t count, stolen;
    uint64_t total, most; /* from begin to end */
    uint64_t self;        /* without what was inside */
};

struct labels {
    struct label *list;
    unsigned count;
    struct table numbers, actors;
};

bool labels_make(struct labels *labels); /* false: no memory */
void labels_free(struct labels *labels);

void labels_name_actor(struct labels *labels, const struct trace_event *event);
unsigned labels_number(struct labels *labels, const struct trace_event *event);
void labels_add(struct labels *labels, unsigned number, uint64_t ns, uint64_t self, bool stolen);

#endif
