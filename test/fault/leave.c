/* SPDX-License-Identifier: MIT */
/* leave.c: jobs that never return. Who leaves one by longjmp, pthread_exit or cancellation
 * gets a clear abort at the next occasion; nobody waits for ever. */
#include "child.h"

#include <weft/actor.h>

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static void set_flag(weft *w, void *flag)
{
    atomic_store((atomic_int *)flag, 1);
}

/* Volatile, as setjmp wants it. */
static weft_pool *volatile pool_a;
static weft_pool *volatile pool_b;
static weft_task task;
static jmp_buf out;

/* ---- longjmp to before weft_run ---- */

static void jump_out(weft *w, void *arg)
{
    longjmp(out, 1);
}

/* From a child of the job's, to before weft_run all the same. */
static void jump_out_of_merge(weft *w, void *arg)
{
    weft_join(w, jump_out, NULL, nothing, NULL);
}

enum call { RUN, SUBMIT, WAIT, BROADCAST, BROADCAST_DETACHED, DESTROY, CREATE };

/* Inline, so that the call comes from the frame of whoever uses this. */
static inline __attribute__((always_inline)) void call(enum call which)
{
    weft_pool *made;
    switch (which) {
    case RUN:
        weft_run(pool_a, nothing, NULL);
        break;
    case SUBMIT:
        weft_submit(pool_a, &task, nothing, NULL);
        break;
    case WAIT:
        weft_task_wait(&task);
        break;
    case BROADCAST:
        weft_broadcast(pool_a, nothing, NULL);
        break;
    case BROADCAST_DETACHED:
        weft_broadcast_detached(pool_a, nothing, NULL);
        break;
    case DESTROY:
        weft_pool_destroy(pool_a);
        break;
    case CREATE:
        weft_pool_create(&made, NULL);
        break;
    }
}

/* The next call comes from the frame that weft_run was called from. One worker, for which the guest
 * stands in: another one might take the right side, and look at a frame that is gone. */
static void jump_and_call(void *arg)
{
    volatile enum call which = *(enum call *)arg;
    pool_a = child_pool(1, 0, WAY_SPIN);
    CHECK_EQUAL(weft_submit(pool_a, &task, nothing, NULL), 0);
    UNTIL(weft_task_done(&task));
    if (setjmp(out) == 0)
        weft_run(pool_a, jump_out_of_merge, NULL);
    call(which);
}

__attribute__((noinline)) static void run_further_down(void *arg)
{
    weft_run(pool_a, jump_out, NULL);
    atomic_signal_fence(memory_order_seq_cst); /* no tail call */
}

/* The next call comes from further up than weft_run was called from. */
static void jump_and_call_above(void *arg)
{
    volatile enum call which = *(enum call *)arg;
    pool_a = child_pool(2, 0, WAY_SPIN);
    CHECK_EQUAL(weft_submit(pool_a, &task, nothing, NULL), 0);
    UNTIL(weft_task_done(&task));
    if (setjmp(out) == 0)
        deep_down(4096, run_further_down, NULL);
    call(which);
}

#define LEFT_BEFORE(name, which)                                                  \
    static void longjmp_out_of_guest_then_##name(void **state)                    \
    {                                                                             \
        expect_abort(jump_and_call_above, &(enum call){which}, WORDS("longjmp")); \
    }                                                                             \
    static void longjmp_out_of_guest_then_##name##_from_same_frame(void **state)  \
    {                                                                             \
        expect_abort(jump_and_call, &(enum call){which}, WORDS("longjmp"));       \
    }
LEFT_BEFORE(run, RUN)
LEFT_BEFORE(submit, SUBMIT)
LEFT_BEFORE(wait, WAIT)
LEFT_BEFORE(broadcast, BROADCAST)
LEFT_BEFORE(broadcast_detached, BROADCAST_DETACHED)
LEFT_BEFORE(destroy, DESTROY)
LEFT_BEFORE(create, CREATE)

static void use_and_destroy(void *arg)
{
    weft_run(pool_a, nothing, NULL);
    CHECK(weft_pool_destroy(pool_a) != 0); /* the guest is still in it */
}

static void jump_and_call_below(void *arg)
{
    pool_a = child_pool(2, 0, WAY_SPIN);
    if (setjmp(out) == 0)
        weft_run(pool_a, jump_out, NULL);
    deep_down(4096, use_and_destroy, NULL);
}

/* The next call comes from further down. That need not be noticed, as a nested call looks
 * the same, but nothing may hang. */
static void longjmp_out_of_guest_then_call_from_below(void **state)
{
    static struct child child;
    child_run(&child, jump_and_call_below, NULL);
    assert_false(child.hung);
    if (child.status != 0)
        assert_non_null(strstr(child.said, "longjmp"));
}

/* Something else lies where the job was, and the next call comes from further down. */
static __attribute__((noinline)) void overwrite_stack_and_run(void)
{
    volatile char much[16 * 1024];
    for (size_t i = 0; i < sizeof much; i++)
        much[i] = 0x5a;
    weft_run(pool_a, nothing, NULL);
    much[0] = 0;
}

static void jump_and_overwrite(void *arg)
{
    pool_a = child_pool(1, 0, WAY_SPIN);
    if (setjmp(out) == 0)
        weft_run(pool_a, jump_out, NULL);
    overwrite_stack_and_run();
}

static void longjmp_out_of_guest_then_overwrite(void **state)
{
    if (SANITIZED && !SANITIZED_THREAD)
        skip(); /* the record of the job is not on the stack */
    expect_abort(jump_and_overwrite, NULL, WORDS("longjmp"));
}

/* The caller of WEFT_USE_CALLER is worker 0, not a guest; the only one, as above. */
static void jump_out_of_caller(void *arg)
{
    pool_a = child_pool(1, WEFT_USE_CALLER, WAY_SPIN);
    if (setjmp(out) == 0)
        weft_run(pool_a, jump_out_of_merge, NULL);
    weft_run(pool_a, nothing, NULL);
    weft_pool_destroy(pool_a);
}

static void longjmp_out_of_caller(void **state)
{
    expect_abort(jump_out_of_caller, NULL, WORDS("longjmp"));
}

/* A worker's job is a guest of another pool, and that guest's job jumps back to it. */
static void jump_between_pools(weft *w, void *arg)
{
    if (setjmp(out) == 0)
        weft_run(pool_b, jump_out, NULL);
}

static void jump_between_pools_and_return(void *arg)
{
    pool_a = child_pool(1, WEFT_NO_GUESTS, WAY_SPIN);
    pool_b = child_pool(1, 0, WAY_SPIN);
    weft_run(pool_a, jump_between_pools, NULL);
    weft_pool_destroy(pool_b); /* would wait for the guest */
}

static void longjmp_from_pool_to_pool(void **state)
{
    expect_abort(jump_between_pools_and_return, NULL, WORDS("longjmp"));
}

/* ---- longjmp into the frame of a job that waits ---- */

/* On a pool of two workers without guests: one waits, the other takes what it forked or
 * spawned, and the waiter alone can take what that one spawns. */
static _Thread_local jmp_buf waiting;
static _Thread_local bool can_jump;

/* Blocks a worker until somebody else has run what it spawned. */
static atomic_int taken;

static void jump_to_waiter(weft *w, void *arg)
{
    CHECK(can_jump); /* the job that merges runs this; nobody else is there */
    longjmp(waiting, 1);
}

/* On the thief: gives the waiter something to help with, and never runs it itself. */
static void spawn_jumper(weft *w, void *arg)
{
    weft_scope scope;
    atomic_store(&taken, 1);
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, jump_to_waiter, NULL), 0);
    UNTIL(!weft_has_pending(w));
    weft_scope_close(w, &scope);
}

/* Detached, and so part of another computation. */
static void detach_jumper(weft *w, void *arg)
{
    atomic_store(&taken, 1);
    CHECK_EQUAL(weft_spawn_detached(w, jump_to_waiter, NULL), 0);
    UNTIL(!weft_has_pending(w));
    UNTIL(false);
}

static weft_fn *right_side;
static bool merge_again;

static void merge_and_be_jumped_at(weft *w, void *arg)
{
    weft_fork(w, right_side, NULL);
    UNTIL(atomic_load(&taken));
    can_jump = true;
    if (setjmp(waiting) == 0 || merge_again)
        weft_merge(w);
    else if (!merge_again)
        return;
}

static void jump_into_waiter(void *again)
{
    merge_again = again != NULL;
    pool_a = child_pool(2, WEFT_NO_GUESTS, WAY_NO_SPIN);
    weft_run(pool_a, merge_and_be_jumped_at, NULL);
}

/* The slot is still forked when the job returns; longjmp is the reason. */
static void longjmp_into_waiting_job_that_returns(void **state)
{
    right_side = spawn_jumper;
    expect_abort(jump_into_waiter, NULL, WORDS("longjmp"));
    right_side = detach_jumper;
    expect_abort(jump_into_waiter, NULL, WORDS("longjmp"));
}

static void longjmp_into_waiting_job_that_merges_again(void **state)
{
    right_side = spawn_jumper;
    expect_abort(jump_into_waiter, &merge_again, WORDS("longjmp"));
    right_side = detach_jumper;
    expect_abort(jump_into_waiter, &merge_again, WORDS("longjmp"));
}

/* The waiting job closes a scope: no slot is in use, and it can simply return. */
static void wait_for_scope(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, right_side, NULL), 0);
    UNTIL(atomic_load(&taken));
    can_jump = true;
    if (setjmp(waiting) == 0)
        weft_scope_close(w, &scope);
}

static void jump_into_scope(void *arg)
{
    pool_a = child_pool(2, WEFT_NO_GUESTS, WAY_NO_SPIN);
    weft_run(pool_a, wait_for_scope, NULL);
}

static void longjmp_into_waiting_scope(void **state)
{
    right_side = spawn_jumper;
    expect_abort(jump_into_scope, NULL, WORDS("longjmp"));
    right_side = detach_jumper;
    expect_abort(jump_into_scope, NULL, WORDS("longjmp"));
}

/* The waiting job waits for a task: there is nothing left open at all. */
static void wait_for_task(weft *w, void *arg)
{
    CHECK_EQUAL(weft_submit(pool_a, &task, detach_jumper, NULL), 0);
    UNTIL(atomic_load(&taken));
    can_jump = true;
    if (setjmp(waiting) == 0)
        weft_task_wait(&task);
}

static void jump_into_wait(void *arg)
{
    pool_a = child_pool(2, WEFT_NO_GUESTS, WAY_NO_SPIN);
    weft_run(pool_a, wait_for_task, NULL);
}

static void longjmp_into_waiting_for_a_task(void **state)
{
    expect_abort(jump_into_wait, NULL, WORDS("longjmp"));
}

/* What is allowed: setjmp and longjmp within one job, with nothing waiting between. */
static void jump_within(weft *w, void *arg)
{
    jmp_buf again;
    volatile int rounds = 0;
    setjmp(again);
    weft_join(w, nothing, NULL, nothing, NULL);
    if (++*(volatile int *)&rounds < 3)
        longjmp(again, 1);
}

static void longjmp_within_a_job(void)
{
    pool_a = child_pool(2, 0, WAY_SPIN);
    CHECK_EQUAL(weft_run(pool_a, jump_within, NULL), 0);
    child_pool_end(pool_a);
}

/* ---- pthread_exit and cancellation ---- */

static void end_thread(weft *w, void *arg)
{
    pthread_exit(NULL);
}

static void end_thread_in_join(weft *w, void *arg)
{
    weft_join(w, nothing, NULL, end_thread, NULL);
}

static void end_worker(void *arg)
{
    pool_a = child_pool(2, WEFT_NO_GUESTS, WAY_SPIN);
    weft_run(pool_a, end_thread_in_join, NULL);
}

static void pthread_exit_on_worker(void **state)
{
    expect_abort(end_worker, NULL, WORDS("pthread_exit", "worker "));
}

static void spawned_exit(weft *w, void *arg)
{
    CHECK_EQUAL(weft_spawn_detached(w, end_thread, NULL), 0);
}

static void end_worker_detached(void *arg)
{
    pool_a = child_pool(1, WEFT_NO_GUESTS, WAY_SPIN);
    weft_run(pool_a, spawned_exit, NULL);
    weft_pool_destroy(pool_a);
}

static void pthread_exit_in_detached_job(void **state)
{
    expect_abort(end_worker_detached, NULL, WORDS("pthread_exit", "worker 0"));
}

static void *run_end(void *arg)
{
    weft_run(pool_a, end_thread_in_join, NULL);
    return NULL;
}

static void end_guest(void *arg)
{
    pthread_t thread;
    pool_a = child_pool(2, 0, WAY_SPIN);
    child_thread(run_end, NULL, &thread);
    child_thread_join(thread);
    weft_pool_destroy(pool_a); /* would wait for the guest */
}

static void pthread_exit_on_guest(void **state)
{
    expect_abort(end_guest, NULL, WORDS("pthread_exit"));
}

static void end_caller(void *arg)
{
    pool_a = child_pool(2, WEFT_USE_CALLER, WAY_SPIN);
    weft_run(pool_a, end_thread_in_join, NULL);
}

static void pthread_exit_on_caller(void **state)
{
    expect_abort(end_caller, NULL, WORDS("pthread_exit"));
}

static void run_b(weft *w, void *arg)
{
    weft_run(pool_b, end_thread, NULL);
}

static void end_nested(void *arg)
{
    pool_a = child_pool(1, WEFT_NO_GUESTS, WAY_SPIN);
    pool_b = child_pool(1, 0, WAY_SPIN);
    weft_run(pool_a, run_b, NULL);
}

static void pthread_exit_in_nested_pools(void **state)
{
    expect_abort(end_nested, NULL, WORDS("pthread_exit"));
}

/* ---- Actors ---- */

static int end_thread_in_actor(weft *w, void *arg)
{
    pthread_exit(NULL);
}

static int end_thread_in_part(weft *w, void *arg)
{
    weft_join(w, nothing, NULL, end_thread, NULL);
    return 0;
}

static int end_at_once(weft *w, void *arg)
{
    return 0;
}

static void supervise_no_more(weft_actor *actor, int reason, void *data)
{
    pthread_exit(NULL);
}

static void run_actor(weft_actor_fn *fn, const weft_actor_config *config)
{
    weft_actor *actor;
    CHECK_EQUAL(weft_actor_create(&actor, pool_a, fn, NULL, config), 0);
    CHECK_EQUAL(weft_actor_run(actor), 0);
    weft_actor_wait(NULL, actor);
}

static void end_actor(void *fn)
{
    pool_a = child_pool(2, 0, WAY_SPIN);
    run_actor((weft_actor_fn *)(uintptr_t)fn, NULL);
}

static void end_supervisor(void *arg)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.supervisor = supervise_no_more;
    pool_a = child_pool(2, 0, WAY_SPIN);
    run_actor(end_at_once, &config);
}

static void pthread_exit_in_supervisor(void **state)
{
    expect_abort(end_supervisor, NULL, WORDS("worker ", "pthread_exit"));
}

static void pthread_exit_in_actor(void **state)
{
    if (SANITIZED_THREAD)
        skip(); /* its own pthread_exit aborts on a fiber */
    expect_abort(end_actor, (void *)(uintptr_t)end_thread_in_actor, WORDS("actor", "pthread_exit"));
    expect_abort(end_actor, (void *)(uintptr_t)end_thread_in_part, WORDS("actor", "pthread_exit"));
}

/* Where the library calls, but no job is: nobody unwinds to a place that would notice. */
static void end_at_start(weft_pool *pool, unsigned worker, void *data)
{
    pthread_exit(NULL);
}

static void start_and_end(void *arg)
{
    weft_config config = child_config(1, 0, WAY_SPIN);
    config.on_start = end_at_start;
    pool_a = child_pool_of(&config);
    weft_pool_destroy(pool_a);
}

static void pthread_exit_in_on_start(void **state)
{
    expect_abort(start_and_end, NULL, WORDS("worker 0", "pthread_exit"));
}

/* The caller drives the executor itself while it waits. */
static int jump_out_of_actor(weft *w, void *arg)
{
    longjmp(out, 1);
}

static void jump_and_run(void *arg)
{
    pool_a = child_pool(1, WEFT_USE_CALLER, WAY_SPIN);
    if (setjmp(out) == 0)
        run_actor(jump_out_of_actor, NULL);
    weft_run(pool_a, nothing, NULL);
}

/* Sanitizers are told of each switch between stacks, and don't survive a jump that is none. */
static void longjmp_out_of_actor(void **state)
{
    if (SANITIZED)
        skip();
    expect_abort(jump_and_run, NULL, WORDS("actor", "longjmp"));
}

/* A guest's thread is the program's own, and may be cancelled: the same as pthread_exit. */
static void wait_for_cancel(weft *w, void *started)
{
    set_flag(w, started);
    for (;;)
        pause();
}

static void *run_until_cancelled(void *started)
{
    weft_run(pool_a, wait_for_cancel, started);
    return NULL;
}

static void cancel_guest(void *arg)
{
    static atomic_int started;
    pthread_t thread;
    pool_a = child_pool(2, 0, WAY_SPIN);
    child_thread(run_until_cancelled, &started, &thread);
    UNTIL(atomic_load(&started));
    CHECK_EQUAL(pthread_cancel(thread), 0);
    child_thread_join(thread);
    weft_pool_destroy(pool_a);
}

static void pthread_cancel_of_guest(void **state)
{
    expect_abort(cancel_guest, NULL, WORDS("pthread_exit"));
}

static pthread_t cancelled;
static atomic_int still_there;

static void note_thread(weft *w, void *arg)
{
    cancelled = pthread_self();
}

static void use_thread(weft *w, void *arg)
{
    CHECK(pthread_equal(cancelled, pthread_self()));
    pthread_testcancel();
    usleep(1); /* a cancellation point */
    atomic_fetch_add(&still_there, 1);
}

static void pthread_cancel_of_worker_is_ignored(void)
{
    FOR_EACH_WAY(way)
    {
        atomic_store(&still_there, 0);
        pool_a = child_pool(1, WEFT_NO_GUESTS, way);
        CHECK_EQUAL(weft_run(pool_a, note_thread, NULL), 0);
        until_asleep(pool_a, 1); /* cancelled in its sleep */
        CHECK_EQUAL(pthread_cancel(cancelled), 0);
        for (int i = 0; i < 10; i++)
            CHECK_EQUAL(weft_run(pool_a, use_thread, NULL), 0);
        CHECK_EQUAL(atomic_load(&still_there), 10);
        child_pool_end(pool_a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longjmp_out_of_guest_then_run),
        cmocka_unit_test(longjmp_out_of_guest_then_run_from_same_frame),
        cmocka_unit_test(longjmp_out_of_guest_then_submit),
        cmocka_unit_test(longjmp_out_of_guest_then_submit_from_same_frame),
        cmocka_unit_test(longjmp_out_of_guest_then_wait),
        cmocka_unit_test(longjmp_out_of_guest_then_wait_from_same_frame),
        cmocka_unit_test(longjmp_out_of_guest_then_broadcast),
        cmocka_unit_test(longjmp_out_of_guest_then_broadcast_from_same_frame),
        cmocka_unit_test(longjmp_out_of_guest_then_broadcast_detached),
        cmocka_unit_test(longjmp_out_of_guest_then_broadcast_detached_from_same_frame),
        cmocka_unit_test(longjmp_out_of_guest_then_destroy),
        cmocka_unit_test(longjmp_out_of_guest_then_destroy_from_same_frame),
        cmocka_unit_test(longjmp_out_of_guest_then_create),
        cmocka_unit_test(longjmp_out_of_guest_then_create_from_same_frame),
        cmocka_unit_test(longjmp_out_of_guest_then_call_from_below),
        cmocka_unit_test(longjmp_out_of_guest_then_overwrite),
        cmocka_unit_test(longjmp_out_of_caller),
        cmocka_unit_test(longjmp_from_pool_to_pool),
        cmocka_unit_test(longjmp_into_waiting_job_that_returns),
        cmocka_unit_test(longjmp_into_waiting_job_that_merges_again),
        cmocka_unit_test(longjmp_into_waiting_scope),
        cmocka_unit_test(longjmp_into_waiting_for_a_task),
        IN_CHILD(longjmp_within_a_job),
        cmocka_unit_test(pthread_exit_on_worker),
        cmocka_unit_test(pthread_exit_in_detached_job),
        cmocka_unit_test(pthread_exit_on_guest),
        cmocka_unit_test(pthread_exit_on_caller),
        cmocka_unit_test(pthread_exit_in_nested_pools),
        cmocka_unit_test(pthread_exit_in_actor),
        cmocka_unit_test(pthread_exit_in_supervisor),
        cmocka_unit_test(pthread_exit_in_on_start),
        cmocka_unit_test(longjmp_out_of_actor),
        cmocka_unit_test(pthread_cancel_of_guest),
        IN_CHILD(pthread_cancel_of_worker_is_ignored),
    };
    return cmocka_run_group_tests_name("leave", tests, NULL, NULL);
}
