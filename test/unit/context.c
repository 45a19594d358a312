/* SPDX-License-Identifier: MIT */
/* context.c: a block of slots that find their header. */
#include "core/context.h"

#include "check.h"

static void right(weft *w, void *arg)
{
}

/* Never looked into by a context. */
static struct weft__worker *const somebody = (struct weft__worker *)&somebody;

static void slots_find_their_header(void **state)
{
    struct weft__context *context = weft__context_make(somebody, false, 0);
    assert_non_null(context);
    assert_ptr_equal(context->worker, somebody);
    assert_null(context->group);
    assert_int_equal((uintptr_t)context % WEFT_BLOCK_SIZE_, 0);
    assert_ptr_equal(context->end, (char *)context + WEFT_BLOCK_SIZE_);
    assert_ptr_equal(context->last + 1, context->end);
    for (weft *w = context->first; w <= context->end; w++)
        assert_ptr_equal(weft__context_of(w), context);
    weft__context_free(context);
}

static void slots_lie_on_their_own_lines(void **state)
{
    struct weft__context *context = weft__context_make(somebody, false, 0);
    assert_non_null(context);
    assert_true((char *)context->first >= (char *)(context + 1));
    assert_int_equal((uintptr_t)context->first % WEFT__CACHE_LINE, 0);
    assert_int_equal(sizeof(weft) % WEFT__CACHE_LINE, 0);
    weft__context_free(context);
}

static void use(weft *w, weft_fn *fn)
{
    atomic_store_relaxed(&weft__slot_of(w)->fn, fn);
}

static void top_is_the_first_free_slot(void **state)
{
    struct weft__context *context = weft__context_make(somebody, false, 0);
    assert_non_null(context);
    for (weft *w = context->first; w < context->first + 100; w++) {
        assert_ptr_equal(weft__context_top(context), w);
        use(w, right);
    }
    for (weft *w = context->first + 99; w >= context->first; w--) {
        use(w, NULL);
        assert_ptr_equal(weft__context_top(context), w);
    }
    for (weft *w = context->first; w < context->last; w++)
        use(w, right);
    assert_ptr_equal(weft__context_top(context), context->last);
    weft__context_free(context);
}

/* Fork trees go up and down by more than one between two questions. */
static void top_after_jumps(void **state)
{
    struct weft__context *context = weft__context_make(somebody, false, 0);
    assert_non_null(context);
    size_t slots = (size_t)(context->last + 1 - context->first), used = 0, random = 1;
    for (int i = 0; i < 500; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t range = (size_t)1 << (random >> 32) % 17; /* small ones as often as large ones */
        size_t next = (random >> 40) % range;
        next = i == 250 ? slots : next < slots ? next : slots;
        for (; used < next; used++)
            use(context->first + used, right);
        for (; used > next; used--)
            use(context->first + used - 1, NULL);
        assert_ptr_equal(weft__context_top(context), context->first + used);
        assert_ptr_equal(weft__context_top(context), context->first + used);
    }
    weft__context_free(context);
}

/* A search that comes by none of those slots does not notice that they are gone. */
static void top_is_found_without_a_walk(void **state)
{
    enum { USED = 30000, NEAR = 64 };
    struct weft__context *context = weft__context_make(somebody, false, 0);
    assert_non_null(context);
    for (weft *w = context->first; w < context->first + USED; w++)
        use(w, right);
    assert_ptr_equal(weft__context_top(context), context->first + USED);
    for (weft *w = context->first; w < context->first + USED - NEAR; w++)
        use(w, NULL);
    assert_ptr_equal(weft__context_top(context), context->first + USED);
    use(context->first + USED, right);
    assert_ptr_equal(weft__context_top(context), context->first + USED + 1);
    for (weft *w = context->first + USED; w > context->first + USED - NEAR / 4; w--)
        use(w, NULL);
    assert_ptr_equal(weft__context_top(context), context->first + USED - NEAR / 4 + 1);
    weft__context_free(context);
}

static uintptr_t guard_of(struct weft__context *context)
{
    return atomic_load_relaxed(&context->guard);
}

static bool is_wanted(weft *w)
{
    return atomic_load_relaxed(&weft__slot_of(w)->wanted) == SLOT_WANTED;
}

/* Each pending fork's merge looks up, and no other. */
static void merges_are_called(void **state)
{
    struct weft__context *context = weft__context_make(somebody, false, 0);
    assert_non_null(context);
    weft *w = context->first;
    for (int i = 0; i < 3; i++)
        use(w + i, right);
    atomic_store_relaxed(&context->oldest, w + 1); /* the first one is stolen */
    weft__context_want_pending(context);
    assert_false(is_wanted(w));
    assert_true(is_wanted(w + 1));
    assert_true(is_wanted(w + 2));
    assert_false(is_wanted(w + 3));
    weft__context_free(context);
}

/* Low on the lazy road, so that forks don't look up; raised for ever on the eager one. */
static void guard(void **state)
{
    struct weft__context *context = weft__context_make(somebody, false, 0);
    assert_non_null(context);
    assert_ptr_equal(WEFT_GUARD_(context->first), &context->guard);
    assert_ptr_equal(WEFT_GUARD_(context->last), &context->guard);
    assert_int_equal(guard_of(context), context->first);
    weft__context_raise_guard(context);
    assert_int_equal(guard_of(context), UINTPTR_MAX);
    assert_false(weft__context_robbed(context));
    weft__context_free(context);
    context = weft__context_make(somebody, true, 0);
    assert_non_null(context);
    assert_int_equal(guard_of(context), UINTPTR_MAX);
    weft__context_free(context);
}

/* After the last slot, forks and merges always look up. */
static void the_end_is_called(void **state)
{
    struct weft__context *context = weft__context_make(somebody, false, 0);
    assert_non_null(context);
    assert_true(WEFT_IS_CALLED_(context->end));
    assert_true(is_wanted(context->end));
    assert_false(WEFT_IS_CALLED_(context->last));
    assert_false(is_wanted(context->last));
    weft__context_free(context);
}

/* Blocks are cut out of larger ones; that must go well wherever those happen to lie. */
static void many_blocks(void **state)
{
    enum { BLOCKS = 100 };
    struct weft__context *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = weft__context_make(somebody, false, 0);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % WEFT_BLOCK_SIZE_, 0);
        use(blocks[i]->last, right); /* its end is there too */
    }
    for (int i = 0; i < BLOCKS; i++) {
        assert_ptr_equal(blocks[i]->worker, somebody);
        assert_ptr_equal(atomic_load_relaxed(&weft__slot_of(blocks[i]->last)->fn), right);
        weft__context_free(blocks[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_find_their_header),
        cmocka_unit_test(slots_lie_on_their_own_lines),
        cmocka_unit_test(top_is_the_first_free_slot),
        cmocka_unit_test(top_after_jumps),
        cmocka_unit_test(top_is_found_without_a_walk),
        cmocka_unit_test(guard),
        cmocka_unit_test(merges_are_called),
        cmocka_unit_test(the_end_is_called),
        cmocka_unit_test(many_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
