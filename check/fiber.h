/* SPDX-License-Identifier: MIT */
/* fiber.h: several stacks in one thread. */
#ifndef CHECK_FIBER_H
#define CHECK_FIBER_H

#include <stddef.h>
#include <ucontext.h>

enum { FIBER_STACK = 256 << 10 };

struct fiber {
    void *stack_pointer; /* on x86-64; elsewhere: */
    ucontext_t context;
    void (*fn)(void *);
    void *arg;
    _Alignas(64) char stack[FIBER_STACK];
};

/* The next switch to it calls fn(arg), which never returns. Whatever it did before is
 * forgotten. */
void fiber_make(struct fiber *fiber, void (*fn)(void *), void *arg);
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
