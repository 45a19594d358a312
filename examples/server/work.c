/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <weft/parallel.h>

/* Memory of an actor is gone when it is over, which is before its answer is sent: so the answer is
 * a copy. It is made when nothing can end the actor any more, so that it can't get lost. */
static int answer(struct work *work, const void *bytes, size_t size, const char *type)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)bytes, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return -ENOMEM;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    work->response = response;
    return 0;
}

/* ---- /render: a Julia set as a BMP file ---- */

enum { BMP_HEADER = 54, ITERATIONS = 400 };

struct picture {
    unsigned size;
    size_t stride; /* bytes of a row: a multiple of four */
    double re, im; /* which set */
    double hue;
    unsigned char *rows;
};

static double channel(double t, double phase)
{
    return 0.5 + 0.5 * cos(6.2831853 * (t + phase));
}

static void colour(unsigned char *pixel, double iterations, double hue)
{
    double t = pow(iterations / (double)ITERATIONS, 0.4), glow = 1 - exp(-5 * t);
    pixel[0] = (unsigned char)(255 * glow * channel(1.6 * t, hue + 0.00)); /* blue first */
    pixel[1] = (unsigned char)(255 * glow * channel(1.6 * t, hue + 0.22));
    pixel[2] = (unsigned char)(255 * glow * channel(1.6 * t, hue + 0.42));
}

/* How soon the point gets away, smoothly; never: 0. */
static double escape(const struct picture *p, double x, double y)
{
    for (int i = 0; i < ITERATIONS; i++) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 256)
            return i + 1 - log2(log2(xx + yy) / 2);
        y = 2 * x * y + p->im;
        x = xx - yy + p->re;
    }
    return 0;
}

static void render_rows(weft *w, size_t begin, size_t end, void *arg)
{
    const struct picture *p = arg;
    double step = 3.0 / p->size;
    for (size_t row = begin; row < end; row++) {
        unsigned char *pixel = p->rows + row * p->stride;
        for (unsigned column = 0; column < p->size; column++, pixel += 3) {
            double iterations =
                escape(p, (column + 0.5) * step - 1.5, ((double)row + 0.5) * step - 1.5);
            colour(pixel, iterations > 0 ? iterations : 0, p->hue);
        }
        weft_poll(w); /* a row may be long, and others want their turn */
    }
}

static void put_u32(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static int render(weft *w, void *arg)
{
    struct work *work = arg;
    static const double sets[][2] = {
        {-0.8, 0.156},     {-0.7269, 0.1889},  {0.285, 0.01},  {-0.4, 0.6},
        {-0.835, -0.2321}, {-0.7018, -0.3842}, {0.355, 0.355}, {-0.54, 0.54},
    };
    const double *set = sets[work->id % (sizeof sets / sizeof sets[0])]; /* another each time */
    struct picture p = {.size = work->number, .re = set[0], .im = set[1], .hue = 0.07 * work->id};
    p.stride = ((size_t)p.size * 3 + 3) / 4 * 4;
    size_t bytes = BMP_HEADER + p.stride * p.size;
    unsigned char *file = weft_alloc(w, bytes); /* too much: the request ends here */
    memset(file, 0, bytes);
    p.rows = file + BMP_HEADER;
    file[0] = 'B';
    file[1] = 'M';
    put_u32(file + 2, bytes);
    put_u32(file + 10, BMP_HEADER);
    put_u32(file + 14, 40); /* the size of what follows */
    put_u32(file + 18, p.size);
    put_u32(file + 22, p.size);
    file[26] = 1;  /* plane */
    file[28] = 24; /* bits */
    weft_for(w, 0, p.size, render_rows, &p);
    return answer(work, file, bytes, "image/bmp");
}

/* ---- /small: how many primes there are, which takes about a millisecond ---- */

static bool is_prime(unsigned n)
{
    if (n < 4 || n % 2 == 0)
        return n == 2 || n == 3;
    for (unsigned d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return false;
    return true;
}

static unsigned count_primes(weft *w, unsigned begin, unsigned end);
WEFT_FORKABLE(unsigned, count_primes, unsigned begin; unsigned end;
              , count_primes(w, a->begin, a->end))

static unsigned count_primes(weft *w, unsigned begin, unsigned end)
{
    unsigned count = 0, middle = begin + (end - begin) / 2;
    if (end - begin > 256) {
        WEFT_FORK(w, count_primes, right, middle, end);
        count = count_primes(right_in, begin, middle);
        return count + WEFT_MERGE(w, count_primes, right);
    }
    for (unsigned n = begin; n < end; n++)
        count += is_prime(n);
    return count;
}

static int small(weft *w, void *arg)
{
    struct work *work = arg;
    char text[64];
    int length = snprintf(text, sizeof text, "{\"below\":%u,\"primes\":%u}\n", work->number,
                          count_primes(w, 0, work->number));
    return answer(work, text, (size_t)length, "application/json");
}

/* ---- /greedy: forks without end ---- */

static atomic_uint stops; /* how often somebody wanted greedy requests to end */

void work_stop_greedy(void)
{
    atomic_fetch_add(&stops, 1);
}

struct cells {
    uint64_t *first;
    size_t count;
    unsigned rounds;
};

static void stir(weft *w, void *arg)
{
    struct cells cells = *(struct cells *)arg;
    if (cells.count > 256) {
        size_t half = cells.count / 2;
        struct cells left = {cells.first, half, cells.rounds};
        struct cells right = {cells.first + half, cells.count - half, cells.rounds};
        weft_join(w, stir, &left, stir, &right);
        return;
    }
    for (size_t i = 0; i < cells.count; i++)
        for (unsigned round = 0; round < cells.rounds; round++)
            cells.first[i] = (cells.first[i] ^ cells.first[i] >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static struct cells make_cells(weft *w, size_t bytes, unsigned rounds)
{
    struct cells cells = {weft_alloc(w, bytes), bytes / sizeof(uint64_t), rounds};
    for (size_t i = 0; i < cells.count; i++)
        cells.first[i] = i + 1;
    return cells;
}

static int answer_sweeps(struct work *work, unsigned sweeps)
{
    char text[32];
    int length = snprintf(text, sizeof text, "{\"sweeps\":%u}\n", sweeps);
    return answer(work, text, (size_t)length, "application/json");
}

static int greedy(weft *w, void *arg)
{
    struct work *work = arg;
    unsigned before = atomic_load(&stops), sweeps = 0;
    struct cells cells = make_cells(w, (size_t)work->number << 20, 64);
    for (; atomic_load(&stops) == before; sweeps++)
        stir(w, &cells);
    return answer_sweeps(work, sweeps);
}

/* ---- /hog: the same, with more memory each time, until it is past its limit ---- */

static int hog(weft *w, void *arg)
{
    struct work *work = arg;
    unsigned before = atomic_load(&stops), sweeps = 0;
    for (; atomic_load(&stops) == before; sweeps++) {
        struct cells cells = make_cells(w, (size_t)work->number << 20, 128);
        stir(w, &cells);
    }
    return answer_sweeps(work, sweeps);
}

const struct work_kind work_kinds[] = {
    {"render", render, "size", 16, 16384, 1024, false},
    {"small", small, "below", 2, 1000000, 20000, .brief = true},
    {"greedy", greedy, "mib", 1, 1024, 4, false},
    {"hog", hog, "mib", 1, 1024, 1, false},
    {0},
};
