/* SPDX-License-Identifier: MIT */
/* strassen: c = a b by seven products of matrices of half the size, again and again down to 64 by
 * 64; Winograd's variant. A fork for each product, with memory that its node has allocated: the
 * shape of the program of that name in BOTS (Duran and others, ICPP 2009). */
#ifndef BENCH_STRASSEN_H
#define BENCH_STRASSEN_H

#include <stddef.h>

enum { STRASSEN_LEAF = 64, STRASSEN_PRODUCTS = 7 };

/* A square part of a matrix. */
struct square {
    double *at;
    size_t stride; /* between rows */
};

struct product {
    struct square c, a, b; /* c = a b */
    size_t n;
};

/* What is left to do after the products were begun. */
struct strassen_node {
    struct product products[STRASSEN_PRODUCTS];
    struct square p1, p5, p6; /* those that are no quarter of c */
    double *memory;
};

struct strassen {
    size_t n;
    double *a, *b, *c;
};

static inline struct product strassen_whole(const struct strassen *s)
{
    struct product whole = {{s->c, s->n}, {s->a, s->n}, {s->b, s->n}, s->n};
    return whole;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The work around the forks, the same code for all contenders. `split` ends the program if there is
 * no memory. */
void strassen_leaf(const struct product *product);
void strassen_split(const struct product *product, struct strassen_node *node);
void strassen_combine(const struct product *product, struct strassen_node *node);

#ifdef __cplusplus
}
#endif

#endif
