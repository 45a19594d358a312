/* SPDX-License-Identifier: MIT */
/* What a programmer would call: weft's sorts beside those of other libraries. */
#include "sorts.h"

#include "../contest.h"
#include "../match.h"

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

_Static_assert(1 + 2 * SORTS + 2 * OTHERS <= (int)MATCH_CONTENDERS_MAX, "no room for all of them");

static bool add_sorts(struct match *match, unsigned workers)
{
    for (int i = 0; i < SORTS; i++) {
        struct contender *c = match_add_weft(match, &(weft_config){.workers = workers});
        if (!c)
            return false;
        c->name = sorts[i].name;
        c->fn = sorts[i].run;
    }
    return true;
}

static bool add_others(struct match *match, unsigned workers)
{
    for (int i = 0; i < OTHERS; i++)
        if (bench_has_peer(match->run, others[i].peer) && (workers == 1 || others[i].all) &&
            !match_add_peer(match, others[i].peer, others[i].benchmark, others[i].name, workers))
            return false;
    return true;
}

static bool run_all(struct match *match)
{
    unsigned all = match->run->workers;
    match_add_twin(match);
    match->contenders[0].name = "qsort_r";
    bool good = add_others(match, 1) && (all == 1 || add_others(match, all)) &&
                add_sorts(match, 1) && (all == 1 || add_sorts(match, all)) && match_make(match) &&
                match_run(match);
    if (good)
        match_summarise(match);
    return good;
}

/* ---- What came out ---- */

static const struct contender *find(const struct match *match, const char *name, unsigned workers)
{
    for (unsigned i = 0; i < match->count; i++)
        if (match->contenders[i].workers == workers && strcmp(match->contenders[i].name, name) == 0)
            return &match->contenders[i];
    return NULL;
}

static void claim(const struct match *match, const char *ours, const char *theirs, unsigned workers,
                  unsigned their_workers)
{
    char what[64];
    const struct contender *a = find(match, ours, workers), *b = find(match, theirs, their_workers);
    if (!a || !b)
        return;
    snprintf(what, sizeof what, "%s / %s, workers: %u", ours, theirs, workers);
    report_claim(match->run->report, what, samples_ratio(&a->seconds, &b->seconds), REPORT_AT_MOST,
                 match->size / SORTS_SIZES == SORTS_RANDOM ? 1 : 0);
}

static void print_all(struct match *match, const char *bench, const char *pattern)
{
    const struct report *report = match->run->report;
    unsigned counts[] = {1, match->run->workers};
    report_title(report, "%s: 2^%u numbers, %s\n", bench, match->size % SORTS_SIZES, pattern);
    report_head(report, "element");
    for (unsigned i = 0; i < match->count; i++) {
        match->contenders[i].result.bench = bench;
        report_row(match->run->report, &match->contenders[i].result);
    }
    claim(match, "any", "qsort_r", 1, 1);
    for (unsigned i = 0; i < 1 + (counts[1] > 1); i++) {
        claim(match, "typed", "tbb", counts[i], counts[i]);
        claim(match, "typed", "rayon", counts[i], counts[i]);
        claim(match, "radix", "typed", counts[i], counts[i]);
        claim(match, "radix", "rayon", counts[i], counts[i]);
    }
    report_title(report, "\n");
}

static const char *const names[SORTS_PATTERNS] = {
    "sorts/random", "sorts/sorted", "sorts/reversed", "sorts/few",
    "sorts/organ",  "sorts/runs",   "sorts/nearly",
};

int bench_sorts(const struct bench_run *run)
{
    struct match match;
    match_begin(&match, &contest, run);
    match.size = SORTS_SIZE(run->pattern, match.size);
    bool good = run_all(&match);
    if (good)
        print_all(&match, names[run->pattern], sorts_patterns[run->pattern]);
    match_close(&match);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
