/* SPDX-License-Identifier: MIT */
/* trace.h: records what threads do; see weft/trace.h and weft/trace_format.h.
 *
 * Each thread writes into a block of its own, without a lock, and takes a new one from the file
 * (trace_file.h) when it is full. If the file is full, it takes the oldest block of threads that
 * have ended, or of a thread that has more, or else its own oldest.
 *
 * The same points are probes for other processes (probes.h), where the library was built with them.
 *
 * Worst case while a trace is on: two dozen nanoseconds a record, and a system call for each 16
 * blocks. While none is on, and no other process looks: a look at one word, which nobody writes. */
#ifndef WEFT_OS_TRACE_H
#define WEFT_OS_TRACE_H

#include "os/atomic.h"

#include <weft/trace_format.h>

/* Does anybody want to know? Tracers that look from outside count themselves in the lower half, as
 * other processes do with probes; the upper half says whether there is a trace. */
extern struct atomic_u32 weft__trace_wanted;
#define WEFT__TRACE_TRACERS UINT32_C(0xffff)
#define WEFT__TRACE_IS_ON UINT32_C(0x10000)

__attribute__((cold)) void weft__trace_record(enum weft_trace_kind kind, uint64_t a, uint64_t b);
__attribute__((cold)) void weft__trace_record_text(enum weft_trace_kind kind, uint64_t a,
                                                   const char *text);

static inline bool weft__traces(void)
{
    /* relaxed: a record more or less. */
    return __builtin_expect(atomic_load_relaxed(&weft__trace_wanted) != 0, 0);
}

#define WEFT__TRACE(kind, a, b)                                                  \
    do {                                                                         \
        if (weft__traces())                                                      \
            weft__trace_record(WEFT_TRACE_##kind, (uint64_t)(a), (uint64_t)(b)); \
    } while (0)

#define WEFT__TRACE_TEXT(kind, a, text)                                      \
    do {                                                                     \
        if (weft__traces())                                                  \
            weft__trace_record_text(WEFT_TRACE_##kind, (uint64_t)(a), text); \
    } while (0)

/* When the first pool is made: does the environment want a trace? */
void weft__trace_from_environment(void);

#endif
