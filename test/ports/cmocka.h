/* SPDX-License-Identifier: MIT */
/* cmocka.h: stands in for cmocka where there is none, on other processors and with another libc: as
 * much of its interface as the tests use, in one header. A failed assertion ends its test, the
 * others go on. */
#ifndef PORTS_CMOCKA_H
#define PORTS_CMOCKA_H

#include "emulated.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    CMFixtureFunction setup_func;
    CMFixtureFunction teardown_func;
    void *initial_state;
};

struct ports_run {
    jmp_buf after;
    const char *filter;
};

enum { PORTS_FAILED = 1, PORTS_SKIPPED };

/* One for all files of a program. */
__attribute__((weak)) struct ports_run ports_run;

#define PORTS_UNUSED __attribute__((unused)) static inline

__attribute__((noreturn)) PORTS_UNUSED void ports_end(int how, const char *file, int line)
{
    if (how == PORTS_FAILED)
        fprintf(stderr, "%s:%d: error: Failure!\n", file, line);
    longjmp(ports_run.after, how);
}

PORTS_UNUSED void ports_expect(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "not true: %s\n", what);
    ports_end(PORTS_FAILED, file, line);
}

PORTS_UNUSED void ports_compare(int equal, uintmax_t a, uintmax_t b, const char *what,
                                const char *file, int line)
{
    if ((a == b) == equal)
        return;
    fprintf(stderr, "%#jx %s %#jx\n", a, equal ? "is not" : "is", b);
    ports_expect(0, what, file, line);
}

PORTS_UNUSED void ports_between(uintmax_t value, uintmax_t least, uintmax_t most, const char *what,
                                const char *file, int line)
{
    if (value >= least && value <= most)
        return;
    fprintf(stderr, "%#jx is not in %#jx to %#jx\n", value, least, most);
    ports_expect(0, what, file, line);
}

__attribute__((format(printf, 1, 2))) PORTS_UNUSED void print_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
}

#define print_message print_error
#define PORTS_EXPECT(holds, what) ports_expect(holds, what, __FILE__, __LINE__)
#define PORTS_COMPARE(equal, a, b) \
    ports_compare(equal, (uintmax_t)(a), (uintmax_t)(b), #a ", " #b, __FILE__, __LINE__)
#define PORTS_ADDRESS(p) ((uintptr_t)(const void *)(p))

#define assert_true(c) PORTS_EXPECT((c) ? 1 : 0, #c)
#define assert_false(c) PORTS_EXPECT((c) ? 0 : 1, "not " #c)
#define assert_null(p) PORTS_EXPECT(!(p), "no " #p)
#define assert_non_null(p) PORTS_EXPECT((p) ? 1 : 0, #p)
#define assert_int_equal(a, b) PORTS_COMPARE(1, a, b)
#define assert_int_not_equal(a, b) PORTS_COMPARE(0, a, b)
#define assert_ptr_equal(a, b) PORTS_COMPARE(1, PORTS_ADDRESS(a), PORTS_ADDRESS(b))
#define assert_ptr_not_equal(a, b) PORTS_COMPARE(0, PORTS_ADDRESS(a), PORTS_ADDRESS(b))
#define assert_string_equal(a, b) PORTS_EXPECT(strcmp(a, b) == 0, #a " is " #b)
#define assert_string_not_equal(a, b) PORTS_EXPECT(strcmp(a, b) != 0, #a " is not " #b)
#define assert_memory_equal(a, b, n) PORTS_EXPECT(memcmp(a, b, n) == 0, #a " is " #b)
#define assert_in_range(value, least, most)                                                    \
    ports_between((uintmax_t)(value), (uintmax_t)(least), (uintmax_t)(most), #value, __FILE__, \
                  __LINE__)
#define fail() ports_end(PORTS_FAILED, __FILE__, __LINE__)
#define fail_msg(...) (print_error(__VA_ARGS__), fail())
#define skip() ports_end(PORTS_SKIPPED, __FILE__, __LINE__)

#define cmocka_unit_test_setup_teardown(f, setup, teardown) \
    {                                                       \
#f, f, setup, teardown, NULL                        \
    }
#define cmocka_unit_test(f) cmocka_unit_test_setup_teardown(f, NULL, NULL)
#define cmocka_unit_test_setup(f, setup) cmocka_unit_test_setup_teardown(f, setup, NULL)
#define cmocka_unit_test_teardown(f, teardown) cmocka_unit_test_setup_teardown(f, NULL, teardown)

PORTS_UNUSED void cmocka_set_test_filter(const char *pattern)
{
    ports_run.filter = pattern;
}

/* What a test ended with: 0, PORTS_FAILED or PORTS_SKIPPED. */
PORTS_UNUSED int ports_run_one(const struct CMUnitTest *test, void *state)
{
    int how = setjmp(ports_run.after);
    if (how != 0)
        return how;
    if (test->setup_func && test->setup_func(&state) != 0)
        return PORTS_FAILED;
    test->test_func(&state);
    return test->teardown_func && test->teardown_func(&state) != 0 ? PORTS_FAILED : 0;
}

/* How many failed. */
PORTS_UNUSED int _cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
                                         CMFixtureFunction setup, CMFixtureFunction teardown)
{
    static const char *const said[] = {"       OK", "   FAILED", "  SKIPPED"};
    void *state = NULL;
    if (setup && setup(&state) != 0)
        return (int)n;
    int failed = 0;
    for (size_t i = 0; i < n; i++) {
        if (ports_run.filter && fnmatch(ports_run.filter, tests[i].name, 0) != 0)
            continue;
        const char *reason = ports_reason(tests[i].name);
        if (reason) {
            fprintf(stderr, "[  SKIPPED ] %s: %s: %s\n", name, tests[i].name, reason);
            continue;
        }
        int how = ports_run_one(&tests[i], tests[i].initial_state ? tests[i].initial_state : state);
        failed += how == PORTS_FAILED;
        fprintf(stderr, "[%s ] %s: %s\n", said[how], name, tests[i].name);
    }
    return failed + (teardown && teardown(&state) != 0);
}

#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
    _cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)
#define cmocka_run_group_tests(tests, setup, teardown) \
    cmocka_run_group_tests_name(#tests, tests, setup, teardown)

#endif
