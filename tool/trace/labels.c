/* SPDX-License-Identifier: MIT */
#include "labels.h"

#include <stdlib.h>

bool labels_make(struct labels *labels)
{
    *labels = (struct labels){.count = 1};
    labels->list = calloc(TABLE_ROWS_MOST + 1, sizeof *labels->list);
    return labels->list;
}

void labels_free(struct labels *labels)
{
    free(labels->list);
    free(labels->numbers.rows);
    free(labels->actors.rows);
}

void labels_name_actor(struct labels *labels, const struct trace_event *event)
{
    struct row *row = table_row(&labels->actors, event->a);
    row->text = event->text;
    row->size = event->size;
}

/* Actors of the same name are one. */
static struct label label_of(struct labels *labels, const struct trace_event *event)
{
    struct label label = {.kind = event->kind, .text = event->text, .size = event->size};
    if (event->kind == WEFT_TRACE_JOB) {
        label.text = NULL;
        label.a = event->a;
    } else if (event->kind == WEFT_TRACE_TURN) {
        const struct row *row = table_row(&labels->actors, event->a);
        label.text = row->text;
        label.size = row->size;
        label.a = row->text && row->size > 0 ? 0 : event->a;
    }
    return label;
}

unsigned labels_number(struct labels *labels, const struct trace_event *event)
{
    struct label label = label_of(labels, event);
    uint64_t text = label.text ? table_key(label.text, label.size) : 0;
    uint64_t key = (text ^ label.a) * 64 + (text >> 58) + label.kind;
    struct row *row = table_row(&labels->numbers, key);
    if (row == &labels->numbers.others)
        return 0;
    if (row->number == 0) {
        row->number = labels->count++;
        labels->list[row->number] = label;
    }
    return row->number;
}

void labels_add(struct labels *labels, unsigned number, uint64_t ns, uint64_t self, bool stolen)
{
    struct label *label = &labels->list[number];
    label->count++;
    label->stolen += stolen;
    label->total += ns;
    label->self += self;
    label->most = ns > label->most ? ns : label->most;
}
