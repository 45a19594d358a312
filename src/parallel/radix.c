/* SPDX-License-Identifier: MIT */
/* Sorting numbers by their digits. An array that does not fit into a cache is split by comparisons,
 * by sort.c. This file sorts the parts that fit: by their highest bits, the lower digit of these
 * first. So many bits are used that hardly two numbers have the same; numbers that have the same
 * are then sorted by their other bits. So the large array is moved in order, and the second array
 * need not be as large as the first. */
#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/sort.h"

enum {
    RADIX_CACHE = 1 << 19, /* bytes: a second-level cache; there are two arrays of this size */
    RADIX_STACK = 1 << 12, /* bytes: the second array is on the stack up to this size */
    RADIX_DIGIT = 11,      /* bits, at most */
    RADIX_APART = 6,       /* so many bits more than are needed to number the elements */
};

/* ---- What depends on the type ---- */

struct digits {
    const weft_sorter_ *sorter;
    uint64_t (*differ)(const void *from, size_t n); /* the bits in which the numbers differ */
    void (*count)(const void *from, size_t n, unsigned shift, uint64_t mask, size_t *counts);
    void (*move)(const void *from, size_t n, void *to, unsigned shift, uint64_t mask,
                 size_t *places);
    /* The index of the next two numbers that are the same above `shift`, or n; and the end of the
     * numbers that are the same as that. */
    size_t (*next_same)(const void *from, size_t i, size_t n, unsigned shift);
    size_t (*end_same)(const void *from, size_t i, size_t n, unsigned shift);
};

/* ---- Sorting what fits into a cache ---- */

struct piece {
    const struct digits *digits;
    char *from, *other; /* this piece in both arrays */
    size_t n;
};

static void sort_piece(const struct piece *p);

static void sort_by(const struct piece *p, const char *from, char *to, unsigned shift,
                    unsigned bits)
{
    size_t places[1 << RADIX_DIGIT], next = 0;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    memset(places, 0, (mask + 1) * sizeof places[0]);
    p->digits->count(from, p->n, shift, mask, places);
    for (uint64_t digit = 0; digit <= mask; digit++) {
        size_t count = places[digit];
        places[digit] = next;
        next += count;
    }
    p->digits->move(from, p->n, to, shift, mask, places);
}

/* The numbers are in order, except those that are the same above `shift`: sorts these. */
static void settle(const struct piece *p, unsigned shift)
{
    const struct digits *d = p->digits;
    size_t size = d->sorter->size;
    for (size_t i, end = 0; (i = d->next_same(p->from, end, p->n, shift)) < p->n;) {
        end = d->end_same(p->from, i, p->n, shift);
        sort_piece(&(struct piece){d, p->from + i * size, p->other + i * size, end - i});
    }
}

/* All numbers have the same bits above the lowest `bits`. */
static void sort_digits(const struct piece *p, unsigned bits)
{
    unsigned used = RADIX_APART;
    for (size_t n = p->n; n > 1; n /= 2)
        used++;
    if (used > bits)
        used = bits;
    if (used > 2 * RADIX_DIGIT)
        used = 2 * RADIX_DIGIT;
    unsigned shift = bits - used, low = used / 2;
    sort_by(p, p->from, p->other, shift, low);
    sort_by(p, p->other, p->from, shift + low, used - low);
    if (shift > 0)
        settle(p, shift);
}

static void sort_piece(const struct piece *p)
{
    if (p->n <= p->digits->sorter->few) {
        p->digits->sorter->small(p->from, p->from, p->n, NULL);
        return;
    }
    uint64_t differ = p->digits->differ(p->from, p->n);
    if (differ != 0)
        sort_digits(p, 64 - (unsigned)__builtin_clzll(differ));
}

static void sort_part(const struct digits *digits, void *base, size_t n)
{
    WEFT_ALIGNAS(8) char near[RADIX_STACK];
    size_t size = n * digits->sorter->size;
    char *far = size > sizeof near ? weft__scratch(size) : NULL;
    if (size > sizeof near && !far)
        weft__sort_heap(base, n, digits->sorter, NULL);
    else
        sort_piece(&(struct piece){digits, base, far ? far : near, n});
    weft__free(far);
}

/* ---- The types ---- */

/* Numbers are read as words, whatever their type is. */
typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

/* An unsigned number that has the same order. The sign bit of a signed number is inverted. Of a
 * negative floating-point number all bits are inverted, since its sign is a bit of its own. */
#define KEY_UNSIGNED(x) (x)
#define KEY_I32(x) ((x) ^ UINT32_C(1) << 31)
#define KEY_I64(x) ((x) ^ UINT64_C(1) << 63)
#define KEY_F32(x) ((x) ^ (-((x) >> 31) | UINT32_C(1) << 31))
#define KEY_F64(x) ((x) ^ (-((x) >> 63) | UINT64_C(1) << 63))

#define DIGITS(name, word, KEY)                                                                  \
    WEFT_SORTER_(name, word, KEY(*a_) < KEY(*b_))                                                \
    static uint64_t name##_differ(const void *from, size_t n)                                    \
    {                                                                                            \
        const word *a = from;                                                                    \
        word first = KEY(a[0]), bits = 0;                                                        \
        for (size_t i = 1; i < n; i++)                                                           \
            bits |= KEY(a[i]) ^ first;                                                           \
        return bits;                                                                             \
    }                                                                                            \
    static void name##_count(const void *from, size_t n, unsigned shift, uint64_t mask,          \
                             size_t *counts)                                                     \
    {                                                                                            \
        const word *a = from;                                                                    \
        for (size_t i = 0; i < n; i++)                                                           \
            counts[KEY(a[i]) >> shift & mask]++;                                                 \
    }                                                                                            \
    static void name##_move(const void *from, size_t n, void *to, unsigned shift, uint64_t mask, \
                            size_t *places)                                                      \
    {                                                                                            \
        const word *a = from;                                                                    \
        word *t = to;                                                                            \
        for (size_t i = 0; i < n; i++)                                                           \
            t[places[KEY(a[i]) >> shift & mask]++] = a[i];                                       \
    }                                                                                            \
    static size_t name##_next_same(const void *from, size_t i, size_t n, unsigned shift)         \
    {                                                                                            \
        const word *a = from;                                                                    \
        while (i + 1 < n && KEY(a[i]) >> shift != KEY(a[i + 1]) >> shift)                        \
            i++;                                                                                 \
        return i + 1 < n ? i : n;                                                                \
    }                                                                                            \
    static size_t name##_end_same(const void *from, size_t i, size_t n, unsigned shift)          \
    {                                                                                            \
        const word *a = from;                                                                    \
        word first = KEY(a[i]) >> shift;                                                         \
        while (i < n && KEY(a[i]) >> shift == first)                                             \
            i++;                                                                                 \
        return i;                                                                                \
    }                                                                                            \
    static const struct digits name##_digits = {                                                 \
        &name##_sorter_, name##_differ,    name##_count,                                         \
        name##_move,     name##_next_same, name##_end_same};                                     \
    static void name##_sort(const void *from, void *to, size_t n, void *arg)                     \
    {                                                                                            \
        (void)from;                                                                              \
        (void)arg;                                                                               \
        sort_part(&name##_digits, to, n);                                                        \
    }                                                                                            \
    static const weft_sorter_ name##_radix = {                                                   \
        sizeof(word), RADIX_CACHE / sizeof(word), name##_less_any_,    name##_median_,           \
        name##_sort,  name##_split_less_,         name##_split_least_, name##_merge_};

DIGITS(u32, word32, KEY_UNSIGNED)
DIGITS(i32, word32, KEY_I32)
DIGITS(f32, word32, KEY_F32)
DIGITS(u64, word64, KEY_UNSIGNED)
DIGITS(i64, word64, KEY_I64)
DIGITS(f64, word64, KEY_F64)

void weft_sort_u32(weft *w, uint32_t *base, size_t n)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, sizeof base[0]);
    weft_sort_by_(w, base, n, &u32_radix, NULL);
}

void weft_sort_i32(weft *w, int32_t *base, size_t n)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, sizeof base[0]);
    weft_sort_by_(w, base, n, &i32_radix, NULL);
}

void weft_sort_f32(weft *w, float *base, size_t n)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, sizeof base[0]);
    weft_sort_by_(w, base, n, &f32_radix, NULL);
}

void weft_sort_u64(weft *w, uint64_t *base, size_t n)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, sizeof base[0]);
    weft_sort_by_(w, base, n, &u64_radix, NULL);
}

void weft_sort_i64(weft *w, int64_t *base, size_t n)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, sizeof base[0]);
    weft_sort_by_(w, base, n, &i64_radix, NULL);
}

void weft_sort_f64(weft *w, double *base, size_t n)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(base, n, sizeof base[0]);
    weft_sort_by_(w, base, n, &f64_radix, NULL);
}
