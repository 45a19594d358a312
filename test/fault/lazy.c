/* SPDX-License-Identifier: MIT */
/* lazy.c: what the lazy road promises: a right side is taken from an owner that does not
 * cooperate, never before a quantum unless it woke the thief, never twice; and what is done without
 * membarrier. */
#include "check.h"
#include "child.h"
#include "core/help.h"
#include "pools.h"
#include "weft/sync.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static weft_pool *lazy_pool(unsigned workers, int64_t quantum)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.fork = WEFT_FORK_LAZY;
    config.quantum = quantum;
    return pool_make_with(&config);
}

/* ---- An owner that never forks or merges again ---- */

static void set_flag(weft *w, void *flag)
{
    atomic_store((atomic_bool *)flag, true);
}

static void fork_and_compute(weft *w, void *arg)
{
    atomic_bool taken = false;
    weft_fork(w, set_flag, &taken);
    WAIT_UNTIL(atomic_load(&taken)); /* sequential code, to weft */
    CHECK(weft_merge(w));
}

static void silent_owner_is_robbed(void)
{
    static const int64_t quanta[] = {0, WEFT_NONE, 1000000};
    for (size_t q = 0; q < sizeof quanta / sizeof quanta[0]; q++) {
        weft_pool *pool = lazy_pool(2, quanta[q]);
        for (int i = 0; i < 20; i++) {
            if (i % 2)
                pool_wait_asleep(pool);
            CHECK(weft_run(pool, fork_and_compute, NULL) == 0);
        }
        pool_drop(pool);
    }
}

/* All pending right sides of one silent owner go, the oldest first. */
enum { PENDING = 8 };

static void note_order(weft *w, void *arg)
{
    static atomic_int next;
    atomic_int *order = arg;
    atomic_store(order, atomic_fetch_add(&next, 1) % PENDING + 1);
}

static bool all_set(atomic_int *orders)
{
    for (int i = 0; i < PENDING; i++)
        if (!atomic_load(&orders[i]))
            return false;
    return true;
}

static void fork_many_and_compute(weft *w, void *pool)
{
    atomic_int orders[PENDING] = {0};
    struct held thief;
    pool_hold(pool, &thief, 1);
    weft *in = w;
    for (int i = 0; i < PENDING; i++)
        in = weft_fork(in, note_order, &orders[i]);
    for (unsigned i = 0; i < thief.n; i++)
        gate_open(&thief.gates[i]);
    WAIT_UNTIL(all_set(orders));
    pool_let_go(&thief);
    for (int i = PENDING; i-- > 0;) {
        CHECK(weft_merge(w + i));
        CHECK(atomic_load(&orders[i]) == i + 1);
    }
}

static void oldest_goes_first(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2; /* for one of them the guest stands in: no fork wakes anybody */
    config.fork = WEFT_FORK_LAZY;
    config.quantum = WEFT_NONE;
    weft_pool *pool = pool_make_with(&config);
    for (int i = 0; i < 50; i++)
        CHECK(weft_run(pool, fork_many_and_compute, pool) == 0);
    pool_drop(pool);
}

/* ---- Age ---- */

#define TEN_MINUTES (UINT64_C(600) * 1000000000)

struct tree {
    unsigned depth;
    unsigned long leaves;
};

static void count_leaves(weft *w, void *arg)
{
    struct tree *tree = arg;
    if (tree->depth == 0) {
        tree->leaves = 1;
        return;
    }
    struct tree left = {tree->depth - 1, 0}, right = left;
    weft_join(w, count_leaves, &left, count_leaves, &right);
    tree->leaves = left.leaves + right.leaves;
}

static void younger_than_a_quantum_is_left_alone(void)
{
    enum { RUNS = 20 };
    weft_pool *pool = lazy_pool(2, TEN_MINUTES);
    for (int i = 0; i < RUNS; i++) {
        struct tree tree = {12, 0};
        CHECK(weft_run(pool, count_leaves, &tree) == 0);
        CHECK(tree.leaves == 1ul << 12);
    }
    CHECK(pool_steals(pool) <= RUNS); /* at most the one that was published for who was woken */
    pool_drop(pool);
}

static void fork_two_and_compute(weft *w, void *arg)
{
    atomic_bool first = false, second = false;
    weft *in = weft_fork(w, set_flag, &first);
    weft_fork(in, set_flag, &second);
    WAIT_UNTIL(atomic_load(&first));
    CHECK(!weft_merge(in)); /* too young */
    CHECK(weft_merge(w));
}

/* A worker that a fork has woken gets that fork, however young it is. The pool is new each time:
 * later, a look-out may get up by itself just then, and the fork wakes nobody. */
static void what_wakes_a_worker_is_its_own(void)
{
    for (int i = 0; i < 20; i++) {
        weft_pool *pool = lazy_pool(2, TEN_MINUTES);
        pool_wait_asleep(pool);
        CHECK(weft_run(pool, fork_two_and_compute, NULL) == 0);
        CHECK(pool_steals(pool) == 1);
        pool_drop(pool);
    }
}

/* Merged and forked anew at the same slot, with the same function and argument, a right
 * side is young again. */
static void fork_for(weft *w, void *arg)
{
    uint64_t end = weft_now() + 300 * 1000000;
    while (weft_now() < end)
        weft_join(w, nothing, NULL, nothing, NULL);
}

static void a_new_fork_in_an_old_slot_is_young(void)
{
    weft_pool *pool = lazy_pool(2, 100 * 1000000); /* the loop lasts three of these */
    CHECK(weft_run(pool, fork_for, NULL) == 0);
    CHECK(pool_steals(pool) <= 1); /* the first, which woke the thief */
    pool_drop(pool);
}

/* ---- Owner against thieves ---- */

struct once {
    atomic_uint runs;
};

static void run_once(weft *w, void *arg)
{
    atomic_fetch_add(&((struct once *)arg)->runs, 1);
}

static void fork_and_merge(weft *w, void *arg)
{
    struct once once[4];
    for (int i = 0; i < SCALED(200000, 20); i++) {
        weft *in = w;
        for (int k = 0; k < 4; k++) {
            atomic_store_explicit(&once[k].runs, 0, memory_order_relaxed);
            in = weft_fork(in, run_once, &once[k]);
        }
        for (int k = 4; k-- > 0;) {
            if (!weft_merge(w + k))
                run_once(w + k, &once[k]);
            CHECK(atomic_load_explicit(&once[k].runs, memory_order_relaxed) == 1);
        }
    }
}

static void every_right_side_runs_once(void)
{
    weft_pool *pool = lazy_pool(3, WEFT_NONE);
    for (int i = 0; i < 5; i++)
        CHECK(weft_run(pool, fork_and_merge, NULL) == 0);
    pool_drop(pool);
}

/* ---- Full contexts ---- */

/* All slots but `left` in use; then the rest, in the context that is left. */
struct full {
    unsigned left;
    weft_fn *rest;
};

static weft *slots_last(weft *w)
{
    return (weft *)(((uintptr_t)w & ~(WEFT_BLOCK_SIZE_ - 1)) + WEFT_BLOCK_SIZE_) - 1;
}

static void fill_slots(weft *w, void *arg)
{
    struct full *full = arg;
    weft *end = slots_last(w) + 1 - full->left, *at = w;
    while (at < end)
        at = weft_fork(at, nothing, NULL);
    full->rest(at, NULL);
    while (at-- > w)
        if (!weft_merge(at))
            nothing(at, NULL);
}

/* Forked while the workers sleep, the last one wakes one: it must not go where the next slot would
 * be the oldest, because there is none. */
static void fork_last(weft *w, void *arg)
{
    atomic_int runs = 0;
    weft_fork(w, count_up, &runs);
    if (!weft_merge(w))
        count_up(w, &runs);
    CHECK(atomic_load(&runs) == 1);
}

static void call_fork_last(weft *w, void *arg)
{
    weft_pool *pool = weft_pool_of(w);
    pool_wait_asleep(pool);
    weft__context_expect(weft__context_of(w));
    fork_last(w, arg);
}

static void full_contexts_are_fine(void)
{
    static const int64_t quanta[] = {WEFT_NONE, WEFT_QUANTUM};
    for (int q = 0; q < 2; q++) {
        weft_pool *pool = lazy_pool(2, quanta[q]);
        struct full full = {1, fork_last};
        for (int i = 0; i < 5; i++)
            CHECK(weft_run(pool, fill_slots, &full) == 0);
        pool_drop(pool);
    }
    /* Nobody takes any: all forks are still pending when the last one comes. */
    weft_pool *pool = lazy_pool(1, TEN_MINUTES);
    struct full asleep = {1, call_fork_last};
    CHECK(weft_run(pool, fill_slots, &asleep) == 0);
    pool_drop(pool);
}

/* In the only context that there is, and it is exactly full. */
static void run_nested(weft *w, void *arg)
{
    CHECK(weft_run(weft_pool_of(w), nothing, NULL) == 0);
}

static void nested_runs_need_no_slot(void)
{
    weft_pool *pool = lazy_pool(1, TEN_MINUTES);
    struct full full = {0, run_nested};
    CHECK(weft_run(pool, fill_slots, &full) == 0);
    pool_drop(pool);
}

/* ---- Without membarrier ---- */

static void forbid_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    /* In all threads that there are. */
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
}

static void without_membarrier_pools_are_eager(void)
{
    forbid_membarrier();
    weft_pool *pool = lazy_pool(2, 0);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    CHECK(strcmp(info.fork, "eager (no membarrier)") == 0);
    struct tree tree = {14, 0};
    CHECK(weft_run(pool, count_leaves, &tree) == 0);
    CHECK(tree.leaves == 1ul << 14);
    CHECK(weft_run(pool, fork_and_compute, NULL) == 0);
    pool_drop(pool);
}

/* ---- Failure ---- */

static void fail_and_fork(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    weft_fork(in, nothing, NULL);
    weft_fail(in + 1, -EIO);
    CHECK(weft_merge(in)); /* neither started, both are skipped */
    CHECK(weft_merge(w));
    weft_fork(w, nothing, NULL); /* and so is a new one */
    CHECK(weft_merge(w));
}

static void not_cancelled_any_more(weft *w, void *arg)
{
    atomic_int runs = 0;
    weft_scope scope;
    weft_scope_open(w, &scope);
    fail_and_fork(w, NULL);
    CHECK(weft_scope_close(w, &scope) == -EIO);
    weft_fork(w, count_up, &runs);
    if (!weft_merge(w))
        count_up(w, &runs);
    CHECK(atomic_load(&runs) == 1);
}

static void failure_skips_pending_right_sides(void)
{
    static const int64_t quanta[] = {WEFT_NONE, 1000000000};
    for (int q = 0; q < 2; q++) {
        weft_pool *pool = lazy_pool(1, quanta[q]);
        for (int i = 0; i < 100; i++) {
            CHECK(weft_run(pool, fail_and_fork, NULL) == -EIO);
            CHECK(weft_run(pool, not_cancelled_any_more, NULL) == 0);
        }
        pool_drop(pool);
    }
}

static void fork_and_wait_for_it(weft *w, void *arg)
{
    atomic_int runs = 0;
    weft_fork(w, count_up, &runs);
    WAIT_UNTIL(atomic_load(&runs) == 1); /* somebody takes it, though its owner is silent */
    CHECK(weft_merge(w));
}

/* The process enters a sandbox when its pools are made, and in use. */
static void membarrier_may_go_later(void)
{
    weft_pool *pool = lazy_pool(2, WEFT_NONE);
    CHECK(weft_run(pool, fork_and_merge, NULL) == 0);
    forbid_membarrier();
    for (int i = 0; i < SCALED(20, 10); i++) {
        struct tree tree = {14, 0};
        CHECK(weft_run(pool, count_leaves, &tree) == 0);
        CHECK(tree.leaves == 1 << 14);
    }
    /* Somebody has noticed by now, or notices at the first of these. */
    while (!weft__membarrier_is_gone())
        CHECK(weft_run(pool, fork_and_merge, NULL) == 0);
    for (int i = 0; i < 100; i++)
        CHECK(weft_run(pool, fork_and_wait_for_it, NULL) == 0);
    CHECK(weft_run(pool, fail_and_fork, NULL) == -EIO);
    CHECK(weft_run(pool, not_cancelled_any_more, NULL) == 0);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    CHECK(strcmp(info.fork, "eager (no membarrier)") == 0);
    pool_drop(pool);
}

/* The first one who learns of it is the thief; and the owner does not fork again, but waits for
 * what it has forked. */
static void set_event(weft *w, void *event)
{
    weft_event_set(w, event);
}

static void wait_for_right_side(weft *w, void *event)
{
    weft_fork(w, set_event, event);
    weft_event_wait(w, event);
    CHECK(weft_merge(w));
}

static void blocked_owner_needs_no_membarrier(void)
{
    weft_pool *pool = lazy_pool(8, 0);
    weft_event event = WEFT_EVENT_INIT;
    struct tree tree = {14, 0};
    CHECK(weft_run(pool, count_leaves, &tree) == 0);
    pool_wait_asleep(pool);
    forbid_membarrier();
    CHECK(weft_run(pool, wait_for_right_side, &event) == 0);
    pool_drop(pool);
}

static void fork_past_deadline(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 1000000);
    atomic_int runs = 0;
    bool skipped = false;
    while (!skipped) { /* until a right side is skipped, by nothing but forks and merges */
        weft_fork(w, count_up, &runs);
        skipped = weft_merge(w);
    }
    CHECK(atomic_load(&runs) == 0);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
}

static void forks_notice_a_deadline(void)
{
    weft_pool *pool = lazy_pool(1, TEN_MINUTES); /* nobody takes one while the owner is kept away */
    CHECK(weft_run(pool, fork_past_deadline, NULL) == 0);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(silent_owner_is_robbed),
        IN_CHILD(oldest_goes_first),
        IN_CHILD(younger_than_a_quantum_is_left_alone),
        IN_CHILD(what_wakes_a_worker_is_its_own),
        IN_CHILD(a_new_fork_in_an_old_slot_is_young),
        IN_CHILD(every_right_side_runs_once),
        IN_CHILD(full_contexts_are_fine),
        IN_CHILD(nested_runs_need_no_slot),
        IN_CHILD(without_membarrier_pools_are_eager),
        IN_CHILD(membarrier_may_go_later),
        IN_CHILD(blocked_owner_needs_no_membarrier),
        IN_CHILD(failure_skips_pending_right_sides),
        IN_CHILD(forks_notice_a_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
