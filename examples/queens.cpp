/* SPDX-License-Identifier: MIT */
/* queens.cpp: eight queens in C++. How many ways are there to place them? Each row is a join: the
 * first candidate here, the others by whoever has time. And what does one of them look like? The
 * side that finds a solution throws it: that ends the search. */
#include <cstdio>
#include <string>
#include <vector>
#include <weft.hpp>

using board = std::vector<int>; /* the column of the queen in each row */

static bool is_free(const board &queens, int column)
{
    int row = static_cast<int>(queens.size());
    for (int i = 0; i < row; i++) {
        int other = queens[static_cast<std::size_t>(i)];
        if (other == column || other - column == row - i || column - other == row - i)
            return false;
    }
    return true;
}

/* Solutions that begin with these queens, and go on in this column or one to the right of it. */
template <class Found>
static long solutions(weft *w, int n, const board &queens, int column, Found &found)
{
    if (static_cast<int>(queens.size()) == n)
        return found(queens);
    while (column < n && !is_free(queens, column))
        column++;
    if (column == n)
        return 0;
    auto [here, others] = weft::join(
        w,
        [&, next = queens](weft *in) mutable {
            next.push_back(column);
            return solutions(in, n, next, 0, found);
        },
        [&](weft *in) { return solutions(in, n, queens, column + 1, found); });
    return here + others;
}

int main()
{
    for (int n = 4; n <= 8; n++) {
        auto count = [](const board &) { return 1L; };
        long all = weft::run([&](weft *w) { return solutions(w, n, board(), 0, count); });
        std::printf("%d queens: %ld ways\n", n, all);
        if (n == 8 && all != 92)
            return 1;
    }
    try {
        auto stop = [](const board &queens) -> long { throw queens; };
        weft::run([&](weft *w) { return solutions(w, 8, board(), 0, stop); });
    } catch (const board &queens) {
        for (int column : queens) {
            std::string line(8, '.');
            line[static_cast<std::size_t>(column)] = 'Q';
            std::puts(line.c_str());
        }
        return queens.size() != 8;
    }
    return 1;
}
