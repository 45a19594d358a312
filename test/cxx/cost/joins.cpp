/* SPDX-License-Identifier: MIT */
/* joins c|cxx N: fib(N) by weft_fork() or by weft::join(), for callgrind. */
#include <cstdio>
#include <cstdlib>
#include <weft.hpp>

struct side {
    long n, result;
};

static void run_side(weft *w, void *arg);

static inline long fib_c(weft *w, long n)
{
    if (n < 2)
        return n;
    side right;
    right.n = n - 2;
    weft *in = weft_fork(w, run_side, &right);
    long left = fib_c(in, n - 1);
    return left + (weft_merge(w) ? right.result : fib_c(w, n - 2));
}

static void run_side(weft *w, void *arg)
{
    side *s = static_cast<side *>(arg);
    s->result = fib_c(w, s->n);
}

static inline long fib_cxx(weft *w, long n)
{
    if (n < 2)
        return n;
    auto [left, right] = weft::join(
        w, [=](weft *in) { return fib_cxx(in, n - 1); },
        [=](weft *in) { return fib_cxx(in, n - 2); });
    return left + right;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    bool in_c = std::string(argv[1]) == "c";
    long n = std::atol(argv[2]);
    weft::pool pool(1);
    std::printf("%ld\n", pool.run([=](weft *w) { return in_c ? fib_c(w, n) : fib_cxx(w, n); }));
}
