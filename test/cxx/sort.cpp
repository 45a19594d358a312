/* SPDX-License-Identifier: MIT */
/* Sorting plain data, strings, pairs and what can't be moved safely; comparisons that throw. */
#include "check.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

static std::mt19937 random_numbers(1);

template <class T> static std::vector<T> shuffled(std::size_t n, unsigned kinds)
{
    std::vector<T> all;
    for (std::size_t i = 0; i < n; i++)
        all.push_back(T(random_numbers() % kinds));
    return all;
}

template <class T> static void numbers_of(weft *w)
{
    for (std::size_t n : {0u, 1u, 2u, 33u, 1000u, 30000u}) {
        auto all = shuffled<T>(n, 1000), expected = all;
        std::sort(expected.begin(), expected.end());
        weft::sort(w, all);
        CHECK(all == expected);
        std::reverse(expected.begin(), expected.end());
        weft::stable_sort(w, all.begin(), all.end(), [](T a, T b) { return b < a; });
        CHECK(all == expected);
    }
}

static void numbers(weft::pool &pool)
{
    pool.run([](weft *w) {
        numbers_of<int>(w);
        numbers_of<unsigned long>(w);
        numbers_of<short>(w);
        numbers_of<double>(w);
        int few[] = {3, 1, 2};
        weft::sort(w, few);
        CHECK(few[0] == 1 && few[2] == 3);
        std::array<float, 3> floats{3, 1, 2};
        weft::sort(floats, std::greater<>()); /* without w */
        CHECK(floats[0] == 3);
#if __cplusplus >= 202002L
        weft::sort(w, std::span<int>(few), std::greater<>());
        CHECK(few[0] == 3);
#endif
    });
    std::vector<int> outside{2, 1};
    weft::sort(outside);
    CHECK(outside[0] == 1);
}

struct with_reference { /* plain, but can't be assigned */
    const int key;
    int place;
    with_reference(int k, int p) : key(k), place(p)
    {
    }
};

/* std::string, in one block and not; pairs; const members. Equal ones keep their order. */
static void others(weft::pool &pool)
{
    pool.run([](weft *w) {
        for (std::size_t n : {2u, 100u, 20000u}) {
            std::vector<std::string> text;
            std::vector<std::pair<int, std::size_t>> pairs;
            std::vector<with_reference> strict;
            for (std::size_t i = 0; i < n; i++) {
                int key = static_cast<int>(random_numbers() % 100);
                text.push_back(std::string(random_numbers() % 40, 'x') + std::to_string(key));
                pairs.emplace_back(key, i);
                strict.emplace_back(key, static_cast<int>(i));
            }
            std::deque<std::string> far(text.begin(), text.end());
            auto expected = text;
            std::sort(expected.begin(), expected.end());
            weft::sort(w, text);
            CHECK(text == expected);
            weft::stable_sort(w, far.begin(), far.end());
            CHECK(std::equal(far.begin(), far.end(), expected.begin()));
            weft::stable_sort(w, pairs,
                              [](const auto &a, const auto &b) { return a.first < b.first; });
            CHECK(std::is_sorted(pairs.begin(), pairs.end()));
            weft::stable_sort(w, strict,
                              [](const auto &a, const auto &b) { return a.key < b.key; });
            for (std::size_t i = 1; i < n; i++)
                CHECK(strict[i - 1].key < strict[i].key || (strict[i - 1].key == strict[i].key &&
                                                            strict[i - 1].place < strict[i].place));
        }
        std::vector<std::unique_ptr<int>> owned;
        for (int i = 0; i < 5000; i++)
            owned.push_back(std::make_unique<int>(i * 7919 % 5003));
        weft::sort(w, owned, [](const auto &a, const auto &b) { return *a < *b; });
        for (std::size_t i = 1; i < owned.size(); i++)
            CHECK(*owned[i - 1] < *owned[i]);
    });
}

/* Every element is still there, once. */
template <class T> static void same_elements(const std::vector<T> &all, std::map<T, int> expected)
{
    for (const T &one : all)
        expected[one]--;
    for (const auto &[value, rest] : expected)
        CHECK(rest == 0);
}

template <class T, class Make> static void survives(weft *w, std::size_t n, Make make)
{
    for (unsigned after : {0u, 1u, 100u, 10000u, 100000u}) {
        std::vector<T> all;
        std::map<T, int> expected;
        for (std::size_t i = 0; i < n; i++) {
            all.push_back(make(static_cast<int>(random_numbers() % 1000)));
            expected[all.back()]++;
        }
        std::atomic<unsigned> calls{0};
        auto less = [&](const T &a, const T &b) {
            if (calls++ == after)
                throw oops{7};
            return a < b;
        };
        int thrown = thrown_by([&] { weft::sort(w, all, less); });
        CHECK(thrown == (calls > after ? 7 : 0));
        same_elements(all, expected);
        calls = 0;
        thrown = thrown_by([&] { weft::stable_sort(w, all, less); });
        CHECK(thrown == (calls > after ? 7 : 0));
        same_elements(all, expected);
        CHECK(!weft_cancelled(w));
    }
}

static void comparisons_throw(weft::pool &pool)
{
    pool.run([](weft *w) {
        survives<int>(w, 20000, [](int i) { return i; });
        survives<std::string>(w, 5000, [](int i) { return std::to_string(i); });
        survives<std::pair<int, long>>(w, 5000, [](int i) { return std::pair<int, long>(i, i); });
    });
}

/* A computation around fails while strings are sorted. */
static void cancelled_meanwhile(weft::pool &pool)
{
    std::vector<std::string> all;
    std::map<std::string, int> expected;
    for (int i = 0; i < 20000; i++) {
        all.push_back(std::string(20, 'x') + std::to_string(random_numbers() % 1000));
        expected[all.back()]++;
    }
    std::atomic<int> calls{0};
    CHECK(error_of([&] {
              pool.run([&](weft *w) {
                  weft::sort(w, all, [&](const auto &a, const auto &b) {
                      if (calls++ == 5000)
                          weft_fail(weft::here(), -EDOM); /* of the sort's own scope */
                      return a < b;
                  });
              });
          }) == -EDOM);
    same_elements(all, expected);
}

/* Moves that throw: elements stay valid, and at most one value is lost. */
struct brittle {
    static inline int until_break = 0;
    counted value;
    explicit brittle(unsigned number) : value(static_cast<int>(number))
    {
    }
    brittle(brittle &&other) : value(other.check())
    {
    }
    brittle &operator=(brittle &&other)
    {
        value = other.check();
        return *this;
    }
    counted &&check()
    {
        if (until_break && --until_break == 0)
            throw oops{8};
        return std::move(value);
    }
    bool operator<(const brittle &other) const
    {
        return value.value < other.value.value;
    }
};

static void moves_throw(weft::pool &pool)
{
    pool.run([](weft *w) {
        for (int after : {0, 1, 2, 500}) {
            std::vector<brittle> all;
            all.reserve(1000);
            for (unsigned i = 0; i < 1000; i++)
                all.emplace_back(i * 7919 % 1009);
            brittle::until_break = after;
            int thrown = thrown_by([&] { weft::sort(w, all); });
            brittle::until_break = 0;
            CHECK(thrown == (after ? 8 : 0));
            CHECK(std::count_if(all.begin(), all.end(),
                                [](const brittle &one) { return one.value.value < 0; }) <= 1);
            CHECK(after || std::is_sorted(all.begin(), all.end()));
        }
    });
}

/* In the usual order, strings are compared by how they begin first: zeros, characters above 127,
 * and strings that end there. */
static void strings(weft::pool &pool)
{
    pool.run([](weft *w) {
        std::vector<std::string> text, expected;
        for (int i = 0; i < 1500; i++) {
            std::string one(random_numbers() % 4 ? 0 : 7, 'x');
            while (one.size() < 20 && random_numbers() % 6)
                one += "\0\1a\x7f\x80\xff"[random_numbers() % 6];
            text.push_back(one);
        }
        expected = text;
        std::sort(expected.begin(), expected.end());
        auto check = [&](auto sort) {
            std::vector<std::string> sorted = text;
            sort(sorted);
            CHECK(sorted == expected);
        };
        check([&](auto &all) { weft::sort(w, all); });
        check([&](auto &all) { weft::stable_sort(w, all); });
        check([&](auto &all) { weft::sort(w, all, std::less<std::string>()); });
        check([&](auto &all) { weft::sort(w, all.rbegin(), all.rend(), std::greater<>()); });
        check([&](auto &all) { weft::sort(w, all.data(), all.data() + all.size()); });
        std::string words[] = {"c", "a", "b"};
        weft::sort(w, words, words + 2);
        CHECK(words[0] == "a" && words[1] == "c" && words[2] == "b");
    });
}

static const test tests[] = {
    {"strings", strings},
    {"numbers", numbers},
    {"others", others},
    {"comparisons_throw", comparisons_throw},
    {"cancelled_meanwhile", cancelled_meanwhile},
    {"moves_throw", moves_throw},
};

int main()
{
    return run_tests(tests);
}
