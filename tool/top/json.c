/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "../trace/escape.h"

#include <inttypes.h>
#include <string.h>

/* Begins with a comma, unless it is the first in its object. */
static void put_key(FILE *out, const char *key, bool first)
{
    fprintf(out, first ? "\"%s\":" : ",\"%s\":", key);
}

static void put_text(FILE *out, const char *key, const char *text, bool first)
{
    put_key(out, key, first);
    escape_json(out, text, strlen(text));
}

static void put_number(FILE *out, const char *key, double number)
{
    put_key(out, key, false);
    fprintf(out, "%.6g", number);
}

static void put_whole(FILE *out, const char *key, uint64_t number)
{
    put_key(out, key, false);
    fprintf(out, "%" PRIu64, number);
}

/* Below 0: null. */
static void put_known(FILE *out, const char *key, double number)
{
    if (number >= 0) {
        put_number(out, key, number);
        return;
    }
    put_key(out, key, false);
    fputs("null", out);
}

static void put_shares(FILE *out, const double shares[SHARES])
{
    put_number(out, "busy", shares[SHARE_BUSY]);
    put_number(out, "searching", shares[SHARE_SEARCHING]);
    put_number(out, "asleep", shares[SHARE_ASLEEP]);
    put_number(out, "blocked", shares[SHARE_BLOCKED]);
    put_number(out, "outside", shares[SHARE_OUTSIDE]);
}

static void put_rates(FILE *out, const struct rates *rates)
{
    put_number(out, "jobs_per_second", rates->jobs);
    put_number(out, "steals_per_second", rates->steals);
    put_number(out, "wakes_per_second", rates->wakes);
}

/* What it waits for, and who has that; null: nothing, nobody. */
static void put_waits(FILE *out, const struct sample *sample, const char *waits, int whom)
{
    put_key(out, "waits", false);
    if (waits[0])
        escape_json(out, waits, strlen(waits));
    else
        fputs("null", out);
    put_key(out, "waits_for", false);
    if (whom >= 0)
        escape_json(out, sample_who(sample, whom), strlen(sample_who(sample, whom)));
    else
        fputs("null", out);
}

static const char *pool_name(const struct sample *sample, uint64_t address)
{
    for (size_t i = 0; i < sample->pool_count; i++)
        if (sample->pools[i].address == address)
            return sample->pools[i].name;
    return "";
}

static void put_pool(FILE *out, const struct sample_pool *pool)
{
    fputc('{', out);
    put_text(out, "name", pool->name, true);
    put_whole(out, "id", pool->id);
    put_whole(out, "workers", pool->workers);
    put_whole(out, "guests", pool->guests);
    put_whole(out, "threads_blocked", pool->blocked);
    put_whole(out, "queued", pool->queued);
    put_whole(out, "deadlocks", pool->reports);
    put_shares(out, pool->shares);
    put_rates(out, &pool->rates);
    fputc('}', out);
}

static void put_worker(FILE *out, const struct sample *sample, const struct sample_worker *worker)
{
    fputc('{', out);
    put_text(out, "name", worker->who, true);
    put_whole(out, "id", worker->id);
    put_text(out, "pool", pool_name(sample, worker->pool), false);
    put_text(out, "kind", worker->kind, false);
    put_whole(out, "index", worker->index);
    put_whole(out, "thread", worker->thread > 0 ? (uint64_t)worker->thread : 0);
    put_text(out, "state", worker->state, false);
    put_known(out, "state_seconds", worker->lasts);
    put_shares(out, worker->shares);
    put_number(out, "cpu", worker->cpu);
    put_rates(out, &worker->rates);
    put_whole(out, "depth", worker->depth);
    put_text(out, "runs", worker->runs, false);
    put_waits(out, sample, worker->waits, worker->waits_for);
    fputc('}', out);
}

static void put_actor(FILE *out, const struct sample *sample, const struct sample_actor *actor)
{
    fputc('{', out);
    put_text(out, "name", actor->name, true);
    put_whole(out, "id", actor->id);
    put_text(out, "pool", pool_name(sample, actor->pool), false);
    put_text(out, "state", actor->state, false);
    put_known(out, "state_seconds", actor->lasts);
    put_number(out, "share", actor->share);
    put_number(out, "ready", actor->ready);
    put_number(out, "turns_per_second", actor->turns);
    put_number(out, "steals_per_second", actor->steals);
    put_whole(out, "memory", actor->memory);
    put_whole(out, "memory_limit", actor->limit);
    put_number(out, "executor", actor->executor);
    put_text(out, "runs", actor->runs, false);
    put_waits(out, sample, actor->waits, actor->waits_for);
    fputc('}', out);
}

static void put_circle(FILE *out, const struct sample *sample)
{
    put_key(out, "circle", false);
    fputc('[', out);
    for (int i = sample->circle, n = 0; i >= 0 && (n == 0 || i != sample->circle); n++) {
        fputs(n ? "," : "", out);
        escape_json(out, sample_who(sample, i), strlen(sample_who(sample, i)));
        i = sample_next(sample, i);
    }
    fputc(']', out);
}

void json_put(FILE *out, const struct sample *sample)
{
    fputc('{', out);
    put_text(out, "program", sample->process.name, true);
    put_whole(out, "pid", (uint64_t)sample->process.pid);
    put_number(out, "age_seconds", sample->age);
    put_number(out, "seconds", sample->seconds);
    put_number(out, "cpu", sample->cpu);
    put_whole(out, "memory", sample->process.memory);
    put_whole(out, "threads", sample->process.threads);
    put_key(out, "stands_still", false);
    fputs(sample->stands_still ? "true" : "false", out);
    put_circle(out, sample);
    put_key(out, "deadlock", false);
    if (sample->report)
        escape_json(out, sample->report, strlen(sample->report));
    else
        fputs("null", out);
    put_whole(out, "pools_not_shown", sample->left[WEFT_STATS_POOLS]);
    put_whole(out, "workers_not_shown", sample->left[WEFT_STATS_WORKERS]);
    put_whole(out, "actors_not_shown", sample->left[WEFT_STATS_ACTORS]);
    fputs(",\"pools\":[", out);
    for (size_t i = 0; i < sample->pool_count; i++) {
        fputs(i ? "," : "", out);
        put_pool(out, &sample->pools[i]);
    }
    fputs("],\"workers\":[", out);
    for (size_t i = 0; i < sample->worker_count; i++) {
        fputs(i ? "," : "", out);
        put_worker(out, sample, &sample->workers[i]);
    }
    fputs("],\"actors\":[", out);
    for (size_t i = 0; i < sample->actor_count; i++) {
        fputs(i ? "," : "", out);
        put_actor(out, sample, &sample->actors[i]);
    }
    fputs("]}", out);
}
