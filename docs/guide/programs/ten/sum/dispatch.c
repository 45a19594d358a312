/* SPDX-License-Identifier: MIT */
#include <dispatch/dispatch.h>
#include <stdio.h>

enum { N = 50000000, PARTS = 1000 };
static double sums[PARTS];

static void add(void *arg, size_t part)
{
    double sum = 0;
    (void)arg;
    for (size_t i = part * (N / PARTS); i < (part + 1) * (N / PARTS); i++) {
        double x = ((double)i + 0.5) / N;
        sum += 4 / (1 + x * x);
    }
    sums[part] = sum;
}

int main(void)
{
    double sum = 0;
    dispatch_apply_f(PARTS, dispatch_get_global_queue(0, 0), NULL, add);
    for (int i = 0; i < PARTS; i++)
        sum += sums[i];
    printf("%.9f\n", sum / N);
}
