/* SPDX-License-Identifier: MIT */
#include "os/sanitize.h"

#include <stdint.h>

#ifndef WEFT__TSAN

bool weft__tsan_found;

/* Before all constructors that might make a pool. */
__attribute__((constructor(101))) static void look(void)
{
    weft__tsan_found = __tsan_acquire && __tsan_release && __tsan_get_current_fiber &&
                       __tsan_create_fiber && __tsan_destroy_fiber && __tsan_switch_to_fiber;
}

#if defined __x86_64__ && defined __LP64__

/* Called with the argument on the stack; keeps all general registers. The second argument of the
 * function is zero. The compiler, where it optimises while linking, does not tell the assembler
 * that the function may be missing. */
#define THUNK(name, function)                                                           \
    __asm__(".text\n.weak " function "\n"                                               \
            ".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n" \
            ".cfi_startproc\n"                                                          \
            "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"                \
            "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                              \
            "push %rax\npush %rcx\npush %rdx\npush %rsi\npush %rdi\n"                   \
            "push %r8\npush %r9\npush %r10\npush %r11\n"                                \
            "and $-16, %rsp\nmov 16(%rbp), %rdi\nxor %esi, %esi\n"                      \
            "call *" function "@GOTPCREL(%rip)\n"                                       \
            "lea -72(%rbp), %rsp\n"                                                     \
            "pop %r11\npop %r10\npop %r9\npop %r8\n"                                    \
            "pop %rdi\npop %rsi\npop %rdx\npop %rcx\npop %rax\npop %rbp\n"              \
            ".cfi_def_cfa %rsp, 8\n"                                                    \
            "ret\n"                                                                     \
            ".cfi_endproc\n.size " name ", . - " name "\n")

THUNK("weft__tsan_acquire_kept", "__tsan_acquire");
THUNK("weft__tsan_release_kept", "__tsan_release");
THUNK("weft__tsan_switch_kept", "__tsan_switch_to_fiber");

#else

void weft__tsan_tell_acquired(const volatile void *address)
{
    __tsan_acquire((void *)(uintptr_t)address);
}

void weft__tsan_tell_releases(const volatile void *address)
{
    __tsan_release((void *)(uintptr_t)address);
}

void weft__tsan_tell_switch(void *fiber)
{
    __tsan_switch_to_fiber(fiber, 0);
}

#endif

#endif
