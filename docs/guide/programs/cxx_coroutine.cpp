/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <string>
#include <weft.hpp>

// [co]
static weft::co<std::size_t> count(weft::pool &pool, std::string name)
{
    // Each co_await suspends the coroutine, not a thread.
    auto task = pool.submit([=] { return name + ", " + name; });
    std::string text = co_await task;
    auto size = pool.submit([=](weft *) { return text.size(); });
    co_return co_await size;
}
// [end]

int main()
{
    weft::pool pool(2);
    std::printf("%zu\n", count(pool, "weft").get(pool));
}
