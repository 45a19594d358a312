/* SPDX-License-Identifier: MIT */
#include "thin.h"

#include <stdlib.h>

void thin_measure(struct thin *thin, uint64_t ns)
{
    spread_add(&thin->all, ns);
}

void thin_decide(struct thin *thin, unsigned threads, uint64_t whole)
{
    if (thin->all.count <= THIN_MOST)
        return;
    unsigned buckets = THIN_BUCKETS / (threads > 0 ? threads : 1);
    thin->shortest = spread_reached(&thin->all, THIN_LONG);
    thin->bucket = whole / (buckets > 0 ? buckets : 1) + 1;
    if (thin->bucket < thin->shortest)
        thin->bucket = thin->shortest;
}

static void append(struct thin *thin, const struct interval *one)
{
    if (thin->count == thin->room) {
        size_t room = thin->room ? 2 * thin->room : 1024;
        struct interval *more =
            thin->room < THIN_MOST ? realloc(thin->list, room * sizeof *more) : NULL;
        if (!more) {
            thin->missing++;
            return;
        }
        thin->list = more;
        thin->room = room;
    }
    thin->list[thin->count++] = *one;
}

/* ---- Runs ---- */

static void choose_label(struct run *run)
{
    unsigned most = 0;
    for (unsigned i = 1; i < RUN_LABELS; i++)
        if (run->labels[i].ns > run->labels[most].ns)
            most = i;
    bool is_most = 2 * run->labels[most].ns > run->whole.self;
    run->whole.label = is_most ? run->labels[most].label : 0;
}

void thin_flush(struct thin *thin, struct run *run)
{
    if (run->whole.intervals == 0)
        return;
    if (run->whole.intervals > 1) {
        choose_label(run);
        thin->merged += run->whole.intervals;
    }
    append(thin, &run->whole);
    *run = (struct run){0};
}

static void count_label(struct run *run, unsigned label, uint64_t ns)
{
    for (unsigned i = 0; i < RUN_LABELS; i++) {
        if (run->labels[i].ns > 0 && run->labels[i].label != label)
            continue;
        run->labels[i].label = label;
        run->labels[i].ns += ns;
        return;
    }
}

static void join(struct run *run, const struct interval *one)
{
    struct interval *whole = &run->whole;
    count_label(run, one->label, one->ns);
    if (whole->intervals == 0) {
        *whole = *one;
        if (one->intervals > 1)
            whole->self = one->ns;
        return;
    }
    if (whole->intervals == 1)
        whole->self = whole->ns;
    whole->ns = one->begin + one->ns - whole->begin;
    whole->self += one->ns;
    whole->intervals += one->intervals;
    whole->from = -1;
}

void thin_add(struct thin *thin, const struct interval *one, struct run *inside, struct run *around,
              uint64_t since)
{
    if (one->ns >= thin->shortest) {
        thin_flush(thin, inside);
        thin_flush(thin, around);
        append(thin, one);
        return;
    }
    struct interval all = *one;
    all.intervals += inside->whole.intervals;
    *inside = (struct run){0};
    /* As long as the interval around it may be a short one, its run has to stay in one piece. */
    bool is_kept = one->begin + one->ns - since >= thin->shortest;
    if (is_kept && around->whole.intervals > 0 &&
        around->whole.begin / thin->bucket != one->begin / thin->bucket)
        thin_flush(thin, around);
    join(around, &all);
}

/* ---- Order ---- */

static int compare(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->ns < b->ns ? -1 : a->ns > b->ns;
}

void thin_sort(struct thin *thin)
{
    if (thin->count > 0)
        qsort(thin->list, thin->count, sizeof *thin->list, compare);
}
