/* SPDX-License-Identifier: MIT */
#include "os/strand.h"

#include "os/fatal.h"
#include "os/sanitize.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if WEFT__STRAND_ASAN
#include <sanitizer/asan_interface.h>
#endif

static _Noreturn void begin(void *strand);

/* ---- Stacks ---- */

#if WEFT_STRAND_UCONTEXT

static void begin_halves(unsigned high, unsigned low)
{
    begin((void *)((uintptr_t)high << 16 << 16 | low));
}

static void stack_make(struct weft__strand *strand, void *low, size_t size)
{
    getcontext(&strand->context);
    strand->context.uc_stack.ss_sp = low;
    strand->context.uc_stack.ss_size = size;
    strand->context.uc_link = NULL;
    uintptr_t address = (uintptr_t)strand; /* arguments are integers, not pointers */
    makecontext(&strand->context, (void (*)(void))begin_halves, 2, (unsigned)(address >> 16 >> 16),
                (unsigned)address);
}

/* On powerpc64, calls keep vector registers. glibc restores them only if VRSAVE was not 0 when they
 * were saved. Linux sets it when a thread first uses such a register, but a new thread may have the
 * use of them without that; and qemu-user never sets it. */
static void keep_vectors(void)
{
#if defined __powerpc64__ && defined __ALTIVEC__
    __asm__ volatile("mtspr 256, %0" : : "r"(-1)); /* VRSAVE */
#endif
}

#define stack_switch(from, to) (keep_vectors(), swapcontext(&(from)->context, &(to)->context))

#else

/* In strand_x86_64.S and strand_aarch64.S. */
#define ASSEMBLY __attribute__((visibility("hidden")))
ASSEMBLY void weft__strand_swap(struct weft__strand *from, struct weft__strand *to);
ASSEMBLY void weft__strand_start(void);

/* What weft__strand_swap leaves on a stack, from the stack pointer up. */
#if defined __x86_64__
struct frame {
    uint32_t mxcsr;
    uint16_t x87;
    void *r15, *r14, *r13, *r12;
    void (*rbx)(void *);
    void *rbp;
    void (*rip)(void);
};
_Static_assert(sizeof(struct frame) == 64, "strand_x86_64.S counts on it");

/* Shadow stacks don't know of other stacks. A program that has the assembly in gets none, unless
 * somebody tells the linker, or all of the library is in one file that was compiled for them. */
static void expect_no_shadow_stack(void)
{
#if defined __CET__ && (__CET__ & 2)
    uint64_t shadow = 0;
    __asm__("rdsspq %0" : "+r"(shadow)); /* does nothing where there are none */
    if (shadow)
        weft__fatal("actors don't work with shadow stacks: compile with -fcf-protection=branch");
#endif
}

static void frame_make(struct frame *frame, struct weft__strand *strand)
{
    expect_no_shadow_stack();
    *frame = (struct frame){.r12 = strand, .rbx = begin, .rip = weft__strand_start};
    __asm__ volatile("stmxcsr %0" : "=m"(frame->mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(frame->x87));
}
#else
struct frame {
    void (*x19)(void *);
    void *x20, *x21_to_x29[9], *x30;
    double d8_to_d15[8];
    uint64_t fpcr, unused;
};
_Static_assert(sizeof(struct frame) == 176, "strand_aarch64.S counts on it");

/* The return address `start`, for a return with the stack pointer `sp`: signed, where
 * weft__strand_swap checks that. */
static void *signed_for(void (*start)(void), const void *sp)
{
#ifdef __ARM_FEATURE_PAC_DEFAULT
    register void *address __asm__("x17") = (void *)(uintptr_t)start;
    register const void *modifier __asm__("x16") = sp;
    __asm__("hint #8" : "+r"(address) : "r"(modifier)); /* pacia1716 */
    return address;
#else
    (void)sp;
    return (void *)(uintptr_t)start;
#endif
}

static void frame_make(struct frame *frame, struct weft__strand *strand)
{
    *frame = (struct frame){.x19 = begin, .x20 = strand};
    frame->x30 = signed_for(weft__strand_start, frame + 1);
    __asm__ volatile("mrs %0, fpcr" : "=r"(frame->fpcr));
}
#endif

static void stack_make(struct weft__strand *strand, void *low, size_t size)
{
    uintptr_t top = ((uintptr_t)low + size) & ~(uintptr_t)15; /* as calls want it */
    struct frame *frame = (struct frame *)top - 1;
    frame_make(frame, strand);
    strand->sp = frame;
}

#define stack_switch(from, to) weft__strand_swap((from), (to))

#endif

/* ---- Sanitizers ----
 *
 * made() and dropped() are called for each strand, leaving() before a switch, back() after it. The
 * last two are inlined: ThreadSanitizer counts calls and returns per fiber. */

#define PART static inline __attribute__((always_inline))

#if WEFT__STRAND_ASAN

static void made(struct weft__strand *strand, const void *low, size_t size)
{
    strand->low = low;
    strand->size = size;
    strand->fake = NULL;
}

PART void leaving(struct weft__strand *from, struct weft__strand *to, bool last)
{
    to->came = from;
    from->fake = NULL;
    __sanitizer_start_switch_fiber(last ? NULL : &from->fake, to->low, to->size);
}

PART void back(struct weft__strand *strand)
{
    __sanitizer_finish_switch_fiber(strand->fake, &strand->came->low, &strand->came->size);
}

/* ASan frees the fake stack of a stack only when that is left for the last time. So a strand that
 * is dropped while it waits is entered and left once more, for ASan only. */
static void dropped(struct weft__strand *strand)
{
    __asan_unpoison_memory_region(strand->low, strand->size); /* frames that never returned */
    if (!strand->fake)
        return;
    const void *low;
    size_t size;
    void *fake;
    __sanitizer_start_switch_fiber(&fake, strand->low, strand->size);
    __sanitizer_finish_switch_fiber(strand->fake, &low, &size);
    __sanitizer_start_switch_fiber(NULL, low, size);
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
    strand->fake = NULL;
}

static void of_thread(struct weft__strand *strand)
{
    (void)strand;
}

#else

/* The library may be compiled with it, or only the program. */
PART bool tsan_is_here(void)
{
#ifdef WEFT__TSAN
    return true;
#else
    return weft__tsan_is_outside();
#endif
}

static void made(struct weft__strand *strand, const void *low, size_t size)
{
    (void)low;
    (void)size;
    if (tsan_is_here())
        strand->fiber = __tsan_create_fiber(0);
}

static void of_thread(struct weft__strand *strand)
{
    if (tsan_is_here())
        strand->fiber = __tsan_get_current_fiber();
}

#ifdef WEFT__TSAN
PART void leaving(struct weft__strand *from, struct weft__strand *to, bool last)
{
    (void)from;
    (void)last;
    __tsan_switch_to_fiber(to->fiber, 0);
}
#else
/* Calls are not counted here, so this may be a call that keeps all registers. */
PART void leaving(struct weft__strand *from, struct weft__strand *to, bool last)
{
    (void)from;
    (void)last;
    if (weft__tsan_is_outside())
        weft__tsan_tell_switch(to->fiber);
}
#endif

PART void back(struct weft__strand *strand)
{
    (void)strand;
}

static void dropped(struct weft__strand *strand)
{
    if (tsan_is_here())
        __tsan_destroy_fiber(strand->fiber);
}

#endif

/* ---- Exceptions of C++ ---- */

/* The C++ library's. Weak: NULL if the program has no C++ in it. */
extern struct weft__exceptions *__cxa_get_globals(void) __attribute__((weak));
extern void __cxa_end_catch(void) __attribute__((weak));

static void exceptions_switch(struct weft__strand *from, const struct weft__strand *to)
{
    struct weft__exceptions *here = __cxa_get_globals();
    from->exceptions = *here;
    *here = to->exceptions;
}

struct weft__exceptions weft__exceptions_get(void)
{
    return __cxa_get_globals ? *__cxa_get_globals() : (struct weft__exceptions){0};
}

/* What a catch block has caught is on the heap, and is freed when the block is left. */
void weft__exceptions_leave(struct weft__exceptions before)
{
    if (!__cxa_get_globals || !__cxa_end_catch)
        return;
    struct weft__exceptions *here = __cxa_get_globals();
    while (here->caught && here->caught != before.caught)
        __cxa_end_catch();
    *here = before;
}

/* ---- Strands ---- */

static _Noreturn void begin(void *p)
{
    struct weft__strand *strand = p;
    back(strand);
    strand->entry(strand->arg);
    abort();
}

void weft__strand_make(struct weft__strand *strand, void *low, size_t size, void (*entry)(void *),
                       void *arg)
{
    memset(strand, 0, sizeof *strand);
    strand->entry = entry;
    strand->arg = arg;
    stack_make(strand, low, size);
    made(strand, low, size);
}

void weft__strand_of_thread(struct weft__strand *strand)
{
    memset(strand, 0, sizeof *strand);
    of_thread(strand);
}

PART void switch_stacks(struct weft__strand *from, struct weft__strand *to)
{
    leaving(from, to, false);
    stack_switch(from, to);
    back(from);
}

/* Apart, so that programs in C need no frame for it. */
static __attribute__((noinline)) void switch_all(struct weft__strand *from, struct weft__strand *to)
{
    exceptions_switch(from, to);
    switch_stacks(from, to);
}

void weft__strand_switch(struct weft__strand *from, struct weft__strand *to)
{
    if (__cxa_get_globals)
        switch_all(from, to);
    else
        switch_stacks(from, to);
}

void weft__strand_leave(struct weft__strand *from, struct weft__strand *to)
{
    if (__cxa_get_globals)
        exceptions_switch(from, to);
    leaving(from, to, true);
    stack_switch(from, to);
    abort();
}

void weft__strand_drop(struct weft__strand *strand)
{
    dropped(strand);
}
