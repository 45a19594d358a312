/* SPDX-License-Identifier: MIT */
/* check.hpp: what the tests of weft.hpp share. A test is a function of a pool; the main program
 * runs all of them on 1, 2, 4 and 16 workers, on both roads. */
#ifndef TEST_CXX_CHECK_HPP
#define TEST_CXX_CHECK_HPP

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <string>
#include <weft.hpp>

#define CHECK(condition) ((condition) ? (void)0 : failed(#condition, __FILE__, __LINE__))

[[noreturn]] inline void failed(const char *what, const char *file, int line)
{
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
    std::abort();
}

struct test {
    const char *name;
    void (*run)(weft::pool &pool);
};

/* Any type, and what it was made with. */
struct oops {
    int value;
};

inline void until(const std::atomic<int> &flag)
{
    while (!flag)
        sched_yield();
}

#ifdef __cpp_exceptions
/* What a call throws: an oops. */
template <class F> int thrown_by(F &&call)
{
    try {
        call();
    } catch (const oops &error) {
        return error.value;
    }
    return 0;
}

/* What a call throws: a weft::error. */
template <class F> int error_of(F &&call)
{
    try {
        call();
    } catch (const weft::error &error) {
        return error.value();
    }
    return 0;
}
#endif

/* Counts how many there are; to be copied and moved. */
struct counted {
    static inline std::atomic<int> alive{0};
    int value;
    explicit counted(int number) : value(number)
    {
        alive++;
    }
    counted(const counted &other) : value(other.value)
    {
        alive++;
    }
    counted(counted &&other) noexcept : value(other.value)
    {
        other.value = -1;
        alive++;
    }
    counted &operator=(const counted &) = default;
    counted &operator=(counted &&other) noexcept
    {
        value = other.value;
        if (this != &other)
            other.value = -1;
        return *this;
    }
    ~counted()
    {
        alive--;
    }
};

template <std::size_t n> int run_tests(const test (&tests)[n])
{
    for (unsigned workers : {1u, 2u, 4u, 16u})
        for (enum weft_fork road : {WEFT_FORK_LAZY, WEFT_FORK_EAGER}) {
            weft_config config = WEFT_CONFIG_INIT;
            config.workers = workers;
            config.fork = road;
            config.quantum = road == WEFT_FORK_LAZY && workers == 2 ? WEFT_NONE : 0;
            weft::pool pool(config);
            for (const test &one : tests) {
                one.run(pool);
                CHECK(counted::alive == 0);
            }
        }
    std::printf("%zu tests\n", n);
    return 0;
}

#endif
