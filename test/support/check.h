/* SPDX-License-Identifier: MIT */
/* check.h: cmocka with what it needs, and checks for jobs and threads: cmocka's own jump
 * out of the code they stand in, which only the test's own thread, outside jobs, can bear. */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <stdbool.h>

void check_failed(const char *file, int line, const char *what);

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

/* What never comes true is a failed test: the watchdog or ctest's time-out ends it. */
#define WAIT_UNTIL(condition) \
    do {                      \
        while (!(condition))  \
            wait_a_moment();  \
    } while (0)

/* Lets others run: by a yield; where the machine is so busy that this takes as long as the time
 * slices of all others, by a very short sleep. */
void wait_a_moment(void);

/* Sanitizers are slow, and more so with many threads. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* `n` in an ordinary build, `n / divisor` under a sanitizer. */
#define SCALED(n, divisor) (SANITIZED ? (n) / (divisor) : (n))

/* How many rounds of `n` a test should do that waits for other threads in each: all, or a twentieth
 * where the machine is that busy. The same answer all the time. */
int rounds_of(int n);

/* Runs fn(0) to fn(n - 1) on threads of their own, all at once, and joins them. */
void in_threads(unsigned n, void (*fn)(unsigned i, void *arg), void *arg);

#endif
