/* SPDX-License-Identifier: MIT */
#include "fft.h"

void fft_transform(const struct fft_part *part)
{
    if (part->n == 1) {
        part->out[0] = part->in[0];
        return;
    }
    struct fft_part even = fft_even(part), odd = fft_odd(part);
    fft_transform(&even);
    fft_transform(&odd);
    fft_combine(part, 0, part->n / 2);
}

void fft_combine(const struct fft_part *part, size_t begin, size_t end)
{
    struct fft_number *low = part->out, *high = part->out + part->n / 2;
    const struct fft_number *roots = part->all->roots;
    for (size_t k = begin; k < end; k++) {
        struct fft_number root = roots[k * part->stride], a = low[k], b = high[k];
        struct fft_number turned = {b.re * root.re - b.im * root.im,
                                    b.re * root.im + b.im * root.re};
        low[k] = (struct fft_number){a.re + turned.re, a.im + turned.im};
        high[k] = (struct fft_number){a.re - turned.re, a.im - turned.im};
    }
}
