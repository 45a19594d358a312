/* SPDX-License-Identifier: MIT */
/* parallel_define.c: loops that are made for a type do what plain loops do, for all short lengths
 * and some long ones, in place or not. */
#include "property.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* `place` tells equal ones apart: all results keep the order of what they keep. */
struct item {
    uint32_t key, place;
};

static void dawdle_at(uint32_t key)
{
    if (key % 64 == 0)
        dawdle(key);
}

static inline void raise(struct item *item)
{
    dawdle_at(item->key);
    item->place++;
}

static inline bool is_at(struct item item, uint32_t key)
{
    dawdle_at(item.key);
    return item.key == key;
}

static inline size_t bin_of(struct item item)
{
    dawdle_at(item.key);
    return item.key;
}

static inline bool is_low(struct item item)
{
    dawdle_at(item.key);
    return item.key % 256 < 100;
}

static inline bool is_same(struct item a, struct item b)
{
    dawdle_at(b.key);
    return a.key == b.key;
}

static inline bool is_less(struct item a, struct item b)
{
    dawdle_at(b.key);
    return a.key < b.key;
}

/* Not commutative: the last one that is odd, and the sum of all after it. */
static inline uint64_t last_or_sum(uint64_t a, uint64_t b)
{
    if (b % 64 == 0)
        dawdle((size_t)b);
    return b % 2 ? b : a + b;
}

static inline bool is_high(uint64_t number)
{
    if (number % 64 == 0)
        dawdle((size_t)number);
    return number >> 63;
}

static inline uint32_t upper_half(uint64_t number)
{
    if (number % 64 == 0)
        dawdle((size_t)number);
    return (uint32_t)(number >> 32);
}

static inline uint64_t twice(uint64_t number)
{
    return number + number;
}

WEFT_MAP_DEFINE(map_narrow, uint64_t, upper_half, uint32_t)
WEFT_MAP_DEFINE(map_typed, uint64_t, twice, uint64_t)
WEFT_FOR_EACH_DEFINE(raise_all, struct item, raise)
WEFT_FIND_DEFINE(find_key, struct item, is_at, uint32_t)
WEFT_SCAN_DEFINE(scan, uint64_t, last_or_sum)
WEFT_SCAN_EXCLUSIVE_DEFINE(scan_before, uint64_t, 0, last_or_sum)
WEFT_FILTER_DEFINE(filter, uint64_t, is_high)
WEFT_UNIQUE_DEFINE(unique, struct item, is_same)
WEFT_PARTITION_DEFINE(partition, struct item, is_low)
WEFT_MERGE_SORTED_DEFINE(merge, struct item, is_less)
WEFT_HISTOGRAM_DEFINE(histogram, struct item, bin_of)

/* ---- Arrays, with one element behind them that must not change ---- */

static void *array_of(size_t n, size_t size)
{
    unsigned char *array = malloc((n + 1) * size);
    HOLDS(array);
    memset(array, 0xee, (n + 1) * size);
    return array;
}

static void expect(const void *got, const void *expected, size_t kept, size_t n, size_t size)
{
    unsigned char last[64];
    HOLDS(memcmp(got, expected, kept * size) == 0);
    memset(last, 0xee, size);
    HOLDS(memcmp((const char *)got + n * size, last, size) == 0);
}

/* Keys below `keys`, at random. */
static struct item *items_of(struct dice *dice, size_t n, size_t keys)
{
    struct item *items = array_of(n, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct item){(uint32_t)dice_below(dice, keys), (uint32_t)i};
    return items;
}

/* ---- One for each form: `n` elements ---- */

typedef void form_fn(weft *w, struct dice *dice, size_t n);

/* To another type, then in place, and to another array: each element once, and none behind n. */
static void maps(weft *w, struct dice *dice, size_t n)
{
    uint64_t *in = malloc((n + 1) * sizeof *in), *out = calloc(n + 1, sizeof *out);
    uint32_t *narrow = calloc(n + 1, sizeof *narrow);
    HOLDS(in && out && narrow);
    for (size_t i = 0; i <= n; i++)
        in[i] = (i + 1) * 0x9e3779b97f4a7c15u;
    map_narrow(w, in, n, narrow);
    map_typed(w, in, n, in);
    map_typed(w, in, n, out);
    for (size_t i = 0; i <= n; i++) {
        uint64_t number = (i + 1) * 0x9e3779b97f4a7c15u;
        HOLDS(narrow[i] == (i < n ? (uint32_t)(number >> 32) : 0));
        HOLDS(in[i] == (i < n ? 2 * number : number));
        HOLDS(out[i] == (i < n ? 4 * number : 0));
    }
    free(in);
    free(out);
    free(narrow);
}

static void visits(weft *w, struct dice *dice, size_t n)
{
    struct item *items = items_of(dice, n, 1000), *expected = array_of(n, sizeof *items);
    for (size_t i = 0; i < n; i++)
        expected[i] = (struct item){items[i].key, (uint32_t)i + 1};
    raise_all(w, items, n);
    expect(items, expected, n, n, sizeof *items);
    free(items);
    free(expected);
}

/* What is looked for may be there several times, or not at all. */
static void finds(weft *w, struct dice *dice, size_t n)
{
    struct item *items = items_of(dice, n, n + 1);
    for (int times = 0; times < 3; times++) {
        uint32_t key = (uint32_t)dice_below(dice, n + 1);
        size_t first = 0;
        while (first < n && items[first].key != key)
            first++;
        HOLDS(find_key(w, items, n, key) == first);
    }
    free(items);
}

static void scans(weft *w, struct dice *dice, size_t n)
{
    bool in_place = dice_below(dice, 2), exclusive = dice_below(dice, 2);
    uint64_t *in = array_of(n, sizeof *in), *expected = array_of(n, sizeof *in),
             *out = in_place ? in : array_of(n, sizeof *in), carry = 0, total = 1;
    for (size_t i = 0; i < n; i++) {
        in[i] = dice_roll(dice) & ~(uint64_t)(i % 16 ? 1 : 0); /* odd ones are rare */
        expected[i] = carry;
        carry = in[i] % 2 ? in[i] : carry + in[i];
        if (!exclusive)
            expected[i] = carry;
    }
    if (!exclusive)
        scan(w, in, n, out);
    else
        scan_before(w, in, n, out, dice_below(dice, 2) ? &total : NULL);
    HOLDS(total == 1 || total == carry);
    expect(out, expected, n, n, sizeof *in);
    free(in);
    free(expected);
    if (!in_place)
        free(out);
}

static void filters(weft *w, struct dice *dice, size_t n)
{
    bool in_place = dice_below(dice, 2);
    size_t kept = 0;
    uint64_t *in = array_of(n, sizeof *in), *expected = array_of(n, sizeof *in),
             *out = in_place ? in : array_of(n, sizeof *in);
    for (size_t i = 0; i < n; i++) {
        in[i] = dice_roll(dice);
        if (in[i] >> 63)
            expected[kept++] = in[i];
    }
    HOLDS(filter(w, in, n, out) == kept);
    expect(out, expected, kept, n, sizeof *in);
    free(in);
    free(expected);
    if (!in_place)
        free(out);
}

/* Many repetitions, or hardly any: then each element stays where it is. What lies before the array
 * is equal to the first element, which is kept all the same. */
static void uniques(weft *w, struct dice *dice, size_t n)
{
    bool in_place = dice_below(dice, 2);
    size_t kept = 0, keys = dice_below(dice, 2) ? 3 : 100000;
    struct item *before = items_of(dice, n + 1, keys), *in = before + 1,
                *expected = array_of(n, sizeof *in), *out = in_place ? in : array_of(n, sizeof *in);
    before[0].key = in[0].key;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || in[i - 1].key != in[i].key)
            expected[kept++] = in[i];
    HOLDS(unique(w, in, n, out) == kept);
    expect(out, expected, kept, n, sizeof *in);
    free(before);
    free(expected);
    if (!in_place)
        free(out);
}

static void partitions(weft *w, struct dice *dice, size_t n)
{
    size_t yes = 0, no = 0, way = dice_below(dice, 3);
    struct item *in = items_of(dice, n, 100000), *low = array_of(n, sizeof *in),
                *high = array_of(n, sizeof *in), *out = array_of(n, sizeof *in),
                *more = array_of(n, sizeof *in);
    for (size_t i = 0; i < n; i++)
        if (in[i].key % 256 < 100)
            low[yes++] = in[i];
        else
            high[no++] = in[i];
    struct item *to_yes = way == 1 ? in : out, *to_no = way == 2 ? in : more;
    HOLDS(partition(w, in, n, to_yes, to_no) == yes);
    expect(to_yes, low, yes, n, sizeof *in);
    expect(to_no, high, no, n, sizeof *in);
    free(in);
    free(low);
    free(high);
    free(out);
    free(more);
}

static int by_key(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->place > y->place) - (x->place < y->place);
}

/* Places grow from a to b, and within each: so what is expected is what a sort makes. */
static void merges(weft *w, struct dice *dice, size_t n)
{
    size_t a_n = dice_below(dice, n + 1), keys = dice_below(dice, 2) ? 5 : 100000;
    struct item *in = items_of(dice, n, keys), *expected = array_of(n, sizeof *in),
                *out = array_of(n, sizeof *in);
    memcpy(expected, in, n * sizeof *in);
    qsort(in, a_n, sizeof *in, by_key);
    qsort(in + a_n, n - a_n, sizeof *in, by_key);
    qsort(expected, n, sizeof *in, by_key);
    merge(w, in, a_n, in + a_n, n - a_n, out);
    expect(out, expected, n, n, sizeof *in);
    free(in);
    free(expected);
    free(out);
}

/* Some elements are in no bin. Few bins have several tables, many bins have one. */
static void histograms(weft *w, struct dice *dice, size_t n)
{
    static const size_t sizes[] = {1, 7, 256, 1024, 1025, 5000};
    size_t bins = sizes[dice_below(dice, 6)];
    struct item *in = items_of(dice, n, bins + 1 + bins / 8);
    size_t *expected = calloc(bins, sizeof *expected), *counts = array_of(bins, sizeof *counts);
    HOLDS(expected);
    for (size_t i = 0; i < n; i++)
        if (in[i].key < bins)
            expected[in[i].key]++;
    histogram(w, in, n, counts, bins);
    expect(counts, expected, bins, bins, sizeof *counts);
    histogram(w, in, n, counts, 0);
    expect(counts, expected, bins, bins, sizeof *counts);
    free(in);
    free(expected);
    free(counts);
}

static form_fn *const forms[] = {maps,    visits, finds,      scans,     filters,
                                 uniques, merges, histograms, partitions};

enum { FORMS = sizeof forms / sizeof forms[0] };

/* ---- Long ones: what thieves have kept is moved in parallel ---- */

static form_fn *form;

static void of_any_length(weft *w, struct dice *dice)
{
    form(w, dice, dice_size(dice, 150000));
}

static void any_length(void **state)
{
    for (size_t i = 0; i < FORMS; i++) {
        form = forms[i];
        property_holds(of_any_length, SCALED(12, 2));
    }
}

/* ---- Short ones: all lengths ---- */

static void of_all_lengths(weft *w, void *arg)
{
    struct dice *dice = arg;
    for (size_t i = 0; i < FORMS; i++) {
        for (size_t n = 0; n < 70; n++)
            forms[i](w, dice, n);
        for (size_t n = 16 * 256 - 5; n < 16 * 256 + 5; n++)
            forms[i](w, dice, n);
    }
}

static void all_short_lengths(void **state)
{
    for (unsigned workers = 1; workers <= 16; workers += SANITIZED ? 5 : 1) {
        struct dice dice = {workers};
        weft_pool *pool = pool_make(workers, 0);
        assert_int_equal(weft_run(pool, of_all_lengths, &dice), 0);
        pool_drop(pool);
    }
}

/* ---- Failure ---- */

static inline bool never(struct item item)
{
    CHECK(false);
    return item.key;
}

static inline bool never_two(struct item a, struct item b)
{
    return never(a) || never(b);
}

static inline void never_raise(struct item *item)
{
    never(*item);
}

static inline struct item never_combine(struct item a, struct item b)
{
    never(a);
    return b;
}

static const struct item nothing = {0, 0};

WEFT_FOR_EACH_DEFINE(never_each, struct item, never_raise)
WEFT_FIND_DEFINE(never_find, struct item, never_two, struct item)
WEFT_SCAN_EXCLUSIVE_DEFINE(never_scan, struct item, nothing, never_combine)
WEFT_UNIQUE_DEFINE(never_unique, struct item, never_two)
WEFT_PARTITION_DEFINE(never_partition, struct item, never)
WEFT_MERGE_SORTED_DEFINE(never_merge, struct item, never_two)
WEFT_HISTOGRAM_DEFINE(never_histogram, struct item, never)

static void nothing_after_failure(weft *w, void *arg)
{
    enum { N = 1000 };
    struct item in[N] = {{0}}, out[2 * N], more[N], total = {1, 1};
    size_t counts[4] = {1, 1, 1, 1};
    weft_fail(w, -EDOM);
    never_each(w, in, N);
    CHECK(never_find(w, in, N, nothing) == N);
    never_scan(w, in, N, out, &total);
    CHECK(total.key == 0);
    CHECK(never_unique(w, in, N, out) == 0);
    CHECK(never_partition(w, in, N, out, more) == 0);
    never_merge(w, in, N, in, N, out);
    never_histogram(w, in, N, counts, 4);
    CHECK(counts[0] == 0 && counts[3] == 0);
}

static void failed_computations_start_nothing(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, nothing_after_failure, NULL), -EDOM);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_length),
        cmocka_unit_test(all_short_lengths),
        cmocka_unit_test(failed_computations_start_nothing),
    };
    return RUN_ON_ALL_ROADS(tests);
}
