/* SPDX-License-Identifier: MIT */
/* null_pool.c: NULL is the default pool, wherever a pool is asked for. */
#include "check.h"
#include "weft.h"
#include "weft/actor.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int count;

static void add_one(weft *w, void *arg)
{
    assert_ptr_equal(weft_pool_of(w), weft_pool_default());
    atomic_fetch_add(&count, 1);
}

static int return_seven(weft *w, void *arg)
{
    assert_ptr_equal(weft_pool_of(w), weft_pool_default());
    return 7;
}

static void questions(void **state)
{
    unsigned workers = weft_pool_workers(NULL); /* makes it */
    assert_true(workers >= 1);
    assert_int_equal(workers, weft_pool_workers(weft_pool_default()));
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    assert_int_equal(weft_pool_get_info(NULL, &info), 0);
    assert_int_equal(info.workers, workers);
    weft_worker_info worker = WEFT_WORKER_INFO_INIT;
    assert_int_equal(weft_worker_get_info(NULL, 0, &worker), 0);
    assert_int_equal(weft_worker_get_info(NULL, workers, &worker), -EINVAL);
}

static void work(void **state)
{
    weft_task task;
    atomic_store(&count, 0);
    assert_int_equal(weft_run(NULL, add_one, NULL), 0);
    assert_int_equal(weft_submit(NULL, &task, add_one, NULL), 0);
    assert_int_equal(weft_task_wait(&task), 0);
    assert_int_equal(atomic_load(&count), 2);
    assert_int_equal(weft_broadcast(NULL, add_one, NULL), 0);
    assert_int_equal(weft_broadcast_detached(NULL, add_one, NULL), 0);
    /* Before the pool is destroyed: from then on, another one is the default. */
    WAIT_UNTIL(atomic_load(&count) == 2 + 2 * (int)weft_pool_workers(NULL));
    weft_actor *actor;
    assert_int_equal(weft_actor_create(&actor, NULL, return_seven, NULL, NULL), 0);
    assert_int_equal(weft_actor_run(actor), 0);
    assert_int_equal(weft_actor_wait(NULL, actor), 7);
    weft_actor_release(actor);
}

/* Not that one by mistake. */
static void destroy(void **state)
{
    assert_int_equal(weft_pool_destroy(NULL), -EINVAL);
    assert_int_equal(weft_pool_destroy(weft_pool_default()), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions),
        cmocka_unit_test(work),
        cmocka_unit_test(destroy),
    };
    return cmocka_run_group_tests_name("null_pool", tests, NULL, NULL);
}
