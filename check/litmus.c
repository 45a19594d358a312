/* SPDX-License-Identifier: MIT */
/* The checker checked: small programs whose possible outcomes are known. A test whose outcome
 * is allowed "fails": the outcome has to be found. The verdicts are those of RC11 (Lahav,
 * Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential Consistency in C/C++11, PLDI 2017) and of
 * the tables in Alglave, Maranget, Tautschnig: Herding Cats, TOPLAS 2014, for what is common. */
#include "core/atomic.h"
#include "harnesses.h"

static struct atomic_u32 x, y;
static uint32_t seen[6];

static void setup(void)
{
    atomic_store_relaxed(&x, 0);
    atomic_store_relaxed(&y, 0);
    for (unsigned i = 0; i < 6; i++)
        seen[i] = 0;
}

/* A thread is written as one line. */
#define THREAD(name, ...)  \
    static void name(void) \
    {                      \
        __VA_ARGS__;       \
    }
/* Finds out whether the outcome can be seen. */
#define OUTCOME(name, condition)    \
    static void name(void)          \
    {                               \
        MODEL_ASSERT(!(condition)); \
    }

/* ---- Store buffering ---- */

#define SB(n, store, load, fence)                              \
    THREAD(sb##n##_a, store(&x, 1); fence; seen[0] = load(&y)) \
    THREAD(sb##n##_b, store(&y, 1); fence; seen[1] = load(&x))
OUTCOME(sb_seen, seen[0] == 0 && seen[1] == 0)

SB(1, atomic_store_relaxed, atomic_load_relaxed, (void)0)
SB(2, atomic_store_release, atomic_load_acquire, (void)0)
SB(3, atomic_store_seq_cst, atomic_load_seq_cst, (void)0)
SB(4, atomic_store_relaxed, atomic_load_relaxed, atomic_fence_seq_cst())
SB(5, atomic_exchange_acq_rel, atomic_load_acquire, (void)0)
SB(6, atomic_exchange_seq_cst, atomic_load_seq_cst, (void)0)
SB(7, atomic_store_seq_cst, atomic_load_acquire, (void)0)
/* A fence on one side only. */
THREAD(sb8_b, atomic_store_relaxed(&y, 1); seen[1] = atomic_load_relaxed(&x))
/* membarrier on one side, nothing on the other. */
THREAD(sb9_a, atomic_store_relaxed(&x, 1); model_barrier_everywhere(NULL);
       seen[0] = atomic_load_relaxed(&y))

/* ---- Message passing ---- */

#define MP(n, store, load)                                       \
    THREAD(mp##n##_a, atomic_store_relaxed(&x, 1); store(&y, 1)) \
    THREAD(mp##n##_b, seen[0] = load(&y); seen[1] = atomic_load_relaxed(&x))
OUTCOME(mp_seen, seen[0] == 1 && seen[1] == 0)

MP(1, atomic_store_relaxed, atomic_load_relaxed)
MP(2, atomic_store_release, atomic_load_relaxed)
MP(3, atomic_store_relaxed, atomic_load_acquire)
MP(4, atomic_store_release, atomic_load_acquire)
THREAD(mp5_a, atomic_store_relaxed(&x, 1); atomic_fence_seq_cst(); atomic_store_relaxed(&y, 1))
THREAD(mp5_b, seen[0] = atomic_load_relaxed(&y); atomic_fence_seq_cst();
       seen[1] = atomic_load_relaxed(&x))
/* Release sequence: a relaxed read-modify-write in between continues it, a store does not. */
THREAD(mp6_c, atomic_fetch_add_relaxed(&y, 1))
THREAD(mp6_b, seen[0] = atomic_load_acquire(&y); seen[1] = atomic_load_relaxed(&x))
OUTCOME(mp6_seen, seen[0] == 2 && seen[1] == 0)
THREAD(mp7_c, if (atomic_load_relaxed(&y) == 1) atomic_store_relaxed(&y, 2))
/* Plain data, handed over well and badly. */
static int plain;
THREAD(mp8_a, plain = 1; atomic_store_release(&y, 1))
THREAD(mp8_b, if (atomic_load_acquire(&y)) MODEL_ASSERT(plain == 1))
THREAD(mp9_a, plain = 1; atomic_store_relaxed(&y, 1))

/* ---- Independent reads of independent writes; three threads suffice with a fixed writer ---- */

#define WRC(n, store, load)                              \
    THREAD(wrc##n##_a, store(&x, 1))                     \
    THREAD(wrc##n##_b, seen[0] = load(&x); store(&y, 1)) \
    THREAD(wrc##n##_c, seen[1] = load(&y); seen[2] = load(&x))
OUTCOME(wrc_seen, seen[0] == 1 && seen[1] == 1 && seen[2] == 0)
WRC(1, atomic_store_relaxed, atomic_load_relaxed)
WRC(2, atomic_store_release, atomic_load_acquire)

/* Read-write causality: a reader, then store buffering. */
#define RWC(n, store, load, fence)                                    \
    THREAD(rwc##n##_a, store(&x, 1))                                  \
    THREAD(rwc##n##_b, seen[0] = load(&x); fence; seen[1] = load(&y)) \
    THREAD(rwc##n##_c, store(&y, 1); fence; seen[2] = load(&x))
OUTCOME(rwc_seen, seen[0] == 1 && seen[1] == 0 && seen[2] == 0)
RWC(1, atomic_store_release, atomic_load_acquire, (void)0)
RWC(2, atomic_store_seq_cst, atomic_load_seq_cst, (void)0)
RWC(3, atomic_store_relaxed, atomic_load_relaxed, atomic_fence_seq_cst())

/* IRIW with one of the writers in a reader's thread is RWC; the full one needs four threads. */

/* ---- Two stores each ---- */

#define WW(n, store, fence)                              \
    THREAD(ww##n##_a, store(&x, 1); fence; store(&y, 2)) \
    THREAD(ww##n##_b, store(&y, 1); fence; store(&x, 2))
static void ww_finish(void)
{
    /* The last store of each location in its own order. */
    MODEL_ASSERT(!(atomic_load_relaxed(&x) == 1 && atomic_load_relaxed(&y) == 1));
}
WW(1, atomic_store_relaxed, (void)0)
WW(2, atomic_store_release, (void)0)
WW(3, atomic_store_seq_cst, (void)0)
WW(4, atomic_store_relaxed, atomic_fence_seq_cst())

/* ---- Coherence ---- */

THREAD(co_a, atomic_store_relaxed(&x, 1); atomic_store_relaxed(&x, 2))
THREAD(co_b, seen[0] = atomic_load_relaxed(&x); seen[1] = atomic_load_relaxed(&x))
OUTCOME(co_seen, seen[0] > seen[1])
THREAD(add, atomic_fetch_add_relaxed(&x, 1))
OUTCOME(add_seen, atomic_load_relaxed(&x) != 3)

/* Load buffering: forbidden in RC11. */
THREAD(lb_a, seen[0] = atomic_load_relaxed(&x); atomic_store_relaxed(&y, 1))
THREAD(lb_b, seen[1] = atomic_load_relaxed(&y); atomic_store_relaxed(&x, 1))
OUTCOME(lb_seen, seen[0] == 1 && seen[1] == 1)

#define TWO(id, text, a, b, end, allowed)                                          \
    {                                                                              \
        .name = id, .what = text, .setup = setup, .thread = {a, b}, .finish = end, \
        .fails = allowed ? "not true" : NULL                                       \
    }
#define THREE(id, text, a, b, c, end, allowed)                                        \
    {                                                                                 \
        .name = id, .what = text, .setup = setup, .thread = {a, b, c}, .finish = end, \
        .fails = allowed ? "not true" : NULL                                          \
    }

const struct harness litmus_harnesses[] = {
    TWO("sb-relaxed", "store buffering", sb1_a, sb1_b, sb_seen, true),
    TWO("sb-acq-rel", "store buffering, acquire and release", sb2_a, sb2_b, sb_seen, true),
    TWO("sb-seq-cst", "store buffering, seq-cst", sb3_a, sb3_b, sb_seen, false),
    TWO("sb-fences", "store buffering, fences", sb4_a, sb4_b, sb_seen, false),
    TWO("sb-exchange-acq-rel", "store buffering, acq-rel exchanges", sb5_a, sb5_b, sb_seen, true),
    TWO("sb-exchange-seq-cst", "store buffering, seq-cst exchanges", sb6_a, sb6_b, sb_seen, false),
    TWO("sb-store-seq-cst", "store buffering, only the stores seq-cst", sb7_a, sb7_b, sb_seen,
        true),
    TWO("sb-one-fence", "store buffering, a fence on one side", sb4_a, sb8_b, sb_seen, true),
    TWO("sb-membarrier", "store buffering, membarrier on one side", sb9_a, sb8_b, sb_seen, false),
    TWO("mp-relaxed", "message passing", mp1_a, mp1_b, mp_seen, true),
    TWO("mp-release", "message passing, only released", mp2_a, mp2_b, mp_seen, true),
    TWO("mp-acquire", "message passing, only acquired", mp3_a, mp3_b, mp_seen, true),
    TWO("mp", "message passing, released and acquired", mp4_a, mp4_b, mp_seen, false),
    TWO("mp-fences", "message passing, fences", mp5_a, mp5_b, mp_seen, false),
    THREE("mp-sequence", "release sequence through an addition", mp4_a, mp6_c, mp6_b, mp6_seen,
          false),
    THREE("mp-sequence-store", "no release sequence through a store", mp4_a, mp7_c, mp6_b, mp6_seen,
          true),
    TWO("mp-plain", "plain data, released and acquired", mp8_a, mp8_b, NULL, false),
    TWO("mp-plain-race", "plain data, relaxed", mp9_a, mp8_b, NULL, true),
    THREE("wrc-relaxed", "write-read causality", wrc1_a, wrc1_b, wrc1_c, wrc_seen, true),
    THREE("wrc", "write-read causality, acquire and release", wrc2_a, wrc2_b, wrc2_c, wrc_seen,
          false),
    THREE("rwc", "read-write causality, acquire and release", rwc1_a, rwc1_b, rwc1_c, rwc_seen,
          true),
    THREE("rwc-seq-cst", "read-write causality, seq-cst", rwc2_a, rwc2_b, rwc2_c, rwc_seen, false),
    THREE("rwc-fences", "read-write causality, fences", rwc3_a, rwc3_b, rwc3_c, rwc_seen, false),
    TWO("2+2w-relaxed", "two stores each", ww1_a, ww1_b, ww_finish, true),
    TWO("2+2w-release", "two stores each, release", ww2_a, ww2_b, ww_finish, true),
    TWO("2+2w-seq-cst", "two stores each, seq-cst", ww3_a, ww3_b, ww_finish, false),
    TWO("2+2w-fences", "two stores each, fences", ww4_a, ww4_b, ww_finish, false),
    TWO("coherence", "one location, two reads", co_a, co_b, co_seen, false),
    THREE("additions", "three additions", add, add, add, add_seen, false),
    TWO("lb", "load buffering", lb_a, lb_b, lb_seen, false),
    {0},
};
