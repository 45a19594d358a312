/* SPDX-License-Identifier: MIT */
/* sanitize.h: a program may be compiled with ThreadSanitizer and linked with a library that is not,
 * such as an installed one. Then the sanitizer sees what the program does with its data, but not
 * how the library hands data from thread to thread, and reports races. So if the sanitizer is
 * present at run time, the library tells it of each release and each acquire (../os/atomic.h), and
 * of each switch of stacks (strand.h).
 *
 * A lazy fork has no instruction at which the sanitizer could be told. So while it is present,
 * pools take the eager road, on which each fork goes through a deque. */
#ifndef WEFT_OS_SANITIZE_H
#define WEFT_OS_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Is the library itself compiled with it? Then only switches of stacks have to be told. */
#if defined __SANITIZE_THREAD__
#define WEFT__TSAN 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define WEFT__TSAN 1
#endif
#endif

/* Weak: NULL where there is no sanitizer. Executables that have it export them. */
#ifndef WEFT__TSAN
#define WEFT__OF_TSAN __attribute__((weak, visibility("default")))
#else
#define WEFT__OF_TSAN
#endif
WEFT__OF_TSAN void __tsan_acquire(void *address);
WEFT__OF_TSAN void __tsan_release(void *address);
WEFT__OF_TSAN void *__tsan_get_current_fiber(void);
WEFT__OF_TSAN void *__tsan_create_fiber(unsigned flags);
WEFT__OF_TSAN void __tsan_destroy_fiber(void *fiber);
WEFT__OF_TSAN void __tsan_switch_to_fiber(void *fiber, unsigned flags);

/* An address in the frame of the variable p. AddressSanitizer may keep variables outside of their
 * frame; else it is p. Weak, as above. */
__attribute__((weak)) void *__asan_get_current_fake_stack(void);
__attribute__((weak)) void *__asan_addr_is_in_fake_stack(void *stack, void *p, void **low,
                                                         void **high);
static inline void *weft__place_of_frame(void *p)
{
    void *stack = __asan_get_current_fake_stack ? __asan_get_current_fake_stack() : NULL;
    void *place = stack ? __asan_addr_is_in_fake_stack(stack, p, NULL, NULL) : NULL;
    return place ? place : p;
}

#ifdef WEFT__TSAN

#define weft__tsan_is_outside() false
#define weft__tsan_tell_acquired(address) ((void)0)
#define weft__tsan_tell_releases(address) ((void)0)
#define weft__tsan_releases(address) ((void)0)

#else

extern bool weft__tsan_found; /* constant from before main() on */

/* Is the program compiled with it, and the library not? */
static inline bool weft__tsan_is_outside(void)
{
    return __builtin_expect(weft__tsan_found, 0);
}

/* tell_acquired: this thread has acquired what was released at the address. tell_releases: it is
 * about to release there. tell_switch: it is about to switch to another stack. Only if the
 * sanitizer is present.
 *
 * An ordinary call here would make the caller save registers each time, though it is hardly ever
 * executed. So on x86-64 the call keeps all general registers, and the compiler is told so. */
#if defined __x86_64__ && defined __LP64__
#define WEFT__TELL(thunk, argument)                                                            \
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpush %0\n\tcall " thunk                        \
                     "\n\tlea 136(%%rsp), %%rsp" /* past the red zone, and back */             \
                     :                                                                         \
                     : "r"(argument)                                                           \
                     : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", \
                       "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",    \
                       "xmm15")

static inline void weft__tsan_tell_acquired(const volatile void *address)
{
    WEFT__TELL("weft__tsan_acquire_kept", address);
}

static inline void weft__tsan_tell_releases(const volatile void *address)
{
    WEFT__TELL("weft__tsan_release_kept", address);
}

static inline void weft__tsan_tell_switch(void *fiber)
{
    WEFT__TELL("weft__tsan_switch_kept", fiber);
}
#else
void weft__tsan_tell_acquired(const volatile void *address) __attribute__((cold));
void weft__tsan_tell_releases(const volatile void *address) __attribute__((cold));
void weft__tsan_tell_switch(void *fiber) __attribute__((cold));
#endif

static inline void weft__tsan_releases(const volatile void *address)
{
    if (weft__tsan_is_outside())
        weft__tsan_tell_releases(address);
}

#endif

#endif
