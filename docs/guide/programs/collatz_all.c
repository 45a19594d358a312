/* SPDX-License-Identifier: MIT */
/* Which number below a million takes longest to come to 1, if it is halved when it is even, and
 * else becomes three times as large, plus one? All numbers at once. */
#include <stdint.h>
#include <stdio.h>
#include <weft/parallel.h>
#include <weft/trace.h>

enum { N = 1000000 };

static unsigned steps[N];

static unsigned count_steps(uint64_t number)
{
    unsigned count = 0;
    for (; number > 1; count++)
        number = number % 2 ? 3 * number + 1 : number / 2;
    return count;
}

static void count(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w, (void)arg;
    for (size_t i = begin; i < end; i++)
        steps[i] = count_steps(i);
}

static void collatz(weft *w, void *arg)
{
    (void)arg;
    /* [all] */
    weft_span_begin("small numbers");
    weft_for(w, 0, N / 5, count, NULL);
    weft_span_end();
    weft_span_begin("large numbers");
    weft_for(w, N / 5, N, count, NULL);
    weft_span_end();
    /* [end] */
}

int main(void)
{
    size_t most = 0;
    int error = weft_run(NULL, collatz, NULL);
    if (error)
        return fprintf(stderr, "weft_run: %s\n", weft_strerror(error)), 1;
    for (size_t i = 0; i < N; i++)
        if (steps[i] > steps[most])
            most = i;
    printf("%zu takes %u steps\n", most, steps[most]);
}
