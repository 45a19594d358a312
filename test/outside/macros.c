/* SPDX-License-Identifier: MIT */
/* macros.c: every public header, and one use of each macro, in C and C++, with all warnings. The
 * program has variables of its own with names that parameters and variables of macros are likely to
 * have. `w` and `a` are not among them: WEFT_FORKABLE gives these two to the program. */
#include <weft/all.h>

/* clang-format off */
extern int in, out, n, i, j, b, x, y, z, arg, base, begin, end, left, right, result, fork, slot,
    size, type, less, combine, v, to, from, t, f, k, m, p, at, lo, hi, mid, value, item, total, count,
    over, arrays, before, carry, counts, bins, yes, no, reducer, identity, search, same, all, above;
/* clang-format on */

struct entry {
    int key;
    float weight;
};

/* ---- Forks ---- */

long fib(weft *w, long number);
WEFT_FORKABLE(long, fib, long number;, fib(w, a->number))

long fib(weft *w, long number)
{
    if (number < 2)
        return number;
    WEFT_FORK(w, fib, other, number - 2);
    long one = fib(other_in, number - 1);
    return one + WEFT_MERGE(w, fib, other);
}

long fib_in(weft *w, long number);
WEFT_FORKABLE(long, fib_in, long number;, fib_in(w, a->number))

long fib_in(weft *w, long number)
{
    if (number < 2)
        return number;
    weft *inner = WEFT_FORK_IN(w, fib_in, number - 2);
    long one = fib_in(inner, number - 1);
    return one + WEFT_MERGE_IN(weft_outer(inner), fib_in);
}

/* ---- Loops ---- */

static inline void move(struct entry *entry)
{
    entry->key++;
}

static inline float half(int number)
{
    return (float)number / 2;
}

static inline float add(float one, float other)
{
    return one + other;
}

static inline short add_short(short one, short other)
{
    return (short)(one + other);
}

static inline bool is_lighter(struct entry one, struct entry other)
{
    return one.weight < other.weight;
}

static inline bool is_key(struct entry entry, int key)
{
    return entry.key == key;
}

static inline bool is_light(struct entry entry)
{
    return entry.weight < 1;
}

static inline bool is_same(struct entry one, struct entry other)
{
    return one.key == other.key;
}

static inline size_t bin_of(struct entry entry)
{
    return (size_t)entry.key;
}

WEFT_FOR_EACH_DEFINE(move_all, struct entry, move)
WEFT_MAP_DEFINE(halves, int, half, float)
WEFT_REDUCE_DEFINE(sum, float, add, 0)
WEFT_REDUCE_DEFINE(sum_short, short, add_short, 0)
WEFT_MAP_REDUCE_DEFINE(sum_of_halves, int, half, float, add, 0)
WEFT_FIND_DEFINE(find_key, struct entry, is_key, int)
WEFT_SCAN_DEFINE(sums, float, add)
WEFT_SCAN_EXCLUSIVE_DEFINE(sums_before, float, 0, add)
WEFT_SCAN_DEFINE(short_sums, short, add_short)
WEFT_FILTER_DEFINE(light_ones, struct entry, is_light)
WEFT_UNIQUE_DEFINE(one_each, struct entry, is_same)
WEFT_PARTITION_DEFINE(by_weight, struct entry, is_light)
WEFT_MERGE_SORTED_DEFINE(merge_entries, struct entry, is_lighter)
WEFT_HISTOGRAM_DEFINE(keys, struct entry, bin_of)
WEFT_SORT_DEFINE(sort_entries, struct entry, is_lighter)
WEFT_SORT_STABLE_DEFINE(sort_entries_stably, struct entry, is_lighter)

struct numbers {
    struct entry *entries, *others;
    int *ints;
    float *floats, *sums;
    short *shorts;
    size_t many, *histogram;
};

void use_all(weft *w, void *of);
void use_all(weft *w, void *of)
{
    const struct numbers *num = (const struct numbers *)of;
    size_t many = num->many;
    float whole;
    move_all(w, num->entries, many);
    halves(w, num->ints, many, num->floats);
    num->floats[0] = sum(w, num->floats, many) + sum_of_halves(w, num->ints, many);
    num->shorts[0] = sum_short(w, num->shorts, many);
    many = find_key(w, num->entries, many, 7);
    sums(w, num->floats, many, num->sums);
    sums_before(w, num->floats, many, num->sums, &whole);
    short_sums(w, num->shorts, many, num->shorts);
    many = light_ones(w, num->entries, many, num->others);
    many = one_each(w, num->entries, many, num->others);
    many = by_weight(w, num->entries, many, num->others, num->others + many);
    merge_entries(w, num->entries, many, num->others, many, num->others);
    keys(w, num->entries, many, num->histogram, 100);
    sort_entries(w, num->entries, many);
    sort_entries_stably(w, num->entries, many);
}

/* ---- Initial values ---- */

static weft_mutex mutex = WEFT_MUTEX_INIT;
static weft_rwlock rwlock = WEFT_RWLOCK_INIT;
static weft_event event = WEFT_EVENT_INIT;
static weft_semaphore semaphore = WEFT_SEMAPHORE_INIT;
static weft_condition condition = WEFT_CONDITION_INIT;
static weft_once once = WEFT_ONCE_INIT;
static weft_timer timer = WEFT_TIMER_INIT;
static weft_again again = WEFT_AGAIN_INIT;

int initialise(void);
int initialise(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    weft_pool_info pool = WEFT_POOL_INFO_INIT;
    weft_worker_info worker = WEFT_WORKER_INFO_INIT;
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    weft_actor_config actor = WEFT_ACTOR_CONFIG_INIT;
    weft_actors_config actors = WEFT_ACTORS_CONFIG_INIT;
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    weft_mutex_init(&mutex, NULL);
    weft_rwlock_init(&rwlock, NULL);
    weft_event_init(&event, NULL);
    weft_semaphore_init(&semaphore, NULL, 0);
    weft_condition_init(&condition, NULL);
    (void)once;
    (void)timer;
    (void)again;
    return config.size + pool.size + worker.size + options.size + actor.size + actors.size +
                       info.size >
                   WEFT_VERSION
               ? 0
               : WEFT_NONE;
}
