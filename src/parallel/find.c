/* SPDX-License-Identifier: MIT */
/* Searches: loops that end when a thread has found something. */
#include "core/misuse.h"
#include "os/fatal.h"
#include "parallel/for.h"
#include "parallel/reduce.h"
#include "parallel/unordered.h"

/* ---- Where ---- */

enum which { FIRST, LAST, ANY };

struct search {
    weft_find_fn *find;
    void *arg;
    enum which which;
    size_t end;
    struct atomic_size found; /* the best so far, or `end` */
};

static bool is_better(const struct search *search, size_t i, size_t known)
{
    if (known == search->end)
        return true;
    return search->which == FIRST ? i < known : search->which == LAST && i > known;
}

static void look(weft *w, size_t begin, size_t end, void *arg)
{
    struct search *search = arg;
    size_t i = search->find(w, begin, end, search->arg);
    if (i < begin)
        weft__fatal("a search said that it found something at %zu, in a range that begins at %zu",
                    i, begin);
    if (i >= end)
        return;
    size_t known = atomic_load_relaxed(&search->found); /* relaxed, both: only a number; the */
    while (is_better(search, i, known) &&               /* merges say when it is the last one */
           !atomic_cas_relaxed(&search->found, &known, i))
        ;
}

/* Would even the best place in this part be no better than the best one so far? */
static bool is_pointless(size_t begin, size_t end, void *arg)
{
    struct search *search = arg;
    size_t known = atomic_load_relaxed(&search->found); /* relaxed: a short cut */
    return !is_better(search, search->which == LAST ? end - 1 : begin, known);
}

static size_t find(weft *w, size_t begin, size_t end, struct search *search)
{
    if (end <= begin)
        return end;
    const struct weft__loop loop = {
        .body = look,
        .arg = search,
        .key = WEFT__KEY(search->find),
        .backwards = search->which == LAST,
        .is_over = is_pointless,
    };
    weft__for(w, begin, end, &loop);
    return atomic_load_relaxed(&search->found); /* relaxed: the loop is over */
}

size_t weft_find_first(weft *w, size_t begin, size_t end, weft_find_fn *fn, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!fn)
        weft__lacks(__func__, "a function", "find");
    return find(w, begin, end, &(struct search){fn, arg, FIRST, end, {end}});
}

size_t weft_find_last(weft *w, size_t begin, size_t end, weft_find_fn *fn, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!fn)
        weft__lacks(__func__, "a function", "find");
    return find(w, begin, end, &(struct search){fn, arg, LAST, end, {end}});
}

size_t weft_find_any(weft *w, size_t begin, size_t end, weft_find_fn *fn, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!fn)
        weft__lacks(__func__, "a function", "find");
    return find(w, begin, end, &(struct search){fn, arg, ANY, end, {end}});
}

/* ---- Whether ---- */

struct question {
    weft_test_fn *test;
    void *arg;
    bool decisive;                 /* the answer of a part that decides the whole, */
    struct atomic_bool is_decided; /* which some part has given */
};

static void ask(weft *w, size_t begin, size_t end, void *arg)
{
    struct question *question = arg;
    if (question->test(w, begin, end, question->arg) == question->decisive)
        atomic_store_relaxed(&question->is_decided, true); /* relaxed: as `found` above */
}

static bool is_decided(size_t begin, size_t end, void *arg)
{
    struct question *question = arg;
    (void)begin;
    (void)end;
    return atomic_load_relaxed(&question->is_decided); /* relaxed: a short cut */
}

static bool answer(weft *w, size_t begin, size_t end, struct question *question)
{
    if (end <= begin)
        return !question->decisive;
    const struct weft__loop loop = {
        .body = ask,
        .arg = question,
        .key = WEFT__KEY(question->test),
        .is_over = is_decided,
    };
    weft__for(w, begin, end, &loop);
    bool decided = atomic_load_relaxed(&question->is_decided); /* relaxed: the loop is over */
    return decided == question->decisive;
}

bool weft_any(weft *w, size_t begin, size_t end, weft_test_fn *test, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(test, "a function");
    return answer(w, begin, end, &(struct question){test, arg, true, {false}});
}

bool weft_all(weft *w, size_t begin, size_t end, weft_test_fn *test, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(test, "a function");
    return answer(w, begin, end, &(struct question){test, arg, false, {false}});
}

/* ---- How many ---- */

struct tally {
    weft_count_fn *count;
    void *arg;
};

static void add_count(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const struct tally *tally = arg;
    *(size_t *)accumulator += tally->count(w, begin, end, tally->arg);
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    (void)w;
    (void)arg;
    *(size_t *)left += *(const size_t *)right;
}

size_t weft_count(weft *w, size_t begin, size_t end, weft_count_fn *count, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(count, "a function");
    const weft_reducer reducer = {.size = sizeof(size_t), .fold = add_count, .combine = add};
    size_t sum;
    weft__reduce_unordered(w, begin, end, &reducer, &(struct tally){count, arg}, &sum,
                           WEFT__KEY(count));
    return sum;
}
