/* SPDX-License-Identifier: MIT */
/* Loops, reductions and scans, of numbers and of strings; what they do if a function throws. */
#include "check.hpp"

#include <array>
#include <deque>
#include <numeric>
#include <vector>
#if __cplusplus >= 202002L
#include <ranges>
#include <span>
#endif

static void loops(weft::pool &pool)
{
    pool.run([](weft *w) {
        std::vector<int> seen(10000);
        auto place = [&](auto i) -> int & { return seen[static_cast<std::size_t>(i)]; };
        weft::for_each_index(w, -5000, 5000, [&](int i) { place(i + 5000)++; });
        weft::for_each_index(w, 0u, seen.size(), [&](weft *in, std::size_t i) noexcept {
            CHECK(in);
            place(i)++;
        });
        weft::for_each_index(0, 10000, [&](long i) { place(i)++; });
        weft::for_ranges(w, 0, 10000, [&](int begin, int end) {
            for (int i = begin; i < end; i++)
                place(i)++;
        });
        weft::for_each(w, seen, [](int &one) { one++; });
        weft::for_each(seen.begin(), seen.end(), [](weft *, int &one) noexcept { one++; });
        weft::for_each_index(w, 7, 3, [](int) { CHECK(false); });
        weft::for_each(w, std::vector<int>(), [](int) { CHECK(false); });
        CHECK(seen == std::vector<int>(10000, 6));
        std::deque<int> far(1000, 1);
        weft::for_each(w, far, [](int &one) { one *= 2; });
        int few[5] = {1, 2, 3, 4, 5};
        weft::for_each(w, few, [](int &one) { one *= 2; });
        CHECK(weft::reduce(w, far, 0) == 2000 && weft::reduce(w, few, 0) == 30);
#if __cplusplus >= 202002L
        weft::for_each(w, std::span<int>(few), [](int &one) { one = 0; });
        CHECK(weft::reduce(w, std::span<int>(few), 1) == 1);
#endif
    });
    int sum = 0; /* outside: in the default pool */
    std::array<int, 3> three{1, 2, 3};
    sum = weft::reduce(three, sum);
    CHECK(sum == 6);
}

static void a_body_throws(weft::pool &pool)
{
    pool.run([](weft *w) {
        std::atomic<int> running{0};
        int thrown = thrown_by([&] {
            weft::for_each_index(w, 0, 100000, [&](int i) {
                counted frame(i);
                running++;
                if (i % 1000 == 999) {
                    running--;
                    throw oops{1};
                }
                running--;
            });
        });
        CHECK(thrown == 1 && running == 0 && !weft_cancelled(w));
        /* In a loop in a loop, the inner exception ends both. */
        CHECK(thrown_by([&] {
                  weft::for_each_index(w, 0, 10, [](weft *in, int i) {
                      weft::for_each_index(in, 0, 1000, [=](int k) {
                          if (i == 5 && k == 500)
                              throw oops{2};
                      });
                  });
              }) == 2);
        CHECK(error_of([&] {
                  weft::for_each_index(w, 0, 1000, [](weft *in, int i) {
                      if (i == 500)
                          weft_fail(in, -EDOM);
                  });
              }) == -EDOM);
    });
    /* A loop in a computation that was cancelled is not complete, and says so. */
    bool said = false;
    CHECK(error_of([&] {
              pool.run([&](weft *w) {
                  weft_fail(w, -EDOM);
                  said =
                      error_of([&] { weft::for_each_index(w, 0, 10, [](int) noexcept {}); }) ==
                          -ECANCELED &&
                      error_of([&] { weft::for_each_index(w, 0, 10, [](int) {}); }) == -ECANCELED;
              });
          }) == -EDOM);
    CHECK(said);
}

struct movable { /* neither copied nor made of nothing */
    std::unique_ptr<long> value;
    explicit movable(long number) : value(new long(number))
    {
    }
};

static void reductions(weft::pool &pool)
{
    pool.run([](weft *w) {
        std::vector<int> numbers(100001);
        std::iota(numbers.begin(), numbers.end(), 0);
        long expected = std::accumulate(numbers.begin(), numbers.end(), 1L);
        CHECK(weft::reduce(w, numbers, 1L) == expected);
        CHECK(weft::reduce(w, numbers.begin(), numbers.end(), 1L, std::plus<>()) == expected);
        auto add = [](movable left, movable right) {
            *left.value += *right.value;
            return left;
        };
        movable all = weft::transform_reduce(w, numbers, movable(1), add,
                                             [](int number) { return movable(number); });
        CHECK(*all.value == expected);
        /* From left to right, for any number of workers. */
        auto letter = [](int number) {
            return std::string(1, static_cast<char>('a' + number % 26));
        };
        std::string text,
            words = weft::transform_reduce(w, numbers, std::string("-"), std::plus<>(), letter);
        for (int number : numbers)
            text += letter(number);
        CHECK(words == "-" + text);
        CHECK(weft::reduce(w, std::vector<std::string>(), std::string("none")) == "none");
        for (int bad : {0, 1, 50000, 100000}) {
            auto count = [=](int number) {
                if (number == bad)
                    throw oops{3};
                return counted(1);
            };
            auto sum = [](counted left, const counted &right) {
                left.value += right.value;
                return left;
            };
            CHECK(thrown_by([&] { weft::transform_reduce(w, numbers, counted(0), sum, count); }) ==
                  3);
            CHECK(counted::alive == 0);
        }
        auto refuse = [](long left, long right) {
            if (right > 4000)
                throw oops{4};
            return left + right;
        };
        CHECK(thrown_by([&] { weft::reduce(w, numbers, 0L, refuse); }) == 4);
    });
}

static void scans(weft::pool &pool)
{
    pool.run([](weft *w) {
        for (std::size_t n : {0u, 1u, 15u, 16u, 1000u, 50001u}) {
            std::vector<long> in(n), out(n), expected(n);
            std::iota(in.begin(), in.end(), 1);
            std::partial_sum(in.begin(), in.end(), expected.begin());
            weft::inclusive_scan(w, in, out.begin());
            CHECK(out == expected);
            weft::exclusive_scan(w, in.begin(), in.end(), out.begin(), 100L, std::plus<>());
            for (std::size_t i = 0; i < n; i++)
                CHECK(out[i] == 100 + expected[i] - in[i]);
            weft::inclusive_scan(w, in.begin(), in.end(), in.begin(), std::plus<>());
            CHECK(in == expected);
        }
        std::vector<std::string> text(2000), result(2000);
        for (std::size_t i = 0; i < text.size(); i++)
            text[i] = std::string(1, static_cast<char>('a' + i % 26));
        weft::inclusive_scan(w, text, result.begin());
        for (std::size_t i = 1; i < text.size(); i++)
            CHECK(result[i] == result[i - 1] + text[i]);
        std::vector<std::string> before(text);
        weft::exclusive_scan(w, before, before.begin(), std::string());
        for (std::size_t i = 1; i < text.size(); i++)
            CHECK(before[i] == result[i - 1]);
        auto throws = [](auto left, const auto &right) {
            if (left == left + right)
                throw oops{5};
            return left + right;
        };
        text[1500] = "";
        std::vector<int> numbers(20000, 1);
        numbers[15000] = 0;
        CHECK(thrown_by([&] { weft::inclusive_scan(w, text, text.begin(), throws); }) == 5);
        CHECK(thrown_by([&] { weft::inclusive_scan(w, numbers, numbers.begin(), throws); }) == 5);
    });
}

/* What is given as a variable is not moved away. */
static void init_stays(weft::pool &pool)
{
    pool.run([](weft *w) {
        const std::string text(50, 'a');
        std::string init = text;
        std::vector<std::string> words(100, "b"), out(100);
        CHECK(weft::reduce(w, words, init).size() == 150 && init == text);
        auto f = [](const std::string &word) { return word; };
        CHECK(weft::transform_reduce(w, words, init, std::plus<>(), f).size() == 150);
        CHECK(init == text);
        weft::exclusive_scan(w, words, out.begin(), init);
        CHECK(init == text && out[99].size() == 149);
    });
}

struct refuses {
    refuses &operator=(int)
    {
        throw oops{4};
    }
};

/* op may return one of its arguments; what is written may be another type than what is read. */
static void strange_scans(weft::pool &pool)
{
    pool.run([](weft *w) {
        std::vector<std::string> words, out(2000);
        for (int i = 0; i < 2000; i++)
            words.push_back(std::string(30, 'a') + std::to_string(i * 7919 % 2000));
        auto larger = [](const auto &a, const auto &b) -> const auto &
        {
            return a < b ? b : a;
        };
        weft::inclusive_scan(w, words, out.begin(), larger);
        std::string largest;
        for (std::size_t i = 0; i < words.size(); i++) {
            largest = larger(largest, words[i]);
            CHECK(out[i] == largest);
        }
        std::vector<int> numbers(50000);
        for (std::size_t i = 0; i < numbers.size(); i++)
            numbers[i] = static_cast<int>(i * 7919 % 50000);
        std::vector<refuses> none(numbers.size());
        CHECK(thrown_by([&] { weft::inclusive_scan(w, numbers, none.begin()); }) == 4);
    });
}

/* An array is a range; or, if an address follows, the begin of one. Views are ranges, too. */
static void arrays_and_views(weft::pool &pool)
{
    pool.run([](weft *w) {
        int numbers[] = {1, 2, 3}, out[3];
        const int fixed[] = {4, 5};
        CHECK(weft::reduce(w, numbers, 0) == 6 && weft::reduce(w, numbers, numbers + 2, 0) == 3);
        CHECK(weft::reduce(w, fixed, fixed + 2, 0, std::plus<>()) == 9);
        auto twice = [](int number) { return 2 * number; };
        CHECK(weft::transform_reduce(w, numbers, std::end(numbers), 0, std::plus<>(), twice) == 12);
        weft::inclusive_scan(w, numbers, out);
        CHECK(out[1] == 3 && out[2] == 6);
        weft::inclusive_scan(w, numbers, out, std::multiplies<>());
        CHECK(out[1] == 2 && out[2] == 6);
        weft::inclusive_scan(w, numbers + 1, numbers + 3, out);
        CHECK(out[0] == 2 && out[1] == 5);
        weft::inclusive_scan(w, numbers, numbers + 2, out, std::plus<>());
        CHECK(out[0] == 1 && out[1] == 3);
        weft::exclusive_scan(w, numbers, out, 10);
        CHECK(out[0] == 10 && out[2] == 13);
        weft::exclusive_scan(w, numbers, numbers + 2, numbers, 5);
        CHECK(numbers[0] == 5 && numbers[1] == 6 && numbers[2] == 3);
        weft::for_each(w, numbers, numbers + 1, [](int &number) { number = 0; });
        CHECK(numbers[0] == 0 && numbers[1] == 6);
        std::vector<bool> flags(1000, true);
        CHECK(weft::reduce(w, flags, 0) == 1000);
        std::atomic<int> set{0};
        weft::for_each(w, std::as_const(flags), [&](bool flag) { set += flag; });
        CHECK(set == 1000);
#if defined __cpp_lib_ranges && !(defined __clang__ && __clang_major__ < 16) /* can't use views */
        CHECK(weft::reduce(w, std::views::iota(0, 100), 0) == 4950);
        CHECK(weft::reduce(w, fixed | std::views::transform(twice), 0) == 18);
        std::atomic<int> all{0};
        weft::for_each(w, std::views::iota(0, 100), [&](int number) { all += number; });
        CHECK(all == 4950);
        auto uneven = std::views::iota(0, 100L); /* its end is of another type */
        weft::for_each(w, uneven, [&](int number) { all -= number; });
        CHECK(all == 0 && weft::reduce(w, uneven, 0) == 4950);
#endif
    });
}

/* The sum of two shorts is an int. That needs no warning, which is an error here. */
static void narrow_numbers(weft::pool &pool)
{
    pool.run([](weft *w) {
        const std::vector<short> ones(1000, 1);
        std::vector<short> out(ones.size());
        CHECK(weft::reduce(w, ones, short{5}) == 1005);
        weft::inclusive_scan(w, ones, out.begin());
        CHECK(out[0] == 1 && out[999] == 1000);
        weft::exclusive_scan(w, ones, out.begin(), 7L);
        CHECK(out[0] == 7 && out[999] == 1006);
        const std::vector<unsigned char> many(1000, 1);
        CHECK(weft::reduce(w, many, static_cast<unsigned char>(0)) == 1000 % 256);
        std::vector<int> wide(1000, 1);
        weft::exclusive_scan(w, wide, wide.begin(), short{1});
        CHECK(wide[999] == 1000);
    });
}

/* What op returns may be its own argument, still: a value is not moved into itself. */
static void op_returns_its_argument(weft::pool &pool)
{
    using list = std::vector<int>;
    auto append = [](list &&a, const list &b) -> list && {
        a.insert(a.end(), b.begin(), b.end());
        return std::move(a);
    };
    auto alone = [](int number) { return list{number}; };
    pool.run([&](weft *w) {
        std::vector<int> numbers(2000);
        for (std::size_t i = 0; i < numbers.size(); i++)
            numbers[i] = static_cast<int>(i);
        CHECK(weft::transform_reduce(w, numbers, list(), append, alone) == numbers);
        std::vector<list> lists(numbers.size(), list{1});
        CHECK(weft::reduce(w, lists, list{0}, append).size() == numbers.size() + 1);
    });
}

static const test tests[] = {
    {"arrays_and_views", arrays_and_views},
    {"init_stays", init_stays},
    {"narrow_numbers", narrow_numbers},
    {"op_returns_its_argument", op_returns_its_argument},
    {"strange_scans", strange_scans},
    {"loops", loops},
    {"a_body_throws", a_body_throws},
    {"reductions", reductions},
    {"scans", scans},
};

int main()
{
    return run_tests(tests);
}
