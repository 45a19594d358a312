/* SPDX-License-Identifier: MIT */
/* fft: the Fourier transform of 2^n complex numbers, out of place: a fork for the two halves, then
 * a pass that puts them together, halved by forks, too. The shape of the program of that name in
 * BOTS (Duran and others, ICPP 2009). */
#ifndef BENCH_FFT_H
#define BENCH_FFT_H

#include <stddef.h>

enum {
    FFT_LEAF = 64, /* numbers that are transformed without a fork */
    FFT_PASS = 64, /* pairs that are put together without a fork */
};

struct fft_number {
    double re, im;
};

struct fft {
    size_t n;
    struct fft_number *in, *out;
    struct fft_number *roots; /* n / 2 of them: root number k is e^(-2 pi i k / n) */
};

/* A part of it: `n` numbers, every `stride`th from `in` on. */
struct fft_part {
    const struct fft *all;
    const struct fft_number *in;
    struct fft_number *out;
    size_t n, stride;
};

static inline struct fft_part fft_whole(const struct fft *fft)
{
    struct fft_part whole = {fft, fft->in, fft->out, fft->n, 1};
    return whole;
}

static inline struct fft_part fft_even(const struct fft_part *p)
{
    struct fft_part half = {p->all, p->in, p->out, p->n / 2, p->stride * 2};
    return half;
}

static inline struct fft_part fft_odd(const struct fft_part *p)
{
    struct fft_part half = {p->all, p->in + p->stride, p->out + p->n / 2, p->n / 2, p->stride * 2};
    return half;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The leaves, the same code for all contenders. */
void fft_transform(const struct fft_part *part);
/* Pairs from `begin` to `end`: numbers of the first half, and those of the second. */
void fft_combine(const struct fft_part *part, size_t begin, size_t end);

#ifdef __cplusplus
}
#endif

#endif
