/* SPDX-License-Identifier: MIT */
#include "os/probes.h"

WEFT__PROBES_WORD struct atomic_u32 weft__trace_wanted = {0};

#ifdef WEFT_HAVE_USDT

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define KINDS(X)              \
    X(JOB, job)               \
    X(JOB_END, job_end)       \
    X(STEAL, steal)           \
    X(PUBLISH, publish)       \
    X(WAIT, wait)             \
    X(WAIT_END, wait_end)     \
    X(JOIN, join)             \
    X(SEARCH, search)         \
    X(SEARCH_END, search_end) \
    X(SLEEP, sleep)           \
    X(SLEEP_END, sleep_end)   \
    X(WAKE, wake)             \
    X(SPIN, spin)             \
    X(SPIN_END, spin_end)     \
    X(BLOCK, block)           \
    X(BLOCK_END, block_end)   \
    X(GUEST, guest)           \
    X(GUEST_END, guest_end)   \
    X(SUBMIT, submit)         \
    X(TASK, task)             \
    X(CANCEL, cancel)         \
    X(SPARE, spare)           \
    X(TURN, turn)             \
    X(TURN_END, turn_end)     \
    X(ACTOR, actor)           \
    X(MOVE, move)             \
    X(DELEGATE, delegate)     \
    X(GIVE_BACK, give_back)   \
    X(LIMIT, limit)           \
    X(SPAN, span)             \
    X(SPAN_END, span_end)     \
    X(MARK, mark)

/* The semaphore of a probe has a name of its own, and 16 bits. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOWER_HALF "weft__trace_wanted + 2"
#else
#define LOWER_HALF "weft__trace_wanted"
#endif
#define SEMAPHORE(kind, name)                                                            \
    extern unsigned short weft_##name##_semaphore __attribute__((visibility("hidden"))); \
    __asm__(".set weft_" #name "_semaphore, " LOWER_HALF);
KINDS(SEMAPHORE)

#define FIRE(kind, name)               \
    case WEFT_TRACE_##kind:            \
        STAP_PROBE2(weft, name, a, b); \
        break;

void weft__probe_fire(enum weft_trace_kind kind, uint64_t a, uint64_t b)
{
    switch (kind) {
        KINDS(FIRE)
    case WEFT_TRACE_NOTHING:
    case WEFT_TRACE_KINDS:
        break;
    }
}

#endif
