/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "advice.h"
#include "words.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMNS = 60, ROWS = 10 };

/* ---- What it is ---- */

static void put_state(FILE *out, const struct trace_info *info)
{
    if (!info->ended)
        fprintf(out, "The program did not end the trace: it was killed, or it still runs.\n");
    if (info->cut)
        fprintf(out, "The file was cut off: some of it is missing.\n");
    if (info->lost > 0)
        fprintf(out,
                "%" PRIu64 " records were lost: the file was full. What is here are the newest of "
                "each thread;\na larger file (WEFT_TRACE_MB, weft profile --size) has more.\n",
                info->lost);
    if (info->bad > 0)
        fprintf(out, "%" PRIu64 " records make no sense, and were skipped.\n", info->bad);
    if (info->unknown > 0)
        fprintf(out, "%" PRIu64 " records are of kinds that this program does not know.\n",
                info->unknown);
    if (info->rough)
        fprintf(out, "Times are rough: the trace was too short to measure the clock.\n");
}

static void put_head(FILE *out, const struct summary *s)
{
    const struct trace_info *info = trace_about(s->trace);
    const char *slash = strrchr(info->program, '/');
    unsigned others = s->threads - s->workers - s->guests;
    fprintf(out, "%s (process %u): %s, %s, %s: %s, %s", slash ? slash + 1 : "a program", info->pid,
            words_time(info->ns).text, words_count(s->events, "event").text,
            words_count(s->threads, "thread").text, words_count(s->workers, "worker").text,
            words_count(s->guests, "guest").text);
    fprintf(out, others > 0 ? ", %u outside\n" : "\n", others);
    put_state(out, info);
}

/* ---- Parallelism, work and path ---- */

static double column(const struct summary *s, unsigned first, unsigned count, unsigned i)
{
    double bin = (double)trace_about(s->trace)->ns / SUMMARY_BINS, sum = 0;
    unsigned from = first + i * count / COLUMNS, to = first + (i + 1) * count / COLUMNS;
    if (to == from)
        to++;
    for (unsigned k = from; k < to && k < SUMMARY_BINS; k++)
        sum += s->bins[k];
    return bin > 0 ? sum / (bin * (to - from)) : 0;
}

static unsigned bin_of(const struct summary *s, uint64_t ns)
{
    uint64_t whole = trace_about(s->trace)->ns;
    double bin = whole > 0 ? (double)ns * SUMMARY_BINS / (double)whole : 0;
    return bin < SUMMARY_BINS ? (unsigned)bin : SUMMARY_BINS - 1;
}

static void put_bar(FILE *out, const struct summary *s, bool blocks)
{
    static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    unsigned first = bin_of(s, s->first_job), count = bin_of(s, s->last_job) - first + 1;
    fputs("  |", out);
    for (unsigned i = 0; i < COLUMNS; i++) {
        double busy = column(s, first, count, i);
        if (blocks) {
            double share = s->most_busy > 0 ? busy / s->most_busy : 0;
            unsigned step = (unsigned)(share * 8 + 0.5);
            fputs(eighths[step == 0 && busy > 0 ? 1 : step > 8 ? 8 : step], out);
        } else {
            unsigned n = (unsigned)(busy + 0.5);
            fputc(n > 9 ? '+' : (int)('0' + n), out);
        }
    }
    fprintf(out, "|  %s, at most %u busy\n", words_time(s->last_job - s->first_job).text,
            s->most_busy);
}

static void put_parallelism(FILE *out, const struct summary *s, bool blocks)
{
    fprintf(out, "\nParallelism: %.2f threads busy on average, while there were jobs (%s)\n",
            s->active > 0 ? (double)s->area / (double)s->active : 0, words_time(s->active).text);
    put_bar(out, s, blocks);
    fputs("  busy threads, share of time:", out);
    for (unsigned i = 0; i < SUMMARY_LEVELS; i++)
        if (words_share(s->levels[i], s->active) >= 0.5)
            fprintf(out, "  %u%s: %.0f%%", i, i + 1 == SUMMARY_LEVELS ? "+" : "",
                    words_share(s->levels[i], s->active));
    fputc('\n', out);
}

static void put_path(FILE *out, const struct summary *s, struct names *names)
{
    fprintf(out, "\nWork: %s; critical path of this run: %s", words_time(s->area).text,
            words_time(s->path.ns).text);
    if (s->path.ns > 0)
        fprintf(out, "; limit of the speed-up: about %.2f", (double)s->area / (double)s->path.ns);
    fputs("\n  An estimate that holds for what was recorded: forks that nobody stole count as one "
          "piece,\n  and with more workers there might be more pieces.\n",
          out);
    for (unsigned i = 0; i < PATH_PARTS; i++) {
        uint64_t function = s->path.parts[i].function;
        if (words_share(s->path.parts[i].ns, s->path.ns) < 1)
            continue;
        fprintf(out, "  on the path: %8s  %s\n", words_time(s->path.parts[i].ns).text,
                function == PATH_BLOCKED ? "blocked"
                : function               ? words_function(names, function).text
                                         : "actors");
    }
}

/* ---- Threads ---- */

static void put_threads(FILE *out, const struct summary *s)
{
    enum { MOST = 64 };
    fprintf(out, "\n%-16s %8s %6s %8s %10s %7s %8s %8s %7s\n", "Thread", "number", "busy",
            "waiting", "searching", "asleep", "blocked", "jobs", "steals");
    for (unsigned i = 0; i < s->threads && i < MOST; i++) {
        const struct strand *strand = &s->strands[i];
        const uint64_t *time = strand->time;
        fprintf(out,
                "%-16.16s %8u %5.1f%% %7.1f%% %9.1f%% %6.1f%% %7.1f%% %8" PRIu64 " %7" PRIu64 "\n",
                words_thread(s->trace, (int)i).text, trace_thread(s->trace, i)->number,
                words_share(time[BUSY], s->active), words_share(time[WAITING], s->active),
                words_share(time[SEARCHING], s->active), words_share(time[ASLEEP], s->active),
                words_share(time[BLOCKED], s->active), strand->jobs, strand->steals);
    }
    if (s->threads > MOST)
        fprintf(out, "and %u more\n", s->threads - MOST);
}

/* ---- Waits ---- */

static void put_longest(FILE *out, const struct summary *s, struct names *names,
                        const struct longest *list, const char *title)
{
    if (list[0].ns == 0)
        return;
    fprintf(out, "\n%s\n", title);
    for (unsigned i = 0; i < SUMMARY_LONGEST && list[i].ns > 0; i++) {
        const struct longest *one = &list[i];
        fprintf(out, "  %8s  %s at %s: ", words_time(one->ns).text,
                words_thread(s->trace, (int)one->thread).text, words_time(one->begin).text);
        if (one->function)
            fprintf(out, "%s ", words_function(names, one->function).text);
        fprintf(out, "%s", words_text(one->text, one->size).text);
        if (one->ended)
            fprintf(out, ": %s", words_function(names, one->ended).text);
        if (one->ender >= 0)
            fprintf(out, "; ended by %s%s", words_thread(s->trace, one->ender).text,
                    one->outside ? ", outside" : "");
        fputc('\n', out);
    }
}

static void put_objects(FILE *out, struct summary *s, struct names *names)
{
    size_t count = s->objects.count;
    if (count == 0)
        return;
    fprintf(out, "\n%-48s %8s %10s %10s\n", "Blocked", "times", "total", "longest");
    for (size_t i = 0; i < count && i < ROWS; i++) {
        const struct row *row = &s->objects.rows[i];
        char what[2 * WORDS_SIZE + 2];
        snprintf(what, sizeof what, row->a ? "%s: %s" : "%s", words_text(row->text, row->size).text,
                 words_function(names, row->a).text);
        fprintf(out, "%-48.60s %8" PRIu64 " %10s %10s\n", what, row->count,
                words_time(row->total).text, words_time(row->most).text);
    }
}

/* ---- Steals and submissions ---- */

static void put_steals(FILE *out, const struct summary *s)
{
    uint64_t searching = 0;
    for (unsigned i = 0; i < s->threads; i++)
        searching += s->strands[i].time[SEARCHING];
    fprintf(out, "\nSteals: %" PRIu64, s->stolen.count);
    if (s->stolen.count > 0)
        fprintf(out, "; a stolen job ran for %s (median), %s at most; finding it took %s (median)",
                words_time(spread_median(&s->stolen)).text, words_time(s->stolen.most).text,
                words_time(spread_median(&s->finding)).text);
    fprintf(out, "; all searches: %s\n", words_time(searching).text);
    if (s->late.count > 0)
        fprintf(out, "Waits ended %s (median), %s at most, after what they waited for\n",
                words_time(spread_median(&s->late)).text, words_time(s->late.most).text);
    if (s->submitted > 0)
        fprintf(out, "Submissions: %" PRIu64 "; a task waited %s (median), %s at most, to begin\n",
                s->submitted, words_time(spread_median(&s->queued)).text,
                words_time(s->queued.most).text);
    if (s->publishes > 0)
        fprintf(out, "Forks and spawned jobs that thieves could find: %" PRIu64 "\n", s->publishes);
    if (s->spares > 0)
        fprintf(out, "Spares called: %" PRIu64 "\n", s->spares);
    if (s->cancels > 0)
        fprintf(out, "Cancelled: %" PRIu64 " groups\n", s->cancels);
}

/* ---- Tables ---- */

static void put_functions(FILE *out, const struct summary *s, struct names *names)
{
    if (s->functions.count == 0)
        return;
    fprintf(out, "\n%-40s %8s %8s %10s %10s\n", "Job", "count", "stolen", "total", "longest");
    for (size_t i = 0; i < s->functions.count && i < 2 * ROWS; i++) {
        const struct row *row = &s->functions.rows[i];
        fprintf(out, "%-40.80s %8" PRIu64 " %8" PRIu64 " %10s %10s\n",
                words_function(names, row->key).text, row->count, row->stolen,
                words_time(row->total).text, words_time(row->most).text);
    }
    if (s->functions.count > 2 * ROWS)
        fprintf(out, "and %zu more\n", s->functions.count - 2 * ROWS);
}

static void put_spans(FILE *out, const struct summary *s)
{
    if (s->spans.count > 0)
        fprintf(out, "\n%-40s %8s %10s %10s\n", "Span", "count", "total", "longest");
    for (size_t i = 0; i < s->spans.count && i < 2 * ROWS; i++) {
        const struct row *row = &s->spans.rows[i];
        fprintf(out, "%-40.80s %8" PRIu64 " %10s %10s\n", words_text(row->text, row->size).text,
                row->count, words_time(row->total).text, words_time(row->most).text);
    }
    if (s->marks.count > 0)
        fprintf(out, "\n%-40s %8s %10s %10s %10s\n", "Mark", "count", "least", "most", "last");
    for (size_t i = 0; i < s->marks.count && i < 2 * ROWS; i++) {
        const struct row *row = &s->marks.rows[i];
        fprintf(out, "%-40.80s %8" PRIu64 " %10" PRId64 " %10" PRId64 " %10" PRId64 "\n",
                words_text(row->text, row->size).text, row->count, row->least, row->high,
                row->last);
    }
}

static void put_actors(FILE *out, const struct summary *s)
{
    uint64_t turns = 0, total = 0;
    for (size_t i = 0; i < s->actors.count; i++) {
        turns += s->actors.rows[i].count;
        total += s->actors.rows[i].total;
    }
    if (s->actors.count == 0)
        return;
    fprintf(out, "\nActors: %zu, %" PRIu64 " turns, %" PRIu64 " moves, %.0f%% of all work\n",
            s->actors.count, turns, s->moves, words_share(total, s->area));
    if (s->delegations > 0)
        fprintf(out, "Right sides that actors gave away: %" PRIu64 ", and got back: %" PRIu64 "\n",
                s->delegations, s->given_back);
    if (s->limits > 0)
        fprintf(out, "Actors, or parts of them, that had to end: %" PRIu64 "\n", s->limits);
    fprintf(out, "%-40s %8s %10s %10s %6s\n", "Actor", "turns", "total", "longest", "share");
    for (size_t i = 0; i < s->actors.count && i < ROWS; i++) {
        const struct row *row = &s->actors.rows[i];
        struct words name = words_text(row->text ? row->text : "", row->size);
        if (!name.text[0])
            snprintf(name.text, sizeof name.text, "0x%" PRIx64, row->key);
        fprintf(out, "%-40.80s %8" PRIu64 " %10s %10s %5.1f%%\n", name.text, row->count,
                words_time(row->total).text, words_time(row->most).text,
                words_share(row->total, s->area));
    }
}

void report_put(FILE *out, struct summary *s, struct names *names, bool blocks)
{
    struct table *tables[] = {&s->functions, &s->objects, &s->spans, &s->marks, &s->actors};
    for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
        table_sort(tables[i]);
    put_head(out, s);
    advice_put(out, s, names);
    put_parallelism(out, s, blocks);
    put_path(out, s, names);
    put_threads(out, s);
    put_longest(out, s, names, s->waits, "Longest waits of jobs");
    put_longest(out, s, names, s->blocks, "Longest blocks");
    put_objects(out, s, names);
    put_steals(out, s);
    put_functions(out, s, names);
    put_spans(out, s);
    put_actors(out, s);
}
