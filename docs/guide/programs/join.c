/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

/* [join] */
struct part {
    const int *numbers;
    size_t n;
    long sum;
};

static void sum(weft *w, void *arg)
{
    struct part *part = arg;
    (void)w;
    for (size_t i = 0; i < part->n; i++)
        part->sum += part->numbers[i];
}

static void sum_both(weft *w, void *arg)
{
    struct part *parts = arg;
    weft_join(w, sum, &parts[0], sum, &parts[1]); /* both are over when it returns */
}
/* [end] */

int main(void)
{
    static int numbers[1000];
    for (int i = 0; i < 1000; i++)
        numbers[i] = i;
    struct part parts[2] = {{numbers, 500, 0}, {numbers + 500, 500, 0}};
    if (weft_run(NULL, sum_both, parts))
        return 1;
    printf("%ld\n", parts[0].sum + parts[1].sum);
}
