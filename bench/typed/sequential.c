/* SPDX-License-Identifier: MIT */
#include "typed.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

/* ---- The twins: without branches that nobody could foresee, and with copies of what they need,
 * which no store can change ---- */

static void plain_each(struct typed *t)
{
    uint64_t *numbers = t->in;
    for (size_t i = 0, n = t->count; i < n; i++)
        typed_change(&numbers[i]);
}

static void plain_histogram(struct typed *t)
{
    const uint64_t *in = t->in;
    size_t *counts = t->counts;
    memset(counts, 0, sizeof t->counts);
    for (size_t i = 0, n = t->count; i < n; i++)
        counts[typed_bin(in[i])]++;
}

static size_t bin_by_call(struct weft *w, const void *element, void *arg)
{
    (void)w;
    (void)arg;
    return typed_bin(*(const uint64_t *)element);
}

static void plain_calls(struct typed *t)
{
    const struct typed all = *t;
    size_t *counts = t->counts;
    memset(counts, 0, sizeof t->counts);
    for (size_t i = 0; i < all.count; i++) {
        size_t bin = all.bin(all.w, &all.in[i], all.arg);
        if (bin < TYPED_BINS)
            counts[bin]++;
    }
}

static void plain_partition(struct typed *t)
{
    const uint64_t *in = t->in;
    uint64_t *yes = t->out, *no = t->more;
    for (size_t i = 0, n = t->count; i < n; i++) {
        uint64_t number = in[i];
        bool kept = typed_keep(number);
        *yes = *no = number;
        yes += kept;
        no += !kept;
    }
    t->result = (uint64_t)(yes - t->out);
}

static void plain_unique(struct typed *t)
{
    const uint64_t *in = t->in;
    uint64_t *to = t->out, before = in[0];
    *to++ = before;
    for (size_t i = 1, n = t->count; i < n; i++) {
        uint64_t number = in[i];
        *to = number;
        to += !typed_equal(before, number);
        before = number;
    }
    t->result = (uint64_t)(to - t->out);
}

static void plain_merge(struct typed *t)
{
    const uint64_t *a = t->in, *a_end = a + t->count / 2, *b = a_end, *b_end = t->in + t->count;
    uint64_t *to = t->out;
    while (a < a_end && b < b_end) {
        bool take_b = typed_less(*b, *a);
        *to++ = take_b ? *b : *a;
        b += take_b;
        a += !take_b;
    }
    memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
    t->result = t->count;
}

static void plain_exclusive(struct typed *t)
{
    const uint64_t *in = t->in;
    uint64_t *out = t->out, sum = 0;
    for (size_t i = 0, n = t->count; i < n; i++) {
        uint64_t number = in[i];
        out[i] = sum;
        sum = typed_add(sum, number);
    }
    t->result = t->count;
}

#define TWIN(name)                            \
    static void name##_times(void *data)      \
    {                                         \
        for (int i = 0; i < TYPED_TIMES; i++) \
            name(data);                       \
    }

TWIN(plain_each)
TWIN(plain_histogram)
TWIN(plain_calls)
TWIN(plain_partition)
TWIN(plain_unique)
TWIN(plain_merge)
TWIN(plain_exclusive)

/* ---- The data ---- */

static void *prepare(unsigned size)
{
    struct typed *t = calloc(1, sizeof *t);
    size_t count = (size_t)1 << size;
    uint64_t *all = calloc(3 * count, sizeof *all);
    if (!t || !all) {
        free(t);
        free(all);
        return NULL;
    }
    *t = (struct typed){
        .count = count, .in = all, .out = all + count, .more = all + 2 * count, .bin = bin_by_call};
    return t;
}

static void reset_random(void *data)
{
    struct typed *t = data;
    uint64_t random = 1;
    for (size_t i = 0; i < t->count; i++)
        t->in[i] = kernel_random(&random);
    memset(t->out, 0, 2 * t->count * sizeof *t->out);
    memset(t->counts, 0, sizeof t->counts);
    t->result = 0;
}

/* Both halves are sorted; every other number is equal to the one before. */
static void reset_sorted(void *data)
{
    struct typed *t = data;
    reset_random(data);
    for (size_t i = 0, number = 0; i < t->count; i++) {
        number = i == t->count / 2 ? 0 : number + (t->in[i] >> 63);
        t->in[i] = number;
    }
}

static uint64_t sum_of(const uint64_t *numbers, size_t count, uint64_t sum)
{
    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + numbers[i];
    return sum;
}

/* What lies behind the kept ones is not defined. */
static uint64_t checksum(const void *data)
{
    const struct typed *t = data;
    uint64_t sum = sum_of(t->out, t->result, sum_of(t->in, t->count, t->result));
    for (size_t i = 0; i < TYPED_BINS; i++)
        sum = sum * 31 + t->counts[i];
    return sum;
}

static uint64_t checksum_both(const void *data)
{
    const struct typed *t = data;
    return sum_of(t->more, t->count - t->result, checksum(data));
}

static double elements(const void *data)
{
    const struct typed *t = data;
    return (double)t->count * (double)TYPED_TIMES;
}

static void release(void *data)
{
    struct typed *t = data;
    free(t->in);
    free(t);
}

#define KERNEL(variable, title, resets, twin, check) \
    const struct kernel variable = {                 \
        .name = title,                               \
        .prepare = prepare,                          \
        .reset = resets,                             \
        .sequential = twin##_times,                  \
        .checksum = check,                           \
        .operations = elements,                      \
        .release = release,                          \
    }

KERNEL(each_kernel, "for-each", reset_random, plain_each, checksum);
KERNEL(histogram_kernel, "histogram", reset_random, plain_histogram, checksum);
KERNEL(histogram_calls_kernel, "histogram-calls", reset_random, plain_calls, checksum);
KERNEL(partition_kernel, "partition", reset_random, plain_partition, checksum_both);
KERNEL(unique_kernel, "unique", reset_sorted, plain_unique, checksum);
KERNEL(merge_kernel, "merge", reset_sorted, plain_merge, checksum);
KERNEL(exclusive_kernel, "scan-exclusive", reset_random, plain_exclusive, checksum);
