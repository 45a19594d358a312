/* SPDX-License-Identifier: MIT */
/* The checker checked: small programs whose possible outcomes are known. A test whose outcome
 * is allowed "fails": the outcome has to be found. The verdicts are those of RC11 (Lahav,
 * Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential Consistency in C/C++11, PLDI 2017), with
 * C++20's release sequences, and of the tables in Alglave, Maranget, Tautschnig: Herding Cats,
 * TOPLAS 2014, for what is common. Reasons are in RC11's words: sb, rf, mo, rb, hb, psc. */
#include "harnesses.h"
#include "os/atomic.h"

/* Places without lines: nothing here is for mutants, of which there is a limited number. */
#undef CHECK_SITE
#define CHECK_SITE(what, operation, order)                                            \
    (__extension__({                                                                  \
        static const struct site site_ = {__FILE__, 0, operation, order, what, NULL}; \
        &site_;                                                                       \
    }))

static struct atomic_u32 w, x, y, z;
static uint32_t seen[6];
static int plain;

static void setup(void)
{
    atomic_store_relaxed(&w, 0);
    atomic_store_relaxed(&x, 0);
    atomic_store_relaxed(&y, 0);
    atomic_store_relaxed(&z, 0);
    plain = 0;
    for (unsigned i = 0; i < 6; i++)
        seen[i] = 0;
}

/* A thread is written as one line. */
#define THREAD(name, ...)                          \
    __attribute__((unused)) static void name(void) \
    {                                              \
        __VA_ARGS__;                               \
    }
/* Finds out whether the outcome can be seen. */
#define OUTCOME(name, condition)    \
    static void name(void)          \
    {                               \
        MODEL_ASSERT(!(condition)); \
    }

/* Writes, reads, exchanges, additions; nothing said: relaxed. Those with one operand read. */
#define W(a, v) atomic_store_relaxed(&a, v)
#define W_REL(a, v) atomic_store_release(&a, v)
#define W_SC(a, v) atomic_store_seq_cst(&a, v)
#define R(a) atomic_load_relaxed(&a)
#define R_ACQ(a) atomic_load_acquire(&a)
#define R_SC(a) atomic_load_seq_cst(&a)
#define X_ACQ(a, v) atomic_exchange_acquire(&a, v)
#define X_REL(a, v) atomic_exchange_release(&a, v)
#define X_AR(a, v) atomic_exchange_acq_rel(&a, v)
#define X_SC(a, v) atomic_exchange_seq_cst(&a, v)
#define ADD(a, v) atomic_fetch_add_relaxed(&a, v)
#define ADD_AR(a, v) atomic_fetch_add_acq_rel(&a, v)
#define ADD0(a) ADD(a, 0)
#define ADD0_AR(a) ADD_AR(a, 0)
#define TAKE_ACQ(a) X_ACQ(a, 9)
#define TAKE_REL(a) X_REL(a, 9)
/* The value that a compare-exchange has read; from 0 it succeeds, from 7 it never does. */
#define CAS(order, a, from, to)                     \
    (__extension__({                                \
        uint32_t read_ = (from);                    \
        (void)atomic_cas_##order(&a, &read_, (to)); \
        read_;                                      \
    }))
#define C_REL(a, v) CAS(release, a, 0, v)
#define C_SC(a, v) CAS(seq_cst, a, 0, v)
#define FAIL_AR(a) CAS(acq_rel, a, 7, 8)
#define FAIL_SC(a) CAS(seq_cst, a, 7, 8)
#define F atomic_fence_seq_cst()
#define MB model_barrier_everywhere(NULL)
#define NO (void)0
#define LOCK(a) model_lock(&a.value)
#define UNLOCK(a) model_unlock(&a.value)

/* ---- Store buffering ---- */

#define SB(n, store, fence, load)                            \
    THREAD(sb##n##_a, store(x, 1); fence; seen[0] = load(y)) \
    THREAD(sb##n##_b, store(y, 1); fence; seen[1] = load(x))
OUTCOME(sb_seen, seen[0] == 0 && seen[1] == 0)
SB(1, W, NO, R)
SB(2, W_REL, NO, R_ACQ)
SB(3, W_SC, NO, R_SC)
SB(4, W, F, R)
SB(5, X_AR, NO, R_ACQ)
SB(6, X_SC, NO, R_SC)
SB(7, W_SC, NO, R_ACQ)
SB(8, W_REL, NO, R_SC)
SB(9, X_SC, NO, R_ACQ)
SB(10, C_SC, NO, R_SC)
SB(11, W_SC, NO, FAIL_SC)
SB(12, W, MB, R)
/* In place of the fence, something elsewhere. */
SB(13, W, ADD(z, 1), R)
SB(14, W, ADD_AR(z, 1), R)
SB(15, W, X_SC(z, 1), R)
SB(16, W, FAIL_AR(z), R)
SB(17, W, LOCK(z); UNLOCK(z), R)
SB(18, W, LOCK(w); UNLOCK(w), R)
/* Three threads in a ring. */
#define SB3(n, store, fence, load)                             \
    THREAD(sb3_##n##_a, store(x, 1); fence; seen[0] = load(y)) \
    THREAD(sb3_##n##_b, store(y, 1); fence; seen[1] = load(z)) \
    THREAD(sb3_##n##_c, store(z, 1); fence; seen[2] = load(x))
OUTCOME(sb3_seen, seen[0] == 0 && seen[1] == 0 && seen[2] == 0)
SB3(1, W, NO, R)
SB3(2, W, F, R)
SB3(3, W_SC, NO, R_SC)

/* ---- Message passing ---- */

#define MP(n, before, store, load, after)           \
    THREAD(mp##n##_a, W(x, 1); before; store(y, 1)) \
    THREAD(mp##n##_b, seen[0] = load(y); after; seen[1] = R(x))
OUTCOME(mp_seen, seen[0] == 1 && seen[1] == 0)
MP(1, NO, W, R, NO)
MP(2, NO, W_REL, R_ACQ, NO)
MP(3, F, W, R, F)
MP(4, MB, W, R, MB)
MP(5, NO, X_REL, TAKE_ACQ, NO)
MP(6, NO, X_ACQ, TAKE_REL, NO)
MP(7, NO, C_REL, FAIL_AR, NO)
MP(8, NO, ADD, FAIL_SC, NO)
THREAD(mp_lock_a, LOCK(z); W(x, 1); W(y, 1); UNLOCK(z))
THREAD(mp_lock_b, LOCK(z); seen[0] = R(y); seen[1] = R(x); UNLOCK(z))
THREAD(mp_try_b, if (!model_trylock(&z.value)) return; seen[0] = R(y); seen[1] = R(x); UNLOCK(z))

/* ---- Release sequences: the reader sees the last store of one that began with y = 1 ---- */

THREAD(rs_store, if (R(y) == 1) W(y, 2))
THREAD(rs_add, if (R(y) == 1) ADD(y, 1))
THREAD(rs_any_add, ADD(y, 1))
THREAD(rs_exchange, seen[2] = X_ACQ(y, 2))
THREAD(rs_cas, seen[2] = CAS(relaxed, y, 1, 2))
THREAD(rs_own_store, W(x, 1); W_REL(y, 1); W(y, 2))
THREAD(rs_own_add, W(x, 1); W_REL(y, 1); ADD(y, 1))
THREAD(rs_own_again, W(x, 1); W_REL(y, 1); W_REL(y, 2))
THREAD(rs_start, W_REL(y, 1))
THREAD(rs_mine, if (R(y) == 0) return; W(x, 1); ADD(y, 1))
THREAD(rs_mine_acquire, W(x, 1); seen[2] = X_ACQ(y, 2))
THREAD(rs_mine_release, W(x, 1); seen[2] = X_REL(y, 2))
OUTCOME(rs_seen, seen[0] == 2 && seen[1] == 0)
OUTCOME(rs_read_seen, seen[0] == 2 && seen[1] == 0 && seen[2] == 1)
OUTCOME(rs_long_seen, seen[0] == 3 && seen[1] == 0)

/* ---- Write-read causality ---- */

#define WRC(n, store, fence, load)                            \
    THREAD(wrc##n##_a, store(x, 1))                           \
    THREAD(wrc##n##_b, seen[0] = load(x); fence; store(y, 1)) \
    THREAD(wrc##n##_c, seen[1] = load(y); fence; seen[2] = load(x))
OUTCOME(wrc_seen, seen[0] == 1 && seen[1] == 1 && seen[2] == 0)
WRC(1, W, NO, R)
WRC(2, W_REL, NO, R_ACQ)
WRC(3, W, F, R)
WRC(4, W, MB, R)
WRC(5, W_SC, NO, R_SC)
WRC(6, X_REL, NO, TAKE_ACQ)

/* ---- ISA2: message passing over a third thread ---- */

#define ISA2(n, store, fence, load)                           \
    THREAD(isa##n##_a, W(x, 1); fence; store(y, 1))           \
    THREAD(isa##n##_b, seen[0] = load(y); fence; store(z, 1)) \
    THREAD(isa##n##_c, seen[1] = load(z); fence; seen[2] = R(x))
OUTCOME(isa_seen, seen[0] == 1 && seen[1] == 1 && seen[2] == 0)
ISA2(1, W, NO, R)
ISA2(2, W_REL, NO, R_ACQ)
ISA2(3, W, F, R)
ISA2(4, X_REL, NO, TAKE_ACQ)

/* ---- Read-write causality: a reader, then store buffering ---- */

#define RWC(n, store, load, fence, last)                            \
    THREAD(rwc##n##_a, store(x, 1))                                 \
    THREAD(rwc##n##_b, seen[0] = load(x); fence; seen[1] = last(y)) \
    THREAD(rwc##n##_c, store(y, 1); fence; seen[2] = last(x))
OUTCOME(rwc_seen, seen[0] == 1 && seen[1] == 0 && seen[2] == 0)
RWC(1, W_REL, R_ACQ, NO, R_ACQ)
RWC(2, W_SC, R_SC, NO, R_SC)
RWC(3, W, R, F, R)
RWC(4, W, R, NO, R)
RWC(5, W, R, MB, R)
RWC(6, W_SC, R_ACQ, NO, R_SC)
RWC(7, W_SC, R_SC, NO, R_ACQ)
RWC(8, X_SC, ADD0_AR, NO, R_SC)
THREAD(rwc_a_barrier, W(x, 1); MB)

/* W+RWC: the first store comes to the reader by a message. */
#define WRWC(n, first, store, load, fence, last)                     \
    THREAD(wrwc##n##_a, first(x, 1); store(z, 1))                    \
    THREAD(wrwc##n##_b, seen[0] = load(z); fence; seen[1] = last(y)) \
    THREAD(wrwc##n##_c, first(y, 1); fence; seen[2] = last(x))
WRWC(1, W, W_REL, R_ACQ, NO, R)
WRWC(2, W, W_REL, R_ACQ, F, R)
WRWC(3, W, W, R, F, R)
WRWC(4, W_SC, W_REL, R_ACQ, NO, R_SC)
WRWC(5, W_SC, W, R_ACQ, NO, R_SC)

/* ---- Independent reads of independent writes ---- */

#define IRIW(n, store, first, fence, last)                            \
    THREAD(iriw##n##_a, store(x, 1))                                  \
    THREAD(iriw##n##_b, store(y, 1))                                  \
    THREAD(iriw##n##_c, seen[0] = first(x); fence; seen[1] = last(y)) \
    THREAD(iriw##n##_d, seen[2] = first(y); fence; seen[3] = last(x))
OUTCOME(iriw_seen, seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0)
#define IRIW_ALL(n) iriw##n##_a, iriw##n##_b, iriw##n##_c, iriw##n##_d
IRIW(1, W, R, NO, R)
IRIW(2, W_REL, R_ACQ, NO, R_ACQ)
IRIW(3, W_SC, R_SC, NO, R_SC)
IRIW(4, W, R, F, R)
IRIW(5, W, R, MB, R)
IRIW(6, W_SC, R_ACQ, NO, R_SC)
IRIW(7, W_SC, R_SC, NO, R_ACQ)
IRIW(8, W_REL, R_SC, NO, R_SC)
IRIW(9, W, ADD0_AR, NO, ADD0_AR)
IRIW(10, ADD, ADD0, NO, ADD0)

/* ---- Stores against stores: 2+2W, S, R ---- */

#define WW(n, store, fence)                            \
    THREAD(ww##n##_a, store(x, 1); fence; store(y, 2)) \
    THREAD(ww##n##_b, store(y, 1); fence; store(x, 2))
OUTCOME(ww_seen, R(x) == 1 && R(y) == 1)
WW(1, W, NO)
WW(2, W_REL, NO)
WW(3, W_SC, NO)
WW(4, W, F)
WW(5, W, MB)
WW(6, X_AR, NO)
THREAD(ww_first_a, W_SC(x, 1); W(y, 2))
THREAD(ww_first_b, W_SC(y, 1); W(x, 2))
OUTCOME(ww_add_seen, seen[0] == 2 && seen[1] == 2)
THREAD(ww_read_a, seen[0] = ADD(x, 1); ADD(y, 2))
THREAD(ww_read_b, seen[1] = ADD(y, 1); ADD(x, 2))

#define S(n, store, fence, load)                  \
    THREAD(s##n##_a, W(x, 2); fence; store(y, 1)) \
    THREAD(s##n##_b, seen[0] = load(y); fence; W(x, 1))
OUTCOME(s_seen, seen[0] == 1 && R(x) == 2)
S(1, W, NO, R)
S(2, W_REL, NO, R_ACQ)
S(3, W, F, R)
S(4, W_SC, NO, R_SC)
S(5, X_REL, NO, TAKE_ACQ)

#define R_(n, store, fence, load)                     \
    THREAD(r##n##_a, store(x, 1); fence; store(y, 1)) \
    THREAD(r##n##_b, store(y, 2); fence; seen[0] = load(x))
OUTCOME(r_seen, seen[0] == 0 && R(y) == 2)
R_(1, W_REL, NO, R_ACQ)
R_(2, W_SC, NO, R_SC)
R_(3, W, F, R)
R_(4, W, NO, R)
R_(5, W, MB, R)
R_(6, X_AR, NO, R_ACQ)

/* ---- Z6: three threads, with an edge from store to store ---- */

#define Z6_A(n, store, fence) THREAD(z##n##_a, store(x, 1); fence; store(y, 1))
#define Z60(n, store, fence, load)                            \
    Z6_A(0_##n, store, fence)                                 \
    THREAD(z0_##n##_b, seen[0] = load(y); fence; store(z, 1)) \
    THREAD(z0_##n##_c, store(z, 2); fence; seen[1] = load(x))
OUTCOME(z0_seen, seen[0] == 1 && seen[1] == 0 && R(z) == 2)
Z60(1, W_REL, NO, R_ACQ)
Z60(2, W_SC, NO, R_SC)
Z60(3, W, F, R)
Z60(4, W, NO, R)
#define Z63(n, store, fence, load)                      \
    Z6_A(3_##n, store, fence)                           \
    THREAD(z3_##n##_b, store(y, 2); fence; store(z, 1)) \
    THREAD(z3_##n##_c, seen[0] = load(z); fence; seen[1] = load(x))
OUTCOME(z3_seen, seen[0] == 1 && seen[1] == 0 && R(y) == 2)
Z63(1, W_REL, NO, R_ACQ)
Z63(2, W_SC, NO, R_SC)
Z63(3, W, F, R)
#define Z64(n, store, fence, load)                            \
    Z6_A(4_##n, store, fence)                                 \
    THREAD(z4_##n##_b, store(y, 2); fence; seen[0] = load(z)) \
    THREAD(z4_##n##_c, store(z, 1); fence; seen[1] = load(x))
OUTCOME(z4_seen, seen[0] == 0 && seen[1] == 0 && R(y) == 2)
Z64(1, W_REL, NO, R_ACQ)
Z64(2, W_SC, NO, R_SC)
Z64(3, W, F, R)
#define Z65(n, store, fence, load)                      \
    Z6_A(5_##n, store, fence)                           \
    THREAD(z5_##n##_b, store(y, 2); fence; store(z, 1)) \
    THREAD(z5_##n##_c, store(z, 2); fence; seen[0] = load(x))
OUTCOME(z5_seen, seen[0] == 0 && R(y) == 2 && R(z) == 2)
Z65(1, W_REL, NO, R_ACQ)
Z65(2, W_SC, NO, R_SC)
Z65(3, W, F, R)
/* Z6.2: everything is a message, and the last store comes before the first. */
#define Z62(n, store, fence, load)                            \
    THREAD(z2_##n##_a, W(x, 2); fence; store(y, 1))           \
    THREAD(z2_##n##_b, seen[0] = load(y); fence; store(z, 1)) \
    THREAD(z2_##n##_c, seen[1] = load(z); fence; W(x, 1))
OUTCOME(z2_seen, seen[0] == 1 && seen[1] == 1 && R(x) == 2)
Z62(1, W, NO, R)
Z62(2, W_REL, NO, R_ACQ)
Z62(3, W, F, R)
/* Z6.U of the paper: C11 forbids what Power does. */
THREAD(zu_a, W_SC(x, 1); W_REL(y, 1))
THREAD(zu_b, seen[0] = X_SC(y, 2); seen[1] = R(y))
THREAD(zu_c, W_SC(y, 3); seen[2] = R_SC(x))
OUTCOME(zu_seen, seen[0] == 1 && seen[1] == 3 && seen[2] == 0)
THREAD(zu_a_sc, W_SC(x, 1); W_SC(y, 1))

/* ---- One location: coherence, and nothing between the halves of a read-modify-write ---- */

THREAD(co_w1, W(x, 1))
THREAD(co_w2, W(x, 2))
THREAD(co_ww, W(x, 1); W(x, 2))
THREAD(co_rr, seen[0] = R(x); seen[1] = R(x))
THREAD(co_rr2, seen[2] = R(x); seen[3] = R(x))
THREAD(co_wr, W(x, 1); seen[0] = R(x))
THREAD(co_rw, seen[0] = R(x); W(x, 1))
THREAD(co_rwr, seen[0] = R(x); W(x, 3); seen[1] = R(x))
OUTCOME(co_rr_seen, seen[0] > seen[1])
OUTCOME(co_split_seen, seen[0] == 1 && seen[1] == 2 && seen[2] == 2 && seen[3] == 1)
OUTCOME(co_ww_seen, R(x) == 1)
OUTCOME(co_wr_seen, seen[0] == 2 && R(x) == 1)
OUTCOME(co_wr_old_seen, seen[0] == 0)
OUTCOME(co_rw_seen, seen[0] == 2 && R(x) == 2)
OUTCOME(co_rw_own_seen, seen[0] == 1)
OUTCOME(co_rwr_seen, seen[0] == 2 && seen[1] == 1 && R(x) == 1)
THREAD(add, ADD(x, 1))
OUTCOME(add_seen, R(x) != 3)
THREAD(at_store, W(x, 10))
OUTCOME(at_seen, R(x) == 1)
THREAD(at_cas_a, seen[0] = CAS(relaxed, x, 0, 1))
THREAD(at_cas_b, seen[1] = CAS(relaxed, x, 0, 2))
OUTCOME(at_cas_seen, seen[0] == 0 && seen[1] == 0)
OUTCOME(at_cas_other_seen, seen[0] == 0 && seen[1] == 1)

/* ---- Load buffering: sb and rf have no cycle in RC11 ---- */

#define LB(n, load, store)                            \
    THREAD(lb##n##_a, seen[0] = load(x); store(y, 1)) \
    THREAD(lb##n##_b, seen[1] = load(y); store(x, 1))
OUTCOME(lb_seen, seen[0] == 1 && seen[1] == 1)
LB(1, R, W)
LB(2, ADD0, X_ACQ)
THREAD(lb_air_a, W(y, R(x)))
THREAD(lb_air_b, W(x, R(y)))
OUTCOME(lb_air_seen, R(x) != 0 || R(y) != 0)

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

/* The words of a failure; NULL: the outcome is forbidden. */
#define SEEN "not true"
#define RACE "data race"
#define GONE "whose owner has returned"
#define LOST "a wake-up is lost"
#define ENDLESS "goes on for ever"

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

static const struct rules prompt = {0}, late = {.late = 1};

#define TEST(id, text, end, words, ...)                                                   \
    {                                                                                     \
        .name = id, .what = text, .setup = setup, .thread = {__VA_ARGS__}, .finish = end, \
        .fails = words, .rules = &prompt                                                  \
    }
#define LATE(id, text, end, words, ...)                                                   \
    {                                                                                     \
        .name = id, .what = text, .setup = setup, .thread = {__VA_ARGS__}, .finish = end, \
        .fails = words, .rules = &late                                                    \
    }
#define SB_(id, text, words, ...) \
    TEST("sb-" id, "store buffering, " text, sb_seen, words, __VA_ARGS__)
#define MP_(id, text, words, ...) \
    TEST("mp-" id, "message passing, " text, mp_seen, words, __VA_ARGS__)

const struct harness litmus_harnesses[] = {
    SB_("relaxed", "relaxed", SEEN, sb1_a, sb1_b),
    SB_("acq-rel", "acquire and release", SEEN, sb2_a, sb2_b),
    SB_("seq-cst", "seq-cst", NULL, sb3_a, sb3_b),
    SB_("fences", "fences", NULL, sb4_a, sb4_b),
    SB_("exchange-acq-rel", "acq-rel exchanges", SEEN, sb5_a, sb5_b),
    SB_("exchange-seq-cst", "seq-cst exchanges", NULL, sb6_a, sb6_b),
    SB_("store-seq-cst", "only the stores seq-cst", SEEN, sb7_a, sb7_b),
    SB_("load-seq-cst", "only the loads seq-cst", SEEN, sb8_a, sb8_b),
    SB_("exchange-load", "seq-cst exchanges, acquire loads", SEEN, sb9_a, sb9_b),
    SB_("cas-seq-cst", "seq-cst compare-exchanges", NULL, sb10_a, sb10_b),
    SB_("cas-failed", "a failed compare-exchange is a relaxed load", SEEN, sb11_a, sb11_b),
    SB_("mixed", "seq-cst exchange and load, seq-cst store and load", NULL, sb6_a, sb3_b),
    SB_("one-fence", "a fence on one side", SEEN, sb4_a, sb1_b),
    SB_("fence-seq-cst", "a fence, seq-cst accesses", NULL, sb4_a, sb3_b),
    SB_("fence-exchange", "a fence, seq-cst exchange and load", NULL, sb4_a, sb6_b),
    SB_("fence-acq-rel", "a fence, an acq-rel exchange, which is none", SEEN, sb4_a, sb5_b),
    SB_("fence-store", "a fence, a seq-cst store and an acquire load", SEEN, sb4_a, sb7_b),
    SB_("fence-load", "a fence, a release store and a seq-cst load", SEEN, sb4_a, sb8_b),
    SB_("fence-exchange-load", "a fence, seq-cst exchange, acquire load", SEEN, sb4_a, sb9_b),
    SB_("membarrier", "membarrier on one side", NULL, sb12_a, sb1_b),
    SB_("membarriers", "membarrier on both sides", NULL, sb12_a, sb12_b),
    SB_("add-between", "relaxed additions to one location between", SEEN, sb13_a, sb13_b),
    /* The second addition acquires what the first released. */
    SB_("add-acq-rel-between", "acq-rel additions between", NULL, sb14_a, sb14_b),
    SB_("fence-exchange-between", "a fence, a seq-cst exchange between", SEEN, sb4_a, sb15_b),
    SB_("cas-failed-between", "what fails does not release", SEEN, sb16_a, sb14_b),
    SB_("lock-between", "a lock taken and dropped between", NULL, sb17_a, sb17_b),
    SB_("locks-between", "different locks between", SEEN, sb17_a, sb18_b),
    TEST("3sb-relaxed", "a ring of three", sb3_seen, SEEN, sb3_1_a, sb3_1_b, sb3_1_c),
    TEST("3sb-fences", "a ring of three, fences", sb3_seen, NULL, sb3_2_a, sb3_2_b, sb3_2_c),
    TEST("3sb-two-fences", "a ring of three, one fence missing", sb3_seen, SEEN, sb3_2_a, sb3_2_b,
         sb3_1_c),
    TEST("3sb-seq-cst", "a ring of three, seq-cst", sb3_seen, NULL, sb3_3_a, sb3_3_b, sb3_3_c),
    TEST("3sb-mixed", "a ring of three, one with a fence", sb3_seen, NULL, sb3_3_a, sb3_2_b,
         sb3_3_c),

    MP_("relaxed", "relaxed", SEEN, mp1_a, mp1_b),
    MP_("release", "only released", SEEN, mp2_a, mp1_b),
    MP_("acquire", "only acquired", SEEN, mp1_a, mp2_b),
    MP_("acq-rel", "released and acquired", NULL, mp2_a, mp2_b),
    MP_("fences", "fences", NULL, mp3_a, mp3_b),
    MP_("fence-acquire", "a fence, an acquire load", NULL, mp3_a, mp2_b),
    MP_("release-fence", "a release store, a fence", NULL, mp2_a, mp3_b),
    MP_("fence-first", "only the first has a fence", SEEN, mp3_a, mp1_b),
    MP_("fence-second", "only the second has a fence", SEEN, mp1_a, mp3_b),
    MP_("membarrier-first", "membarrier before the store", NULL, mp4_a, mp1_b),
    MP_("membarrier-second", "membarrier after the load", NULL, mp1_a, mp4_b),
    MP_("exchange", "release and acquire exchanges", NULL, mp5_a, mp5_b),
    MP_("exchange-wrong", "acquire and release exchanges", SEEN, mp6_a, mp6_b),
    MP_("cas", "a release compare-exchange", NULL, mp7_a, mp2_b),
    MP_("cas-failed", "a failed acq-rel compare-exchange acquires", NULL, mp2_a, mp7_b),
    MP_("cas-failed-seq-cst", "the library's seq-cst one does not", SEEN, mp2_a, mp8_b),
    MP_("add", "a relaxed addition", SEEN, mp8_a, mp2_b),
    MP_("lock", "in a lock", NULL, mp_lock_a, mp_lock_b),
    MP_("trylock", "in a lock that is tried", NULL, mp_lock_a, mp_try_b),

    TEST("rs-add", "release sequence through an addition", rs_seen, NULL, mp2_a, rs_any_add, mp2_b),
    TEST("rs-adds", "release sequence through two", rs_long_seen, NULL, mp2_a, rs_any_add,
         rs_any_add, mp2_b),
    TEST("rs-exchange", "through an acquire exchange", rs_read_seen, NULL, mp2_a, rs_exchange,
         mp2_b),
    TEST("rs-cas", "through a compare-exchange", rs_read_seen, NULL, mp2_a, rs_cas, mp2_b),
    TEST("rs-fence-add", "from a fence through an addition", rs_seen, NULL, mp3_a, rs_add, mp2_b),
    TEST("rs-add-fence", "through an addition to a fence", rs_seen, NULL, mp2_a, rs_add, mp3_b),
    TEST("rs-relaxed-add", "nothing was released", rs_seen, SEEN, mp1_a, rs_add, mp2_b),
    TEST("rs-store", "none through a store", rs_seen, SEEN, mp2_a, rs_store, mp2_b),
    TEST("rs-own-store", "none through one's own store", rs_seen, SEEN, rs_own_store, mp2_b),
    TEST("rs-own-release", "one's own release store", rs_seen, NULL, rs_own_again, mp2_b),
    TEST("rs-own-add", "through one's own addition", rs_seen, NULL, rs_own_add, mp2_b),
    /* What continues a sequence passes on what it read, and nothing of its own. */
    TEST("rs-mine", "nothing of the addition's thread", rs_seen, SEEN, rs_start, rs_mine, mp2_b),
    TEST("rs-mine-acquire", "nor of an acquire exchange's", rs_read_seen, SEEN, rs_start,
         rs_mine_acquire, mp2_b),
    TEST("rs-mine-release", "a release exchange's", rs_read_seen, NULL, rs_start, rs_mine_release,
         mp2_b),

    TEST("wrc-relaxed", "write-read causality", wrc_seen, SEEN, wrc1_a, wrc1_b, wrc1_c),
    TEST("wrc-acq-rel", "acquire and release", wrc_seen, NULL, wrc2_a, wrc2_b, wrc2_c),
    TEST("wrc-seq-cst", "seq-cst", wrc_seen, NULL, wrc5_a, wrc5_b, wrc5_c),
    TEST("wrc-exchange", "exchanges", wrc_seen, NULL, wrc6_a, wrc6_b, wrc2_c),
    TEST("wrc-fences", "fences", wrc_seen, NULL, wrc3_a, wrc3_b, wrc3_c),
    /* Coherence: the second's read happens before the third's. */
    TEST("wrc-first-relaxed", "a relaxed first store", wrc_seen, NULL, wrc1_a, wrc2_b, wrc2_c),
    TEST("wrc-second-relaxed", "the second relaxed", wrc_seen, SEEN, wrc2_a, wrc1_b, wrc2_c),
    TEST("wrc-third-relaxed", "the third relaxed", wrc_seen, SEEN, wrc2_a, wrc2_b, wrc1_c),
    TEST("wrc-fence-acquire", "a fence, an acquire load", wrc_seen, NULL, wrc1_a, wrc3_b, wrc2_c),
    TEST("wrc-fence-third", "only one fence", wrc_seen, SEEN, wrc1_a, wrc1_b, wrc3_c),
    TEST("wrc-membarrier-second", "membarrier", wrc_seen, NULL, wrc1_a, wrc4_b, wrc1_c),
    TEST("wrc-membarrier-third", "membarrier", wrc_seen, NULL, wrc1_a, wrc1_b, wrc4_c),

    TEST("isa2-relaxed", "a message over a third", isa_seen, SEEN, isa1_a, isa1_b, isa1_c),
    TEST("isa2-acq-rel", "acquire and release", isa_seen, NULL, isa2_a, isa2_b, isa2_c),
    TEST("isa2-exchange", "exchanges", isa_seen, NULL, isa4_a, isa4_b, isa4_c),
    TEST("isa2-fences", "fences", isa_seen, NULL, isa3_a, isa3_b, isa3_c),
    TEST("isa2-fences-acq-rel", "fences at the ends", isa_seen, NULL, isa3_a, isa2_b, isa3_c),
    TEST("isa2-second-relaxed", "the second relaxed", isa_seen, SEEN, isa2_a, isa1_b, isa2_c),
    /* Nothing happens before the second's store but its load: psc has only third to first. */
    TEST("isa2-fences-ends", "fences at the ends, relaxed between", isa_seen, SEEN, isa3_a, isa1_b,
         isa3_c),

    TEST("rwc-acq-rel", "read-write causality", rwc_seen, SEEN, rwc1_a, rwc1_b, rwc1_c),
    TEST("rwc-seq-cst", "seq-cst", rwc_seen, NULL, rwc2_a, rwc2_b, rwc2_c),
    TEST("rwc-fences", "fences (C11 allows it)", rwc_seen, NULL, rwc3_a, rwc3_b, rwc3_c),
    TEST("rwc-fence-second", "only the second has a fence", rwc_seen, SEEN, rwc1_a, rwc3_b, rwc1_c),
    TEST("rwc-fence-third", "only the third has a fence", rwc_seen, SEEN, rwc1_a, rwc1_b, rwc3_c),
    TEST("rwc-membarrier-first", "membarrier", rwc_seen, SEEN, rwc_a_barrier, rwc4_b, rwc4_c),
    TEST("rwc-membarrier-second", "membarrier", rwc_seen, NULL, rwc4_a, rwc5_b, rwc4_c),
    TEST("rwc-membarrier-third", "membarrier", rwc_seen, NULL, rwc4_a, rwc4_b, rwc5_c),
    /* The store happens before the second's last load, but not by sb, hb, sb as scb has it. */
    TEST("rwc-acquire-seq-cst", "an acquire load first (C11: no)", rwc_seen, SEEN, rwc2_a, rwc6_b,
         rwc2_c),
    TEST("rwc-seq-cst-acquire", "an acquire load last", rwc_seen, SEEN, rwc2_a, rwc7_b, rwc2_c),
    TEST("rwc-exchange", "seq-cst exchanges, an acq-rel addition reads", rwc_seen, SEEN, rwc8_a,
         rwc8_b, rwc8_c),
    /* rb leads to the first's store, and that has to happen before the fence. */
    TEST("rwc-fence-seq-cst", "a fence, seq-cst, released", rwc_seen, NULL, rwc1_a, rwc3_b, rwc2_c),
    TEST("rwc-fence-seq-cst-rlx", "the same, relaxed", rwc_seen, SEEN, rwc4_a, rwc3_b, rwc2_c),
    TEST("w+rwc-acq-rel", "W+RWC", rwc_seen, SEEN, wrwc1_a, wrwc1_b, wrwc1_c),
    TEST("w+rwc-fences", "two fences (C11 allows it)", rwc_seen, NULL, wrwc2_a, wrwc2_b, wrwc2_c),
    TEST("w+rwc-one-fence", "a fence in the third", rwc_seen, SEEN, wrwc2_a, wrwc1_b, wrwc2_c),
    TEST("w+rwc-fences-rlx", "nothing is released", rwc_seen, SEEN, wrwc3_a, wrwc3_b, wrwc3_c),
    TEST("w+rwc-seq-cst", "sb, hb, sb is in scb", rwc_seen, NULL, wrwc4_a, wrwc4_b, wrwc4_c),
    TEST("w+rwc-seq-cst-rlx", "nothing is released", rwc_seen, SEEN, wrwc5_a, wrwc5_b, wrwc5_c),

    TEST("iriw-relaxed", "independent reads and writes", iriw_seen, SEEN, IRIW_ALL(1)),
    TEST("iriw-acq-rel", "acquire and release", iriw_seen, SEEN, IRIW_ALL(2)),
    TEST("iriw-seq-cst", "seq-cst", iriw_seen, NULL, IRIW_ALL(3)),
    TEST("iriw-fences", "fences", iriw_seen, NULL, IRIW_ALL(4)),
    TEST("iriw-one-fence", "one fence", iriw_seen, SEEN, iriw2_a, iriw2_b, iriw4_c, iriw2_d),
    TEST("iriw-membarrier", "membarrier", iriw_seen, NULL, iriw1_a, iriw1_b, iriw5_c, iriw1_d),
    TEST("iriw-membarrier-acquire", "membarrier, acquire loads", iriw_seen, NULL, iriw2_a, iriw2_b,
         iriw5_c, iriw2_d),
    TEST("iriw-acquire-seq-cst", "acquire loads first (C11: no)", iriw_seen, SEEN, IRIW_ALL(6)),
    TEST("iriw-seq-cst-acquire", "acquire loads last", iriw_seen, SEEN, IRIW_ALL(7)),
    TEST("iriw-load-seq-cst", "only the loads seq-cst", iriw_seen, SEEN, IRIW_ALL(8)),
    /* A fence's psc needs the store to happen before it if the other side has accesses. */
    TEST("iriw-fence-seq-cst", "a fence, seq-cst", iriw_seen, NULL, iriw3_a, iriw3_b, iriw4_c,
         iriw3_d),
    TEST("iriw-add-acq-rel", "additions read", iriw_seen, SEEN, IRIW_ALL(9)),
    /* Each addition reads the one before: sb and rf would have a cycle. */
    TEST("iriw-add", "additions read and write, relaxed", iriw_seen, NULL, IRIW_ALL(10)),

    TEST("2+2w-relaxed", "two stores each", ww_seen, SEEN, ww1_a, ww1_b),
    TEST("2+2w-release", "release", ww_seen, SEEN, ww2_a, ww2_b),
    TEST("2+2w-seq-cst", "seq-cst", ww_seen, NULL, ww3_a, ww3_b),
    TEST("2+2w-fences", "fences", ww_seen, NULL, ww4_a, ww4_b),
    TEST("2+2w-one-fence", "one fence", ww_seen, SEEN, ww4_a, ww2_b),
    TEST("2+2w-fence-seq-cst", "a fence, seq-cst", ww_seen, NULL, ww4_a, ww3_b),
    TEST("2+2w-membarrier", "membarrier", ww_seen, NULL, ww5_a, ww1_b),
    TEST("2+2w-first-seq-cst", "only the first ones seq-cst", ww_seen, SEEN, ww_first_a,
         ww_first_b),
    TEST("2+2w-exchange", "acq-rel exchanges", ww_seen, NULL, ww6_a, ww6_b),
    TEST("2+2w-exchange-one", "acq-rel exchanges, relaxed stores", ww_seen, SEEN, ww6_a, ww1_b),
    /* sb and rf would have a cycle. */
    TEST("2+2w-add", "relaxed additions", ww_add_seen, NULL, ww_read_a, ww_read_b),
    TEST("s-relaxed", "S", s_seen, SEEN, s1_a, s1_b),
    TEST("s-acq-rel", "acquire and release", s_seen, NULL, s2_a, s2_b),
    TEST("s-seq-cst", "seq-cst", s_seen, NULL, s4_a, s4_b),
    TEST("s-fences", "fences", s_seen, NULL, s3_a, s3_b),
    TEST("s-exchange", "exchanges", s_seen, NULL, s5_a, s5_b),
    TEST("s-release", "only released", s_seen, SEEN, s2_a, s1_b),
    TEST("s-acquire", "only acquired", s_seen, SEEN, s1_a, s2_b),
    TEST("s-fence-acquire", "a fence, an acquire load", s_seen, NULL, s3_a, s2_b),
    TEST("r-acq-rel", "R", r_seen, SEEN, r1_a, r1_b),
    TEST("r-seq-cst", "seq-cst", r_seen, NULL, r2_a, r2_b),
    TEST("r-fences", "fences", r_seen, NULL, r3_a, r3_b),
    TEST("r-one-fence", "one fence", r_seen, SEEN, r1_a, r3_b),
    TEST("r-fence-seq-cst", "a fence, seq-cst", r_seen, NULL, r3_a, r2_b),
    TEST("r-membarrier-first", "membarrier", r_seen, NULL, r5_a, r4_b),
    TEST("r-membarrier-second", "membarrier", r_seen, NULL, r4_a, r5_b),
    /* The exchange to y = 2 acquires the other's. */
    TEST("r-exchange", "acq-rel exchanges", r_seen, NULL, r6_a, r6_b),
    TEST("r-exchange-first", "acq-rel exchanges, a release store", r_seen, SEEN, r6_a, r1_b),

    TEST("z6.0-acq-rel", "Z6.0", z0_seen, SEEN, z0_1_a, z0_1_b, z0_1_c),
    TEST("z6.0-seq-cst", "seq-cst", z0_seen, NULL, z0_2_a, z0_2_b, z0_2_c),
    TEST("z6.0-fences", "fences", z0_seen, NULL, z0_3_a, z0_3_b, z0_3_c),
    /* hb from the first fence to the second's store, then mo to the third's. */
    TEST("z6.0-fences-acq-rel", "fences at the ends", z0_seen, NULL, z0_3_a, z0_1_b, z0_3_c),
    TEST("z6.0-fences-ends", "relaxed between", z0_seen, SEEN, z0_3_a, z0_4_b, z0_3_c),
    TEST("z6.2-relaxed", "Z6.2", z2_seen, SEEN, z2_1_a, z2_1_b, z2_1_c),
    TEST("z6.2-acq-rel", "acquire and release", z2_seen, NULL, z2_2_a, z2_2_b, z2_2_c),
    TEST("z6.2-fences", "fences", z2_seen, NULL, z2_3_a, z2_3_b, z2_3_c),
    TEST("z6.3-acq-rel", "Z6.3", z3_seen, SEEN, z3_1_a, z3_1_b, z3_1_c),
    TEST("z6.3-seq-cst", "seq-cst", z3_seen, NULL, z3_2_a, z3_2_b, z3_2_c),
    TEST("z6.3-fences", "fences", z3_seen, NULL, z3_3_a, z3_3_b, z3_3_c),
    TEST("z6.3-fences-acquire", "the third acquires", z3_seen, NULL, z3_3_a, z3_3_b, z3_1_c),
    TEST("z6.4-acq-rel", "Z6.4", z4_seen, SEEN, z4_1_a, z4_1_b, z4_1_c),
    TEST("z6.4-seq-cst", "seq-cst", z4_seen, NULL, z4_2_a, z4_2_b, z4_2_c),
    TEST("z6.4-fences", "fences", z4_seen, NULL, z4_3_a, z4_3_b, z4_3_c),
    TEST("z6.5-acq-rel", "Z6.5", z5_seen, SEEN, z5_1_a, z5_1_b, z5_1_c),
    TEST("z6.5-seq-cst", "seq-cst", z5_seen, NULL, z5_2_a, z5_2_b, z5_2_c),
    TEST("z6.5-fences", "fences", z5_seen, NULL, z5_3_a, z5_3_b, z5_3_c),
    /* x = 1 happens before the exchange, but not by sb, hb, sb to other locations. */
    TEST("z6.u", "Z6.U (C11: no)", zu_seen, SEEN, zu_a, zu_b, zu_c),
    TEST("z6.u-seq-cst", "y = 1 is seq-cst, too", zu_seen, NULL, zu_a_sc, zu_b, zu_c),

    TEST("coherence-rr", "one location", co_rr_seen, NULL, co_ww, co_rr),
    TEST("coherence-rr-split", "all see one order", co_split_seen, NULL, co_w1, co_w2, co_rr,
         co_rr2),
    TEST("coherence-ww", "one's stores stay in order", co_ww_seen, NULL, co_ww),
    TEST("coherence-wr", "what is read after a store is later", co_wr_seen, NULL, co_wr, co_w2),
    TEST("coherence-wr-old", "or the store itself", co_wr_old_seen, NULL, co_wr, co_w2),
    TEST("coherence-rw", "a store after a load is later", co_rw_seen, NULL, co_rw, co_w2),
    TEST("coherence-rw-own", "and not what it read", co_rw_own_seen, NULL, co_rw, co_w2),
    TEST("coherence-rwr", "load, store, load", co_rwr_seen, SEEN, co_rwr, co_w1, co_w2),
    TEST("additions", "three additions", add_seen, NULL, add, add, add),
    TEST("atomic-add", "no store between load and store", at_seen, NULL, add, at_store),
    TEST("atomic-cas", "one compare-exchange succeeds", at_cas_seen, NULL, at_cas_a, at_cas_b),
    TEST("atomic-cas-other", "and the other one sees it", at_cas_other_seen, SEEN, at_cas_a,
         at_cas_b),
    TEST("lb-relaxed", "load buffering", lb_seen, NULL, lb1_a, lb1_b),
    TEST("lb-rmw", "read-modify-writes", lb_seen, NULL, lb2_a, lb2_b),
    TEST("lb-thin-air", "a value out of nothing", lb_air_seen, NULL, lb_air_a, lb_air_b),

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
