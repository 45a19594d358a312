/* SPDX-License-Identifier: MIT */
/* progress.c: how far a long loop has come. The workers count what they have done, and the one
 * that finds that a report is due makes it; there is no thread for that. On a terminal the report
 * is a bar on standard error. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weft.h>
#include <weft/parallel.h>

enum { EVERY_NS = 100000000, WIDTH = 40 };

struct progress {
    atomic_size_t done;
    atomic_uint_fast64_t next; /* when the next report is due */
    atomic_bool is_reporting;  /* a worker is at it: the fields below are its own */
    size_t reported;
    bool went_back;
    size_t total; /* constant, as is all below */
    uint64_t started;
    const char *title; /* NULL: there is no terminal */
};

/* In one piece, so that no other output comes in between. */
static void draw(const struct progress *progress, size_t done)
{
    char bar[WIDTH + 1] = {0}, line[256];
    double part = (double)done / (double)progress->total;
    double passed = (double)(weft_now() - progress->started) * 1e-9;
    size_t filled = (size_t)(part * (double)WIDTH);
    memset(bar, '.', WIDTH);
    memset(bar, '#', filled < WIDTH ? filled : WIDTH);
    snprintf(line, sizeof line, "\r%.80s [%s] %3.0f %%, %.0f s%s", progress->title, bar, part * 100,
             done < progress->total && part > 0 ? passed / part - passed : passed,
             done < progress->total ? " to go " : "       \n");
    fputs(line, stderr);
}

/* How much is done is read when no other worker reports, so that reports don't go back. */
static void report(struct progress *progress)
{
    size_t done = atomic_load(&progress->done);
    progress->went_back |= done < progress->reported;
    progress->reported = done;
    if (progress->title)
        draw(progress, done);
}

static void begin(struct progress *progress, size_t total, const char *title)
{
    uint64_t now = weft_now();
    *progress = (struct progress){
        .total = total, .started = now, .title = isatty(STDERR_FILENO) ? title : NULL};
    atomic_init(&progress->next, now + EVERY_NS);
}

static void add(struct progress *progress, size_t n)
{
    atomic_fetch_add(&progress->done, n);
    if (weft_now() < atomic_load(&progress->next) || atomic_exchange(&progress->is_reporting, true))
        return;
    if (weft_now() >= atomic_load(&progress->next)) {
        report(progress);
        atomic_store(&progress->next, weft_now() + EVERY_NS);
    }
    atomic_store(&progress->is_reporting, false);
}

/* ---- A loop to watch: which start below a million takes longest to come down to 1? ---- */

enum { STARTS = 1000000 };

struct longest {
    uint64_t start, steps;
};

static uint64_t steps_from(uint64_t n)
{
    uint64_t steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static void fold(weft *w, size_t from, size_t to, void *accumulator, void *arg)
{
    struct longest *longest = accumulator;
    (void)w;
    for (size_t i = from; i < to; i++) {
        uint64_t steps = steps_from(i);
        if (steps > longest->steps)
            *longest = (struct longest){i, steps};
    }
    add(arg, to - from);
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    const struct longest *other = right;
    (void)w;
    (void)arg;
    if (other->steps > ((struct longest *)left)->steps)
        *(struct longest *)left = *other;
}

static void look(weft *w, void *arg)
{
    static const weft_reducer reducer = {
        .size = sizeof(struct longest), .fold = fold, .combine = combine};
    struct progress *progress = arg;
    struct longest longest;
    weft_reduce(w, 1, STARTS + 1, &reducer, progress, &longest);
    printf("%llu takes %llu steps\n", (unsigned long long)longest.start,
           (unsigned long long)longest.steps);
}

int main(void)
{
    struct progress progress;
    begin(&progress, STARTS, "counting");
    int error = weft_run(NULL, look, &progress);
    report(&progress); /* the last one: all workers are done with it */
    return error || progress.went_back || progress.reported != progress.total;
}
