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

/* What is done to each number. */
static inline float loops_half(float number)
{
    return number * 0.5f + 1;
}

/* The same as a call, for loops that don't know what they call. */
struct weft;
typedef void loops_fn(struct weft *w, const void *in, void *out, void *arg);

struct loops {
    size_t size; /* elements of long loops, the number of the others */
    size_t count;
    float *numbers;
    double result;
    loops_fn *element; /* here, with what it is given, so that compilers can't know them */
    struct weft *w;
    void *arg;
};

/* The loops themselves, once for all contenders: one and the same loop may take twice as long in
 * another place of the program, depending on how it lies in cache lines. */
void loops_range(float *numbers, size_t begin, size_t end);
double loops_sum(const float *numbers, size_t begin, size_t end);
loops_fn loops_element;

#ifdef __cplusplus
}
#endif

#endif
