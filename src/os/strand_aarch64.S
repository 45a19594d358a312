/* SPDX-License-Identifier: MIT */
/* strand_aarch64.S: how a stack is left and another one taken up, in AAPCS64. Hints do nothing on
 * processors that don't know them: `bti c` is for those that check where indirect calls go, and the
 * file is marked as fit for that. `paciasp` and `autiasp` sign and check a return address; they are here
 * where the compiler does it too. A signature holds for one stack pointer, and a stack is left
 * and taken up with the same one. */
#if defined __aarch64__ && defined __LP64__

    .text

#define BTI_C hint #34
#ifdef __ARM_FEATURE_PAC_DEFAULT
#define SIGN hint #25; .cfi_negate_ra_state
#define CHECK_SIGNED hint #29; .cfi_negate_ra_state
#define FEATURES 3
#else
#define SIGN
#define CHECK_SIGNED
#define FEATURES 1
#endif

    .macro save first, second, at
    stp \first, \second, [sp, #\at]
    .cfi_rel_offset \first, \at
    .cfi_rel_offset \second, \at + 8
    .endm

    .macro restore first, second, at
    ldp \first, \second, [sp, #\at]
    .cfi_restore \first
    .cfi_restore \second
    .endm

/* void weft__strand_swap(struct weft__strand *from, struct weft__strand *to)
 *
 * Saves what a call has to keep, and the stack pointer in *from; then the same backwards with
 * *to. Both stacks look alike at the moment of change, so what the unwinder is told holds for
 * either. x18 belongs to the platform. */
    .globl weft__strand_swap
    .hidden weft__strand_swap
    .type weft__strand_swap, %function
    .balign 64
weft__strand_swap:
    .cfi_startproc
    BTI_C
    SIGN
    sub sp, sp, #176
    .cfi_adjust_cfa_offset 176
    save x19, x20, 0
    save x21, x22, 16
    save x23, x24, 32
    save x25, x26, 48
    save x27, x28, 64
    save x29, x30, 80
    save d8, d9, 96
    save d10, d11, 112
    save d12, d13, 128
    save d14, d15, 144
    mrs x9, fpcr
    str x9, [sp, #160]

    mov x10, sp
    str x10, [x0]
    ldr x10, [x1]
    mov sp, x10

    /* Setting the modes is slow, and they hardly ever differ. */
    ldr x10, [sp, #160]
    cmp x9, x10
    b.eq 1f
    msr fpcr, x10
1:  restore x19, x20, 0
    restore x21, x22, 16
    restore x23, x24, 32
    restore x25, x26, 48
    restore x27, x28, 64
    restore x29, x30, 80
    restore d8, d9, 96
    restore d10, d11, 112
    restore d12, d13, 128
    restore d14, d15, 144
    add sp, sp, #176
    .cfi_def_cfa sp, 0
    CHECK_SIGNED
    ret
    .cfi_endproc
    .size weft__strand_swap, . - weft__strand_swap

/* Where a new strand comes out of weft__strand_swap: x19 is a function, x20 its argument.
 * There is no caller to return to, and unwinders stop here. */
    .globl weft__strand_start
    .hidden weft__strand_start
    .type weft__strand_start, %function
    .balign 16
weft__strand_start:
    .cfi_startproc
    .cfi_undefined x30
    BTI_C
    mov x0, x20
    blr x19
    brk #1
    .cfi_endproc
    .size weft__strand_start, . - weft__strand_start

/* What this file is fit for (GNU_PROPERTY_AARCH64_FEATURE_1_AND): BTI, and perhaps PAC. */
    .section .note.gnu.property, "a", %note
    .balign 8
    .long 4, 16, 5 /* lengths of the name and of what follows it; NT_GNU_PROPERTY_TYPE_0 */
    .asciz "GNU"
    .long 0xc0000000, 4, FEATURES, 0

#endif
    .section .note.GNU-stack, "", %progbits
