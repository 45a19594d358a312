/* SPDX-License-Identifier: MIT */
#include "fft.h"

#include "../contest.h"

struct pass {
    const struct fft_part *part;
    size_t begin, end;
};

static void combine_run(weft *w, void *arg);

static void combine(weft *w, const struct fft_part *part, size_t begin, size_t end)
{
    if (end - begin <= FFT_PASS) {
        fft_combine(part, begin, end);
        return;
    }
    size_t middle = begin + (end - begin) / 2;
    struct pass right = {part, middle, end};
    weft *in = weft_fork(w, combine_run, &right);
    combine(in, part, begin, middle);
    if (!weft_merge(w))
        combine(w, part, middle, end);
}

static void combine_run(weft *w, void *arg)
{
    const struct pass *pass = arg;
    combine(w, pass->part, pass->begin, pass->end);
}

static void transform(weft *w, void *arg)
{
    const struct fft_part *part = arg;
    if (part->n <= FFT_LEAF) {
        fft_transform(part);
        return;
    }
    struct fft_part even = fft_even(part), odd = fft_odd(part);
    weft *in = weft_fork(w, transform, &odd);
    transform(in, &even);
    if (!weft_merge(w))
        transform(w, &odd);
    combine(w, part, 0, part->n / 2);
}

static void run(weft_pool *pool, void *data)
{
    struct fft_part whole = fft_whole(data);
    weft_run(pool, transform, &whole);
}

const struct contest fft_contest = {
    .kernel = &fft_kernel,
    .weft = run,
    .what = "a Fourier transform of 2^SIZE numbers, forks down to 64 of them",
    .operation = "pair",
    .size = 20,
    .quick = 10,
    .most = 30,
    .reps = 15,
    .claims = {.times_twin = 1.1, .times_faster_than_peers = 1, .share = 0.9},
};
