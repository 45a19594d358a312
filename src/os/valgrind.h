/* SPDX-License-Identifier: MIT */
/* valgrind.h: tells valgrind about stacks, if its header was there when the library was compiled. A
 * few instructions, which do nothing outside valgrind. */
#ifndef WEFT_OS_VALGRIND_H
#define WEFT_OS_VALGRIND_H

#include <stddef.h>

#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define WEFT__HAVE_VALGRIND 1
#endif
#endif

/* Registers a stack that is not a thread's own, so that valgrind accepts switches to it, and ends
 * back traces there. The second function takes the number that the first has returned, and is
 * called before the memory is freed. Where valgrind does not know the processor, its macros do not
 * use their arguments. */
static inline unsigned weft__valgrind_stack(void *low, size_t size)
{
    (void)low;
    (void)size;
#if WEFT__HAVE_VALGRIND
    return VALGRIND_STACK_REGISTER(low, (char *)low + size - 1);
#else
    return 0;
#endif
}

static inline void weft__valgrind_no_stack(unsigned number)
{
    (void)number;
#if WEFT__HAVE_VALGRIND
    VALGRIND_STACK_DEREGISTER(number);
#endif
}

#endif
