/* SPDX-License-Identifier: MIT */
#include <cilk/cilk.h>
#include <stdio.h>

enum { N = 50000000 };

static void zero(void *view)
{
    *(double *)view = 0;
}

static void add(void *left, void *right)
{
    *(double *)left += *(double *)right;
}

int main(void)
{
    double cilk_reducer(zero, add) sum = 0;
    cilk_for (long i = 0; i < N; i++) {
        double x = ((double)i + 0.5) / N;
        sum += 4 / (1 + x * x);
    }
    printf("%.9f\n", sum / N);
}
