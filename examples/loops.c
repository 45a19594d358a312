/* SPDX-License-Identifier: MIT */
/* loops.c: what weft/parallel.h is for. The primes below a number, by a loop, a filter and a
 * few reductions, without a grain chosen anywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>
#include <weft/parallel.h>

enum { NUMBERS = 2000000 };

struct primes {
    uint32_t *numbers;
    size_t count;
    size_t gap; /* where the first wide gap is */
    double sum; /* of their reciprocals */
};

/* A body gets a range, so that it can be a fast loop. */
static void number(weft *w, size_t begin, size_t end, void *arg)
{
    uint32_t *numbers = arg;
    (void)w;
    for (size_t i = begin; i < end; i++)
        numbers[i] = (uint32_t)i;
}

static bool is_prime(weft *w, const void *element, void *arg)
{
    uint32_t n = *(const uint32_t *)element;
    (void)w;
    (void)arg;
    for (uint32_t i = 2; i * i <= n; i++)
        if (n % i == 0)
            return false;
    return n > 1;
}

/* The same sum on any machine, though adding in another order would round otherwise. */
static void add_reciprocals(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const struct primes *primes = arg;
    double sum = 0;
    (void)w;
    for (size_t i = begin; i < end; i++)
        sum += 1.0 / primes->numbers[i];
    *(double *)accumulator += sum;
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    (void)w;
    (void)arg;
    *(double *)left += *(const double *)right;
}

static size_t first_gap_of_100(weft *w, size_t begin, size_t end, void *arg)
{
    const struct primes *primes = arg;
    (void)w;
    for (size_t i = begin; i < end; i++)
        if (primes->numbers[i + 1] - primes->numbers[i] >= 100)
            return i;
    return end;
}

static void look(weft *w, void *arg)
{
    static const weft_reducer reciprocals = {
        .size = sizeof(double), .fold = add_reciprocals, .combine = add};
    struct primes *primes = arg;
    weft_for(w, 0, NUMBERS, number, primes->numbers);
    primes->count =
        weft_filter(w, primes->numbers, NUMBERS, sizeof(uint32_t), is_prime, NULL, primes->numbers);
    weft_reduce(w, 0, primes->count, &reciprocals, primes, &primes->sum);
    primes->gap = weft_find_first(w, 0, primes->count - 1, first_gap_of_100, primes);
}

int main(void)
{
    struct primes primes = {.numbers = malloc(NUMBERS * sizeof(uint32_t))};
    if (!primes.numbers)
        return 1;
    int error = weft_run(NULL, look, &primes);
    printf("%zu primes, the sum of their reciprocals is %.15f\n", primes.count, primes.sum);
    printf("the first gap of 100 or more is after %u\n", primes.numbers[primes.gap]);
    free(primes.numbers);
    return error != 0;
}
