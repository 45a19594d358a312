/* SPDX-License-Identifier: MIT */
#include "strassen.h"

#include <stdlib.h>
#include <string.h>

void strassen_leaf(const struct product *p)
{
    for (size_t i = 0; i < p->n; i++) {
        double *restrict c = p->c.at + i * p->c.stride;
        memset(c, 0, p->n * sizeof *c);
        for (size_t k = 0; k < p->n; k++) {
            double a = p->a.at[i * p->a.stride + k];
            const double *b = p->b.at + k * p->b.stride;
            for (size_t j = 0; j < p->n; j++)
                c[j] += a * b[j];
        }
    }
}

static struct square quarter(struct square s, size_t half, size_t i, size_t j)
{
    return (struct square){s.at + (i * s.stride + j) * half, s.stride};
}

/* to = a + b, to = a - b */
static void add(struct square to, struct square a, struct square b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            to.at[i * to.stride + j] = a.at[i * a.stride + j] + b.at[i * b.stride + j];
}

static void subtract(struct square to, struct square a, struct square b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            to.at[i * to.stride + j] = a.at[i * a.stride + j] - b.at[i * b.stride + j];
}

void strassen_split(const struct product *p, struct strassen_node *node)
{
    enum { SUMS = 8, REST = 3 };
    size_t n = p->n / 2;
    struct square a11 = quarter(p->a, n, 0, 0), a12 = quarter(p->a, n, 0, 1),
                  a21 = quarter(p->a, n, 1, 0), a22 = quarter(p->a, n, 1, 1);
    struct square b11 = quarter(p->b, n, 0, 0), b12 = quarter(p->b, n, 0, 1),
                  b21 = quarter(p->b, n, 1, 0), b22 = quarter(p->b, n, 1, 1);
    struct square own[SUMS + REST];
    node->memory = malloc((SUMS + REST) * n * n * sizeof *node->memory);
    if (!node->memory)
        abort();
    for (size_t i = 0; i < SUMS + REST; i++)
        own[i] = (struct square){node->memory + i * n * n, n};
    struct square *s = own, *t = own + 4;
    add(s[0], a21, a22, n);
    subtract(s[1], s[0], a11, n);
    subtract(s[2], a11, a21, n);
    subtract(s[3], a12, s[1], n);
    subtract(t[0], b12, b11, n);
    subtract(t[1], b22, t[0], n);
    subtract(t[2], b22, b12, n);
    subtract(t[3], t[1], b21, n);
    node->p1 = own[SUMS];
    node->p5 = own[SUMS + 1];
    node->p6 = own[SUMS + 2];
    struct product products[STRASSEN_PRODUCTS] = {
        {node->p1, a11, b11, n},
        {quarter(p->c, n, 0, 0), a12, b21, n},
        {quarter(p->c, n, 0, 1), s[3], b22, n},
        {quarter(p->c, n, 1, 0), a22, t[3], n},
        {node->p5, s[0], t[0], n},
        {node->p6, s[1], t[1], n},
        {quarter(p->c, n, 1, 1), s[2], t[2], n},
    };
    memcpy(node->products, products, sizeof products);
}

/* In one pass: reading and writing is what it takes. */
void strassen_combine(const struct product *p, struct strassen_node *node)
{
    size_t n = p->n / 2, stride = p->c.stride;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double *upper = p->c.at + i * stride + j, *lower = upper + n * stride;
            double p1 = node->p1.at[i * n + j], p5 = node->p5.at[i * n + j];
            double u2 = p1 + node->p6.at[i * n + j], u3 = u2 + lower[n];
            upper[0] += p1;
            upper[n] += u2 + p5;
            lower[0] = u3 - lower[0];
            lower[n] = u3 + p5;
        }
    free(node->memory);
}
