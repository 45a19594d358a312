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
    [COUNTERS_TWO] = {WEFT_SLEEP_COUNTERS_TWO, "counters-two"},
    [EVENTS] = {WEFT_SLEEP_EVENTS, "events"},
    [EVENTS_PLAIN] = {WEFT_SLEEP_EVENTS_PLAIN, "events-plain"},
    [EVENTS_LATCH] = {WEFT_SLEEP_EVENTS_LATCH, "events-latch"},
};

enum weft_fork road_fork(enum road road)
{
    return road == LAZY ? WEFT_FORK_LAZY : WEFT_FORK_EAGER;
}

const char *road_name(enum road road)
{
    return road == LAZY ? "lazy" : "eager";
}

_Static_assert((int)MATCH_CONTENDERS_MAX > (int)PROTOCOLS,
               "no room for the twin and all protocols");

bool protocols_run(struct match *match, const struct contest *contest, const struct bench_run *run,
                   const weft_config *config)
{
    match_begin(match, contest, run);
    match_add_twin(match);
    for (int i = 0; i < PROTOCOLS; i++) {
        weft_config with = *config;
        with.sleep = protocols[i].sleep;
        struct contender *c = match_add_weft(match, &with);
        if (!c)
            return false;
        c->name = protocols[i].name;
    }
    if (!match_make(match) || !match_run(match))
        return false;
    match_summarise(match);
    return true;
}

const struct contender *protocols_twin(const struct match *match)
{
    return &match->contenders[0];
}

const struct contender *protocols_get(const struct match *match, enum protocol protocol)
{
    return &match->contenders[1 + protocol];
}

void protocols_report(struct match *match, struct column *column, double jobs, const char *bench,
                      enum report_panel panel, const double *plotted)
{
    for (unsigned i = 0; i < match->count; i++) {
        struct contender *c = &match->contenders[i];
        struct result *result = &c->result;
        result->bench = bench;
        result->panel = panel;
        result->plotted = i == 0 || !plotted ? 0 : plotted[i - 1];
        if (i > 0) {
            column->wakes[i - 1] = samples_summary(&c->wakes).median / jobs;
            result->measured = true;
            result->value = column->wakes[i - 1];
        }
        report_add(match->run->report, result);
    }
}

/* ---- A table ---- */

static bool is_met(const struct said *said, double value)
{
    return value >= said->low && value <= said->high;
}

/* True: marked. */
static bool print_cell(const struct table *table, const struct column *column, int row,
                       const struct report *report)
{
    const struct said *said = &column->said[row];
    bool marked = said->text && !is_met(said, column->values[row]);
    char value[24];
    snprintf(value, sizeof value, "%.2f%s", column->values[row], table->unit);
    report_title(report, " %11s %-7s%s", value, said->text ? said->text : "", marked ? "*" : " ");
    return marked;
}

static bool has_said(const struct table *table)
{
    for (unsigned i = 0; i < table->count; i++)
        for (int row = 0; row < PROTOCOLS; row++)
            if (table->columns[i].said[row].text)
                return true;
    return false;
}

static void print_heads(const struct table *table, const struct report *report)
{
    report_title(report, "  %-16s", "");
    for (unsigned i = 0; i < table->count; i++)
        report_title(report, " %-20s", table->columns[i].head);
    if (has_said(table)) {
        report_title(report, "\n  %-16s", "");
        for (unsigned i = 0; i < table->count; i++)
            report_title(report, " %11s %-8s", "here", "document");
    }
    report_title(report, "\n");
}

static void print_wakes(const struct table *table, const struct report *report)
{
    report_title(report, "  wake-ups for each job:\n");
    for (int row = 0; row < PROTOCOLS; row++) {
        report_title(report, "  %-16s", protocols[row].name);
        for (unsigned i = 0; i < table->count; i++)
            report_title(report, " %11.3f %8s", table->columns[i].wakes[row], "");
        report_title(report, "\n");
    }
}

void table_print(const struct table *table, const struct report *report)
{
    bool marked = false;
    print_heads(table, report);
    for (int row = 0; row < PROTOCOLS; row++) {
        report_title(report, "  %-16s", protocols[row].name);
        for (unsigned i = 0; i < table->count; i++)
            marked |= print_cell(table, &table->columns[i], row, report);
        report_title(report, "\n");
    }
    if (marked)
        report_title(report, "  * not what the document says\n");
    print_wakes(table, report);
}
