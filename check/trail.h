/* SPDX-License-Identifier: MIT */
/* trail.h: the choices of an execution, one after the other. The first ones are those of the trail;
 * after its end, each choice is the first one there is, and becomes part of it. The next execution
 * takes the last choice that has another one left. */
#ifndef CHECK_TRAIL_H
#define CHECK_TRAIL_H

#include "model.h"

enum { CHOICES_MAX = 4000 };

/* Who goes on instead of a thread that could, or after one that can't; or what else is chosen: the
 * next one of one step is 'd', and so on. */
enum kind { CHANGE = 't', LEAVE = 'l', DATA = 'c' };

struct choice {
    unsigned chosen, count;
    unsigned asleep; /* the sleep set that it was made with */
    unsigned step;   /* of the execution */
    char kind;
    unsigned value; /* the thread, or the same as `chosen` */
    bool usual;     /* what happens if nothing is said */
};

struct trail {
    struct choice choice[CHOICES_MAX];
    unsigned length;
    unsigned position; /* the next choice of this execution */
    unsigned resumed;  /* so many at the beginning are another process's */
    bool misfits;      /* and they were made in another harness */
    bool replays;      /* choices are told by step, and all others are usual */
};

extern struct trail trail;

void trail_forget(void); /* there are no choices */
void trail_rewind(void); /* an execution begins */
void trail_step(void);   /* and comes to its next step */
bool trail_next(void);   /* to the next execution; false: there are no more */

/* The next choice, of n. */
struct choice *trail_choice(unsigned n, char kind);

/* The same for data: one of n. */
unsigned trail_choose(unsigned n);

/* What the trail of a replay says about this step; -1: nothing. */
int trail_told(char kind);

/* What was unusual, as text; and back, for a replay. */
void trail_write(char *text, size_t size);
void trail_read(const char *text);

#endif
