/* SPDX-License-Identifier: MIT */
#include "protocols.h"

#include <stdio.h>

static const enum weft_sleep protocols[] = {
    [TICKLE] = WEFT_SLEEP_TICKLE,
    [TICKLE_SEQCST] = WEFT_SLEEP_TICKLE_SEQCST,
    [TICKLE_FLAG] = WEFT_SLEEP_TICKLE_FLAG,
    [TICKLE_SWAP] = WEFT_SLEEP_TICKLE_SWAP,
    [COUNTERS] = WEFT_SLEEP_COUNTERS,
    [COUNTERS_LOCAL] = WEFT_SLEEP_COUNTERS_LOCAL,
    [COUNTERS_BLOCKS] = WEFT_SLEEP_COUNTERS_BLOCKS,
    [COUNTERS_ALL] = WEFT_SLEEP_COUNTERS_ALL,
    [EVENTS] = WEFT_SLEEP_EVENTS,
};

_Static_assert(RING_CONTENDERS_MAX > PROTOCOLS, "no room for all protocols and the twin");

/* The pool knows what its protocol is called. */
static bool add(struct ring *ring, weft_config config, enum protocol protocol)
{
    config.sleep = protocols[protocol];
    struct contender *c = ring_add_weft(ring, &config);
    if (!c)
        return false;
    weft_pool_info info;
    weft_pool_get_info(c->pool, &info);
    c->name = info.sleep;
    return true;
}

bool protocols_run(struct ring *ring, const struct contest *contest, const struct bench_run *run,
                   const weft_config *config)
{
    ring_begin(ring, contest, run);
    ring_add_twin(ring);
    for (int i = 0; i < PROTOCOLS; i++)
        if (!add(ring, *config, (enum protocol)i))
            return false;
    if (!ring_make(ring) || !ring_run(ring))
        return false;
    ring_summarise(ring);
    return true;
}

struct contender *protocols_get(struct ring *ring, enum protocol protocol)
{
    return &ring->contenders[1 + protocol];
}

void protocols_report(struct ring *ring, const char *bench, enum report_panel panel,
                      const double plotted[PROTOCOLS])
{
    for (unsigned i = 0; i < ring->count; i++) {
        struct result *result = &ring->contenders[i].result;
        result->bench = bench;
        result->panel = panel;
        result->plotted = i == 0 ? 0 : plotted[i - 1];
        report_add(ring->run->report, result);
    }
}

/* ---- A table ---- */

void table_begin(struct table *table, const struct report *report)
{
}
