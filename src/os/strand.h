/* SPDX-License-Identifier: MIT */
/* strand.h: a stack that can be left and come back to: a fiber's, or a thread's own.
 *
 * Compilers assume that a function stays on its thread. A caller of weft__strand_switch must not
 * keep the address of a thread-local variable across the call, nor use errno or pthread_self() on
 * both sides of it: use these in functions that are not inlined.
 *
 * What the C++ library keeps for a thread of the exceptions that are on their way, or in a catch
 * block, belongs to the frames on its stack. So it is switched with the stack, where that library
 * is there. A C program that loads code in C++ later, by dlopen(), does without. */
#ifndef WEFT_OS_STRAND_H
#define WEFT_OS_STRAND_H

#include <stddef.h>

/* A switch is a few lines of assembly, or <ucontext.h>, which works on more processors, but makes a
 * system call at each switch and also switches the signal mask. */
#if !defined __LP64__ || !(defined __x86_64__ || defined __aarch64__)
#undef WEFT_STRAND_UCONTEXT
#define WEFT_STRAND_UCONTEXT 1
#endif
#if WEFT_STRAND_UCONTEXT
#include <ucontext.h>
#endif

/* Sanitizers have to be told. */
#if defined __SANITIZE_ADDRESS__
#define WEFT__STRAND_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define WEFT__STRAND_ASAN 1
#endif
#endif

/* As the C++ ABI has it, for gcc's library and for clang's. */
struct weft__exceptions {
    void *caught;      /* a list: those of the catch blocks that are on the stack */
    unsigned uncaught; /* how many are on their way */
#ifdef __ARM_EABI_UNWINDER__
    void *propagating;
#endif
};

struct weft__strand {
    void *sp; /* while it does not run; the assembly knows that it comes first */
    void (*entry)(void *);
    void *arg;
    struct weft__exceptions exceptions; /* while it does not run */
#if WEFT_STRAND_UCONTEXT
    ucontext_t context;
#endif
#if WEFT__STRAND_ASAN
    const void *low; /* of a thread's own stack: ASan tells when it was left */
    size_t size;
    void *fake;                /* where ASan has its variables; NULL: not there */
    struct weft__strand *came; /* the strand that switched to this one last */
#else
    void *fiber; /* ThreadSanitizer's; NULL: it is not there */
#endif
};

/* A new strand on [low, low + size): the first switch to it calls entry(arg), which never
 * returns. It starts with the caller's floating-point modes. The record stays where it is. */
void weft__strand_make(struct weft__strand *strand, void *low, size_t size, void (*entry)(void *),
                       void *arg);

/* The calling thread's own stack; must be called on the thread before it switches away from
 * it (and again if another thread uses the record). */
void weft__strand_of_thread(struct weft__strand *strand);

/* Leaves `from`, which runs now, and goes on with `to`. Returns when another strand switches to
 * `from`, perhaps on another thread. `from` is left once `to` runs, not earlier: only `to` may
 * tell other threads about it. */
void weft__strand_switch(struct weft__strand *from, struct weft__strand *to)
    __attribute__((noinline));

/* The same for the last time: `from` never runs again. */
_Noreturn void weft__strand_leave(struct weft__strand *from, struct weft__strand *to)
    __attribute__((noinline));

/* Frees what sanitizers keep of a made strand that is not running. It may be made anew after
 * that. */
void weft__strand_drop(struct weft__strand *strand);

/* For frames that are left by longjmp(), which runs no code of C++. Those of the strand that runs;
 * and the same again, further in on the same strand: the catch blocks since then are left. */
struct weft__exceptions weft__exceptions_get(void) __attribute__((noinline));
void weft__exceptions_leave(struct weft__exceptions before) __attribute__((noinline));

#endif
