/* SPDX-License-Identifier: MIT */
/* loops: the loops of weft/parallel.h over an array of floats, beside plain ones. Long loops are
 * what memory and the CPU give; of short ones the call counts. */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LOOPS_TIMES = 20,    /* long loops are run so many times, */
    LOOPS_FLOATS = 2000, /* middling ones have so many elements */
};

/* Of short ones, in turn. */
static const size_t loops_short[] = {0, 1, 7, 100};

struct loops {
    size_t size; /* elements of long loops, the number of the others */
    size_t count;
    float *numbers;
    double result;
};

/* The loops themselves, once for all contenders: one and the same loop may take twice as long in
 * another place of the program, depending on how it lies in cache lines. */
void loops_range(float *numbers, size_t begin, size_t end);
double loops_sum(const float *numbers, size_t begin, size_t end);

/* One element, by a function that is not known to the loop. */
struct weft;
void loops_element(struct weft *w, void *out, const void *in, void *arg);

#ifdef __cplusplus
}
#endif

#endif
