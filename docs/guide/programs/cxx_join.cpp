/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <weft.hpp>

// [fib]
static long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    auto [left, right] = weft::join(
        w, [=](weft *in) { return fib(in, n - 1); }, [=](weft *in) { return fib(in, n - 2); });
    return left + right;
}
// [end]

// [throw]
static std::string name_of(int n)
{
    if (n == 3)
        throw std::invalid_argument("three has no name");
    return std::to_string(n);
}

static void names()
{
    try {
        weft::run([](weft *w) {
            weft::join(
                w, [] { return name_of(2); }, [] { return name_of(3); });
        });
    } catch (const std::invalid_argument &error) { // from whichever thread
        std::printf("%s\n", error.what());
    }
}
// [end]

int main()
{
    // [run]
    long result = weft::run([](weft *w) { return fib(w, 30); });
    // [end]
    std::printf("%ld\n", result);
    names();
}
