/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include <err.h>
#include <stdlib.h>

bool samples_init(struct samples *samples, size_t room)
{
    *samples = (struct samples){.values = calloc(room, sizeof(double))};
    if (!samples->values)
        warnx("no memory for %zu samples", room);
    return samples->values != NULL;
}

void samples_free(struct samples *samples)
{
    free(samples->values);
    *samples = (struct samples){0};
}

void samples_add(struct samples *samples, double value)
{
    samples->values[samples->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct summary samples_summary(struct samples *samples)
{
    size_t n = samples->count;
    double *v = samples->values;
    if (n == 0)
        return (struct summary){0};
    qsort(v, n, sizeof *v, compare);
    return (struct summary){n, v[n / 2], v[0], v[n / 10], v[n - 1 - n / 10]};
}
