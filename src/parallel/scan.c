/* SPDX-License-Identifier: MIT */
/* Scans. Until a thief takes a part, this is the plain loop that carries along the combination of
 * all elements before. A thief does not know that for its part, so it begins with nothing. When all
 * to the left is done, the owner combines it with each element of the part, in a second loop.
 *
 * Both loops belong to a scanner: made by WEFT_SCAN_DEFINE, or one of those below, for elements of
 * any size and a function behind a pointer. */
#include "core/fiber.h"
#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/for.h"
#include "parallel/split.h"

/* ---- Any scanner ---- */

struct scan {
    const weft_scanner_ *scanner;
    void *arg;
    weft__key *key;       /* the function on which the cost of an element depends */
    const void *identity; /* NULL: a part begins with its first element */
};

/* A part that one thread scans, from the part's first element on. */
struct part {
    struct weft__cleanup cleanup; /* of the owner, if its actor ends before the part is joined */
    const struct scan *scan;
    struct weft__range range;
    void *carry;    /* space for the elements so far, combined; NULL: no thief has taken the part */
    bool has_carry; /* *carry has a value */
    bool no_memory;
};

/* Elements of a part that are still to be scanned. */
struct remaining {
    struct weft__range range;
    struct part *to;
};

static bool scan_here(weft *w, void *arg)
{
    const struct remaining *remaining = arg;
    struct part *to = remaining->to;
    const struct scan *scan = to->scan;
    scan->scanner->scan(w, remaining->range.begin, remaining->range.end, to->carry, to->has_carry,
                        scan->arg);
    to->has_carry = true;
    return true;
}

/* Combines what came before the part with each of its elements. */
struct repair {
    const struct scan *scan;
    const void *before;
};

static void repair_range(weft *w, size_t begin, size_t end, void *arg)
{
    const struct repair *repair = arg;
    repair->scan->scanner->repair(w, begin, end, repair->before, repair->scan->arg);
}

/* A part has no carry only if the computation was cancelled before the part had begun. */
static void join(weft *w, struct part *to, const struct part *right)
{
    const struct scan *scan = to->scan;
    if (to->has_carry && right->has_carry) {
        const struct weft__loop loop = {
            .body = repair_range,
            .arg = &(struct repair){scan, to->carry},
            .key = scan->key,
        };
        weft__for(w, right->range.begin, right->range.end, &loop);
        scan->scanner->combine(w, to->carry, right->carry, scan->arg);
    }
}

static void free_carry(struct weft__cleanup *part, weft *w)
{
    (void)w;
    weft__free(((struct part *)part)->carry);
}

static void cut(weft *w, void *arg, void *other)
{
    struct remaining *remaining = arg;
    struct part *right = other;
    *right =
        (struct part){.scan = remaining->to->scan, .range = weft__range_halve(&remaining->range)};
    weft__cleanup_push(w, &right->cleanup, free_carry);
}

/* If the thief had no memory, the owner does the part after all. */
static bool merged(weft *w, void *arg, void *other, bool taken)
{
    struct remaining *remaining = arg;
    struct part *right = other;
    if (taken)
        join(w, remaining->to, right);
    weft__cleanup_pop(w, &right->cleanup);
    weft__free(right->carry);
    remaining->range = right->range;
    return taken && !right->no_memory;
}

static weft__split_fn split;

static void go(weft *w, struct weft__pacer *pacer, struct part *part)
{
    const struct scan *scan = part->scan;
    part->has_carry = scan->identity != NULL;
    if (scan->identity)
        weft__copy(part->carry, scan->identity, scan->scanner->size);
    split(w, pacer, &(struct remaining){part->range, part});
}

static void run_part(weft *w, void *arg)
{
    struct part *part = arg;
    part->carry = weft__small(part->scan->scanner->size);
    part->no_memory = !part->carry;
    if (part->no_memory)
        return;
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, part->scan->key, weft__range_elements(&part->range), 1);
    go(w, &pacer, part);
}

static void split(weft *w, struct weft__pacer *pacer, void *remaining)
{
    struct part right;
    static const struct weft__splitting loop = {
        .split = split,
        .elements = weft__range_elements,
        .run = scan_here,
        .cut = cut,
        .take = run_part,
        .merged = merged,
    };
    weft__split(w, pacer, remaining, &right, &loop);
}

static void start(weft *w, struct part *all)
{
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, all->scan->key, weft__range_elements(&all->range), 1);
    WEFT__MUST_RETURN(weft__callee_threw, go(w, &pacer, all));
}

/* In the end, `carry` is the combination of all elements, if there are any. */
static void run(weft *w, size_t n, const struct scan *scan, void *carry)
{
    struct part all = {.scan = scan, .range = {0, n}, .carry = carry};
    if (n > 0)
        start(w, &all);
}

void weft_scan_by_(weft *w, size_t n, const weft_scanner_ *scanner, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(scanner, "a scanner");
    const struct scan scan = {scanner, arg, WEFT__KEY(scanner->scan), NULL};
    run(w, n, &scan, WEFT__SPACE(scanner->size));
}

static void run_exclusive(weft *w, size_t n, const struct scan *scan, void *total)
{
    size_t size = scan->scanner->size;
    void *carry = WEFT__SPACE(size);
    weft__copy(carry, scan->identity, size);
    run(w, n, scan, carry);
    if (total)
        weft__copy(total, carry, size);
}

void weft_scan_exclusive_by_(weft *w, size_t n, const weft_scanner_ *scanner, const void *identity,
                             void *arg, void *total)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(scanner, "a scanner");
    WEFT__NEEDS(identity, "an identity");
    const struct scan scan = {scanner, arg, WEFT__KEY(scanner->scan), identity};
    run_exclusive(w, n, &scan, total);
}

/* ---- Elements of any size ---- */

struct elements {
    const char *in;
    char *out;
    size_t size;
    weft_combine_fn *combine;
    void *arg;
};

static void combine_any(weft *w, void *left, const void *right, void *arg)
{
    const struct elements *all = arg;
    all->combine(w, left, right, all->arg);
}

WEFT__ALWAYS_INLINE void inclusive(weft *w, size_t i, size_t end, void *carry, bool has_carry,
                                   const struct elements *elements, size_t size)
{
    const struct elements all = *elements; /* combine can't change the copy */
    if (!has_carry) {
        memcpy(carry, all.in + i * size, size);
        memcpy(all.out + i * size, carry, size);
        i++;
    }
    for (; i < end; i++) {
        all.combine(w, carry, all.in + i * size, all.arg);
        memcpy(all.out + i * size, carry, size);
    }
}

WEFT__ALWAYS_INLINE void exclusive(weft *w, size_t i, size_t end, void *carry,
                                   const struct elements *elements, size_t size)
{
    const struct elements all = *elements; /* as above */
    void *element = WEFT__SPACE(all.size); /* `out` may be `in` */
    for (; i < end; i++) {
        memcpy(element, all.in + i * size, size);
        memcpy(all.out + i * size, carry, size);
        all.combine(w, carry, element, all.arg);
    }
}

WEFT__ALWAYS_INLINE void repair(weft *w, size_t i, size_t end, const void *before,
                                const struct elements *elements, size_t size)
{
    const struct elements all = *elements; /* as above */
    void *whole = WEFT__SPACE(all.size);
    for (; i < end; i++) {
        memcpy(whole, before, size);
        all.combine(w, whole, all.out + i * size, all.arg);
        memcpy(all.out + i * size, whole, size);
    }
}

/* With sizes that are known, copies are moves. */
#define SCANNERS(name, known)                                                                    \
    static void inclusive_##name(weft *w, size_t begin, size_t end, void *carry, bool has_carry, \
                                 void *arg)                                                      \
    {                                                                                            \
        const struct elements *all = arg;                                                        \
        inclusive(w, begin, end, carry, has_carry, all, (known) ? (known) : all->size);          \
    }                                                                                            \
    static void exclusive_##name(weft *w, size_t begin, size_t end, void *carry, bool has_carry, \
                                 void *arg)                                                      \
    {                                                                                            \
        const struct elements *all = arg;                                                        \
        (void)has_carry;                                                                         \
        exclusive(w, begin, end, carry, all, (known) ? (known) : all->size);                     \
    }                                                                                            \
    static void repair_##name(weft *w, size_t begin, size_t end, const void *before, void *arg)  \
    {                                                                                            \
        const struct elements *all = arg;                                                        \
        repair(w, begin, end, before, all, (known) ? (known) : all->size);                       \
    }

SCANNERS(any, 0)
SCANNERS(4, 4)
SCANNERS(8, 8)

#define KNOWN(name, size) ((size) == 8 ? name##_8 : (size) == 4 ? name##_4 : name##_any)

/* Exclusive, if there is an identity. */
static weft_scanner_ scanner_for(size_t size, const void *identity)
{
    return (weft_scanner_){
        size,
        identity ? KNOWN(exclusive, size) : KNOWN(inclusive, size),
        KNOWN(repair, size),
        combine_any,
    };
}

void weft_scan_inclusive(weft *w, const void *in, size_t n, size_t size, weft_combine_fn *combine,
                         void *arg, void *out)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(in, n, size);
    WEFT__NEEDS(combine, "a function");
    WEFT__NEEDS_ARRAY(out, n, size);
    struct elements all = {in, out, size, combine, arg};
    const weft_scanner_ scanner = scanner_for(size, NULL);
    const struct scan scan = {&scanner, &all, WEFT__KEY(combine), NULL};
    run(w, n, &scan, WEFT__SPACE(size));
}

void weft_scan_exclusive(weft *w, const void *in, size_t n, size_t size, const void *identity,
                         weft_combine_fn *combine, void *arg, void *out, void *total)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(in, n, size);
    WEFT__NEEDS(identity, "an identity");
    WEFT__NEEDS(combine, "a function");
    WEFT__NEEDS_ARRAY(out, n, size);
    struct elements all = {in, out, size, combine, arg};
    const weft_scanner_ scanner = scanner_for(size, identity);
    const struct scan scan = {&scanner, &all, WEFT__KEY(combine), identity};
    run_exclusive(w, n, &scan, total);
}
