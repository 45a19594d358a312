/* SPDX-License-Identifier: MIT */
#include "protocols.h"

#include <stdio.h>

/* Called as WEFT_SLEEP calls them. */
static const struct {
    enum weft_sleep sleep;
    const char *name;
} protocols[] = {
    [TICKLE] = {WEFT_SLEEP_TICKLE, "tickle"},
    [TICKLE_SEQCST] = {WEFT_SLEEP_TICKLE_SEQCST, "tickle-seqcst"},
    [TICKLE_FLAG] = {WEFT_SLEEP_TICKLE_FLAG, "tickle-flag"},
    [TICKLE_SWAP] = {WEFT_SLEEP_TICKLE_SWAP, "tickle-swap"},
    [COUNTERS] = {WEFT_SLEEP_COUNTERS, "counters"},
    [COUNTERS_LOCAL] = {WEFT_SLEEP_COUNTERS_LOCAL, "counters-local"},
    [COUNTERS_BLOCKS] = {WEFT_SLEEP_COUNTERS_BLOCKS, "counters-blocks"},
    [COUNTERS_ALL] = {WEFT_SLEEP_COUNTERS_ALL, "counters-all"},
    [EVENTS] = {WEFT_SLEEP_EVENTS, "events"},
};

_Static_assert((int)RING_CONTENDERS_MAX > (int)PROTOCOLS, "no room for the twin and all protocols");

bool protocols_run(struct ring *ring, const struct contest *contest, const struct bench_run *run,
                   const weft_config *config)
{
    ring_begin(ring, contest, run);
    ring_add_twin(ring);
    for (int i = 0; i < PROTOCOLS; i++) {
        weft_config with = *config;
        with.sleep = protocols[i].sleep;
        struct contender *c = ring_add_weft(ring, &with);
        if (!c)
            return false;
        c->name = protocols[i].name;
    }
    if (!ring_make(ring) || !ring_run(ring))
        return false;
    ring_summarise(ring);
    return true;
}

const struct contender *protocols_twin(const struct ring *ring)
{
    return &ring->contenders[0];
}

const struct contender *protocols_get(const struct ring *ring, enum protocol protocol)
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

static void print_cell(const struct table *table, const struct column *column, int row,
                       const struct report *report)
{
    char value[24], published[24] = "";
    snprintf(value, sizeof value, "%.2f%s", column->values[row], table->unit);
    if (column->published[row])
        snprintf(published, sizeof published, "(%s)", column->published[row]);
    report_title(report, " %11s %-8s", value, published);
}

void table_print(const struct table *table, const struct report *report)
{
    report_title(report, "  %-16s", "");
    for (unsigned i = 0; i < table->count; i++)
        report_title(report, " %-20s", table->columns[i].head);
    report_title(report, "\n");
    for (int row = 0; row < PROTOCOLS; row++) {
        report_title(report, "  %-16s", protocols[row].name);
        for (unsigned i = 0; i < table->count; i++)
            print_cell(table, &table->columns[i], row, report);
        report_title(report, "\n");
    }
}
