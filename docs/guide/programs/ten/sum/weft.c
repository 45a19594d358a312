/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/parallel.h>

enum { N = 50000000 };

static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    double sum = 0;
    (void)w, (void)arg;
    for (size_t i = begin; i < end; i++) {
        double x = ((double)i + 0.5) / N;
        sum += 4 / (1 + x * x);
    }
    *(double *)accumulator += sum;
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    (void)w, (void)arg;
    *(double *)left += *(const double *)right;
}

static void run(weft *w, void *arg)
{
    static const weft_reducer pi = {.size = sizeof(double), .fold = fold, .combine = add};
    weft_reduce(w, 0, N, &pi, NULL, arg); /* the same bits on any number of CPUs */
}

int main(void)
{
    double sum;
    int error = weft_run(NULL, run, &sum);
    printf("%.9f\n", sum / N);
    return error != 0;
}
