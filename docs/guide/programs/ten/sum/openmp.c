/* SPDX-License-Identifier: MIT */
#include <stdio.h>

enum { N = 50000000 };

int main(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) /* the last bits depend on the number of threads */
    for (long i = 0; i < N; i++) {
        double x = ((double)i + 0.5) / N;
        sum += 4 / (1 + x * x);
    }
    printf("%.9f\n", sum / N);
}
