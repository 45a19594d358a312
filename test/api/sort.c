/* SPDX-License-Identifier: MIT */
/* sort.c: every sort against qsort, over patterns, lengths and element sizes; stability;
 * comparisons that lie; failure in the middle of it. */
#include "check.h"
#include "elements.h"
#include "pools.h"
#include "watchdog.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/parallel.h>
#include <weft/sort.h>

static weft_pool *alone, *several;

static int make_pools(void **state)
{
    alone = pool_make(1, 0);
    several = pool_make(4, 0);
    return 0;
}

static int drop_pools(void **state)
{
    pool_drop(alone);
    pool_drop(several);
    return 0;
}

/* ---- Elements of any size ---- */

typedef void sort_fn(weft *w, void *base, size_t n, size_t size, weft_compare_fn *compare,
                     void *arg);

struct any {
    sort_fn *sort;
    struct elements *elements;
    weft_compare_fn *compare;
    void *arg;
};

static void any_job(weft *w, void *arg)
{
    struct any *a = arg;
    struct elements *e = a->elements;
    a->sort(w, e->base, e->n, e->size, a->compare, a->arg);
}

static void sort_elements(weft_pool *pool, sort_fn *sort, struct elements *e)
{
    struct any any = {sort, e, element_compare, &e->size};
    assert_int_equal(weft_run(pool, any_job, &any), 0);
    watchdog_kick();
}

static void try_sort(sort_fn *sort, enum pattern pattern, size_t n, size_t size, size_t offset)
{
    for (int k = 0; k < 2; k++) {
        struct elements given, e;
        elements_make(&given, pattern, n, size, 0);
        elements_make(&e, pattern, n, size, offset);
        sort_elements(k ? several : alone, sort, &e);
        bool good = (sort == weft_sort ? elements_are_sorted : elements_are_stable)(&e) &&
                    elements_are_those(&e, &given);
        if (!good)
            print_error("%s, %zu elements of %zu bytes\n", pattern_names[pattern], n, size);
        assert_true(good);
        elements_free(&e);
        elements_free(&given);
    }
}

static const size_t lengths[] = {0,   1,   2,   3,   4,   5,    6,    7,    8,     9,
                                 15,  16,  17,  31,  32,  33,   63,   64,   65,    100,
                                 129, 511, 512, 513, 700, 1024, 1025, 4096, 10007, 40000};
static const size_t sizes[] = {1,  2,  3,  4,  5,  7,  8,   12,  16,  20,
                               24, 32, 33, 40, 48, 64, 128, 512, 520, 4096};

enum { LENGTHS = sizeof lengths / sizeof lengths[0], SIZES = sizeof sizes / sizeof sizes[0] };

static void try_all(sort_fn *sort)
{
    const size_t most = SCALED(40000, 8); /* bytes */
    for (size_t i = 0; i < LENGTHS; i++)
        for (size_t j = 0; j < SIZES; j++)
            for (enum pattern p = 0; p < PATTERNS && lengths[i] * sizes[j] <= most; p++)
                try_sort(sort, p, lengths[i], sizes[j], 0);
}

static void any_size(void **state)
{
    try_all(weft_sort);
}

static void any_size_stable(void **state)
{
    try_all(weft_sort_stable);
}

/* Elements that a structure with a smaller alignment could have. */
static void misaligned(void **state)
{
    for (size_t j = 0; j < SIZES && sizes[j] <= 64; j++)
        for (size_t offset = 1; offset <= 16; offset *= 2) {
            try_sort(weft_sort, PATTERN_RANDOM, 300, sizes[j], offset);
            try_sort(weft_sort_stable, PATTERN_RANDOM, 300, sizes[j], offset);
        }
}

static void sort_nothing(weft *w, void *arg)
{
    weft_sort(w, NULL, 0, 8, element_compare, NULL);
    weft_sort(w, NULL, 5, 0, element_compare, NULL);
    weft_sort_stable(w, NULL, 0, 8, element_compare, NULL);
    weft_sort_stable(w, NULL, 5, 0, element_compare, NULL);
    weft_sort_u64(w, NULL, 0);
    weft_sort_f32(w, NULL, 0);
}

static void nothing(void **state)
{
    assert_int_equal(weft_run(several, sort_nothing, NULL), 0);
}

/* ---- One type ---- */

#define LESS(a, b) ((a) < (b))
WEFT_SORT_DEFINE(sort_words, uint64_t, LESS)
WEFT_SORT_DEFINE(sort_doubles, double, LESS)
WEFT_SORT_DEFINE(sort_bytes, unsigned char, LESS)

struct thing {
    uint64_t key;
    char rest[40];
    uint64_t number;
};

static inline bool thing_less(struct thing a, struct thing b)
{
    return a.key < b.key;
}

WEFT_SORT_DEFINE(sort_things, struct thing, thing_less)
WEFT_SORT_STABLE_DEFINE(sort_things_stable, struct thing, thing_less)

struct large {
    uint64_t key;
    char rest[1000];
};

static inline bool large_less(struct large a, struct large b)
{
    return a.key < b.key;
}

WEFT_SORT_DEFINE(sort_large, struct large, large_less)
WEFT_SORT_STABLE_DEFINE(sort_large_stable, struct large, large_less)

struct array {
    void *base;
    size_t n;
};

static void words_job(weft *w, void *arg)
{
    struct array *a = arg;
    sort_words(w, a->base, a->n);
}

static int word_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void typed_words(void **state)
{
    for (size_t i = 0; i < LENGTHS; i++)
        for (enum pattern p = 0; p < PATTERNS; p++) {
            struct array a = {malloc(lengths[i] * 8 + 1), lengths[i]};
            uint64_t *words = a.base, *wanted = malloc(lengths[i] * 8 + 1);
            assert_true(words && wanted);
            for (size_t k = 0; k < a.n; k++)
                words[k] = wanted[k] = pattern_key(p, k, a.n);
            qsort(wanted, a.n, sizeof *wanted, word_compare);
            assert_int_equal(weft_run(i % 2 ? several : alone, words_job, &a), 0);
            assert_memory_equal(words, wanted, a.n * sizeof *words);
            free(words);
            free(wanted);
        }
}

static void things_job(weft *w, void *arg)
{
    struct array *a = arg;
    struct thing *things = a->base;
    sort_things(w, things, a->n);
    for (size_t i = 1; i < a->n; i++)
        CHECK(things[i - 1].key <= things[i].key);
    for (size_t i = 0; i < a->n; i++)
        CHECK(things[i].key == pattern_key(PATTERN_SAW, things[i].number, a->n));
    for (size_t i = 0; i < a->n; i++)
        things[i] = (struct thing){.key = pattern_key(PATTERN_SAW, i, a->n), .number = i};
    sort_things_stable(w, things, a->n);
    for (size_t i = 1; i < a->n; i++)
        CHECK(things[i - 1].key < things[i].key ||
              (things[i - 1].key == things[i].key && things[i - 1].number < things[i].number));
}

static void typed_structures(void **state)
{
    for (size_t n = 1; n < 20000; n = n * 2 + 1) {
        struct array a = {calloc(n, sizeof(struct thing)), n};
        struct thing *things = a.base;
        assert_non_null(things);
        for (size_t i = 0; i < n; i++)
            things[i] = (struct thing){.key = pattern_key(PATTERN_SAW, i, n), .number = i};
        assert_int_equal(weft_run(several, things_job, &a), 0);
        free(things);
    }
}

static void large_job(weft *w, void *arg)
{
    struct array *a = arg;
    struct large *large = a->base;
    for (int stable = 0; stable < 2; stable++) {
        for (size_t i = 0; i < a->n; i++)
            large[i] = (struct large){.key = pattern_key(PATTERN_RANDOM, i, a->n)};
        if (stable)
            sort_large_stable(w, large, a->n);
        else
            sort_large(w, large, a->n);
        for (size_t i = 1; i < a->n; i++)
            CHECK(large[i - 1].key <= large[i].key);
    }
}

static void typed_large_structures(void **state)
{
    struct array a = {calloc(700, sizeof(struct large)), 700};
    assert_non_null(a.base);
    assert_int_equal(weft_run(several, large_job, &a), 0);
    free(a.base);
}

static void bytes_job(weft *w, void *arg)
{
    struct array *a = arg;
    sort_bytes(w, a->base, a->n);
}

static void typed_bytes(void **state)
{
    enum { N = 5000 };
    unsigned char bytes[N];
    struct array a = {bytes, N};
    for (size_t i = 0; i < N; i++)
        bytes[i] = (unsigned char)pattern_key(PATTERN_RANDOM, i, N);
    assert_int_equal(weft_run(several, bytes_job, &a), 0);
    for (size_t i = 1; i < N; i++)
        assert_true(bytes[i - 1] <= bytes[i]);
}

/* A comparison that says of NaN that it is equal to everything contradicts itself. */
static void doubles_job(weft *w, void *arg)
{
    struct array *a = arg;
    sort_doubles(w, a->base, a->n);
}

static void typed_with_nan(void **state)
{
    enum { N = 3000 };
    double numbers[N];
    struct array a = {numbers, N};
    size_t nans = 0;
    double sum = 0, sum_after = 0;
    for (size_t i = 0; i < N; i++) {
        numbers[i] = i % 7 == 3 ? NAN : (double)(pattern_key(PATTERN_RANDOM, i, N) % 1000);
        sum += isnan(numbers[i]) ? 0 : numbers[i];
    }
    assert_int_equal(weft_run(several, doubles_job, &a), 0);
    for (size_t i = 0; i < N; i++) {
        nans += isnan(numbers[i]) != 0;
        sum_after += isnan(numbers[i]) ? 0 : numbers[i];
    }
    assert_int_equal(nans, (N + 3) / 7);
    assert_true(sum == sum_after);
}

/* ---- Numbers ---- */

/* Bits that are interesting as integers and as floating-point numbers, among random ones. */
static uint64_t number_bits(enum pattern p, size_t i, size_t n)
{
    static const uint64_t special[] = {0,
                                       UINT64_MAX,
                                       UINT64_C(1) << 63,
                                       UINT64_C(0x7ff0) << 48,
                                       UINT64_C(0xfff0) << 48,
                                       UINT64_C(0x7ff8) << 48,
                                       UINT64_C(0x800000007f800000),
                                       UINT64_C(0xff80000080000000),
                                       UINT64_C(0x7fffffff7fc00001),
                                       1};
    uint64_t key = pattern_key(p, i, n);
    if (p == PATTERN_RANDOM && key % 16 == 0)
        return special[key / 16 % (sizeof special / sizeof special[0])];
    return p == PATTERN_ORGAN ? key * UINT64_C(0x0100010001000100) : key;
}

#define ORDER_UNSIGNED(x) (x)
#define ORDER_SIGNED(x, top) ((x) ^ (top))
#define ORDER_FLOAT(x, top) ((x) & (top) ? ~(x) : (x) | (top))
#define TOP32 (UINT32_C(1) << 31)
#define TOP64 (UINT64_C(1) << 63)

/* Sorts as `type`, and compares with qsort of what has the same order as `word`. */
#define NUMBERS(name, type, word, order)                                          \
    static int name##_compare(const void *a, const void *b)                       \
    {                                                                             \
        word x = *(const word *)a, y = *(const word *)b;                          \
        word p = order(x), q = order(y);                                          \
        return (p > q) - (p < q);                                                 \
    }                                                                             \
    static void name##_job(weft *w, void *arg)                                    \
    {                                                                             \
        struct array *a = arg;                                                    \
        weft_sort_##name(w, a->base, a->n);                                       \
    }                                                                             \
    static void try_##name(weft_pool *pool, enum pattern p, size_t n)             \
    {                                                                             \
        struct array a = {malloc(n * sizeof(type)), n};                           \
        word *wanted = malloc(n * sizeof(word));                                  \
        assert_true(n == 0 || (a.base && wanted));                                \
        for (size_t i = 0; i < n; i++)                                            \
            wanted[i] = (word)number_bits(p, i, n);                               \
        if (n > 0)                                                                \
            memcpy(a.base, wanted, n * sizeof(type));                             \
        qsort(wanted, n, sizeof(word), name##_compare);                           \
        assert_int_equal(weft_run(pool, name##_job, &a), 0);                      \
        assert_memory_equal(a.base, wanted, n * sizeof(type));                    \
        free(a.base);                                                             \
        free(wanted);                                                             \
    }                                                                             \
    static void numbers_##name(void **state)                                      \
    {                                                                             \
        for (enum pattern p = 0; p < PATTERNS; p++) {                             \
            for (size_t i = 0; i < LENGTHS; i++)                                  \
                try_##name(i % 2 ? several : alone, p, lengths[i]);               \
            if (p == PATTERN_RANDOM || p == PATTERN_ORGAN || p == PATTERN_SKEWED) \
                try_##name(several, p, SCALED(200000, 2));                        \
            watchdog_kick();                                                      \
        }                                                                         \
    }

#define ORDER_I32(x) ORDER_SIGNED(x, TOP32)
#define ORDER_I64(x) ORDER_SIGNED(x, TOP64)
#define ORDER_F32(x) ORDER_FLOAT(x, TOP32)
#define ORDER_F64(x) ORDER_FLOAT(x, TOP64)

NUMBERS(u32, uint32_t, uint32_t, ORDER_UNSIGNED)
NUMBERS(i32, int32_t, uint32_t, ORDER_I32)
NUMBERS(f32, float, uint32_t, ORDER_F32)
NUMBERS(u64, uint64_t, uint64_t, ORDER_UNSIGNED)
NUMBERS(i64, int64_t, uint64_t, ORDER_I64)
NUMBERS(f64, double, uint64_t, ORDER_F64)

static void order_job(weft *w, void *arg)
{
    double numbers[] = {1, NAN, -0.0, INFINITY, 0.0, -1, -INFINITY, -NAN};
    weft_sort_f64(w, numbers, 8);
    CHECK(isnan(numbers[0]) && signbit(numbers[0]) && numbers[1] == -INFINITY && numbers[2] == -1);
    CHECK(numbers[3] == 0 && signbit(numbers[3]) && numbers[4] == 0 && !signbit(numbers[4]));
    CHECK(numbers[5] == 1 && numbers[6] == INFINITY && isnan(numbers[7]) && !signbit(numbers[7]));
}

static void order_of_floats(void **state)
{
    assert_int_equal(weft_run(alone, order_job, NULL), 0);
}

/* ---- Comparisons that lie ---- */

/* What it is given is always an element. */
struct liar {
    size_t size;
    atomic_ulong calls;
};

static void look_at(const struct liar *liar, const void *a, const void *b)
{
    CHECK(element_is_whole(a, liar->size) && element_is_whole(b, liar->size));
}

static int always_less(const void *a, const void *b, void *liar)
{
    look_at(liar, a, b);
    return -1;
}

static int always_greater(const void *a, const void *b, void *liar)
{
    look_at(liar, a, b);
    return 1;
}

static int always_equal(const void *a, const void *b, void *liar)
{
    look_at(liar, a, b);
    return 0;
}

static int by_chance(const void *a, const void *b, void *arg)
{
    struct liar *liar = arg;
    look_at(liar, a, b);
    return (int)(pattern_key(PATTERN_RANDOM, atomic_fetch_add(&liar->calls, 1), 0) % 3) - 1;
}

static int in_a_circle(const void *a, const void *b, void *arg)
{
    struct liar *liar = arg;
    look_at(liar, a, b);
    unsigned x = element_key(a, liar->size) % 3, y = element_key(b, liar->size) % 3;
    return x == y ? 0 : (x + 1) % 3 == y ? -1 : 1;
}

/* True at first, then the other way round. */
static int changing(const void *a, const void *b, void *arg)
{
    struct liar *liar = arg;
    int truth = element_compare(a, b, &liar->size);
    return atomic_fetch_add(&liar->calls, 1) / 1000 % 2 ? -truth : truth;
}

static void hear_liar(sort_fn *sort, weft_compare_fn *compare, size_t n, size_t size)
{
    for (int k = 0; k < 2; k++) {
        struct elements given, e;
        struct liar liar = {.size = size};
        elements_make(&given, PATTERN_RANDOM, n, size, 0);
        elements_copy(&e, &given);
        struct any any = {sort, &e, compare, &liar};
        assert_int_equal(weft_run(k ? several : alone, any_job, &any), 0);
        assert_true(elements_are_those(&e, &given));
        elements_free(&e);
        elements_free(&given);
        watchdog_kick();
    }
}

static void liars(void **state)
{
    weft_compare_fn *const all[] = {always_less, always_greater, always_equal,
                                    by_chance,   in_a_circle,    changing};
    static const size_t ns[] = {2, 3, 4, 5, 9, 31, 32, 33, 100, 513, 1500};
    static const size_t liar_sizes[] = {8, 24, 33};
    for (size_t c = 0; c < sizeof all / sizeof all[0]; c++)
        for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++)
            for (size_t j = 0; j < sizeof liar_sizes / sizeof liar_sizes[0]; j++) {
                hear_liar(weft_sort, all[c], ns[i], liar_sizes[j]);
                hear_liar(weft_sort_stable, all[c], ns[i], liar_sizes[j]);
            }
    hear_liar(weft_sort, by_chance, SCALED(100000, 5),
              8); /* so many that several split and merge */
    hear_liar(weft_sort_stable, by_chance, SCALED(100000, 5), 8);
}

/* ---- How many comparisons ---- */

struct counted {
    size_t calls;
    uint64_t *values; /* of the adversary */
    uint64_t solid, gas;
    size_t candidate;
};

static int count_compare(const void *a, const void *b, void *arg)
{
    struct counted *c = arg;
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    c->calls++;
    return (x > y) - (x < y);
}

/* McIlroy's adversary: decides what a value is when it is first compared, so that the pivot is
 * always among the smallest. Elements are numbers into `values`. */
static int adversary(const void *a, const void *b, void *arg)
{
    struct counted *c = arg;
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    c->calls++;
    if (c->values[x] == c->gas && c->values[y] == c->gas)
        c->values[x == c->candidate ? x : y] = c->solid++;
    if (c->values[x] == c->gas)
        c->candidate = x;
    else if (c->values[y] == c->gas)
        c->candidate = y;
    return (c->values[x] > c->values[y]) - (c->values[x] < c->values[y]);
}

enum { KILLED = 20000 };

struct kill {
    uint64_t *words;
    weft_compare_fn *compare;
    struct counted *counted;
};

static void kill_job(weft *w, void *arg)
{
    struct kill *k = arg;
    weft_sort(w, k->words, KILLED, sizeof *k->words, k->compare, k->counted);
}

static size_t comparisons(uint64_t *words, weft_compare_fn *compare, struct counted *counted)
{
    struct kill kill = {words, compare, counted};
    counted->calls = 0;
    assert_int_equal(weft_run(alone, kill_job, &kill), 0);
    return counted->calls;
}

static void no_pattern_is_bad(void **state)
{
    static uint64_t words[KILLED];
    struct counted counted = {0};
    size_t most = 2 * KILLED * 15; /* 2 n log2(n) */
    for (enum pattern p = 0; p < PATTERNS; p++) {
        for (size_t i = 0; i < KILLED; i++)
            words[i] = pattern_key(p, i, KILLED);
        assert_in_range(comparisons(words, count_compare, &counted), KILLED - 1, most);
    }
}

static void killer_sequences(void **state)
{
    static uint64_t words[KILLED], values[KILLED];
    struct counted counted = {.values = values, .gas = KILLED};
    for (size_t i = 0; i < KILLED; i++) {
        words[i] = i;
        values[i] = KILLED;
    }
    values[0] = 1; /* so that it does not seem to be sorted already */
    values[1] = 0;
    counted.solid = 2;
    /* While it is made up it may take the heap; that is O(n log n), too. */
    assert_in_range(comparisons(words, adversary, &counted), KILLED, 4 * KILLED * 15);
    assert_in_range(comparisons(values, count_compare, &counted), KILLED, 2 * KILLED * 15);
    for (size_t i = 1; i < KILLED; i++)
        assert_true(values[i - 1] <= values[i]);
}

/* ---- Failure ---- */

struct failing {
    struct any any;
    size_t size;
    atomic_ulong calls;
    unsigned long at; /* which comparison fails */
};

static int fail_compare(const void *a, const void *b, void *arg)
{
    struct failing *f = arg;
    if (atomic_fetch_add(&f->calls, 1) == f->at)
        weft_fail(weft_here(), -EIO);
    return element_compare(a, b, &f->size);
}

static void fail_at(sort_fn *sort, unsigned long at, size_t size)
{
    struct elements given, e;
    elements_make(&given, PATTERN_RANDOM, SCALED(80000, 4), size, 0);
    elements_copy(&e, &given);
    struct failing f = {.any = {sort, &e, fail_compare, NULL}, .size = size, .at = at};
    f.any.arg = &f;
    assert_int_equal(weft_run(several, any_job, &f), -EIO);
    assert_true(elements_are_those(&e, &given));
    elements_free(&e);
    elements_free(&given);
}

static void failure_loses_nothing(void **state)
{
    for (unsigned long at = 0; at < 150000; at = at * 3 + 1) {
        watchdog_kick();
        fail_at(weft_sort, at, 8);
        fail_at(weft_sort_stable, at, 8);
        fail_at(weft_sort_stable, at, 20);
    }
}

struct race {
    uint64_t *words;
    size_t n;
    atomic_bool started;
};

static void fail_job(weft *w, void *arg)
{
    weft_fail(w, -EIO);
}

static void number_job(weft *w, void *arg)
{
    struct race *r = arg;
    weft_sort_u64(w, r->words, r->n);
}

static void race_job(weft *w, void *arg)
{
    weft_join(w, number_job, arg, fail_job, arg);
}

static void fail_first_job(weft *w, void *arg)
{
    weft_fail(w, -EIO);
    number_job(w, arg);
}

static void numbers_survive_failure(void **state)
{
    enum { N = SCALED(400000, 4) };
    struct race r = {.words = malloc(N * sizeof *r.words), .n = N};
    assert_non_null(r.words);
    for (int round = 0; round < 12; round++) {
        for (size_t i = 0; i < N; i++)
            r.words[i] = pattern_key(PATTERN_RANDOM, i, N);
        uint64_t sum = 0;
        for (size_t i = 0; i < N; i++)
            sum += r.words[i] * r.words[i];
        assert_int_equal(weft_run(several, round % 2 ? race_job : fail_first_job, &r), -EIO);
        for (size_t i = 0; i < N; i++)
            sum -= r.words[i] * r.words[i];
        assert_true(sum == 0);
    }
    free(r.words);
}

/* ---- Sorting inside sorting ---- */

static int nested_compare(const void *a, const void *b, void *arg)
{
    uint32_t digits[2][3];
    for (int k = 0; k < 2; k++) {
        uint32_t x = *(const uint32_t *)(k ? b : a);
        memcpy(digits[k], (uint32_t[]){x % 10, x / 10 % 10, x / 100 % 10}, sizeof digits[k]);
        weft_sort_u32(weft_here(), digits[k], 3);
    }
    uint32_t x = digits[0][2] * 100 + digits[0][1] * 10 + digits[0][0];
    uint32_t y = digits[1][2] * 100 + digits[1][1] * 10 + digits[1][0];
    return (x > y) - (x < y);
}

enum { ROWS = 16, ROW = 2000 };

static void row_job(weft *w, void *row)
{
    weft_sort(w, row, ROW, sizeof(uint32_t), nested_compare, NULL);
}

static void rows_job(weft *w, void *arg)
{
    uint32_t(*rows)[ROW] = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < ROWS; i++)
        CHECK(weft_spawn(w, &scope, row_job, rows[i]) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void rows_sorted_job(weft *w, void *arg)
{
    uint32_t(*rows)[ROW] = arg;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 1; k < ROW; k++)
            CHECK(nested_compare(&rows[i][k - 1], &rows[i][k], NULL) <= 0);
}

static void nested(void **state)
{
    static uint32_t rows[ROWS][ROW];
    for (size_t i = 0; i < ROWS * ROW; i++)
        rows[i / ROW][i % ROW] = (uint32_t)pattern_key(PATTERN_RANDOM, i, 0) % 1000;
    assert_int_equal(weft_run(several, rows_job, rows), 0);
    assert_int_equal(weft_run(alone, rows_sorted_job, rows), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_size),
        cmocka_unit_test(any_size_stable),
        cmocka_unit_test(misaligned),
        cmocka_unit_test(nothing),
        cmocka_unit_test(typed_words),
        cmocka_unit_test(typed_structures),
        cmocka_unit_test(typed_large_structures),
        cmocka_unit_test(typed_bytes),
        cmocka_unit_test(typed_with_nan),
        cmocka_unit_test(numbers_u32),
        cmocka_unit_test(numbers_i32),
        cmocka_unit_test(numbers_f32),
        cmocka_unit_test(numbers_u64),
        cmocka_unit_test(numbers_i64),
        cmocka_unit_test(numbers_f64),
        cmocka_unit_test(order_of_floats),
        cmocka_unit_test(liars),
        cmocka_unit_test(no_pattern_is_bad),
        cmocka_unit_test(killer_sequences),
        cmocka_unit_test(failure_loses_nothing),
        cmocka_unit_test(numbers_survive_failure),
        cmocka_unit_test(nested),
    };
    return run_on_all_roads(tests, sizeof tests / sizeof tests[0], make_pools, drop_pools);
}
