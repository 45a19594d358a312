/* SPDX-License-Identifier: MIT */
/* heap.c: points in time come out in order, whatever was put in and taken out before. */
#include "core/heap.h"

#include "check.h"

#include <stdlib.h>

enum { MOST = 300, STEPS = 20000 };

struct entry {
    struct weft__moment moment;
    bool in;
};

static struct entry *earliest(struct entry *entries)
{
    struct entry *first = NULL;
    for (int i = 0; i < MOST; i++)
        if (entries[i].in && (!first || entries[i].moment.when < first->moment.when))
            first = &entries[i];
    return first;
}

static void takes_the_earliest(void **state)
{
    static struct entry entries[MOST];
    struct weft__heap heap = {NULL};
    srand(1);
    for (int step = 0; step < STEPS; step++) {
        struct entry *entry = &entries[rand() % MOST];
        if (!entry->in) {
            entry->moment.when = (uint64_t)(rand() % 1000);
            weft__heap_put(&heap, &entry->moment);
        } else {
            if (rand() % 3 == 0)
                entry = (struct entry *)heap.first;
            weft__heap_take(&heap, &entry->moment);
        }
        entry->in = !entry->in;
        struct entry *first = earliest(entries);
        assert_int_equal(heap.first == NULL, first == NULL);
        assert_true(!first || heap.first->when == first->moment.when);
    }
    uint64_t last = 0;
    while (heap.first) {
        struct entry *first = (struct entry *)heap.first;
        assert_true(first->in && first->moment.when >= last);
        last = first->moment.when;
        first->in = false;
        weft__heap_take(&heap, &first->moment);
    }
    assert_null(earliest(entries));
}

static void one_and_none(void **state)
{
    struct weft__heap heap = {NULL};
    struct weft__moment moment = {.when = 1};
    weft__heap_put(&heap, &moment);
    assert_ptr_equal(heap.first, &moment);
    weft__heap_take(&heap, &moment);
    assert_null(heap.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_earliest),
        cmocka_unit_test(one_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
