/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <stdexcept>
#include <weft.h>

// [guard]
struct half {
    long n, result;
};

static long work(weft *w, long n);

static void work_right(weft *w, void *arg)
{
    half *right = static_cast<half *>(arg);
    right->result = work(w, right->n);
}

static long work(weft *w, long n)
{
    if (n == 7)
        throw std::runtime_error("seven");
    if (n < 2)
        return 1;
    half r = {n / 2, 0};
    weft::fork_guard right(w, work_right, &r); // merged, however this frame is left
    long left = work(right.context(), n - n / 2);
    if (!right.merge()) // throws what the right side has thrown on another thread
        r.result = work(w, r.n);
    return left + r.result;
}
// [end]

static void run(weft *w, void *arg)
{
    try {
        std::printf("%ld\n", work(w, *static_cast<long *>(arg)));
    } catch (const std::exception &error) { // none may leave the job
        std::printf("%s\n", error.what());
    }
}

int main()
{
    long good = 1024, bad = 28; // 28, 14, 7
    return weft_run(nullptr, run, &good) || weft_run(nullptr, run, &bad);
}
