/* SPDX-License-Identifier: MIT */
/* steal.c: the lazy road, step by step: one thread is the owner and the thief by turns. */
#include "core/steal.h"

#include "check.h"
#include "core/execute.h"
#include "core/loopfork.h"
#include "core/pool.h"
#include "os/membarrier.h"
#include "os/memory.h"

/* Workers of a pool without threads: enough to fork, steal and run, as long as nobody has to
 * wait. */
struct pair {
    struct weft_pool *pool;
    struct weft__worker *owner, *thief;
    struct weft__group group;
    weft *w; /* the owner's */
};

static struct weft__worker *worker_make(struct weft_pool *pool, uint64_t quantum)
{
    struct weft__worker *worker = weft__alloc(sizeof *worker);
    assert_non_null(worker);
    worker->pool = pool;
    worker->counts = &worker->own_counts;
    worker->park = weft__park_get();
    worker->context = weft__context_make(worker, false, quantum);
    assert_true(worker->park && worker->context);
    return worker;
}

static void worker_free(struct weft__worker *worker)
{
    weft__context_free(worker->context);
    weft__park_put(worker->park);
    weft__free(worker);
}

static void pair_make(struct pair *pair, uint64_t quantum)
{
    if (!weft__membarrier_init())
        skip();
    pair->pool = weft__alloc(sizeof *pair->pool);
    assert_non_null(pair->pool);
    pair->pool->fork_count = weft__fork_count();
    pair->owner = worker_make(pair->pool, quantum);
    pair->thief = worker_make(pair->pool, quantum);
    weft__group_begin(&pair->group, NULL);
    pair->w = pair->owner->context->first;
    pair->owner->context->group = weft__slot_of(pair->w)->group = &pair->group;
    weft__worker_push(pair->owner, __builtin_frame_address(0)); /* the slow roads look */
}

static void pair_free(struct pair *pair)
{
    assert_ptr_equal(weft__context_top(pair->owner->context), pair->w);
    assert_ptr_equal(atomic_load_relaxed(&pair->owner->context->oldest), pair->w);
    weft__worker_remove(pair->owner);
    worker_free(pair->owner);
    worker_free(pair->thief);
    weft__free(pair->pool);
}

static enum steal_result try_steal(struct pair *pair, struct weft__found *found)
{
    return weft__steal_slot(pair->thief, pair->owner->context, NULL, found);
}

static void run_stolen(struct pair *pair, struct weft__found *found)
{
    struct weft__frame frame = {0};
    pair->thief->frame = &frame;
    found->job->execute(pair->thief->context->first, found->job);
    weft__tell(pair->thief);
    pair->thief->frame = NULL;
}

static void expect_nothing(struct pair *pair)
{
    struct weft__found found;
    assert_int_equal(try_steal(pair, &found), STEAL_EMPTY);
}

static void expect_young(struct pair *pair)
{
    struct weft__found found;
    assert_int_equal(try_steal(pair, &found), STEAL_YOUNG);
}

/* Steals and runs what is expected to have this argument. */
static void expect_stolen(struct pair *pair, weft_fn *fn, void *arg)
{
    struct weft__found found;
    assert_int_equal(try_steal(pair, &found), STEAL_GOT);
    assert_ptr_equal(found.job->fn, fn);
    assert_ptr_equal(found.job->arg, arg);
    run_stolen(pair, &found);
}

static void add_one(weft *w, void *arg)
{
    ++*(int *)arg;
}

static void add_ten(weft *w, void *arg)
{
    *(int *)arg += 10;
}

/* ---- Without a quantum ---- */

static void nobody_steals(void **state)
{
    struct pair pair;
    int count = 0;
    pair_make(&pair, 0);
    expect_nothing(&pair);
    weft *in = weft_fork(pair.w, add_one, &count);
    assert_ptr_equal(in, pair.w + 1);
    assert_false(weft_merge(pair.w));
    assert_int_equal(count, 0);
    expect_nothing(&pair);
    pair_free(&pair);
}

static void stolen_is_done(void **state)
{
    struct pair pair;
    int count = 0;
    pair_make(&pair, 0);
    weft_fork(pair.w, add_one, &count);
    expect_stolen(&pair, add_one, &count);
    assert_int_equal(count, 1);
    expect_nothing(&pair); /* once */
    assert_true(weft__context_robbed(pair.owner->context));
    assert_false(weft__context_robbed(pair.owner->context)); /* says so once */
    assert_true(weft_merge(pair.w));
    weft_fork(pair.w, add_ten, &count); /* the slot is as good as new */
    assert_false(weft_merge(pair.w));
    assert_int_equal(count, 1);
    pair_free(&pair);
}

/* The oldest first; those above are still the owner's. */
static void oldest_first(void **state)
{
    enum { DEPTH = 5, STOLEN = 3 };
    struct pair pair;
    int counts[DEPTH] = {0};
    weft *w[DEPTH + 1];
    pair_make(&pair, 0);
    w[0] = pair.w;
    for (int i = 0; i < DEPTH; i++)
        w[i + 1] = weft_fork(w[i], add_one, &counts[i]);
    for (int i = 0; i < STOLEN; i++)
        expect_stolen(&pair, add_one, &counts[i]);
    for (int i = DEPTH - 1; i >= 0; i--)
        assert_int_equal(weft_merge(w[i]), i < STOLEN);
    for (int i = 0; i < DEPTH; i++)
        assert_int_equal(counts[i], i < STOLEN);
    pair_free(&pair);
}

/* While an older one is stolen, younger ones come and go. */
static void forks_above_a_stolen_one(void **state)
{
    struct pair pair;
    int count = 0;
    pair_make(&pair, 0);
    weft *in = weft_fork(pair.w, add_one, &count);
    expect_stolen(&pair, add_one, &count);
    for (int i = 0; i < 3; i++) {
        weft_fork(in, add_ten, &count);
        assert_false(weft_merge(in));
        weft_fork(in, add_ten, &count);
        expect_stolen(&pair, add_ten, &count);
        assert_true(weft_merge(in));
    }
    assert_true(weft_merge(pair.w));
    assert_int_equal(count, 31);
    pair_free(&pair);
}

/* Stolen right sides belong to what was open when they were forked. */
static struct weft__group *group_seen;

static void note_group(weft *w, void *arg)
{
    group_seen = weft__group_whole(weft__context_of(w)->group); /* what is stolen is a part */
}

static void group_of_a_stolen_one(void **state)
{
    struct pair pair;
    weft_scope scope;
    pair_make(&pair, 0);
    weft *in = weft_fork(pair.w, note_group, NULL);
    weft_scope_open(in, &scope); /* after the fork, so it is none of its business */
    struct weft__group *group_of_scope = pair.owner->context->group;
    assert_ptr_not_equal(group_of_scope, &pair.group);
    weft *inner = weft_fork(in, note_group, NULL);
    weft_fork(inner, note_group, NULL); /* says nothing itself: that of the slot below */
    struct weft__group *const expected[] = {&pair.group, group_of_scope, group_of_scope};
    for (int i = 0; i < 3; i++) {
        group_seen = NULL;
        expect_stolen(&pair, note_group, NULL);
        assert_ptr_equal(group_seen, expected[i]);
    }
    assert_true(weft_merge(inner));
    assert_true(weft_merge(in));
    assert_int_equal(weft_scope_close(in, &scope), 0);
    weft_fork(in, note_group, NULL);
    expect_stolen(&pair, note_group, NULL);
    assert_ptr_equal(group_seen, &pair.group); /* the scope is closed */
    assert_true(weft_merge(in));
    assert_true(weft_merge(pair.w));
    pair_free(&pair);
}

/* ---- With a quantum ---- */

enum { LONG_NS = 1000000000, SHORT_NS = 1000 };

static void young_ones_are_left_alone(void **state)
{
    struct pair pair;
    int count = 0;
    pair_make(&pair, (uint64_t)3600 * LONG_NS);
    weft_fork(pair.w, add_one, &count);
    expect_young(&pair); /* marked */
    expect_young(&pair);
    assert_false(weft_merge(pair.w));
    expect_nothing(&pair);
    pair_free(&pair);
}

static void old_ones_are_taken(void **state)
{
    struct pair pair;
    int count = 0;
    struct weft__found found;
    enum steal_result result;
    pair_make(&pair, SHORT_NS);
    weft_fork(pair.w, add_one, &count);
    expect_young(&pair); /* its age is counted from here */
    WAIT_UNTIL((result = try_steal(&pair, &found)) != STEAL_YOUNG);
    assert_int_equal(result, STEAL_GOT);
    assert_ptr_equal(found.job->fn, add_one); /* not the mark */
    run_stolen(&pair, &found);
    assert_true(weft_merge(pair.w));
    assert_int_equal(count, 1);
    pair_free(&pair);
}

/* Merging and forking again makes it another one, which is young. */
static void a_new_one_is_young_again(void **state)
{
    struct pair pair;
    int count = 0;
    struct weft__found found;
    pair_make(&pair, SHORT_NS);
    for (int i = 0; i < 100; i++) {
        weft_fork(pair.w, add_one, &count);
        expect_young(&pair);
        uint64_t marked = atomic_load_relaxed(&pair.owner->context->marked_at);
        assert_false(weft_merge(pair.w));
        WAIT_UNTIL(weft_now() > marked + SHORT_NS);
    }
    weft_fork(pair.w, add_ten, &count);
    expect_young(&pair); /* although the mark before would be old enough */
    WAIT_UNTIL(try_steal(&pair, &found) == STEAL_GOT);
    assert_ptr_equal(found.job->fn, add_ten);
    run_stolen(&pair, &found);
    assert_true(weft_merge(pair.w));
    assert_int_equal(count, 10);
    pair_free(&pair);
}

/* The age of the next one is not that of the one before it, but is counted from when that one
 * was taken. */
static void each_has_its_own_age(void **state)
{
    struct pair pair;
    int count = 0;
    struct weft__found found;
    pair_make(&pair, SHORT_NS);
    struct atomic_u64 *marked_at = &pair.owner->context->marked_at;
    weft *in = weft_fork(pair.w, add_one, &count);
    weft_fork(in, add_ten, &count);
    expect_young(&pair);
    uint64_t first = atomic_load_relaxed(marked_at);
    WAIT_UNTIL(weft_now() > first + SHORT_NS);
    assert_int_equal(try_steal(&pair, &found), STEAL_GOT);
    run_stolen(&pair, &found);
    uint64_t second = atomic_load_relaxed(marked_at);
    assert_true(second > first + SHORT_NS);
    WAIT_UNTIL(weft_now() > second + SHORT_NS);
    assert_int_equal(try_steal(&pair, &found), STEAL_GOT); /* at the first look */
    run_stolen(&pair, &found);
    assert_true(weft_merge(in));
    assert_true(weft_merge(pair.w));
    assert_int_equal(count, 11);
    pair_free(&pair);
}

/* ---- Open forks ---- */

/* They are found on the deque, however young, the oldest first; and those that nobody takes are
 * their owner's again, as is the fork above them. */
static void open_ones_are_taken_at_once(void **state)
{
    struct pair pair;
    struct weft__found found;
    int count = 0;
    pair_make(&pair, UINT64_C(1) << 40);
    assert_int_equal(weft__deque_init(&pair.owner->deque, 8), 0);
    weft *in = weft__fork_openly(pair.w, add_one, &count);
    weft *inner = weft__fork_openly(in, add_ten, &count);
    weft_fork(inner, add_ten, &count);
    expect_young(&pair);
    assert_int_equal(weft__deque_steal(&pair.owner->deque, &found.job), STEAL_GOT);
    run_stolen(&pair, &found);
    assert_int_equal(count, 1);
    assert_false(weft_merge(inner));
    assert_false(weft_merge(in));
    assert_true(weft_merge(pair.w));
    assert_int_equal(count, 1);
    assert_int_equal(weft__deque_steal(&pair.owner->deque, &found.job), STEAL_EMPTY);
    weft_fork(pair.w, add_ten, &count); /* the slot is as good as new */
    expect_young(&pair);
    assert_false(weft_merge(pair.w));
    weft__deque_destroy(&pair.owner->deque);
    pair_free(&pair);
}

/* An older one that is pending is the one to take. */
static void open_ones_wait_for_older_ones(void **state)
{
    struct pair pair;
    struct weft__found found;
    int count = 0;
    pair_make(&pair, UINT64_C(1) << 40);
    assert_int_equal(weft__deque_init(&pair.owner->deque, 8), 0);
    weft *in = weft_fork(pair.w, add_one, &count);
    weft__fork_openly(in, add_ten, &count);
    assert_int_equal(weft__deque_steal(&pair.owner->deque, &found.job), STEAL_EMPTY);
    assert_false(weft_merge(in));
    assert_false(weft_merge(pair.w));
    weft__deque_destroy(&pair.owner->deque);
    pair_free(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_steals),
        cmocka_unit_test(stolen_is_done),
        cmocka_unit_test(oldest_first),
        cmocka_unit_test(forks_above_a_stolen_one),
        cmocka_unit_test(group_of_a_stolen_one),
        cmocka_unit_test(young_ones_are_left_alone),
        cmocka_unit_test(old_ones_are_taken),
        cmocka_unit_test(a_new_one_is_young_again),
        cmocka_unit_test(each_has_its_own_age),
        cmocka_unit_test(open_ones_are_taken_at_once),
        cmocka_unit_test(open_ones_wait_for_older_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
