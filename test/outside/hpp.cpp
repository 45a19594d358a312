/* SPDX-License-Identifier: MIT */
/* weft.hpp as it is installed: a join, a sort, an exception and a task. */
#include <stdexcept>
#include <string>
#include <vector>
#include <weft.hpp>

static long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    auto [left, right] = weft::join(
        w, [=](weft *in) { return fib(in, n - 1); }, [=](weft *in) { return fib(in, n - 2); });
    return left + right;
}

int main()
{
    weft::pool pool(2);
    if (pool.run([](weft *w) { return fib(w, 20); }) != 6765 || fib(nullptr, 1) != 1)
        return 1;
    std::vector<std::string> words{"warp", "weft", "loom"};
    weft::sort(words);
    if (words[0] != "loom" || pool.submit([] { return 4; }).get() != 4)
        return 2;
    try {
        pool.run([](weft *w) {
            weft::for_each_index(w, 0, 1000, [](int i) {
                if (i == 500)
                    throw std::runtime_error("the body");
            });
        });
    } catch (const std::runtime_error &error) {
        return error.what() != std::string("the body");
    }
    return 3;
}
