/* SPDX-License-Identifier: MIT */
/* fatal.h: broken invariants. One line on standard error that says which, then abort. */
#ifndef WEFT_OS_FATAL_H
#define WEFT_OS_FATAL_H

#if defined __GNUC__
__attribute__((noreturn, cold, format(printf, 1, 2)))
#endif
void weft__fatal(const char *format, ...);

#endif
