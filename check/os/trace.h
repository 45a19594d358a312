/* SPDX-License-Identifier: MIT */
/* trace.h: the model records nothing: a trace decides nothing. */
#ifndef CHECK_TRACE_H
#define CHECK_TRACE_H

#include <stdbool.h>
#include <weft/trace_format.h>

/* Never evaluated, but used: a function may be there for a trace alone. */
#define WEFT__TRACE(kind, a, b) (false ? (void)((a), (b)) : (void)0)
#define WEFT__TRACE_TEXT(kind, a, text) (false ? (void)((a), (text)) : (void)0)

static inline bool weft__traces(void)
{
    return false;
}

static inline void weft__trace_from_environment(void)
{
}

#endif
