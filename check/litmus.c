/* SPDX-License-Identifier: MIT */
/* The checker checked: small programs whose possible outcomes are known. A test whose outcome
 * is allowed "fails": the outcome has to be found. The verdicts are those of RC11 (Lahav,
 * Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential Consistency in C/C++11, PLDI 2017), with
 * C++20's release sequences, and of the tables in Alglave, Maranget, Tautschnig: Herding Cats,
 * TOPLAS 2014, for what is common. Reasons are in RC11's words: sb, rf, mo, rb, hb, psc. */
#include "litmus.h"

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
    {0},
};
