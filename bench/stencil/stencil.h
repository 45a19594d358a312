/* SPDX-License-Identifier: MIT */
/* stencil: many steps of a short loop, each over what the one before made: the commonest shape of
 * numerical code. What it costs to begin and to end a parallel loop. */
#ifndef BENCH_STENCIL_H
#define BENCH_STENCIL_H

#include <stddef.h>

enum {
    STENCIL_STEPS = 500, /* of a run */
    STENCIL_WIDTH = 3,   /* neighbours that make a number */
};

/* Arrays have room for the neighbours of the last number. These behind it never change. */
struct stencil {
    size_t count;
    double *x, *y; /* a step makes y of x, then they swap */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The loop, once for all contenders: where it lies in the program may make it slower. */
void stencil_range(double *y, const double *x, size_t begin, size_t end);
void stencil_swap(struct stencil *stencil);

#ifdef __cplusplus
}
#endif

#endif
