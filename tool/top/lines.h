/* SPDX-License-Identifier: MIT */
/* lines.h: a sample, or a list of processes, as lines of text that fit a width. The view on a
 * terminal shows a part of them, in colours; `weft top --once` prints all. */
#ifndef TOP_LINES_H
#define TOP_LINES_H

#include "sample.h"

#include <stdio.h>

/* How a piece of a line looks. BUSY to OUTSIDE: a part of a bar. */
enum look {
    LOOK_PLAIN,
    LOOK_TITLE,
    LOOK_HEAD,
    LOOK_GOOD,
    LOOK_BAD,
    LOOK_FAINT,
    LOOK_BUSY,
    LOOK_SEARCHING,
    LOOK_ASLEEP,
    LOOK_BLOCKED,
    LOOK_OUTSIDE,
    LOOKS
};

enum { LINE_WIDEST = 400 };

struct line {
    char text[LINE_WIDEST + 1];          /* one byte a column */
    unsigned char look[LINE_WIDEST + 1]; /* of each */
};

struct lines {
    struct line *all;
    size_t count, room;
    unsigned width; /* at most LINE_WIDEST */
    bool failed;    /* there was no memory for all of it */
};

enum order { ORDER_PLACE, ORDER_BUSY, ORDER_JOBS, ORDER_STEALS, ORDER_WAIT, ORDER_MEMORY, ORDERS };
extern const char *const order_names[ORDERS];

struct choice {
    enum order order;
    int pool; /* the place of the only pool to show; -1: all */
};

/* `lines` has a width, and else zeros. */
void lines_put_sample(struct lines *lines, const struct sample *sample, struct choice choice);
void lines_free(struct lines *lines);

struct listed {
    pid_t pid;
    struct watch *watch; /* or NULL */
    struct sample sample;
    bool good; /* there is a sample */
    char why[PAGE_WHY_SIZE];
};

/* The processes, one a line after a head. */
void lines_put_list(struct lines *lines, const struct listed *all, size_t count);

#endif
