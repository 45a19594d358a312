/* SPDX-License-Identifier: MIT */
/* parallel_array.c: scans, filters, merges and histograms are what sequential ones are, for
 * elements of all sizes, in place or not. */
#include "property.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An array of random elements; few of them are different if `few`. */
struct array {
    size_t n, size;
    bool slow;
    unsigned char *in, *out, *more, *expected, *rest;
};

static size_t any_size(struct dice *dice)
{
    static const size_t usual[] = {1, 2, 4, 8, 16};
    return dice_below(dice, 2) ? usual[dice_below(dice, 5)] : 1 + dice_size(dice, 4095);
}

static void array_make(struct array *array, struct dice *dice)
{
    bool few = dice_below(dice, 2);
    array->size = any_size(dice);
    array->n = dice_size(dice, 200000 / array->size + 50);
    array->slow = dice_below(dice, 2);
    size_t bytes = array->n * array->size + 1;
    unsigned char **all[] = {&array->in, &array->out, &array->more, &array->expected, &array->rest};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        HOLDS(*all[i] = calloc(bytes, 1));
    dice_fill(dice, array->in, bytes);
    for (size_t i = 0; few && i < array->n; i++)
        memset(array->in + i * array->size, (int)dice_below(dice, 3), array->size);
}

static void array_drop(struct array *array)
{
    free(array->in);
    free(array->out);
    free(array->more);
    free(array->expected);
    free(array->rest);
}

static unsigned char *at(const struct array *array, unsigned char *base, size_t i)
{
    return base + i * array->size;
}

static void expect(const struct array *array, const unsigned char *got,
                   const unsigned char *expected, size_t n)
{
    HOLDS(memcmp(got, expected, n * array->size) == 0);
}

/* ---- Scans: "the last one that is not zero, but bytes are added", which is not commutative ----
 */

static void put_after(unsigned char *left, const unsigned char *right, size_t size)
{
    left[0] = right[0] ? right[0] : left[0];
    for (size_t i = 1; i < size; i++)
        left[i] = (unsigned char)(left[i] + right[i]);
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    const struct array *array = arg;
    put_after(left, right, array->size);
    if (array->slow)
        dawdle(*(const unsigned char *)right * 7u);
}

static void scans(weft *w, struct dice *dice)
{
    struct array array;
    array_make(&array, dice);
    bool in_place = dice_below(dice, 2), inclusive = dice_below(dice, 2);
    unsigned char *identity = calloc(array.size, 1), *total = malloc(array.size),
                  *carry = calloc(array.size, 1);
    HOLDS(identity && total && carry);
    for (size_t i = 0; i < array.n; i++) {
        if (!inclusive)
            memcpy(at(&array, array.expected, i), carry, array.size);
        put_after(carry, at(&array, array.in, i), array.size);
        if (inclusive)
            memcpy(at(&array, array.expected, i), carry, array.size);
    }
    unsigned char *out = in_place ? array.in : array.out;
    if (inclusive) {
        weft_scan_inclusive(w, array.in, array.n, array.size, combine, &array, out);
    } else {
        bool wants_total = dice_below(dice, 2);
        weft_scan_exclusive(w, array.in, array.n, array.size, identity, combine, &array, out,
                            wants_total ? total : NULL);
        HOLDS(!wants_total || memcmp(total, carry, array.size) == 0);
    }
    expect(&array, out, array.expected, array.n);
    free(identity);
    free(total);
    free(carry);
    array_drop(&array);
}

static void scans_carry_along(void **state)
{
    property_holds(scans, SCALED(50, 5));
}

/* ---- Filters ---- */

static bool is_odd(const void *element)
{
    return *(const unsigned char *)element % 2;
}

static bool keep_odd(weft *w, const void *element, void *arg)
{
    const struct array *array = arg;
    if (array->slow)
        dawdle(*(const unsigned char *)element * 13u);
    return is_odd(element);
}

static void filters(weft *w, struct dice *dice)
{
    struct array array;
    array_make(&array, dice);
    size_t kept = 0, way = dice_below(dice, 4);
    bool *flags = calloc(array.n + 1, sizeof flags[0]), in_place = way % 2;
    HOLDS(flags);
    for (size_t i = 0; i < array.n; i++) {
        flags[i] = is_odd(at(&array, array.in, i));
        if (flags[i])
            memcpy(at(&array, array.expected, kept++), at(&array, array.in, i), array.size);
    }
    unsigned char *out = in_place ? array.in : array.out;
    if (way < 2)
        HOLDS(weft_filter(w, array.in, array.n, array.size, keep_odd, &array, out) == kept);
    else
        HOLDS(weft_pack(w, array.in, array.n, array.size, flags, out) == kept);
    expect(&array, out, array.expected, kept);
    free(flags);
    array_drop(&array);
}

static void filters_keep_in_order(void **state)
{
    property_holds(filters, SCALED(50, 5));
}

static void partitions(weft *w, struct dice *dice)
{
    struct array array;
    array_make(&array, dice);
    size_t yes = 0, no = 0, way = dice_below(dice, 3);
    for (size_t i = 0; i < array.n; i++) {
        unsigned char *element = at(&array, array.in, i);
        unsigned char *to =
            is_odd(element) ? at(&array, array.expected, yes++) : at(&array, array.rest, no++);
        memcpy(to, element, array.size);
    }
    unsigned char *to_yes = way == 1 ? array.in : array.out;
    unsigned char *to_no = way == 2 ? array.in : array.more;
    HOLDS(weft_partition(w, array.in, array.n, array.size, keep_odd, &array, to_yes, to_no) == yes);
    expect(&array, to_yes, array.expected, yes);
    expect(&array, to_no, array.rest, no);
    array_drop(&array);
}

static void partitions_keep_in_order(void **state)
{
    property_holds(partitions, SCALED(50, 5));
}

static bool is_equal(weft *w, const void *a, const void *b, void *arg)
{
    const struct array *array = arg;
    if (array->slow)
        dawdle(*(const unsigned char *)a * 17u);
    return memcmp(a, b, array->size) == 0;
}

static void uniques(weft *w, struct dice *dice)
{
    struct array array;
    array_make(&array, dice);
    size_t kept = 0;
    for (size_t i = 0; i < array.n; i++)
        if (i == 0 || memcmp(at(&array, array.in, i - 1), at(&array, array.in, i), array.size) != 0)
            memcpy(at(&array, array.expected, kept++), at(&array, array.in, i), array.size);
    unsigned char *out = dice_below(dice, 2) ? array.in : array.out;
    HOLDS(weft_unique(w, array.in, array.n, array.size, is_equal, &array, out) == kept);
    expect(&array, out, array.expected, kept);
    array_drop(&array);
}

static void unique_drops_repetitions(void **state)
{
    property_holds(uniques, SCALED(50, 5));
}

/* ---- Merging: by the first byte, so that it matters which of equal ones comes first ---- */

static int by_first(const void *a, const void *b, void *arg)
{
    const struct array *array = arg;
    int x = *(const unsigned char *)a, y = *(const unsigned char *)b;
    if (array->slow)
        dawdle((size_t)(x * 3 + y));
    return x - y;
}

static int by_first_for_qsort(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

static void merges(weft *w, struct dice *dice)
{
    struct array array;
    array_make(&array, dice);
    size_t a_n = dice_below(dice, array.n + 1), b_n = array.n - a_n;
    unsigned char *a = array.in, *b = at(&array, array.in, a_n);
    qsort(a, a_n, array.size, by_first_for_qsort);
    qsort(b, b_n, array.size, by_first_for_qsort);
    for (size_t i = 0, j = 0; i + j < array.n;) {
        bool take_b = i == a_n || (j < b_n && *at(&array, b, j) < *at(&array, a, i));
        unsigned char *to = at(&array, array.expected, i + j);
        memcpy(to, take_b ? at(&array, b, j++) : at(&array, a, i++), array.size);
    }
    weft_merge_sorted(w, a, a_n, b, b_n, array.size, by_first, &array, array.out);
    expect(&array, array.out, array.expected, array.n);
    array_drop(&array);
}

static void merges_are_stable(void **state)
{
    property_holds(merges, SCALED(50, 5));
}

/* Comparisons that make no sense: each element has to be in the result, whatever the order. */
static int at_random(const void *a, const void *b, void *arg)
{
    return (int)dice_below(&(struct dice){(uint64_t)(uintptr_t)a * 31 + (uintptr_t)b}, 3) - 1;
}

static void hostile(weft *w, struct dice *dice)
{
    size_t n = dice_size(dice, 20000), a_n = dice_below(dice, n + 1);
    uint32_t *in = malloc((n + 1) * sizeof in[0]), *out = malloc((n + 1) * sizeof out[0]);
    unsigned char *seen = calloc(n + 1, 1);
    HOLDS(in && out && seen);
    for (size_t i = 0; i < n; i++)
        in[i] = (uint32_t)i;
    weft_merge_sorted(w, in, a_n, in + a_n, n - a_n, sizeof in[0], at_random, NULL, out);
    for (size_t i = 0; i < n; i++)
        HOLDS(out[i] < n && !seen[out[i]]++);
    free(in);
    free(out);
    free(seen);
}

static void hostile_comparisons_lose_nothing(void **state)
{
    property_holds(hostile, SCALED(50, 5));
}

/* ---- Histograms ---- */

static size_t bin_of(weft *w, const void *element, void *arg)
{
    const struct array *array = arg;
    if (array->slow)
        dawdle(*(const unsigned char *)element);
    return *(const unsigned char *)element;
}

static void histograms(weft *w, struct dice *dice)
{
    struct array array;
    array_make(&array, dice);
    size_t bins = 1 + dice_size(dice, 999), expected[1000] = {0}, counts[1001];
    for (size_t i = 0; i < array.n; i++)
        expected[*at(&array, array.in, i)]++;
    memset(counts, 0xff, sizeof counts);
    weft_histogram(w, array.in, array.n, array.size, bin_of, &array, counts, bins);
    HOLDS(memcmp(counts, expected, bins * sizeof counts[0]) == 0);
    HOLDS(counts[bins] == SIZE_MAX);
    weft_histogram(w, array.in, array.n, array.size, bin_of, &array, NULL, 0);
    array_drop(&array);
}

static void histograms_count(void **state)
{
    property_holds(histograms, SCALED(50, 5));
}

/* ---- Failure ---- */

static void fail_in_combine(weft *w, void *left, const void *right, void *arg)
{
    atomic_size_t *calls = arg;
    if (atomic_fetch_add(calls, 1) == 1000)
        weft_fail(w, -EDOM);
}

static void fail_in_scan(weft *w, void *arg)
{
    enum { N = 1000000 };
    uint32_t *array = calloc(N, sizeof array[0]);
    CHECK(array);
    weft_scan_inclusive(w, array, N, sizeof array[0], fail_in_combine, arg, array);
    free(array);
}

static void failure_ends_a_scan(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (int i = 0; i < 10; i++) {
            atomic_size_t calls = 0;
            assert_int_equal(weft_run(pool, fail_in_scan, &calls), -EDOM);
        }
        pool_drop(pool);
    }
}

static bool never_keep(weft *w, const void *element, void *arg)
{
    CHECK(false);
    return false;
}

static bool never_equal(weft *w, const void *a, const void *b, void *arg)
{
    CHECK(false);
    return false;
}

static int never_compare(const void *a, const void *b, void *arg)
{
    CHECK(false);
    return 0;
}

static size_t never_bin(weft *w, const void *element, void *arg)
{
    CHECK(false);
    return 0;
}

static void never_combine(weft *w, void *left, const void *right, void *arg)
{
    CHECK(false);
}

static void nothing_after_failure(weft *w, void *arg)
{
    enum { N = 1000 };
    uint32_t in[N] = {0}, out[N], more[2 * N], zero = 0;
    size_t counts[4];
    weft_fail(w, -EDOM);
    weft_scan_inclusive(w, in, N, sizeof in[0], never_combine, NULL, out);
    weft_scan_exclusive(w, in, N, sizeof in[0], &zero, never_combine, NULL, out, NULL);
    CHECK(weft_filter(w, in, N, sizeof in[0], never_keep, NULL, out) == 0);
    CHECK(weft_partition(w, in, N, sizeof in[0], never_keep, NULL, out, more) == 0);
    CHECK(weft_unique(w, in, N, sizeof in[0], never_equal, NULL, out) == 0);
    weft_merge_sorted(w, in, N, in, N, sizeof in[0], never_compare, NULL, more);
    weft_histogram(w, in, N, sizeof in[0], never_bin, NULL, counts, 4);
    CHECK(counts[0] == 0);
}

static void failed_computations_start_nothing(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, nothing_after_failure, NULL), -EDOM);
    pool_drop(pool);
}

/* ---- Scans that are cancelled ---- */

enum { MAGIC = 0x5ca1ab1e };

struct doomed {
    size_t last; /* about that many calls until it fails */
};

/* Whatever it is called with must be an element, or made of some. */
static void combine_magic(weft *w, void *left, const void *right, void *arg)
{
    const uint32_t *l = left, *r = right;
    const struct doomed *doomed = arg;
    HOLDS(*l == MAGIC && *r == MAGIC);
    dawdle((uintptr_t)right);
    if ((uintptr_t)right % (16 * doomed->last) == 0)
        weft_fail(w, -EINTR);
}

static void doomed_scan(weft *w, struct dice *dice)
{
    enum { N = 20000 };
    struct doomed doomed = {.last = 1 + dice_size(dice, 5000)};
    uint32_t *all = malloc(N * sizeof *all);
    HOLDS(all);
    for (size_t i = 0; i < N; i++)
        all[i] = MAGIC;
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scan_inclusive(w, all, N, sizeof *all, combine_magic, &doomed, all);
    int error = weft_scope_close(w, &scope);
    HOLDS(error == 0 || error == -EINTR);
    free(all);
}

static void cancelled_scans_combine_no_garbage(void **state)
{
    property_holds(doomed_scan, SCALED(100, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_carry_along),
        cmocka_unit_test(cancelled_scans_combine_no_garbage),
        cmocka_unit_test(filters_keep_in_order),
        cmocka_unit_test(partitions_keep_in_order),
        cmocka_unit_test(unique_drops_repetitions),
        cmocka_unit_test(merges_are_stable),
        cmocka_unit_test(hostile_comparisons_lose_nothing),
        cmocka_unit_test(histograms_count),
        cmocka_unit_test(failure_ends_a_scan),
        cmocka_unit_test(failed_computations_start_nothing),
    };
    return RUN_ON_ALL_ROADS(tests);
}
