/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>
#include <weft.hpp>

int main()
{
    std::vector<double> numbers(100000);
    std::vector<std::string> words;
    for (int i = 0; i < 1000; i++)
        words.push_back("word " + std::to_string(i * 7919 % 1000));

    double sum = 0;
    // [loops]
    weft::run([&](weft *w) {
        weft::for_each_index(w, 0, 100000, [&](int i) { numbers[i] = 0.5 * i; });
        weft::for_each(w, numbers, [](double &x) { x += 1; });
        sum =
            weft::transform_reduce(w, numbers, 0.0, std::plus<>(), [](double x) { return x * 2; });
        weft::sort(w, words);
    });
    // [end]
    std::printf("%.1f %s %d\n", sum, words[1].c_str(), std::is_sorted(words.begin(), words.end()));
}
