/* SPDX-License-Identifier: MIT */
/* Some elements of an array, in their order: filter, partition, pack and unique.
 *
 * Until a thief takes a part, this is the plain loop that copies each kept element behind those
 * kept before. A thief does not know where that place will be for its part, so it puts its kept
 * elements where the part begins. When all to the left is done, the owner moves them down. So the
 * results have room for all elements, and may lie where the input is: nothing is written to the
 * right of what was read. */
#include "core/misuse.h"
#include "parallel/for.h"
#include "parallel/split.h"

enum { LONG_MOVE = 1 << 18 }; /* bytes: what is longer is moved in parallel */

enum sieve_kind { FILTER, PARTITION, PACK, UNIQUE };

struct sieve {
    enum sieve_kind kind;
    const char *in;
    char *yes, *no; /* where kept and dropped elements go; `no` for partitions only */
    size_t size;
    weft_keep_fn *keep;
    weft_equal_fn *equal;
    weft_sift_fn_ *sift; /* the loop that WEFT_FILTER_DEFINE or WEFT_UNIQUE_DEFINE has made; */
    weft_part_fn_ *part; /* or WEFT_PARTITION_DEFINE; or both are NULL */
    const bool *flags;
    void *arg;
    weft__key *key;
};

/* How many elements of the range were kept and dropped. In the results they begin where the range
 * begins. */
struct part {
    const struct sieve *sieve;
    struct weft__range range;
    size_t yes, no;
};

/* Elements of a part that are still to be sifted. */
struct remaining {
    struct weft__range range;
    struct part *to;
};

WEFT__ALWAYS_INLINE bool is_kept(weft *w, const struct sieve *sieve, enum sieve_kind kind, size_t i,
                                 size_t size)
{
    const char *element = sieve->in + i * size;
    if (kind == PACK)
        return sieve->flags[i];
    if (kind == UNIQUE)
        return i == 0 || !sieve->equal(w, element - size, element, sieve->arg);
    return sieve->keep(w, element, sieve->arg);
}

/* Without branches that depend on the answer: a dropped element is overwritten by the next one. But
 * no element is written to its own place: the thread to the right may read the last one, for
 * unique. */
WEFT__ALWAYS_INLINE void sift(weft *w, struct part *to, enum sieve_kind kind, size_t begin,
                              size_t end, size_t size)
{
    const struct sieve *sieve = to->sieve;
    char *yes = sieve->yes + (to->range.begin + to->yes) * size, *first_yes = yes;
    char *no = kind == PARTITION ? sieve->no + (to->range.begin + to->no) * size : NULL;
    for (size_t i = begin; i < end; i++) {
        const char *element = sieve->in + i * size;
        bool kept = is_kept(w, sieve, kind, i, size);
        if (kind == PARTITION) {
            if (no != element)
                memcpy(no, element, size);
            no += kept ? 0 : size;
        }
        if (yes != element)
            memcpy(yes, element, size);
        yes += kept ? size : 0;
    }
    size_t kept = (size_t)(yes - first_yes) / size;
    to->yes += kept;
    to->no += end - begin - kept;
}

WEFT__ALWAYS_INLINE void sift_size(weft *w, struct part *to, size_t begin, size_t end, size_t size)
{
    switch (to->sieve->kind) {
    case FILTER:
        sift(w, to, FILTER, begin, end, size);
        break;
    case PARTITION:
        sift(w, to, PARTITION, begin, end, size);
        break;
    case PACK:
        sift(w, to, PACK, begin, end, size);
        break;
    case UNIQUE:
        sift(w, to, UNIQUE, begin, end, size);
        break;
    }
}

static void sift_any(weft *w, struct part *to, size_t begin, size_t end)
{
    switch (to->sieve->size) {
    case 1:
        sift_size(w, to, begin, end, 1);
        break;
    case 2:
        sift_size(w, to, begin, end, 2);
        break;
    case 4:
        sift_size(w, to, begin, end, 4);
        break;
    case 8:
        sift_size(w, to, begin, end, 8);
        break;
    default:
        sift_size(w, to, begin, end, to->sieve->size);
    }
}

struct copying {
    char *to;
    const char *from;
};

static void copy_range(weft *w, size_t begin, size_t end, void *arg)
{
    const struct copying *copying = arg;
    (void)w;
    memcpy(copying->to + begin, copying->from + begin, end - begin);
}

/* Moves down, in rounds of at most the distance from `to` to `from`: so a round does not write what
 * it reads. */
static void move(weft *w, char *to, const char *from, size_t size)
{
    size_t gap = (size_t)(from - to);
    while (size >= LONG_MOVE && gap >= LONG_MOVE) {
        size_t n = size < gap ? size : gap;
        weft__for_keyed(w, n, copy_range, &(struct copying){to, from}, WEFT__KEY(copy_range));
        to += n;
        from += n;
        size -= n;
    }
    if (gap > 0 && size > 0)
        memmove(to, from, size);
}

/* Moves what a thief has kept in `right` down to the end of what was kept in `to`. */
static void join(weft *w, struct part *to, const struct part *right)
{
    const struct sieve *sieve = to->sieve;
    size_t size = sieve->size;
    move(w, sieve->yes + (to->range.begin + to->yes) * size, sieve->yes + right->range.begin * size,
         right->yes * size);
    if (sieve->no)
        move(w, sieve->no + (to->range.begin + to->no) * size,
             sieve->no + right->range.begin * size, right->no * size);
    to->yes += right->yes;
    to->no += right->no;
}

static void sift_typed(struct part *to, size_t begin, size_t end)
{
    const struct sieve *sieve = to->sieve;
    size_t yes = to->range.begin + to->yes, no = to->range.begin + to->no;
    size_t kept = sieve->part ? sieve->part(begin, end, yes, no, sieve->arg)
                              : sieve->sift(begin, end, yes, sieve->arg);
    to->yes += kept;
    to->no += end - begin - kept;
}

static bool run_leaf(weft *w, void *arg)
{
    const struct remaining *remaining = arg;
    struct part *to = remaining->to;
    if (to->sieve->sift || to->sieve->part)
        sift_typed(to, remaining->range.begin, remaining->range.end);
    else
        sift_any(w, to, remaining->range.begin, remaining->range.end);
    return true;
}

static void cut(weft *w, void *arg, void *right)
{
    struct remaining *remaining = arg;
    (void)w;
    *(struct part *)right =
        (struct part){remaining->to->sieve, weft__range_halve(&remaining->range), 0, 0};
}

static bool merged(weft *w, void *arg, void *other, bool taken)
{
    struct remaining *remaining = arg;
    const struct part *right = other;
    if (taken)
        join(w, remaining->to, right);
    remaining->range = right->range;
    return taken;
}

static weft__split_fn split;

static void run_part(weft *w, void *arg)
{
    struct part *part = arg;
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, part->sieve->key, weft__range_elements(&part->range), 1);
    split(w, &pacer, &(struct remaining){part->range, part});
}

static void split(weft *w, struct weft__pacer *pacer, void *remaining)
{
    struct part right;
    static const struct weft__splitting loop = {
        .split = split,
        .elements = weft__range_elements,
        .run = run_leaf,
        .cut = cut,
        .take = run_part,
        .merged = merged,
    };
    weft__split(w, pacer, remaining, &right, &loop);
}

static size_t run(weft *w, const struct sieve *sieve, size_t n)
{
    struct part all = {sieve, {0, n}, 0, 0};
    if (n == 0)
        return 0;
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, sieve->key, n, 1);
    WEFT__MUST_RETURN(weft__callee_threw, split(w, &pacer, &(struct remaining){all.range, &all}));
    return all.yes;
}

size_t weft_filter(weft *w, const void *in, size_t n, size_t size, weft_keep_fn *keep, void *arg,
                   void *out)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(in, n, size);
    WEFT__NEEDS(keep, "a function");
    WEFT__NEEDS_ARRAY(out, n, size);
    const struct sieve sieve = {
        .kind = FILTER,
        .in = in,
        .yes = out,
        .size = size,
        .keep = keep,
        .arg = arg,
        .key = WEFT__KEY(keep),
    };
    return run(w, &sieve, n);
}

size_t weft_filter_by_(weft *w, size_t n, size_t size, weft_sift_fn_ *sift_fn, void *arg, void *out)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!sift_fn)
        weft__lacks(__func__, "a function", "sift");
    WEFT__NEEDS_ARRAY(out, n, size);
    const struct sieve sieve = {
        .yes = out,
        .size = size,
        .sift = sift_fn,
        .arg = arg,
        .key = WEFT__KEY(sift_fn),
    };
    return run(w, &sieve, n);
}

size_t weft_partition(weft *w, const void *in, size_t n, size_t size, weft_keep_fn *keep, void *arg,
                      void *yes, void *no)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(in, n, size);
    WEFT__NEEDS(keep, "a function");
    WEFT__NEEDS_ARRAY(yes, n, size);
    WEFT__NEEDS_ARRAY(no, n, size);
    const struct sieve sieve = {
        .kind = PARTITION,
        .in = in,
        .yes = yes,
        .no = no,
        .size = size,
        .keep = keep,
        .arg = arg,
        .key = WEFT__KEY(keep),
    };
    return run(w, &sieve, n);
}

size_t weft_partition_by_(weft *w, size_t n, size_t size, weft_part_fn_ *part, void *arg, void *yes,
                          void *no)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(part, "a function");
    WEFT__NEEDS_ARRAY(yes, n, size);
    WEFT__NEEDS_ARRAY(no, n, size);
    const struct sieve sieve = {
        .yes = yes,
        .no = no,
        .size = size,
        .part = part,
        .arg = arg,
        .key = WEFT__KEY(part),
    };
    return run(w, &sieve, n);
}

size_t weft_pack(weft *w, const void *in, size_t n, size_t size, const bool *flags, void *out)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(in, n, size);
    WEFT__NEEDS_ARRAY(flags, n, sizeof flags[0]);
    WEFT__NEEDS_ARRAY(out, n, size);
    const struct sieve sieve = {
        .kind = PACK,
        .in = in,
        .yes = out,
        .size = size,
        .flags = flags,
        .key = (weft__key *)((uintptr_t)weft_pack + size), /* the size is all that counts */
    };
    return run(w, &sieve, n);
}

size_t weft_unique(weft *w, const void *in, size_t n, size_t size, weft_equal_fn *equal, void *arg,
                   void *out)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS_ARRAY(in, n, size);
    WEFT__NEEDS(equal, "a function");
    WEFT__NEEDS_ARRAY(out, n, size);
    const struct sieve sieve = {
        .kind = UNIQUE,
        .in = in,
        .yes = out,
        .size = size,
        .equal = equal,
        .arg = arg,
        .key = WEFT__KEY(equal),
    };
    return run(w, &sieve, n);
}
