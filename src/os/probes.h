/* SPDX-License-Identifier: MIT */
/* probes.h: points where other programs can look into a running process: bpftrace, SystemTap, perf,
 * gdb (USDT). There is one for each kind of record (weft/trace_format.h), at the same place and
 * with the same arguments; instead of a length, a text's address. The provider is `weft`, the names
 * are those of the kinds in lower case.
 *
 * All probes have one semaphore: the lower half of weft__trace_wanted. A program that looks at any
 * of them counts itself there, so the trace points take the same road as for a trace. Until then
 * probes cost nothing at all; while any is in use, each trace point costs some nanoseconds. */
#ifndef WEFT_OS_PROBES_H
#define WEFT_OS_PROBES_H

#include "os/trace.h"

#ifdef WEFT_HAVE_USDT

/* In the file of the program: the kernel counts there. */
#define WEFT__PROBES_WORD __attribute__((section(".probes")))

void weft__probe_fire(enum weft_trace_kind kind, uint64_t a, uint64_t b);

static inline void weft__probe(enum weft_trace_kind kind, uint64_t a, uint64_t b)
{
    /* relaxed: a hint, which the kernel writes. */
    if (atomic_load_relaxed(&weft__trace_wanted) & WEFT__TRACE_TRACERS)
        weft__probe_fire(kind, a, b);
}

#else

#define WEFT__PROBES_WORD

static inline void weft__probe(enum weft_trace_kind kind, uint64_t a, uint64_t b)
{
    (void)kind, (void)a, (void)b;
}

#endif

#endif
