/* SPDX-License-Identifier: MIT */
/* The checker checked (litmus.c): races of ordinary data, and memory that is gone. */
#include "litmus.h"

/* ---- Plain data ---- */

#define READ MODEL_ASSERT(plain == 1)
THREAD(pl_write, plain = 1)
THREAD(pl_other, plain = 2)
THREAD(pl_read, seen[0] = (uint32_t)plain)
THREAD(pl_read_too, seen[1] = (uint32_t)plain)
THREAD(pl_give_rel, plain = 1; W_REL(y, 1))
THREAD(pl_give_rlx, plain = 1; W(y, 1))
THREAD(pl_give_fence, plain = 1; F; W(y, 1))
THREAD(pl_give_own, plain = 1; W_REL(y, 1); W(y, 2))
THREAD(pl_take_acq, if (R_ACQ(y)) READ)
THREAD(pl_take_rlx, if (R(y)) READ)
THREAD(pl_take_fence, if (!R(y)) return; F; READ)
THREAD(pl_take_2, if (R_ACQ(y) == 2) READ)
THREAD(pl_take_failed_ar, if (FAIL_AR(y)) READ)
THREAD(pl_take_failed_sc, if (FAIL_SC(y)) READ)
/* Between the two. */
THREAD(rs_store, if (R(y) == 1) W(y, 2))
THREAD(rs_any_add, ADD(y, 1))
/* Fences are in one order, and still hand over nothing. */
THREAD(pl_fence_a, plain = 1; F)
THREAD(pl_fence_b, F; plain = 2)
/* An atomic that is plain while it is made. */
THREAD(pl_init, x.value = 1)
THREAD(pl_init_rel, x.value = 1; W_REL(y, 1))
THREAD(pl_init_rlx, x.value = 1; W(y, 1))
THREAD(pl_load, seen[0] = R(x))
THREAD(pl_init_acq, if (R_ACQ(y)) MODEL_ASSERT(R(x) == 1))
/* Made once more; y still has a view of what x was before. */
THREAD(pl_again, W(x, 1); W_REL(y, 1); x.value = 5; seen[0] = R(x); W_REL(z, 1))
THREAD(pl_again_acq, if (R_ACQ(z) && R_ACQ(y)) MODEL_ASSERT(R(x) == 5))
/* Dekker: who sees the other does not enter. Whoever has left lets the other in. */
#define DEKKER(n, me, other, fence, leave, load) \
    THREAD(dk##n, W(me, 1); fence; if (load(other)) return; plain++; leave(me, 0))
DEKKER(1a, x, y, F, W_REL, R_ACQ)
DEKKER(1b, y, x, F, W_REL, R_ACQ)
DEKKER(2a, x, y, F, W, R_ACQ)
DEKKER(3b, y, x, MB, W_REL, R_ACQ)
DEKKER(4a, x, y, NO, W_REL, R_ACQ)
DEKKER(5a, x, y, ADD_AR(z, 1), W_REL, R_ACQ)
/* Locks. */
THREAD(pl_lock, LOCK(z); plain++; UNLOCK(z))
THREAD(pl_try, if (!model_trylock(&z.value)) return; plain++; UNLOCK(z))
THREAD(pl_try_anyway, if (model_trylock(&z.value)) UNLOCK(z); else plain++)
OUTCOME(pl_lock_seen, plain != 3)
/* Threads that threads start. */
static void *pl_child(void *arg)
{
    plain++;
    return arg;
}
THREAD(pl_start, plain = 0; (void)model_start(pl_child, NULL); plain++)
THREAD(pl_join, plain = 0; model_join(model_start(pl_child, NULL)); READ)

/* ---- Memory that is gone ---- */

THREAD(go_wait, while (!R_ACQ(x)) weft__relax(); model_gone(&x, sizeof x))
THREAD(go_set, W_REL(x, 1))
THREAD(go_set_touch, W_REL(x, 1); seen[0] = R(x))
/* Wakes nobody, or for no reason. */
THREAD(go_set_wake, W_REL(x, 1); model_wake(&x, 1, NULL))
THREAD(go_data, if (R_ACQ(x)) model_gone(&y, sizeof y))
THREAD(go_shared, seen[1] = R(y); if (R_ACQ(x)) model_gone(&y, sizeof y))
THREAD(go_data_touch, W_REL(x, 1); seen[0] = R(y))
THREAD(go_data_before, seen[0] = R(y); W_REL(x, 1))
THREAD(go_plain, if (R_ACQ(x)) model_gone(&plain, sizeof plain))
THREAD(go_plain_touch, W_REL(x, 1); plain = 1)

const struct harness litmus_data_harnesses[] = {
    TEST("plain-ww", "two plain stores", NULL, RACE, pl_write, pl_other),
    TEST("plain-rw", "a plain load and store", NULL, RACE, pl_read, pl_write),
    TEST("plain-rr", "two plain loads", NULL, NULL, pl_read, pl_read_too),
    TEST("plain-acq-rel", "handed over", NULL, NULL, pl_give_rel, pl_take_acq),
    TEST("plain-relaxed", "only acquired", NULL, RACE, pl_give_rlx, pl_take_acq),
    TEST("plain-release", "only released", NULL, RACE, pl_give_rel, pl_take_rlx),
    TEST("plain-fences", "by fences", NULL, NULL, pl_give_fence, pl_take_fence),
    TEST("plain-fence-acquire", "fence and load", NULL, NULL, pl_give_fence, pl_take_acq),
    TEST("plain-release-fence", "store and fence", NULL, NULL, pl_give_rel, pl_take_fence),
    TEST("plain-fence-first", "one fence", NULL, RACE, pl_give_fence, pl_take_rlx),
    TEST("plain-fence-second", "one fence", NULL, RACE, pl_give_rlx, pl_take_fence),
    TEST("plain-fences-alone", "two fences, nothing is read", NULL, RACE, pl_fence_a, pl_fence_b),
    TEST("plain-cas-failed", "a failed acq-rel one", NULL, NULL, pl_give_rel, pl_take_failed_ar),
    TEST("plain-cas-failed-sc", "a seq-cst one", NULL, RACE, pl_give_rel, pl_take_failed_sc),
    TEST("plain-rs", "by a release sequence", NULL, NULL, pl_give_rel, rs_any_add, pl_take_2),
    TEST("plain-rs-store", "a store breaks it", NULL, RACE, pl_give_rel, rs_store, pl_take_2),
    TEST("plain-rs-own-store", "one's own, too", NULL, RACE, pl_give_own, pl_take_2),
    TEST("plain-init", "an atomic while it is made", NULL, RACE, pl_init, pl_load),
    TEST("plain-init-load", "the other way round", NULL, RACE, pl_load, pl_init),
    TEST("plain-init-acq-rel", "handed over", NULL, NULL, pl_init_rel, pl_init_acq),
    TEST("plain-init-relaxed", "not handed over", NULL, RACE, pl_init_rlx, pl_init_acq),
    TEST("plain-init-again", "made once more", NULL, NULL, pl_again, pl_again_acq),
    TEST("dekker", "fences and flags", NULL, NULL, dk1a, dk1b),
    TEST("dekker-left-relaxed", "one leaves relaxed", NULL, RACE, dk2a, dk1b),
    TEST("dekker-one-fence", "one without a fence", NULL, RACE, dk4a, dk1b),
    TEST("dekker-rmw", "one with an acq-rel addition elsewhere", NULL, RACE, dk5a, dk1b),
    TEST("dekker-membarrier", "one without a fence, membarrier", NULL, NULL, dk4a, dk3b),
    TEST("plain-lock", "in a lock", pl_lock_seen, NULL, pl_lock, pl_lock, pl_lock),
    TEST("plain-trylock", "in a lock that is tried", NULL, NULL, pl_lock, pl_try, pl_try),
    TEST("plain-trylock-failed", "not in the lock", NULL, RACE, pl_lock, pl_try_anyway),
    TEST("plain-lock-one", "one not in the lock", NULL, RACE, pl_lock, pl_write),
    TEST("plain-start", "a thread that was started", NULL, RACE, pl_start),
    TEST("plain-join", "and has ended", NULL, NULL, pl_join),

    TEST("gone-never", "the last touch releases", NULL, NULL, go_wait, go_set),
    TEST("gone-touch", "touched after it", NULL, GONE, go_wait, go_set_touch),
    TEST("gone-wake", "a wake-up touches nothing", NULL, NULL, go_wait, go_set_wake),
    TEST("gone-data-before", "another location before it", NULL, NULL, go_data, go_data_before),
    TEST("gone-data", "another location after it", NULL, GONE, go_data, go_data_touch),
    TEST("gone-shared", "another location that both use", NULL, GONE, go_shared, go_data_touch),
    TEST("gone-plain", "plain data after it", NULL, GONE, go_plain, go_plain_touch),
    {0},
};
