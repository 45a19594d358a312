/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/parallel.h>
#include <weft/sort.h>

enum { N = 20 };

/* [define] */
static inline long add(long a, long b)
{
    return a + b;
}
static inline bool is_odd(long n)
{
    return n % 2 != 0;
}
struct place {
    int number;
    double way;
};
static inline bool nearer(struct place a, struct place b)
{
    return a.way < b.way;
}
WEFT_SCAN_DEFINE(running_sums, long, add)
WEFT_FILTER_DEFINE(keep_odd, long, is_odd)
WEFT_SORT_DEFINE(sort_places, struct place, nearer)
/* [end] */

struct data {
    long in[N], sums[N], odd[N];
    size_t odd_n;
    struct place places[N];
};

static void run(weft *w, void *arg)
{
    struct data *data = arg;
    /* [calls] */
    running_sums(w, data->in, N, data->sums);
    data->odd_n = keep_odd(w, data->in, N, data->odd);
    sort_places(w, data->places, N);
    /* [end] */
}

int main(void)
{
    static struct data data;
    for (int i = 0; i < N; i++) {
        data.in[i] = i;
        data.places[i] = (struct place){i, i * 7 % N};
    }
    if (weft_run(NULL, run, &data))
        return 1;
    printf("%ld %zu %d\n", data.sums[N - 1], data.odd_n, data.places[1].number);
}
