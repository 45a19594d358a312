/* SPDX-License-Identifier: MIT */
/* Names of the program that weft.hpp must not stumble over: macros, globals that are there before
 * it, and functions in the namespace of an element. It is enough that this compiles. */
#if defined __GNUC__ && !defined __clang__
/* gcc 12 does not see that a std::optional of a scan was asked before its value is read. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define SUCCESS 0
#define FAIL 1
#define THREW 2
#define ERROR 3

int left, right, first, last, where, arg, value, guard, result, size, count, name, code, other, f,
    w, n, in;

#include <weft.h>

#include <cassert>

#include <vector>
#include <weft.hpp>

namespace user
{

struct item { /* not plain data */
    int value;
    item(int number = 0) : value(number)
    {
    }
    ~item()
    {
    }
    item(const item &) = default;
    item &operator=(const item &) = default;
    bool operator<(const item &than) const
    {
        return value < than.value;
    }
};
inline item operator+(const item &a, const item &b)
{
    return item(a.value + b.value);
}

template <class... A> void plus(A &&...) = delete;
template <class... A> void distance(A &&...) = delete;
template <class... A> void join(A &&...) = delete;
template <class... A> void sort(A &&...) = delete;
template <class... A> void run(A &&...) = delete;
template <class... A> void call(A &&...) = delete;
template <class... A> void check(A &&...) = delete;
template <class... A> void reduce(A &&...) = delete;
template <class... A> void in_scope(A &&...) = delete;
template <class... A> void in_job(A &&...) = delete;
template <class... A> void for_parts(A &&...) = delete;

} // namespace user

int main()
{
    using user::item;
    std::vector<item> items(1000, item(1)), out(1000);
    weft::run([&](weft *here) {
        weft::sort(here, items);
        weft::stable_sort(here, items.begin(), items.end());
        weft::inclusive_scan(here, items, out.begin());
        assert(out[999].value == 1000);
        weft::exclusive_scan(here, items, out.begin(), item(1));
        assert(out[999].value == 1000);
        assert(weft::reduce(here, items, item()).value == 1000);
        weft::for_each(here, items, [](item &one) { one.value++; });
        auto both = weft::join(
            here, [] { return item(1); }, [] { return item(2); });
        assert(both.first.value + both.second.value == 3);
        assert(weft::in_scope(here, [](weft::scope &) { return item(2); }).value == 2);
    });
    assert(weft::submit([one = item(2)] { return one; }).get().value == 2);
    return 0;
}
