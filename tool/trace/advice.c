/* SPDX-License-Identifier: MIT */
#include "advice.h"

#include "words.h"

#include <inttypes.h>
#include <string.h>

enum {
    ADVICE_MOST = 5,
    LARGE = 20,       /* percent of the active time: worth a line */
    SHORT_NS = 20000, /* a stolen job that is shorter hardly pays: a thief may have to wake up */
    STEALS_LEAST = 8, /* for what is said of stolen jobs in general */
    BLOCKS_LEAST = 3, /* for what is said of a mutex in general */
};

struct advice {
    uint64_t weight; /* time that it is about */
    char text[6 * WORDS_SIZE];
};

struct advices {
    struct advice list[ADVICE_MOST];
    unsigned count;
    const struct summary *s;
    struct names *names;
};

/* The heaviest come first. The place for a new one, or NULL. */
static struct advice *advice(struct advices *all, uint64_t weight)
{
    unsigned i = all->count < ADVICE_MOST ? all->count : ADVICE_MOST - 1;
    if (all->count == ADVICE_MOST && all->list[i].weight >= weight)
        return NULL;
    for (; i > 0 && all->list[i - 1].weight < weight; i--)
        all->list[i] = all->list[i - 1];
    all->count += all->count < ADVICE_MOST;
    all->list[i].weight = weight;
    return &all->list[i];
}

#define ADVISE(all, weight, ...)                                  \
    do {                                                          \
        struct advice *new_ = advice(all, weight);                \
        if (new_)                                                 \
            snprintf(new_->text, sizeof new_->text, __VA_ARGS__); \
    } while (0)

static bool is_large(const struct summary *s, uint64_t ns)
{
    return ns > 0 && words_share(ns, s->active) >= LARGE;
}

static void one_long_job(struct advices *all)
{
    const struct summary *s = all->s;
    const struct longest *wait = &s->lonely;
    if (!is_large(s, wait->ns))
        return;
    ADVISE(all, wait->ns,
           "one long job that another waits for: %s (%s) waited %s (%.0f%% of the time) for %s on "
           "%s,\n"
           "     while hardly any other thread was busy. Divide that job, or fork it first.",
           words_function(all->names, wait->function).text,
           words_thread(s->trace, (int)wait->thread).text, words_time(wait->ns).text,
           words_share(wait->ns, s->active), words_function(all->names, wait->ended).text,
           words_thread(s->trace, wait->ender).text);
}

static bool starts_with(const struct row *row, const char *words)
{
    return row->size >= strlen(words) && memcmp(row->text, words, strlen(words)) == 0;
}

static void blocked_on(struct advices *all, const struct row *row)
{
    const struct summary *s = all->s;
    double share = words_share(row->total, s->active);
    struct words what = words_text(row->text, row->size), time = words_time(row->total);
    if (!is_large(s, row->total))
        return;
    if (starts_with(row, "is blocked in code of its own"))
        ADVISE(
            all, row->total,
            "blocked in code of its own: %s, between weft_block_begin() and weft_block_end(), for "
            "%s\n     (%.0f%% of the time), %s. Ask for it earlier, or do something else "
            "meanwhile.",
            words_function(all->names, row->a).text, time.text, share,
            words_count(row->count, "time").text);
    else if (row->outside > row->total / 2)
        ADVISE(all, row->total,
               "a job waits for a thread outside the pool: \"%s\" took %s (%.0f%% of the time),\n"
               "     and a thread that runs no job has ended it. Make that thread faster, or the "
               "wait a task of its own.",
               what.text, time.text, share);
    else if (starts_with(row, "waits for mutex") && row->many && row->count >= BLOCKS_LEAST)
        ADVISE(all, row->total,
               "a mutex that many want: \"%s\" took %s of the threads' time (%.0f%%), %s.\n     "
               "Hold it for less time, or have one for each part of the data.",
               what.text, time.text, share, words_count(row->count, "time").text);
    else
        ADVISE(all, row->total, "blocked: \"%s\" took %s (%.0f%% of the time), %s.", what.text,
               time.text, share, words_count(row->count, "time").text);
}

static const struct row *most_stolen(const struct summary *s)
{
    const struct row *most = NULL;
    for (size_t i = 0; i < s->functions.count; i++)
        if (!most || s->functions.rows[i].stolen > most->stolen)
            most = &s->functions.rows[i];
    return most;
}

/* Hardly anything was done by thieves, and most threads had nothing to do. */
static bool pieces_are_short(const struct summary *s)
{
    uint64_t median = spread_median(&s->stolen);
    return s->stolen.count >= STEALS_LEAST && median < SHORT_NS &&
           4 * s->stolen.count * median < s->area &&
           2 * s->area < s->active * (s->workers + s->guests);
}

static void short_pieces(struct advices *all)
{
    const struct summary *s = all->s;
    const struct row *most = most_stolen(s);
    ADVISE(all, s->active,
           "pieces too short to share: of %" PRIu64 " stolen jobs, most of them %s, half ran for "
           "%s\n     at most, and finding each took %s. Let a loop do more in each call, or give "
           "it a minimum (weft_for_min).",
           s->stolen.count, most ? words_function(all->names, most->key).text : "?",
           words_time(spread_median(&s->stolen)).text, words_time(spread_median(&s->finding)).text);
}

/* The function or the actor that was busy longest. */
static struct words busiest(const struct advices *all)
{
    const struct table *functions = &all->s->functions, *actors = &all->s->actors;
    uint64_t in_jobs = functions->count > 0 ? functions->rows[0].total : 0;
    if (actors->count == 0 || actors->rows[0].total <= in_jobs)
        return words_function(all->names, functions->count > 0 ? functions->rows[0].key : 0);
    const struct row *actor = &actors->rows[0];
    struct words name = words_text(actor->text ? actor->text : "", actor->size), words;
    snprintf(words.text, sizeof words.text, "actor %.200s", name.text);
    return words;
}

static void alone(struct advices *all)
{
    const struct summary *s = all->s;
    if (words_share(s->alone, s->active) < 50 || s->workers < 2)
        return;
    if (pieces_are_short(s))
        return;
    unsigned others = s->workers + s->guests - 1;
    ADVISE(all, s->alone,
           "too few forks: for %s (%.0f%% of the time) one thread worked, mostly in %s, and %s\n"
           "     had nothing to do. Fork there, or use a loop of weft/parallel.h.",
           words_time(s->alone).text, words_share(s->alone, s->active), busiest(all).text,
           words_count(others, "other").text);
}

/* The jobs that waits were for had ended long before the waits did. */
static void late(struct advices *all)
{
    const struct summary *s = all->s;
    if (!is_large(s, s->late.total))
        return;
    ADVISE(all, s->late.total,
           "threads go on late: %s (%.0f%% of the time) passed between ends of jobs and of the "
           "waits for them,\n     %s once. The machine may be busy with something else.",
           words_time(s->late.total).text, words_share(s->late.total, s->active),
           words_time(s->late.most).text);
}

static void slow_start(struct advices *all)
{
    const struct summary *s = all->s;
    uint64_t median = spread_median(&s->queued);
    if (s->queued.count == 0 || !is_large(s, median))
        return;
    ADVISE(all, median, "tasks wait long before they begin: half of %" PRIu64 " waited %s or more.",
           s->queued.count, words_time(median).text);
}

static void put_all(FILE *out, const struct advices *all)
{
    const struct summary *s = all->s;
    fprintf(out, "What to look at:\n");
    for (unsigned i = 0; i < all->count; i++)
        fprintf(out, "  %u. %s\n", i + 1, all->list[i].text);
    if (all->count == 0 && s->active > 0)
        fprintf(out, "  nothing stands out; %.2f threads were busy on average\n",
                (double)s->area / (double)s->active);
    else if (all->count == 0)
        fprintf(out, "  no job was recorded\n");
}

/* The tables are sorted. */
void advice_put(FILE *out, const struct summary *s, struct names *names)
{
    struct advices all = {.s = s, .names = names};
    one_long_job(&all);
    for (size_t i = 0; i < s->objects.count; i++)
        blocked_on(&all, &s->objects.rows[i]);
    if (pieces_are_short(s))
        short_pieces(&all);
    alone(&all);
    late(&all);
    slow_start(&all);
    put_all(out, &all);
}
