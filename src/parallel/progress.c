/* SPDX-License-Identifier: MIT */
/* How far a long computation has come, and the bar that shows it. Whoever finds that it is time
 * for a report makes it, unless somebody is at it. */
#include "core/misuse.h"
#include "os/atomic.h"
#include "os/clock.h"
#include "weft.h"
#include "weft/parallel.h"

#include <string.h>
#include <unistd.h>

enum { EVERY_NS = 100000000, WIDTH = 40 };

struct progress {
    struct atomic_size done;
    struct atomic_u64 next; /* when the next report is due */
    struct atomic_bool is_reporting;
    size_t total; /* constant, as is all below */
    uint64_t started;
    weft_progress_fn *report;
    void *data;
    const char *title;
};

_Static_assert(sizeof(struct progress) <= sizeof(weft_progress), "weft_progress in parallel.h");

static struct progress *progress_of(const weft_progress *progress, const char *function)
{
    if (!progress)
        weft__lacks(function, "a progress", "it");
    return (struct progress *)(uintptr_t)progress;
}

/* In one piece, so that nothing comes in between. */
static void draw(size_t done, size_t total, void *data)
{
    const struct progress *progress = data;
    char line[256], bar[WIDTH + 1];
    double part = total ? (double)done / (double)total : 1;
    double passed = (double)(weft__clock_now() - progress->started) * 1e-9;
    size_t filled = (size_t)(part * WIDTH);
    memset(bar, '.', WIDTH);
    memset(bar, '#', filled < WIDTH ? filled : WIDTH);
    bar[WIDTH] = '\0';
    int length =
        snprintf(line, sizeof line, "\r%.80s [%s] %3.0f %%, %.0f s%s", progress->title, bar,
                 part * 100, done < total && part > 0 ? passed / part - passed : passed,
                 done < total ? " to go " : "       ");
    fwrite(line, 1, (size_t)length, stderr);
    fflush(stderr);
}

static void start(struct progress *progress, size_t total, weft_progress_fn *report, void *data,
                  const char *title)
{
    uint64_t now = weft__clock_now();
    *progress = (struct progress){
        .total = total,
        .started = now,
        .report = report,
        .data = data,
        .title = title,
        .next = {now + EVERY_NS},
    };
}

void weft_progress_begin(weft_progress *public, size_t total, weft_progress_fn *report, void *data)
{
    start(progress_of(public, __func__), total, report, data, NULL);
}

void weft_progress_bar(weft_progress *public, size_t total, const char *title)
{
    struct progress *progress = progress_of(public, __func__);
    start(progress, total, isatty(STDERR_FILENO) ? draw : NULL, progress, title ? title : "");
}

/* How much is done is read after the lock is taken, so that reports don't go back. */
static void report(struct progress *progress)
{
    size_t done = atomic_load_relaxed(&progress->done); /* relaxed: a number of its own */
    progress->report(done < progress->total ? done : progress->total, progress->total,
                     progress->data);
}

void weft_progress_add(weft_progress *public, size_t n)
{
    struct progress *progress = progress_of(public, __func__);
    atomic_fetch_add_relaxed(&progress->done, n); /* relaxed: as above */
    if (!progress->report)
        return;
    uint64_t now = weft__clock_now();
    /* relaxed: a guess, until the lock is taken. */
    if (now < atomic_load_relaxed(&progress->next) ||
        atomic_exchange_acquire(&progress->is_reporting, true)) /* acquire R1 */
        return;
    if (now >= atomic_load_relaxed(&progress->next)) {
        report(progress);
        atomic_store_relaxed(&progress->next, weft__clock_now() + EVERY_NS);
    }
    atomic_store_release(&progress->is_reporting, false); /* release R1 */
}

size_t weft_progress_done(const weft_progress *public)
{
    const struct progress *progress = progress_of(public, __func__);
    return atomic_load_relaxed(&progress->done); /* relaxed: as above */
}

void weft_progress_end(weft_progress *public)
{
    struct progress *progress = progress_of(public, __func__);
    if (!progress->report)
        return;
    report(progress);
    if (progress->report == draw)
        fputs("\n", stderr);
}
