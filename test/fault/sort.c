/* SPDX-License-Identifier: MIT */
/* sort.c: sorts that find no memory: they go without, or fail and have moved nothing. */
#include "child.h"
#include "elements.h"
#include "os/memory.h"

#include <errno.h>
#include <string.h>
#include <weft/sort.h>

enum { N = 5000, LATE = 4 }; /* no sort allocates so often */

static void fail_at(uint32_t k)
{
    atomic_store_relaxed(&weft__alloc_fail_at, k);
}

struct sort {
    struct elements elements;
    uint32_t fail_at;
    bool stable;
    int error;
};

/* Only what the sort itself allocates fails. */
static void sort_job(weft *w, void *arg)
{
    struct sort *s = arg;
    struct elements *e = &s->elements;
    weft_scope scope;
    weft_scope_open(w, &scope);
    fail_at(s->fail_at);
    (s->stable ? weft_sort_stable : weft_sort)(w, e->base, e->n, e->size, element_compare,
                                               &e->size);
    fail_at(0);
    s->error = weft_scope_close(w, &scope);
}

static void try_size(weft_pool *pool, size_t size, uint32_t k, bool stable)
{
    struct elements given;
    struct sort s = {.fail_at = k, .stable = stable};
    elements_make(&given, PATTERN_RANDOM, N, size, 0);
    elements_copy(&s.elements, &given);
    CHECK_EQUAL(weft_run(pool, sort_job, &s), 0);
    CHECK(s.error == 0 || (s.error == -ENOMEM && stable && k < LATE));
    if (s.error)
        CHECK(memcmp(s.elements.base, given.base, N * size) == 0);
    else
        CHECK((stable ? elements_are_stable : elements_are_sorted)(&s.elements));
    CHECK(elements_are_those(&s.elements, &given));
    elements_free(&s.elements);
    elements_free(&given);
}

static void elements_without_memory(void)
{
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    static const size_t sizes[] = {1, 3, 4, 8, 12, 24, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint32_t k = 0; k <= LATE; k++) {
            try_size(pool, sizes[i], k, false);
            try_size(pool, sizes[i], k, true);
        }
    child_pool_end(pool);
}

static void numbers_job(weft *w, void *k)
{
    static uint64_t words[100000];
    const size_t n = sizeof words / sizeof words[0];
    for (size_t i = 0; i < n; i++)
        words[i] = pattern_key(PATTERN_RANDOM, i, n);
    fail_at(*(uint32_t *)k);
    weft_sort_u64(w, words, n);
    fail_at(0);
    for (size_t i = 1; i < n; i++)
        CHECK(words[i - 1] <= words[i]);
}

static void numbers_without_memory(void)
{
    weft_pool *pool = child_pool(2, 0, WAY_NO_SPIN);
    for (uint32_t k = 0; k <= LATE; k++)
        CHECK_EQUAL(weft_run(pool, numbers_job, &k), 0);
    child_pool_end(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(elements_without_memory),
        IN_CHILD(numbers_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
