/* SPDX-License-Identifier: MIT */
/* Loops over two and three dimensions: as for.c, but halved along the longest side. */
#include "parallel/pace.h"

#include "core/misuse.h"
#include "weft/parallel.h"

enum { NARROW = 4 }; /* rows stay longer than columns by this: memory is read along rows */

struct field {
    weft_box_fn *body;
    void *arg;
    unsigned dimensions;
};

struct part {
    const struct field *field;
    weft_box box;
};

static size_t side(const weft_box *box, unsigned d)
{
    return box->begin[d] < box->end[d] ? box->end[d] - box->begin[d] : 0;
}

/* How many cells, or SIZE_MAX if there are more. */
static size_t cells(const struct field *field, const weft_box *box)
{
    size_t n = 1;
    for (unsigned d = 0; d < field->dimensions; d++)
        if (__builtin_mul_overflow(n, side(box, d), &n))
            n = SIZE_MAX;
    for (unsigned d = 0; d < field->dimensions; d++)
        n = side(box, d) ? n : 0;
    return n;
}

static unsigned longest(const struct field *field, const weft_box *box)
{
    unsigned found = 0, last = field->dimensions - 1;
    for (unsigned d = 1; d <= last; d++)
        if (side(box, d) / (d == last ? NARROW : 1) > side(box, found))
            found = d;
    return side(box, found) > 1 ? found : last;
}

static void run_leaf(weft *w, struct weft__pacer *pacer, const struct part *part)
{
    const struct field *field = part->field;
    weft__pacer_leaf(pacer, w);
    field->body(w, &part->box, field->arg);
    weft__pacer_ran(pacer, w, cells(field, &part->box));
}

static void split(weft *w, struct weft__pacer *pacer, struct part part);

static void run_part(weft *w, void *arg)
{
    struct part *part = arg;
    struct weft__pacer pacer;
    weft__pacer_take_up(&pacer, w, WEFT__KEY(part->field->body), cells(part->field, &part->box), 1);
    split(w, &pacer, *part);
}

static void split(weft *w, struct weft__pacer *pacer, struct part part)
{
    while (!weft__is_cancelled(w)) {
        if (cells(part.field, &part.box) <= pacer->leaf) {
            run_leaf(w, pacer, &part);
            return;
        }
        unsigned d = longest(part.field, &part.box);
        struct part left = part, right = part;
        left.box.end[d] = right.box.begin[d] = part.box.begin[d] + side(&part.box, d) / 2;
        weft *in = weft__pacer_fork(pacer, w, run_part, &right);
        split(in, pacer, left);
        if (weft_merge(w)) {
            weft__pacer_lost(pacer);
            return;
        }
        part = right;
    }
}

static void run(weft *w, struct part part)
{
    size_t n = cells(part.field, &part.box);
    if (n == 0)
        return;
    struct weft__pacer pacer;
    weft__pacer_start(&pacer, w, WEFT__KEY(part.field->body), n, 1);
    WEFT__MUST_RETURN(weft__callee_threw, split(w, &pacer, part));
}

void weft_for_2d(weft *w, const weft_box *box, weft_box_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(box, "a box");
    WEFT__NEEDS(body, "a function");
    struct part part = {&(struct field){body, arg, 2}, *box};
    part.box.begin[2] = 0;
    part.box.end[2] = 1;
    run(w, part);
}

void weft_for_3d(weft *w, const weft_box *box, weft_box_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(box, "a box");
    WEFT__NEEDS(body, "a function");
    run(w, (struct part){&(struct field){body, arg, 3}, *box});
}
