/* SPDX-License-Identifier: MIT */
/* sort.c: the ways to sort. Numbers by their digits, structures with a comparison that is
 * inlined, anything with one that is not; and what a stable sort is good for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>
#include <weft/sort.h>

struct city {
    char name[24];
    double north, people;
};

static inline bool is_southern(struct city a, struct city b)
{
    return a.north < b.north;
}

static inline bool is_larger(struct city a, struct city b)
{
    return a.people > b.people;
}

WEFT_SORT_DEFINE(sort_southern_first, struct city, is_southern)
WEFT_SORT_STABLE_DEFINE(sort_larger_first, struct city, is_larger)

static int by_name(const void *a, const void *b, void *arg)
{
    (void)arg;
    return strcmp(((const struct city *)a)->name, ((const struct city *)b)->name);
}

static void print(const char *what, const struct city *cities, size_t n)
{
    printf("%s:", what);
    for (size_t i = 0; i < n; i++)
        printf(" %s", cities[i].name);
    puts("");
}

static void sort_cities(weft *w)
{
    struct city cities[] = {{"Oslo", 59.9, 0.7}, {"Rome", 41.9, 2.8},   {"Riga", 56.9, 0.6},
                            {"Bonn", 50.7, 0.3}, {"Turin", 45.1, 0.8},  {"Porto", 41.1, 0.2},
                            {"Lyon", 45.8, 0.5}, {"Athens", 38.0, 0.6}, {"Graz", 47.1, 0.3}};
    size_t n = sizeof cities / sizeof cities[0];
    sort_southern_first(w, cities, n);
    print("from the south", cities, n);
    weft_sort(w, cities, n, sizeof cities[0], by_name, NULL);
    print("by name", cities, n);
    sort_larger_first(w, cities, n); /* those of one size are still in that order */
    print("by size and name", cities, n);
}

static void run(weft *w, void *arg)
{
    enum { N = 1000000 };
    bool *sorted = arg;
    double *numbers = malloc(N * sizeof *numbers);
    if (!numbers)
        return;
    for (size_t i = 0; i < N; i++)
        numbers[i] = (double)(i * 7919 % N) - N / 2;
    weft_sort_f64(w, numbers, N);
    printf("%d numbers from %g to %g\n", N, numbers[0], numbers[N - 1]);
    *sorted = true;
    for (size_t i = 1; i < N; i++)
        *sorted = *sorted && numbers[i - 1] <= numbers[i];
    free(numbers);
    sort_cities(w);
}

int main(void)
{
    bool sorted = false;
    int error = weft_run(NULL, run, &sorted);
    return error || !sorted;
}
