/* SPDX-License-Identifier: MIT */
/* Loops over two and three dimensions: as for.c, but cut along the longest side. */
#include "core/misuse.h"
#include "parallel/split.h"
#include "parallel/state.h"
#include "weft/parallel.h"

/* Memory is read along rows. So they stay longer than columns, and are not cut at all below so many
 * cells as long as there are several: what a body does once for each row counts. Of a box that is
 * cut into long rows, a stencil takes 0.6 times as long. Worst case: a body that goes across rows
 * as well, a transposition, takes 1.06 times as long. */
enum { NARROW = 4, LONG_ROW = 512 };

struct field {
    weft_box_fn *body;
    void *arg;
    weft__key *key; /* the function on which the cost of a cell depends */
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

static size_t length_to_cut(const struct field *field, const weft_box *box, unsigned d)
{
    size_t length = side(box, d);
    if (d < field->dimensions - 1)
        return length;
    return length < 2 * LONG_ROW ? 0 : length / NARROW;
}

static unsigned longest(const struct field *field, const weft_box *box)
{
    unsigned found = 0, last = field->dimensions - 1;
    for (unsigned d = 1; d <= last; d++)
        if (length_to_cut(field, box, d) > side(box, found))
            found = d;
    return side(box, found) > 1 ? found : last;
}

static size_t elements(const void *arg)
{
    const struct part *part = arg;
    return cells(part->field, &part->box);
}

static bool run_leaf(weft *w, void *arg)
{
    const struct part *part = arg;
    part->field->body(w, &part->box, part->field->arg);
    return true;
}

static void cut(weft *w, void *arg, void *other)
{
    struct part *part = arg, *right = other;
    unsigned d = longest(part->field, &part->box);
    (void)w;
    *right = *part;
    part->box.end[d] = right->box.begin[d] = part->box.begin[d] + side(&part->box, d) / 2;
}

static weft__split_fn split;
static weft_fn take;

static const struct weft__splitting loop = {
    .split = split,
    .elements = elements,
    .run = run_leaf,
    .cut = cut,
    .take = take,
    .size = sizeof(struct part),
};

static void split(weft *w, struct weft__pacer *pacer, void *part)
{
    struct part right;
    weft__split(w, pacer, part, &right, &loop);
}

static void take(weft *w, void *arg)
{
    struct part part = *(struct part *)arg;
    weft__split_taken(w, part.field->key, 1, &part, &loop);
}

static void run(weft *w, const weft_box *box, const struct field *field)
{
    struct part part = {field, *box};
    if (field->dimensions == 2) {
        part.box.begin[2] = 0;
        part.box.end[2] = 1;
    }
    if (elements(&part) > 0)
        weft__split_all(w, field->key, 1, &part, &loop);
}

void weft_for_2d(weft *w, const weft_box *box, weft_box_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(box, "a box");
    WEFT__NEEDS(body, "a function");
    run(w, box, &(struct field){body, arg, WEFT__KEY(body), 2});
}

void weft_for_3d(weft *w, const weft_box *box, weft_box_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(box, "a box");
    WEFT__NEEDS(body, "a function");
    run(w, box, &(struct field){body, arg, WEFT__KEY(body), 3});
}

/* ---- With a state ---- */

struct state_loop {
    struct weft__states states;
    weft_box_state_fn *body;
    void *arg;
};

static void run_box(weft *w, const weft_box *box, void *arg)
{
    struct state_loop *with = arg;
    struct weft__kept *kept = weft__state_take(w, &with->states);
    if (!kept)
        return;
    with->body(w, box, kept->state, with->arg);
    weft__state_give(kept);
}

static void run_with(weft *w, const weft_box *box, struct state_loop *with, unsigned dimensions)
{
    weft__states_begin(w, &with->states);
    run(w, box, &(struct field){run_box, with, WEFT__KEY(with->body), dimensions});
    weft__states_end(w, &with->states);
}

void weft_for_2d_with(weft *w, const weft_box *box, const weft_state *state,
                      weft_box_state_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(box, "a box");
    WEFT__NEEDS(state, "a state");
    WEFT__NEEDS(body, "a function");
    run_with(w, box, &(struct state_loop){{.kind = state, .arg = arg}, body, arg}, 2);
}

void weft_for_3d_with(weft *w, const weft_box *box, const weft_state *state,
                      weft_box_state_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(box, "a box");
    WEFT__NEEDS(state, "a state");
    WEFT__NEEDS(body, "a function");
    run_with(w, box, &(struct state_loop){{.kind = state, .arg = arg}, body, arg}, 3);
}
