/* SPDX-License-Identifier: MIT */
/* strand_x86_64.S: how a stack is left and another one taken up, in the System V ABI.
 *
 * endbr64 is for processors that check where indirect calls go, and the file is marked as fit for
 * that. Shadow stacks don't know of other stacks, so the file is not marked as fit for these, and a
 * program that has it in gets none. */
#if defined __x86_64__ && defined __LP64__

    .text

    .macro save register, at
    movq \register, \at(%rsp)
    .cfi_rel_offset \register, \at
    .endm

    .macro restore register, at
    movq \at(%rsp), \register
    .cfi_restore \register
    .endm

/* void weft__strand_swap(struct weft__strand *from, struct weft__strand *to)
 *
 * Saves what a call has to keep, below its return address, and the stack pointer in *from; then
 * the same backwards with *to. Both stacks look alike at the moment of change, so what the
 * unwinder is told holds for either. */
    .globl weft__strand_swap
    .hidden weft__strand_swap
    .type weft__strand_swap, @function
    .balign 64
weft__strand_swap:
    .cfi_startproc
    endbr64
    subq $56, %rsp
    .cfi_adjust_cfa_offset 56
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    save %r15, 8
    save %r14, 16
    save %r13, 24
    save %r12, 32
    save %rbx, 40
    save %rbp, 48

    movq %rsp, (%rdi)
    movq (%rsi), %rsp

    /* To look first whether they differ is slower. */
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    restore %r15, 8
    restore %r14, 16
    restore %r13, 24
    restore %r12, 32
    restore %rbx, 40
    restore %rbp, 48
    addq $56, %rsp
    .cfi_adjust_cfa_offset -56
    /* The processor predicts a return to the caller on the other stack. Among strands
     * that all switch in the same place it is right, and so are the returns that follow: half the
     * time of a jump. Between a thread and its strands it is not, as with a jump. */
    ret
    .cfi_endproc
    .size weft__strand_swap, . - weft__strand_swap

/* Where a new strand comes out of weft__strand_swap: %rbx is a function, %r12 its argument.
 * There is no caller to return to, and unwinders stop here. */
    .globl weft__strand_start
    .hidden weft__strand_start
    .type weft__strand_start, @function
    .balign 16
weft__strand_start:
    .cfi_startproc
    .cfi_undefined %rip
    endbr64
    movq %r12, %rdi
    callq *%rbx
    ud2
    .cfi_endproc
    .size weft__strand_start, . - weft__strand_start

/* Of the features that this file is fit for (GNU_PROPERTY_X86_FEATURE_1_AND), the first: IBT. */
    .section .note.gnu.property, "a", @note
    .balign 8
    .long 4, 16, 5 /* lengths of the name and of what follows it; NT_GNU_PROPERTY_TYPE_0 */
    .asciz "GNU"
    .long 0xc0000002, 4, 1, 0

#endif
    .section .note.GNU-stack, "", %progbits
