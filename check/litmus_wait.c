/* SPDX-License-Identifier: MIT */
/* The checker checked (litmus.c): threads that wait, sleep and spin. */
#include "litmus.h"

/* ---- Waiting ---- */

#define WAIT(a, v) model_wait(&a.value, 4, v, 0)
#define WAKE(a, n) model_wake(&a, n, NULL)
THREAD(wa_loop, while (!R(x)) WAIT(x, 0))
THREAD(wa_once, if (!R(x)) WAIT(x, 0); MODEL_ASSERT(R(x)))
THREAD(wa_other, if (!R(x)) WAIT(y, 0)) /* y says nothing about x */
THREAD(wa_set, W(x, 1); WAKE(x, 1))
THREAD(wa_set_all, W(x, 1); WAKE(x, 2))
THREAD(wa_early, WAKE(x, 1); W(x, 1))
THREAD(wa_set_other, W(x, 1); WAKE(y, 1))
/* Sleep as the library does: y says that somebody is about to, and waits while it is so. */
#define SLEEP(n, fence, announce)                                                  \
    THREAD(wa_sleep##n, announce(y, 1); fence; if (!R(x)) while (R(y)) WAIT(y, 1)) \
    THREAD(wa_awake##n, announce(x, 1); fence; if (R(y) == 0) return; W(y, 0); WAKE(y, 1))
SLEEP(1, NO, W)
SLEEP(2, F, W)
SLEEP(3, NO, X_AR)
SLEEP(4, MB, W)
/* Spinning. */
THREAD(sp_x, while (!R(x)) weft__relax())
THREAD(sp_set, W(x, 1))
THREAD(sp_not, W(y, 1))
THREAD(sp_a, while (!R(x)) weft__relax(); W(y, 1))
THREAD(sp_b, while (!R(y)) weft__relax(); W(x, 1))

/* Who has spun sees what is new; or one spin later. */
THREAD(sp_mp, W(x, 1); W(y, 1))
THREAD(sp_mp_seen, seen[0] = R(y); seen[1] = R(x); weft__relax(); seen[2] = R(x))
THREAD(sp_mp_again, sp_mp_seen(); weft__relax(); seen[3] = R(x))
OUTCOME(sp_old, seen[0] == 1 && seen[1] == 0 && seen[2] == 0)
OUTCOME(sp_old_again, seen[0] == 1 && seen[1] == 0 && seen[2] == 0 && seen[3] == 0)

/* Z6, but hb goes from and to the same location: no psc, since spinning is no step. */
#define Z6_SPIN(n, between)                                            \
    THREAD(z6s##n##_a, W_SC(x, 1); between; W_REL(x, 2))               \
    THREAD(z6s##n##_b, seen[0] = R_ACQ(x); between; seen[1] = R_SC(y)) \
    THREAD(z6s##n##_c, W_SC(y, 1); seen[2] = R_SC(x))
Z6_SPIN(1, NO)
Z6_SPIN(2, weft__relax())
Z6_SPIN(3, (void)R(z))
OUTCOME(z6s_seen, seen[0] == 2 && seen[1] == 0 && seen[2] == 0)

static const struct rules late = {.late = 1};

#define LATE(id, text, end, words, ...)                                                   \
    {                                                                                     \
        .name = id, .what = text, .setup = setup, .thread = {__VA_ARGS__}, .finish = end, \
        .fails = words, .rules = &late                                                    \
    }
const struct harness litmus_wait_harnesses[] = {
    TEST("wait", "a wait in a loop", NULL, NULL, wa_loop, wa_set),
    TEST("wait-once", "woken for no reason", NULL, SEEN, wa_once, wa_set),
    TEST("wait-no-wake", "nobody wakes", NULL, LOST, wa_loop, sp_set),
    TEST("wait-early", "woken before the store", NULL, LOST, wa_loop, wa_early),
    TEST("wait-other", "a word that does not change", NULL, LOST, wa_other, wa_set_other),
    TEST("wait-two", "two wait, one is woken", NULL, LOST, wa_loop, wa_loop, wa_set),
    TEST("wait-all", "two wait, two are woken", NULL, NULL, wa_loop, wa_loop, wa_set_all),
    TEST("sleep-relaxed", "looked at once more", NULL, LOST, wa_sleep1, wa_awake1),
    TEST("sleep-fences", "after a fence", NULL, NULL, wa_sleep2, wa_awake2),
    TEST("sleep-one-fence", "after one", NULL, LOST, wa_sleep2, wa_awake1),
    TEST("sleep-exchange", "after acq-rel exchanges", NULL, LOST, wa_sleep3, wa_awake3),
    TEST("sleep-membarrier", "after a membarrier", NULL, NULL, wa_sleep4, wa_awake1),
    TEST("spin", "until somebody stores", NULL, NULL, sp_x, sp_set),
    TEST("spin-for-ever", "nobody does", NULL, ENDLESS, sp_x, sp_not),
    TEST("spin-each-other", "each for the other", NULL, ENDLESS, sp_a, sp_b),
    TEST("spin-new", "then what is new is seen", sp_old, NULL, sp_mp, sp_mp_seen),
    LATE("spin-late", "what is new is seen a spin later", sp_old, SEEN, sp_mp, sp_mp_seen),
    LATE("spin-late-again", "and not after two", sp_old_again, NULL, sp_mp, sp_mp_again),
    LATE("spin-late-end", "until somebody stores, a spin later", NULL, NULL, sp_x, sp_set),
    LATE("spin-late-for-ever", "nobody does", NULL, ENDLESS, sp_x, sp_not),
    TEST("z6-same", "hb by one location", z6s_seen, SEEN, z6s1_a, z6s1_b, z6s1_c),
    TEST("z6-spin", "spinning in between is nothing", z6s_seen, SEEN, z6s2_a, z6s2_b, z6s2_c),
    TEST("z6-other", "another location in between", z6s_seen, NULL, z6s3_a, z6s3_b, z6s3_c),
    {0},
};
