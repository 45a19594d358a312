/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const order_names[ORDERS] = {"place", "busy", "jobs", "steals", "wait", "memory"};

/* ---- A line ---- */

static struct line *begin(struct lines *lines)
{
    static struct line waste;
    if (lines->count == lines->room) {
        size_t room = lines->room ? 2 * lines->room : 64;
        struct line *more = realloc(lines->all, room * sizeof *more);
        if (!more) {
            lines->failed = true;
            memset(&waste, 0, sizeof waste);
            return &waste;
        }
        lines->all = more;
        lines->room = room;
    }
    struct line *line = &lines->all[lines->count++];
    memset(line, 0, sizeof *line);
    return line;
}

void lines_free(struct lines *lines)
{
    free(lines->all);
    *lines = (struct lines){.width = lines->width};
}

/* Adds to the line, up to the width. One byte is one column: others become question marks. */
static void put_text(struct lines *lines, struct line *line, enum look look, const char *text)
{
    size_t at = strlen(line->text);
    for (; *text && at < lines->width; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x80 && c < 0xc0)
            continue; /* the rest of a character in UTF-8 */
        line->text[at] = c < ' ' || c >= 127 ? '?' : (char)c;
        line->look[at++] = (unsigned char)look;
    }
}

static __attribute__((format(printf, 4, 5))) void put(struct lines *lines, struct line *line,
                                                      enum look look, const char *format, ...)
{
    char text[LINE_WIDEST + 1];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put_text(lines, line, look, text);
}

/* Of text that may be longer than the width: goes on in the next line, at a blank. */
static void put_long(struct lines *lines, enum look look, const char *text)
{
    size_t room = lines->width > 10 ? lines->width : 10;
    bool first = true;
    while (*text) {
        size_t indent = first ? 0 : 4, most = room - indent, size = strcspn(text, "\n");
        if (size > most) {
            size = most;
            while (size > most / 2 && text[size] != ' ')
                size--;
        }
        put(lines, begin(lines), look, "%*s%.*s", (int)indent, "", (int)size, text);
        text += size;
        first = *text == '\n';
        text += *text == '\n' || *text == ' ';
    }
}

/* ---- Numbers ---- */

/* At most five columns. */
static const char *rate(double value, char out[16])
{
    if (value < 0.05)
        snprintf(out, 16, "0");
    else if (value < 10)
        snprintf(out, 16, "%.1f", value);
    else if (value < 99999.5)
        snprintf(out, 16, "%.0f", value);
    else if (value < 9999500)
        snprintf(out, 16, "%.0fk", value / 1e3);
    else
        snprintf(out, 16, "%.0fM", value / 1e6 < 9999 ? value / 1e6 : 9999);
    return out;
}

static const char *number(uint64_t value, char out[16])
{
    if (value < 10)
        snprintf(out, 16, "%u", (unsigned)value);
    else
        rate((double)value, out);
    return out;
}

static const char *bytes(uint64_t value, char out[16])
{
    static const char units[] = "BKMGTPE";
    double v = (double)value;
    int unit = 0;
    for (; v >= 1024 && unit < 6; unit++)
        v /= 1024;
    snprintf(out, 16, unit && v < 10 ? "%.1f%c" : "%.0f%c", v, units[unit]);
    return out;
}

static const char *span(double seconds, char out[16])
{
    if (seconds < 0)
        snprintf(out, 16, "-");
    else if (seconds < 1)
        snprintf(out, 16, "%.0fms", seconds * 1e3);
    else if (seconds < 100)
        snprintf(out, 16, "%.1fs", seconds);
    else if (seconds < 6000)
        snprintf(out, 16, "%.0fm", seconds / 60);
    else
        snprintf(out, 16, "%.0fh", seconds / 3600 < 9999 ? seconds / 3600 : 9999);
    return out;
}

static int percent(double share)
{
    return share < 0 ? 0 : share > 99 ? 9900 : (int)(share * 100 + 0.5);
}

/* ---- Bars ---- */

static void put_bar(struct lines *lines, struct line *line, const double shares[SHARES],
                    unsigned size)
{
    static const char letters[SHARES + 1] = "#+.!-";
    double sum = 0;
    unsigned done = 0;
    for (int i = 0; i < SHARES; i++) {
        sum += shares[i];
        unsigned end = i == SHARES - 1 ? size : (unsigned)(sum * size + 0.5);
        char piece[2] = {letters[i], 0};
        for (; done < end && done < size; done++)
            put_text(lines, line, (enum look)(LOOK_BUSY + i), piece);
    }
    put_text(lines, line, LOOK_PLAIN, " ");
}

/* ---- Pools ---- */

static void put_pools(struct lines *lines, const struct sample *sample, int only)
{
    char a[16], b[16], c[16], d[16];
    bool wide = lines->width >= 120;
    unsigned bar = wide ? 40 : 12;
    struct line *head = begin(lines);
    put(lines, head, LOOK_HEAD, "%-15s %7s %6s %-*s  BUSY%s QUEUE JOBS/s STEAL/s WAKE/s", "POOL",
        "WORKERS", "GUESTS", (int)bar, "TIME", wide ? " SEARCH ASLEEP BLOCKED" : "");
    for (size_t i = 0; i < sample->pool_count; i++) {
        const struct sample_pool *pool = &sample->pools[i];
        if (only >= 0 && (size_t)only != i)
            continue;
        struct line *line = begin(lines);
        put(lines, line, LOOK_PLAIN, "%-15s %7u %6u ", pool->name, pool->workers, pool->guests);
        put_bar(lines, line, pool->shares, bar);
        put(lines, line, LOOK_GOOD, "%4d%%", percent(pool->shares[SHARE_BUSY]));
        if (wide)
            put(lines, line, LOOK_PLAIN, " %5d%% %5d%% %6d%%",
                percent(pool->shares[SHARE_SEARCHING]), percent(pool->shares[SHARE_ASLEEP]),
                percent(pool->shares[SHARE_BLOCKED]));
        put(lines, line, pool->queued ? LOOK_TITLE : LOOK_PLAIN, " %5s", number(pool->queued, d));
        put(lines, line, LOOK_PLAIN, " %6s %7s %6s", rate(pool->rates.jobs, a),
            rate(pool->rates.steals, b), rate(pool->rates.wakes, c));
    }
    if (sample->left[WEFT_STATS_POOLS])
        put(lines, begin(lines), LOOK_FAINT, "and %u more pools", sample->left[WEFT_STATS_POOLS]);
}

/* ---- Workers ---- */

static enum look look_of(const char *state)
{
    return strcmp(state, "busy") == 0 || strcmp(state, "running") == 0 ? LOOK_GOOD
           : strcmp(state, "blocked") == 0                             ? LOOK_BAD
           : strcmp(state, "asleep") == 0 || strcmp(state, "outside") == 0 ||
                   strcmp(state, "over") == 0
               ? LOOK_FAINT
               : LOOK_PLAIN;
}

struct place {
    double key; /* larger comes first */
    size_t i;
};

static int compare(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->i < b->i ? -1 : a->i > b->i;
}

static double key_of_worker(const struct sample_worker *worker, enum order order)
{
    switch (order) {
    case ORDER_BUSY:
        return worker->shares[SHARE_BUSY];
    case ORDER_JOBS:
        return worker->rates.jobs;
    case ORDER_STEALS:
        return worker->rates.steals;
    case ORDER_WAIT:
        return worker->waits[0] ? worker->lasts : -1;
    default: /* guests that are outside come last */
        return strcmp(worker->state, "outside") == 0 ? -1 : 0;
    }
}

static double key_of_actor(const struct sample_actor *actor, enum order order)
{
    switch (order) {
    case ORDER_BUSY:
        return actor->share;
    case ORDER_JOBS:
        return actor->turns;
    case ORDER_STEALS:
        return actor->steals;
    case ORDER_WAIT:
        return actor->waits[0] ? actor->lasts : -1;
    case ORDER_MEMORY:
        return (double)actor->memory;
    default:
        return 0;
    }
}

enum { WHO_WIDE = 26, WHO_NARROW = 16 };

static void head_workers(struct lines *lines, bool wide, unsigned bar)
{
    struct line *line = begin(lines);
    put(lines, line, LOOK_HEAD, "%-*s %-9s %6s %-*s  BUSY", wide ? WHO_WIDE : WHO_NARROW, "THREAD",
        "STATE", "SINCE", (int)bar, "TIME");
    if (wide)
        put(lines, line, LOOK_HEAD, " SEARCH ASLEEP BLOCKED  CPU     TID");
    put(lines, line, LOOK_HEAD, " JOBS/s STEAL/s%s RUNS, WAITS FOR", wide ? " WAKE/s" : "");
}

/* "worker 0 of render"; where there is little room, without the "of". */
static void put_who(struct lines *lines, struct line *line, const char *who, bool wide)
{
    const char *of = wide ? NULL : strstr(who, " of ");
    int first = of ? (int)(of - who) : (int)strlen(who), room = wide ? WHO_WIDE : WHO_NARROW;
    char text[SAMPLE_WHO + 1];
    snprintf(text, sizeof text, "%.*s%s", first, who, of ? of + strlen(" of") : "");
    put(lines, line, LOOK_PLAIN, "%-*.*s ", room, room, text);
}

static void put_worker(struct lines *lines, const struct sample_worker *worker, bool wide,
                       unsigned bar)
{
    char a[16], b[16], c[16];
    struct line *line = begin(lines);
    enum look look = look_of(worker->state);
    put_who(lines, line, worker->who, wide);
    put(lines, line, look, "%-9s ", worker->state);
    put(lines, line, LOOK_FAINT, "%6s ", span(worker->lasts, a));
    put_bar(lines, line, worker->shares, bar);
    put(lines, line, LOOK_PLAIN, "%4d%%", percent(worker->shares[SHARE_BUSY]));
    if (wide)
        put(lines, line, LOOK_PLAIN, " %5d%% %5d%% %6d%% %4d%% %7d",
            percent(worker->shares[SHARE_SEARCHING]), percent(worker->shares[SHARE_ASLEEP]),
            percent(worker->shares[SHARE_BLOCKED]), percent(worker->cpu), worker->thread);
    put(lines, line, LOOK_PLAIN, " %6s %7s", rate(worker->rates.jobs, a),
        rate(worker->rates.steals, b));
    if (wide)
        put(lines, line, LOOK_PLAIN, " %6s", rate(worker->rates.wakes, c));
    if (worker->waits[0])
        put(lines, line, look == LOOK_BAD ? LOOK_BAD : LOOK_PLAIN, " %s", worker->waits);
    if (worker->runs[0])
        put(lines, line, LOOK_PLAIN, worker->waits[0] ? ", in %s" : " %s", worker->runs);
}

static bool is_shown(const struct sample *sample, uint64_t pool, int only)
{
    return only < 0 || ((size_t)only < sample->pool_count && sample->pools[only].address == pool);
}

static void put_workers(struct lines *lines, const struct sample *sample, struct choice choice)
{
    bool wide = lines->width >= 120;
    unsigned bar = wide ? 30 : 8;
    struct place *places = calloc(sample->worker_count + 1, sizeof *places);
    size_t outside = 0;
    lines->failed |= !places;
    head_workers(lines, wide, bar);
    for (size_t i = 0; places && i < sample->worker_count; i++)
        places[i] = (struct place){key_of_worker(&sample->workers[i], choice.order), i};
    if (places)
        qsort(places, sample->worker_count, sizeof *places, compare);
    for (size_t i = 0; places && i < sample->worker_count; i++) {
        const struct sample_worker *worker = &sample->workers[places[i].i];
        bool gone = strcmp(worker->state, "outside") == 0 && worker->shares[SHARE_OUTSIDE] > 0.999;
        if (!is_shown(sample, worker->pool, choice.pool))
            continue;
        outside += gone;
        if (!gone || strcmp(worker->kind, "worker") == 0)
            put_worker(lines, worker, wide, bar);
    }
    if (outside)
        put(lines, begin(lines), LOOK_FAINT, "%zu place%s for threads that are outside now",
            outside, outside == 1 ? "" : "s");
    if (sample->left[WEFT_STATS_WORKERS])
        put(lines, begin(lines), LOOK_FAINT, "and %u more threads",
            sample->left[WEFT_STATS_WORKERS]);
    free(places);
}

/* ---- Actors ---- */

static void put_actor(struct lines *lines, const struct sample_actor *actor, bool wide)
{
    char a[16], b[16], c[16];
    struct line *line = begin(lines);
    int room = wide ? WHO_WIDE : WHO_NARROW;
    put(lines, line, LOOK_PLAIN, "%-*.*s ", room, room, actor->name[0] ? actor->name : "-");
    put(lines, line, look_of(actor->state), "%-9s ", actor->state);
    put(lines, line, LOOK_FAINT, "%6s ", span(actor->lasts, a));
    put(lines, line, LOOK_PLAIN, "%4d%% %4d%% %6s %5s/%-5s", percent(actor->share),
        percent(actor->ready), rate(actor->turns, a), bytes(actor->memory, b),
        bytes(actor->limit, c));
    if (wide)
        put(lines, line, LOOK_PLAIN, " %7s %8d", rate(actor->steals, a), actor->executor);
    put(lines, line, LOOK_PLAIN, " %s%s%s", actor->waits, actor->waits[0] ? ", in " : "",
        actor->runs);
}

static void put_actors(struct lines *lines, const struct sample *sample, struct choice choice)
{
    bool wide = lines->width >= 120;
    struct place *places = calloc(sample->actor_count + 1, sizeof *places);
    lines->failed |= !places;
    if (sample->actor_count == 0 || !places) {
        free(places);
        return;
    }
    begin(lines);
    put(lines, begin(lines), LOOK_HEAD,
        "%-*s %-9s %6s  RUNS READY TURN/s  MEM/LIMIT  %s WAITS FOR, IN",
        wide ? WHO_WIDE : WHO_NARROW, "ACTOR", "STATE", "SINCE", wide ? "STEAL/s EXECUTOR" : "");
    for (size_t i = 0; i < sample->actor_count; i++)
        places[i] = (struct place){key_of_actor(&sample->actors[i], choice.order), i};
    qsort(places, sample->actor_count, sizeof *places, compare);
    for (size_t i = 0; i < sample->actor_count; i++) {
        const struct sample_actor *actor = &sample->actors[places[i].i];
        if (is_shown(sample, actor->pool, choice.pool))
            put_actor(lines, actor, wide);
    }
    if (sample->left[WEFT_STATS_ACTORS])
        put(lines, begin(lines), LOOK_FAINT, "and %u more actors", sample->left[WEFT_STATS_ACTORS]);
    free(places);
}

/* ---- Who waits for whom ---- */

static void put_circle(struct lines *lines, const struct sample *sample)
{
    char text[LINE_WIDEST] = "in a circle: ";
    int i = sample->circle;
    do {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s -> ", sample_who(sample, i));
        i = sample_next(sample, i);
    } while (i != sample->circle && i >= 0);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s", sample_who(sample, sample->circle));
    put_long(lines, LOOK_BAD, text);
}

static void put_waits(struct lines *lines, const struct sample *sample)
{
    char text[SAMPLE_WHO + SAMPLE_WORDS + 40], a[16];
    bool any = false;
    size_t all = sample->worker_count + sample->actor_count;
    for (size_t i = 0; i < all; i++) {
        bool worker = i < sample->worker_count;
        const struct sample_actor *actor =
            worker ? NULL : &sample->actors[i - sample->worker_count];
        const char *waits = worker ? sample->workers[i].waits : actor->waits;
        double lasts = worker ? sample->workers[i].lasts : actor->lasts;
        if (!waits[0] || (actor && !actor->needs))
            continue;
        if (!any) {
            begin(lines);
            put(lines, begin(lines), LOOK_HEAD, "WHO WAITS FOR WHOM");
        }
        any = true;
        snprintf(text, sizeof text, worker ? "%s %s" : "actor '%s' %s", sample_who(sample, (int)i),
                 waits);
        size_t used = strlen(text);
        if (lasts >= 0)
            snprintf(text + used, sizeof text - used, ", for %s", span(lasts, a));
        put_long(lines, LOOK_PLAIN, text);
    }
    if (sample->circle >= 0)
        put_circle(lines, sample);
}

/* ---- All of it ---- */

static void put_process(struct lines *lines, const struct sample *sample)
{
    char a[16], b[16], c[16];
    const struct process *process = &sample->process;
    struct line *line = begin(lines);
    put(lines, line, LOOK_TITLE, "%s", process->name);
    put(lines, line, LOOK_PLAIN, " %d: CPU %d%%, memory %s, threads %u, pools %zu, actors %zu, %s",
        (int)process->pid, percent(sample->cpu), bytes(process->memory, b), process->threads,
        sample->pool_count + sample->left[WEFT_STATS_POOLS],
        sample->actor_count + sample->left[WEFT_STATS_ACTORS], span(sample->age, a));
    if (lines->width >= 120)
        put(lines, line, LOOK_FAINT, " old; shares and rates are those of the last %s",
            span(sample->seconds, c));
    if (process->state == 'T' || process->state == 't')
        put(lines, begin(lines), LOOK_BAD, "The process is stopped, by a signal or a debugger.");
    if (sample->report) {
        put(lines, begin(lines), LOOK_BAD, "A deadlock was reported %s ago; see below.",
            span(sample->reported, a));
    } else if (sample->circle >= 0) {
        put(lines, begin(lines), LOOK_BAD, "Some wait for each other; see below.");
    } else if (sample->stands_still) {
        put(lines, begin(lines), LOOK_BAD, "It stands still: somebody waits, and nobody works.");
    }
}

static void put_legend(struct lines *lines)
{
    struct line *line = begin(lines);
    put(lines, line, LOOK_FAINT, "TIME: ");
    put(lines, line, LOOK_BUSY, "#");
    put(lines, line, LOOK_FAINT, " busy  ");
    put(lines, line, LOOK_SEARCHING, "+");
    put(lines, line, LOOK_FAINT, " searching  ");
    put(lines, line, LOOK_ASLEEP, ".");
    put(lines, line, LOOK_FAINT, " asleep  ");
    put(lines, line, LOOK_BLOCKED, "!");
    put(lines, line, LOOK_FAINT, " blocked  ");
    put(lines, line, LOOK_OUTSIDE, "-");
    put(lines, line, LOOK_FAINT, " outside the pool");
}

void lines_put_sample(struct lines *lines, const struct sample *sample, struct choice choice)
{
    put_process(lines, sample);
    put_legend(lines);
    begin(lines);
    put_pools(lines, sample, choice.pool);
    begin(lines);
    put_workers(lines, sample, choice);
    put_actors(lines, sample, choice);
    put_waits(lines, sample);
    if (sample->report) {
        begin(lines);
        put(lines, begin(lines), LOOK_HEAD, "WHAT WAS REPORTED");
        put_long(lines, LOOK_PLAIN, sample->report);
    }
}

static void put_listed(struct lines *lines, const struct listed *one, bool wide)
{
    char a[16], b[16], c[16], d[16];
    struct line *line = begin(lines);
    if (!one->good) {
        put(lines, line, LOOK_FAINT, "%8d %s", (int)one->pid, one->why);
        return;
    }
    const struct sample *sample = &one->sample;
    struct sample_pool sum = {.workers = 0};
    for (size_t i = 0; i < sample->pool_count; i++) {
        const struct sample_pool *pool = &sample->pools[i];
        sum.workers += pool->workers;
        sum.queued += pool->queued;
        sum.rates.jobs += pool->rates.jobs;
        sum.rates.steals += pool->rates.steals;
        for (int k = 0; k < SHARES; k++)
            sum.shares[k] += pool->shares[k] * pool->workers;
    }
    for (int k = 0; k < SHARES && sum.workers; k++)
        sum.shares[k] /= sum.workers;
    put(lines, line, LOOK_PLAIN, "%8d %-*.*s %5zu %7u ", (int)one->pid, wide ? 30 : 15,
        wide ? 30 : 15, sample->process.name, sample->pool_count, sum.workers);
    put_bar(lines, line, sum.shares, wide ? 40 : 10);
    put(lines, line, LOOK_PLAIN, "%4d%% %5d%% %5s %6s %7s %6zu", percent(sum.shares[SHARE_BUSY]),
        percent(sample->cpu), number(sum.queued, a), rate(sum.rates.jobs, b),
        rate(sum.rates.steals, c), sample->actor_count + sample->left[WEFT_STATS_ACTORS]);
    if (wide)
        put(lines, line, LOOK_PLAIN, " %6s", bytes(sample->process.memory, d));
    if (sample->report || sample->circle >= 0 || sample->stands_still)
        put(lines, line, LOOK_BAD, "%s",
            sample->report || sample->circle >= 0 ? " deadlock" : " still");
}

void lines_put_list(struct lines *lines, const struct listed *all, size_t count)
{
    bool wide = lines->width >= 120;
    put(lines, begin(lines), LOOK_HEAD,
        "%8s %-*s POOLS WORKERS %-*s  BUSY   CPU QUEUE JOBS/s STEAL/s ACTORS%s", "PID",
        wide ? 30 : 15, "PROGRAM", wide ? 40 : 10, "TIME", wide ? " MEMORY" : "");
    for (size_t i = 0; i < count; i++)
        put_listed(lines, &all[i], wide);
}
