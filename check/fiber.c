/* SPDX-License-Identifier: MIT */
#include "fiber.h"

#include <stdint.h>
#include <stdlib.h>

#if defined __x86_64__ && !defined FIBER_UCONTEXT

/* Saves what a call has to keep, changes the stack, and takes it from there. */
void fiber_swap(void **from, void *to);
__asm__(".text\n"
        ".type fiber_swap, @function\n"
        "fiber_swap:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fiber_swap, . - fiber_swap\n");

/* rbx and r12 are the function and its argument. */
void fiber_begin(void);
__asm__(".text\n"
        ".type fiber_begin, @function\n"
        "fiber_begin:\n"
        "    movq %r12, %rdi\n"
        "    callq *%rbx\n"
        "    callq abort\n"
        ".size fiber_begin, . - fiber_begin\n");

void fiber_make(struct fiber *fiber, void (*fn)(void *), void *arg)
{
    uintptr_t *top = (uintptr_t *)(fiber->stack + FIBER_STACK) - 2; /* aligned as after a call */
    *--top = (uintptr_t)fiber_begin;
    *--top = 0;              /* rbp */
    *--top = (uintptr_t)fn;  /* rbx */
    *--top = (uintptr_t)arg; /* r12 */
    *--top = 0;
    *--top = 0;
    *--top = 0;
    fiber->stack_pointer = top;
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
    fiber_swap(&from->stack_pointer, to->stack_pointer);
}

#else /* slower: each switch is a system call */

static void begin(unsigned high, unsigned low)
{
    struct fiber *fiber = (struct fiber *)((uintptr_t)high << 16 << 16 | low);
    fiber->fn(fiber->arg);
    abort();
}

void fiber_make(struct fiber *fiber, void (*fn)(void *), void *arg)
{
    fiber->fn = fn;
    fiber->arg = arg;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = sizeof fiber->stack;
    fiber->context.uc_link = NULL;
    uintptr_t address = (uintptr_t)fiber;
    makecontext(&fiber->context, (void (*)(void))begin, 2, (unsigned)(address >> 16 >> 16),
                (unsigned)address);
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
    swapcontext(&from->context, &to->context);
}

#endif
