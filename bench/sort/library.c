/* SPDX-License-Identifier: MIT */
/* What a programmer would call: weft's sorts beside those of other libraries. */
#include "sorts.h"

#include "../contest.h"
#include "../ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/sort.h>

/* ---- weft's ---- */

#define LESS(a, b) ((a) < (b))
WEFT_SORT_DEFINE(sort_typed, uint64_t, LESS)
WEFT_SORT_STABLE_DEFINE(sort_typed_stable, uint64_t, LESS)

static int compare(const void *a, const void *b, void *arg)
{
    (void)arg;
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void typed(weft *w, void *data)
{
    struct sorts *s = data;
    sort_typed(w, s->elements, s->count);
}

static void typed_stable(weft *w, void *data)
{
    struct sorts *s = data;
    sort_typed_stable(w, s->elements, s->count); /* if it fails, the checksum will tell */
}

static void any(weft *w, void *data)
{
    struct sorts *s = data;
    weft_sort(w, s->elements, s->count, sizeof *s->elements, compare, NULL);
}

static void any_stable(weft *w, void *data)
{
    struct sorts *s = data;
    weft_sort_stable(w, s->elements, s->count, sizeof *s->elements, compare, NULL);
}

static void radix(weft *w, void *data)
{
    struct sorts *s = data;
    weft_sort_u64(w, s->elements, s->count);
}

/* ---- All of them ---- */

enum sort { ANY, ANY_STABLE, TYPED, TYPED_STABLE, RADIX, SORTS };

static const struct {
    const char *name;
    weft_fn *run;
} sorts[SORTS] = {
    [ANY] = {"any", any},       [ANY_STABLE] = {"any stable", any_stable},
    [TYPED] = {"typed", typed}, [TYPED_STABLE] = {"typed stable", typed_stable},
    [RADIX] = {"radix", radix},
};

/* `all`: with all workers, too. */
static const struct {
    const char *peer, *benchmark, *name;
    bool all;
} others[] = {
    {"tbb", "sorts-std", "std::sort", false},
    {"tbb", "sorts", "tbb", true},
    {"rayon", "sorts", "rayon", true},
    {"rayon", "sorts-stable", "rayon stable", true},
};

enum { OTHERS = sizeof others / sizeof others[0] };

static const struct contest contest = {.kernel = &sorts_kernel, .size = 23, .quick = 13, .reps = 5};

_Static_assert(1 + 2 * SORTS + 2 * OTHERS <= (int)RING_CONTENDERS_MAX, "no room for all of them");

static bool add_sorts(struct ring *ring, unsigned workers)
{
    for (int i = 0; i < SORTS; i++) {
        struct contender *c = ring_add_weft(ring, &(weft_config){.workers = workers});
        if (!c)
            return false;
        c->name = sorts[i].name;
        c->fn = sorts[i].run;
    }
    return true;
}

static bool add_others(struct ring *ring, unsigned workers)
{
    for (int i = 0; i < OTHERS; i++)
        if (bench_has_peer(ring->run, others[i].peer) && (workers == 1 || others[i].all) &&
            !ring_add_peer(ring, others[i].peer, others[i].benchmark, others[i].name, workers))
            return false;
    return true;
}

static bool run_all(struct ring *ring)
{
    unsigned all = ring->run->workers;
    ring_add_twin(ring);
    ring->contenders[0].name = "qsort_r";
    bool good = add_others(ring, 1) && (all == 1 || add_others(ring, all)) && add_sorts(ring, 1) &&
                (all == 1 || add_sorts(ring, all)) && ring_make(ring) && ring_run(ring);
    if (good)
        ring_summarise(ring);
    return good;
}

/* ---- What came out ---- */

static const struct contender *find(const struct ring *ring, const char *name, unsigned workers)
{
    for (unsigned i = 0; i < ring->count; i++)
        if (ring->contenders[i].workers == workers && strcmp(ring->contenders[i].name, name) == 0)
            return &ring->contenders[i];
    return NULL;
}

static void claim(const struct ring *ring, const char *ours, const char *theirs, unsigned workers,
                  unsigned their_workers)
{
    char what[64];
    const struct contender *a = find(ring, ours, workers), *b = find(ring, theirs, their_workers);
    if (!a || !b)
        return;
    snprintf(what, sizeof what, "%s / %s, workers: %u", ours, theirs, workers);
    report_claim(ring->run->report, what, samples_ratio(&a->seconds, &b->seconds), REPORT_AT_MOST,
                 ring->size / SORTS_SIZES == SORTS_RANDOM ? 1 : 0);
}

static void print_all(struct ring *ring, const char *bench, const char *pattern)
{
    const struct report *report = ring->run->report;
    unsigned counts[] = {1, ring->run->workers};
    report_title(report, "%s: 2^%u numbers, %s\n", bench, ring->size % SORTS_SIZES, pattern);
    report_head(report, "element");
    for (unsigned i = 0; i < ring->count; i++) {
        ring->contenders[i].result.bench = bench;
        report_row(ring->run->report, &ring->contenders[i].result);
    }
    claim(ring, "any", "qsort_r", 1, 1);
    for (unsigned i = 0; i < 1 + (counts[1] > 1); i++) {
        claim(ring, "typed", "tbb", counts[i], counts[i]);
        claim(ring, "typed", "rayon", counts[i], counts[i]);
        claim(ring, "radix", "typed", counts[i], counts[i]);
        claim(ring, "radix", "rayon", counts[i], counts[i]);
    }
    report_title(report, "\n");
}

static const char *const names[SORTS_PATTERNS] = {
    "sorts/random", "sorts/sorted", "sorts/reversed", "sorts/few",
    "sorts/organ",  "sorts/runs",   "sorts/nearly",
};

int bench_sorts(const struct bench_run *run)
{
    struct ring ring;
    ring_begin(&ring, &contest, run);
    ring.size = SORTS_SIZE(run->pattern, ring.size);
    bool good = run_all(&ring);
    if (good)
        print_all(&ring, names[run->pattern], sorts_patterns[run->pattern]);
    ring_close(&ring);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
