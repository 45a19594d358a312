/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/parallel.h>

enum { N = 1000, ROWS = 64, COLUMNS = 48 };

/* [for] */
static void square(weft *w, size_t begin, size_t end, void *arg)
{
    double *numbers = arg;
    (void)w;
    for (size_t i = begin; i < end; i++) /* a plain loop: the compiler may use vectors */
        numbers[i] *= numbers[i];
}
/* [end] */

/* [2d] */
struct picture {
    unsigned char pixels[ROWS][COLUMNS];
};

static void shade(weft *w, const weft_box *box, void *arg)
{
    struct picture *picture = arg;
    (void)w;
    for (size_t y = box->begin[0]; y < box->end[0]; y++)
        for (size_t x = box->begin[1]; x < box->end[1]; x++)
            picture->pixels[y][x] = (unsigned char)(x ^ y);
}
/* [end] */

/* [map] */
static inline float half(int number)
{
    return (float)number / 2;
}
WEFT_MAP_DEFINE(halves, int, half, float)
/* [end] */

static double numbers[N];
static int integers[N];
static float floats[N];
static struct picture picture;

static void run(weft *w, void *arg)
{
    (void)arg;
    /* [call] */
    weft_for(w, 0, N, square, numbers);
    /* [end] */
    /* [call 2d] */
    weft_for_2d(w, &(weft_box){{0, 0}, {ROWS, COLUMNS}}, shade, &picture);
    /* [end] */
    /* [call map] */
    halves(w, integers, N, floats);
    /* [end] */
}

int main(void)
{
    for (int i = 0; i < N; i++)
        numbers[i] = integers[i] = i;
    if (weft_run(NULL, run, NULL))
        return 1;
    printf("%g %d %g\n", numbers[N - 1], picture.pixels[5][3], (double)floats[N - 1]);
}
