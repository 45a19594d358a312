/* SPDX-License-Identifier: MIT */
/* child.h: tests in a process of their own, for what aborts, hangs or changes the whole
 * process. A child that takes too long is killed, and that is a failure: so a deadlock is
 * one failed test and not the end of all. What a child says on standard error is kept. */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include "check.h"
#include "weft.h"

#include <pthread.h>
#include <stdatomic.h>

#if defined __SANITIZE_THREAD__
#define SANITIZED_THREAD 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define SANITIZED_THREAD 1
#endif
#endif
#ifndef SANITIZED_THREAD
#define SANITIZED_THREAD 0
#endif

typedef void child_fn(void *arg);

struct child {
    int status; /* as of waitpid() */
    bool hung;
    char said[16 * 1024];
};

/* Runs fn(arg) in a child. One that returns is looked at for leaks and ends with 0. */
void child_run(struct child *child, child_fn *fn, void *arg);

/* Runs it, and what happens has to be: a clean end; this exit code; this signal; SIGABRT
 * after one line that begins with "weft: " and has all of these words in it. */
void expect_fine(child_fn *fn, void *arg);
void expect_exit(child_fn *fn, void *arg, int code);
void expect_signal(child_fn *fn, void *arg, int signal);
void expect_abort(child_fn *fn, void *arg, const char *const *words);
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* For cmocka's table: the whole of the test is a child that has to be fine. */
#define IN_CHILD(test) ((struct CMUnitTest){#test, child_test, NULL, NULL, child_state(test)})
typedef void child_test_fn(void);
void child_test(void **state);
static inline void *child_state(child_test_fn *test)
{
    return (void *)(uintptr_t)test;
}

/* A child of the child, or of a job in it: its status as of waitpid(). It dies of SIGALRM
 * if it hangs. */
int grandchild(child_fn *fn, void *arg);

/* ---- For children, and the jobs and threads in them ---- */

#define CHECK_EQUAL(a, b) \
    child_check_equal(__FILE__, __LINE__, #a " == " #b, (long long)(a), (long long)(b))
void child_check_equal(const char *file, int line, const char *what, long long a, long long b);

/* Waits for what another thread brings about, and leaves it the CPU. */
#define UNTIL(condition)                                  \
    do {                                                  \
        for (unsigned tries_ = 0; !(condition); tries_++) \
            child_nap(tries_);                            \
    } while (0)
void child_nap(unsigned tries);

/* How a pool is made: with spinning or without, lazy or eager. */
enum way { WAY_NO_SPIN, WAY_SPIN, WAY_EAGER_NO_SPIN, WAY_EAGER_SPIN, WAYS };
#define FOR_EACH_WAY(way) for (enum way way = WAY_NO_SPIN; way < WAYS; way++)

/* The configuration, for more to be set. */
weft_config child_config(unsigned workers, unsigned flags, enum way way);

/* The pool; a check fails if there is none. */
weft_pool *child_pool_of(const weft_config *config);
weft_pool *child_pool(unsigned workers, unsigned flags, enum way way);
void child_pool_end(weft_pool *pool);

void until_asleep(weft_pool *pool, unsigned workers);

/* A thread; a check fails if there is none. */
void child_thread(void *(*run)(void *), void *arg, pthread_t *thread);
void child_thread_join(pthread_t thread);

/* Jobs that many tests run: they add 1 to an atomic_int; do nothing; make a long its Fibonacci
 * number. */
void count_up(weft *w, void *count);
void nothing(weft *w, void *arg);
void fib(weft *w, void *n);

/* Says that it has started, and ends when it may. A gate starts as zeros. */
struct child_gate {
    atomic_int started;
    atomic_bool open;
};
void pass_gate(weft *w, void *gate);

/* Calls fn(arg) with so many bytes of the stack used up. */
void deep_down(size_t bytes, child_fn *fn, void *arg);

#endif
