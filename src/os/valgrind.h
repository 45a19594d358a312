/* SPDX-License-Identifier: MIT */
/* valgrind.h: what valgrind has to be told, if the library is compiled where its header is. A few
 * instructions that do nothing outside valgrind. */
#ifndef WEFT_OS_VALGRIND_H
#define WEFT_OS_VALGRIND_H

#include <stddef.h>

#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define WEFT__HAVE_VALGRIND 1
#endif
#endif

/* A stack that is not a thread's own: who switches to it has not lost its way, and back traces end
 * where it ends. A number for the second, which comes before the memory is given back. */
static inline unsigned weft__valgrind_stack(void *low, size_t size)
{
#if WEFT__HAVE_VALGRIND
    return VALGRIND_STACK_REGISTER(low, (char *)low + size - 1);
#else
    (void)low;
    (void)size;
    return 0;
#endif
}

static inline void weft__valgrind_no_stack(unsigned number)
{
#if WEFT__HAVE_VALGRIND
    VALGRIND_STACK_DEREGISTER(number);
#else
    (void)number;
#endif
}

#endif
