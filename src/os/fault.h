/* SPDX-License-Identifier: MIT */
/* fault.h: what the handler of a fault can find out about the code that it has interrupted, and how
 * that goes on somewhere else. */
#ifndef WEFT_OS_FAULT_H
#define WEFT_OS_FAULT_H

#include <stdbool.h>

/* Where the code was, and its stack; NULL: not known on this processor. */
const void *weft__fault_code(const void *ucontext);
char *weft__fault_stack(const void *ucontext);

/* When the handler returns, fn(arg) is called on the stack from `sp` down; it must not return.
 * False: not on this processor. */
bool weft__fault_divert(void *ucontext, char *sp, void (*fn)(void *), void *arg);

/* Code that is not the program's own, and may have been interrupted with a lock held: a name for
 * it. NULL: none of these. The first call of weft__code_learn() finds out which objects they are;
 * those that are linked into the program itself can't be told from it. */
void weft__code_learn(void);
const char *weft__code_owner(const void *code);

#endif
