/* SPDX-License-Identifier: MIT */
/* parallel_each.c: loops over boxes and over the elements of arrays. */
#include "property.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Boxes ---- */

struct field {
    unsigned dimensions;
    weft_box all;
    size_t sides[3];
    unsigned char *count;
    bool slow;
};

static size_t place(const struct field *field, size_t x, size_t y, size_t z)
{
    const size_t *begin = field->all.begin;
    return ((x - begin[0]) * field->sides[1] + (y - begin[1])) * field->sides[2] + (z - begin[2]);
}

static void mark_box(weft *w, const weft_box *box, void *arg)
{
    struct field *field = arg;
    for (unsigned d = 0; d < field->dimensions; d++)
        HOLDS(field->all.begin[d] <= box->begin[d] && box->begin[d] < box->end[d] &&
              box->end[d] <= field->all.end[d]);
    bool flat = field->dimensions == 2;
    for (size_t x = box->begin[0]; x < box->end[0]; x++)
        for (size_t y = box->begin[1]; y < box->end[1]; y++)
            for (size_t z = flat ? 0 : box->begin[2]; z < (flat ? 1 : box->end[2]); z++)
                field->count[place(field, x, y, z)]++;
    for (size_t x = box->begin[0]; field->slow && x < box->end[0]; x++)
        for (size_t y = box->begin[1]; y < box->end[1]; y++)
            dawdle(x * 31 + y);
}

static void boxes(weft *w, struct dice *dice)
{
    struct field field = {.dimensions = 2 + (unsigned)dice_below(dice, 2),
                          .slow = dice_below(dice, 2)};
    size_t cells = 1;
    for (unsigned d = 0; d < 3; d++) {
        field.sides[d] = dice_size(dice, field.dimensions == 2 ? 300 : 40);
        field.all.begin[d] = dice_below(dice, 2) ? 0 : SIZE_MAX - 1000;
        field.all.end[d] = field.all.begin[d] + field.sides[d];
    }
    if (field.dimensions == 2) { /* the third one is ignored, whatever it says */
        field.all.begin[2] = 0;
        field.sides[2] = 1;
    }
    for (unsigned d = 0; d < 3; d++)
        cells *= field.sides[d];
    field.count = calloc(cells + 1, 1);
    HOLDS(field.count);
    (field.dimensions == 2 ? weft_for_2d : weft_for_3d)(w, &field.all, mark_box, &field);
    for (size_t i = 0; i < cells; i++)
        HOLDS(field.count[i] == 1);
    free(field.count);
}

static void boxes_do_each_cell_once(void **state)
{
    property_holds(boxes, SCALED(60, 5));
}

/* Rows are not cut into short ones while there are several. */
static void note_rows(weft *w, const weft_box *box, void *arg)
{
    atomic_int *boxes = arg;
    size_t rows = box->end[0] - box->begin[0], length = box->end[1] - box->begin[1];
    (void)w;
    CHECK(rows == 1 || length >= 512);
    atomic_fetch_add(boxes, 1);
}

static void long_rows_job(weft *w, void *arg)
{
    const size_t sides[][2] = {{600, 1022}, {600, 3000}, {3, 5000}, {40, 512}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        atomic_int boxes = 0;
        weft_for_2d(w, &(weft_box){{0, 0}, {sides[i][0], sides[i][1]}}, note_rows, &boxes);
        CHECK(atomic_load(&boxes) > 1);
    }
}

static void rows_stay_long(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, long_rows_job, NULL), 0);
    pool_drop(pool);
}

static void fail_in_box(weft *w, const weft_box *box, void *arg)
{
    weft_fail(w, -EDOM);
}

static void huge_box_job(weft *w, void *arg)
{
    const weft_box box = {{0}, {SIZE_MAX, SIZE_MAX, SIZE_MAX}};
    weft_for_3d(w, &box, fail_in_box, NULL);
}

static void failure_ends_a_huge_box(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, huge_box_job, NULL), -EDOM);
    pool_drop(pool);
}

/* ---- Arrays ---- */

struct shift {
    size_t size;
    unsigned char by;
    bool slow;
};

static void shift_element(weft *w, void *element, void *arg)
{
    const struct shift *shift = arg;
    unsigned char *bytes = element;
    for (size_t i = 0; i < shift->size; i++)
        bytes[i] = (unsigned char)(bytes[i] + shift->by);
    if (shift->slow)
        dawdle(bytes[0]);
}

static void each(weft *w, struct dice *dice)
{
    struct shift shift = {1 + dice_size(dice, 4095), (unsigned char)dice_roll(dice),
                          dice_below(dice, 2)};
    size_t stride = shift.size + dice_size(dice, 100), n = dice_size(dice, 300000 / stride);
    bool backwards = dice_below(dice, 2) && n > 0;
    unsigned char *array = malloc(n * stride + 1), *expected = malloc(n * stride + 1);
    HOLDS(array && expected);
    dice_fill(dice, array, n * stride);
    memcpy(expected, array, n * stride);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < shift.size; j++)
            expected[i * stride + j] = (unsigned char)(expected[i * stride + j] + shift.by);
    weft_for_each(w, backwards ? array + (n - 1) * stride : array, n,
                  backwards ? -(ptrdiff_t)stride : (ptrdiff_t)stride, shift_element, &shift);
    HOLDS(memcmp(array, expected, n * stride) == 0);
    free(array);
    free(expected);
}

static void each_element_of_strided_arrays(void **state)
{
    property_holds(each, SCALED(60, 5));
}

struct sizes {
    size_t in, out;
    bool slow;
};

static void widen(weft *w, const void *in, void *out, void *arg)
{
    const struct sizes *sizes = arg;
    const unsigned char *from = in;
    unsigned char *to = out;
    for (size_t i = 0; i < sizes->out; i++)
        to[i] = (unsigned char)(from[i % sizes->in] ^ i);
    if (sizes->slow)
        dawdle(from[0]);
}

static void mapping(weft *w, struct dice *dice)
{
    struct sizes sizes = {1 + dice_size(dice, 4095), 1 + dice_size(dice, 4095),
                          dice_below(dice, 2)};
    bool in_place = dice_below(dice, 3) == 0;
    if (in_place)
        sizes.out = sizes.in;
    size_t n = dice_size(dice, 300000 / (sizes.in + sizes.out));
    unsigned char *in = malloc(n * sizes.in + 1), *out = malloc(n * sizes.out + 1),
                  *expected = malloc(n * sizes.out + 1);
    HOLDS(in && out && expected);
    dice_fill(dice, in, n * sizes.in);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < sizes.out; j++)
            expected[i * sizes.out + j] = (unsigned char)(in[i * sizes.in + j % sizes.in] ^ j);
    weft_map(w, in, n, sizes.in, widen, &sizes, in_place ? in : out, sizes.out);
    HOLDS(memcmp(in_place ? in : out, expected, n * sizes.out) == 0);
    free(in);
    free(out);
    free(expected);
}

static void maps_of_arrays(void **state)
{
    property_holds(mapping, SCALED(60, 5));
}

static void count_map(weft *w, const void *in, void *out, void *arg)
{
    atomic_fetch_add((atomic_size_t *)arg, *(const unsigned char *)in);
}

static void map_to_nothing(weft *w, void *arg)
{
    static const unsigned char ones[1000] = {[0] = 1, [999] = 1};
    weft_map(w, ones, 1000, 1, count_map, arg, NULL, 0);
}

static void maps_need_no_result(void **state)
{
    atomic_size_t sum = 0;
    weft_pool *pool = pool_make(2, 0);
    CHECK(weft_run(pool, map_to_nothing, &sum) == 0);
    assert_int_equal(sum, 2);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_do_each_cell_once), cmocka_unit_test(rows_stay_long),
        cmocka_unit_test(failure_ends_a_huge_box), cmocka_unit_test(each_element_of_strided_arrays),
        cmocka_unit_test(maps_of_arrays),          cmocka_unit_test(maps_need_no_result),
    };
    return RUN_ON_ALL_ROADS(tests);
}
