/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/parallel.h>

enum { N = 300000 };
static double numbers[N];

/* [define] */
static inline double add(double a, double b)
{
    return a + b;
}
static inline double square(double x)
{
    return x * x;
}
WEFT_MAP_REDUCE_DEFINE(sum_of_squares, double, square, double, add, 0)
/* [end] */

/* [reducer] */
struct extent {
    double least, most;
};

static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    struct extent *extent = accumulator;
    const double *in = arg;
    (void)w;
    for (size_t i = begin; i < end; i++) {
        extent->least = in[i] < extent->least ? in[i] : extent->least;
        extent->most = in[i] > extent->most ? in[i] : extent->most;
    }
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    struct extent *to = left;
    const struct extent *from = right;
    (void)w, (void)arg;
    to->least = from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
}

static struct extent extent_of(weft *w, double *in, size_t n)
{
    static const struct extent empty = {1e300, -1e300};
    const weft_reducer reducer = {
        .size = sizeof empty, .identity = &empty, .fold = fold, .combine = combine};
    struct extent extent;
    weft_reduce(w, 0, n, &reducer, in, &extent);
    return extent;
}
/* [end] */

struct results {
    double sum, squares;
    struct extent extent;
};

static void run(weft *w, void *arg)
{
    struct results *results = arg;
    results->sum = weft_sum_f64(w, numbers, N);
    results->squares = sum_of_squares(w, numbers, N);
    results->extent = extent_of(w, numbers, N);
}

/* [bits] */
static int run_on(unsigned workers, struct results *results)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    weft_pool *pool;
    int error = weft_pool_create(&pool, &config);
    if (error)
        return error;
    error = weft_run(pool, run, results);
    int other = weft_pool_destroy(pool);
    return error ? error : other;
}
/* [end] */

int main(void)
{
    struct results one, many;
    for (int i = 0; i < N; i++)
        numbers[i] = 1.0 / (i + 1);
    if (run_on(1, &one) || run_on(7, &many))
        return 1;
    printf("1 worker:  %.17g %.17g\n", one.sum, one.squares);
    printf("7 workers: %.17g %.17g\n", many.sum, many.squares);
    printf("from %g to %g\n", many.extent.least, many.extent.most);
}
