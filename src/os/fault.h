/* SPDX-License-Identifier: MIT */
/* fault.h: what the handler of a fault can find out about the interrupted code, and how to make
 * that thread go on somewhere else. */
#ifndef WEFT_OS_FAULT_H
#define WEFT_OS_FAULT_H

#include <stdbool.h>

/* Where the code was, and its stack; NULL: not known on this processor. */
const void *weft__fault_code(const void *ucontext);
char *weft__fault_stack(const void *ucontext);

/* When the handler returns, fn(arg) is called on the stack from `sp` down; it must not return.
 * False: not on this processor. */
bool weft__fault_divert(void *ucontext, char *sp, void (*fn)(void *), void *arg);

/* The name of the object that the code is part of, if it is not the program's own and may have been
 * interrupted with a lock held. NULL: it is another object. The first call of weft__code_learn()
 * finds these objects. Objects that are linked into the program can't be told from the program. */
void weft__code_learn(void);
const char *weft__code_name(const void *code);

#endif
