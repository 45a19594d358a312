/* SPDX-License-Identifier: MIT */
/* vector.c: many threads append; each item is there once, and stays where it is. */
#include "weft/vector.h"
#include "check.h"
#include "pools.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20000 };

static weft_vector *make(size_t size)
{
    weft_vector *vector;
    assert_int_equal(weft_vector_create(&vector, size), 0);
    assert_int_equal(weft_vector_size(vector), 0);
    return vector;
}

static void one_thread(void **state)
{
    static const size_t sizes[] = {1, 3, 8, 24, 100};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t size = sizes[s];
        weft_vector *vector = make(size);
        unsigned char *items = malloc(size * 1000);
        const void *where[100];
        size_t total = 0, first;
        for (size_t n = 0; n < 100; n++) { /* n items at a time, all of them n */
            memset(items, (int)n, size * n);
            assert_int_equal(weft_vector_append(vector, items, n, &first), 0);
            assert_int_equal(first, total);
            total += n;
            where[n] = n ? weft_vector_at(vector, first) : NULL;
        }
        assert_int_equal(weft_vector_size(vector), total);
        size_t i = 0;
        for (size_t n = 0; n < 100; n++) {
            if (n)
                assert_ptr_equal(weft_vector_at(vector, i), where[n]); /* it has not moved */
            for (size_t k = 0; k < n; k++, i++) {
                memset(items, (int)n, size);
                assert_memory_equal(weft_vector_at(vector, i), items, size);
            }
        }
        weft_vector_clear(vector);
        assert_int_equal(weft_vector_size(vector), 0);
        assert_int_equal(weft_vector_append(vector, NULL, 1, NULL), 0); /* zeros, where a 1 was */
        memset(items, 0, size);
        assert_memory_equal(weft_vector_at(vector, 0), items, size);
        free(items);
        weft_vector_destroy(vector);
    }
}

struct work {
    weft_vector *vector;
    atomic_uchar *seen;
    size_t calls_end; /* of a loop over all */
    atomic_size_t visited;
};

static void append_some(weft *w, size_t begin, size_t end, void *arg)
{
    struct work *work = arg;
    for (size_t i = begin; i < end; i++) {
        size_t pair[2] = {2 * i, 2 * i + 1}, first;
        CHECK(weft_vector_append(work->vector, pair, 2, &first) == 0);
        CHECK(*(size_t *)weft_vector_at(work->vector, first) == 2 * i);
        CHECK(*(size_t *)weft_vector_at(work->vector, first + 1) == 2 * i + 1);
    }
}

static void visit(weft *w, void *items, size_t first, size_t n, void *arg)
{
    struct work *work = arg;
    const size_t *numbers = items;
    for (size_t i = 0; i < n; i++) {
        CHECK(&numbers[i] == weft_vector_at(work->vector, first + i));
        atomic_fetch_add(&work->seen[numbers[i]], 1);
    }
    atomic_fetch_add(&work->visited, n);
}

static void append_and_visit(weft *w, void *arg)
{
    struct work *work = arg;
    weft_for_min(w, 0, N, 1, append_some, work);
    CHECK(weft_vector_size(work->vector) == 2 * N);
    weft_vector_for(w, work->vector, visit, work);
    CHECK(atomic_load(&work->visited) == 2 * N);
    size_t *copy = malloc(2 * N * sizeof *copy);
    weft_vector_copy(w, work->vector, copy);
    for (size_t i = 0; i < 2 * N; i++)
        CHECK(copy[i] == *(size_t *)weft_vector_at(work->vector, i));
    free(copy);
}

static void many_threads(void **state)
{
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        weft_pool *pool = pool_make(workers, 0);
        struct work work = {.vector = make(sizeof(size_t))};
        work.seen = calloc(2 * N, sizeof *work.seen);
        assert_int_equal(weft_run(pool, append_and_visit, &work), 0);
        for (size_t i = 0; i < 2 * N; i++)
            assert_int_equal(atomic_load(&work.seen[i]), 1);
        free(work.seen);
        weft_vector_destroy(work.vector);
        pool_drop(pool);
    }
}

static void mistakes(void **state)
{
    weft_vector *vector = (weft_vector *)&vector;
    assert_int_equal(weft_vector_create(NULL, 1), -EINVAL);
    assert_int_equal(weft_vector_create(&vector, 0), -EINVAL);
    assert_null(vector);
    assert_int_equal(weft_vector_create(&vector, SIZE_MAX), -EINVAL);
    assert_int_equal(weft_vector_append(NULL, NULL, 1, NULL), -EINVAL);
    assert_int_equal(weft_vector_size(NULL), 0);
    weft_vector_clear(NULL);
    weft_vector_destroy(NULL);
    vector = make(1000);
    assert_int_equal(weft_vector_append(vector, NULL, SIZE_MAX / 1000, NULL), -ENOMEM);
    assert_int_equal(weft_vector_append(vector, NULL, SIZE_MAX, NULL), -ENOMEM);
    assert_int_equal(weft_vector_size(vector), 0); /* and no gap */
    size_t first;
    assert_int_equal(weft_vector_append(vector, NULL, 1, &first), 0);
    assert_int_equal(first, 0);
    weft_vector_destroy(vector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests_name("vector", tests, NULL, NULL);
}
