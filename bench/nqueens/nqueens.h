/* SPDX-License-Identifier: MIT */
/* nqueens: how many ways there are to place n queens, a fork for each candidate in a row.
 * What the queens so far forbid in the next row is a bit for each column, in three words:
 * the columns themselves and the diagonals to the left and to the right. They are arguments, not
 * a structure, because compilers pack structures into registers, and spend more time on that
 * than on the rest. */
#ifndef BENCH_NQUEENS_H
#define BENCH_NQUEENS_H

struct nqueens {
    unsigned n;
    long result;
    double candidates; /* queens placed on the way */
};

static inline unsigned nqueens_all(unsigned n)
{
    return (1u << n) - 1;
}

static inline unsigned lowest_bit(unsigned bits)
{
    return bits & -bits;
}

#endif
