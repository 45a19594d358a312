/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "sample.h"

#include "../trace/names.h"
#include "waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cpu {
    int thread;
    uint64_t ns;
};

struct watch {
    pid_t pid;
    struct page *page;
    struct snap before; /* `when` 0: none */
    uint64_t cpu_ns;    /* of the process, then */
    struct cpu *cpus;   /* of the threads of workers, then */
    size_t cpu_count;
    struct names *names;
    uint64_t named; /* when the names were looked up */
};

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* Numbers only grow; what gets smaller was torn, or is noise. */
static uint64_t since(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

/* ---- Names ---- */

static uint64_t real_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void open_names(struct watch *watch, uint64_t now)
{
    size_t size;
    char *lines = process_modules(watch->pid, &size);
    if (watch->names)
        names_close(watch->names);
    watch->names = lines ? names_open_lines(lines, size, real_now()) : NULL;
    watch->named = now;
    free(lines);
}

/* A library may have been loaded after the list of them was read. */
static void name_of(struct watch *watch, uint64_t address, uint64_t now, char out[SAMPLE_NAME])
{
    const uint64_t second = 1000000000;
    out[0] = 0;
    if (address == 0)
        return;
    if (!watch->names)
        open_names(watch, now);
    const char *name = watch->names ? names_find(watch->names, address) : "?";
    if (strncmp(name, "0x", 2) == 0 && since(watch->named, now) > second) {
        open_names(watch, now);
        name = watch->names ? names_find(watch->names, address) : "?";
    }
    snprintf(out, SAMPLE_NAME, "%s", name);
}

/* ---- Workers ---- */

static const struct weft_stats_worker *worker_before(const struct watch *watch, uint64_t id)
{
    static const struct weft_stats_worker none;
    for (size_t i = 0; i < watch->before.worker_count; i++)
        if (watch->before.workers[i].id == id)
            return &watch->before.workers[i];
    return &none;
}

/* How long it was in a phase, up to `when`. */
static uint64_t time_in(const struct weft_stats_phases *phases, int phase, uint64_t when)
{
    uint64_t time = phases->times[phase - 1];
    return phases->phase == (uint32_t)phase ? time + since(phases->since, when) : time;
}

static uint64_t time_outside(const struct weft_stats_phases *phases, uint64_t when)
{
    return phases->outside + (phases->left ? since(phases->left, when) : 0);
}

/* The thread worked in the rest of the time. */
static void put_shares(double shares[SHARES], const struct weft_stats_phases *now, uint64_t now_at,
                       const struct weft_stats_phases *before, uint64_t before_at)
{
    double all = (double)since(before_at, now_at), rest = all;
    uint64_t spent[SHARES] = {0};
    for (int phase = WEFT_STATS_SEARCHES; phase < WEFT_STATS_PHASES; phase++)
        spent[phase] = since(time_in(before, phase, before_at), time_in(now, phase, now_at));
    spent[SHARE_OUTSIDE] = since(time_outside(before, before_at), time_outside(now, now_at));
    for (int i = SHARE_SEARCHING; i < SHARES; i++) {
        double part = (double)spent[i] < rest ? (double)spent[i] : rest;
        shares[i] = all > 0 ? part / all : 0;
        rest -= part;
    }
    shares[SHARE_BUSY] = all > 0 ? rest / all : 0;
}

static const char *state_of(const struct weft_stats_worker *worker)
{
    switch (worker->state) {
    case WEFT_STATS_BUSY:
        return "busy";
    case WEFT_STATS_SEARCHING:
        return worker->awaits                              ? "waiting"
               : worker->phases.phase == WEFT_STATS_SLEEPS ? "asleep"
                                                           : "searching";
    case WEFT_STATS_BLOCKED:
        return "blocked";
    default:
        return "outside";
    }
}

static double lasts(const struct weft_stats_worker *worker, uint64_t now)
{
    uint64_t from = worker->since;
    if (worker->state == WEFT_STATS_OUTSIDE)
        from = worker->phases.left;
    else if (worker->state == WEFT_STATS_SEARCHING && worker->phases.phase == WEFT_STATS_SLEEPS)
        from = worker->phases.since;
    return from ? seconds(since(from, now)) : -1;
}

static double cpu_share(const struct watch *watch, int thread, uint64_t ns, double all)
{
    for (size_t i = 0; i < watch->cpu_count; i++)
        if (watch->cpus[i].thread == thread && all > 0)
            return seconds(since(watch->cpus[i].ns, ns)) / all;
    return 0;
}

static void put_worker(struct watch *watch, struct sample_worker *out,
                       const struct weft_stats_worker *now, uint64_t when, struct cpu *cpu,
                       const struct snap *snap)
{
    const struct weft_stats_worker *before = worker_before(watch, now->id);
    uint64_t first = watch->before.when ? watch->before.when : snap->made;
    double all = seconds(since(first, when));
    struct process thread;
    waits_title(snap, now, out->who);
    out->id = now->id;
    out->pool = now->pool;
    out->kind = waits_kind(now);
    out->index = now->index;
    out->state = state_of(now);
    out->lasts = lasts(now, when);
    out->thread =
        now->state == WEFT_STATS_OUTSIDE && now->kind >= WEFT_STATS_GUEST ? 0 : now->thread;
    out->depth = now->depth;
    put_shares(out->shares, &now->phases, when, &before->phases, first);
    if (now->thread && process_look_thread(watch->pid, now->thread, &thread)) {
        *cpu = (struct cpu){now->thread, thread.cpu_ns};
        out->cpu = cpu_share(watch, now->thread, thread.cpu_ns, all);
    }
    if (all > 0)
        out->rates = (struct rates){(double)since(before->jobs, now->jobs) / all,
                                    (double)since(before->steals, now->steals) / all,
                                    (double)since(before->sleeps, now->sleeps) / all};
    if (now->depth > 0 && now->state != WEFT_STATS_OUTSIDE)
        name_of(watch, now->fn, when, out->runs);
    if (now->executor && now->state == WEFT_STATS_BUSY)
        snprintf(out->runs, sizeof out->runs, "actors of executor %u", now->executor - 1);
    out->waits_for = waits_of_worker(snap, now, out->waits);
}

static bool put_workers(struct watch *watch, struct sample *sample, const struct snap *snap)
{
    struct cpu *cpus = calloc(snap->worker_count + 1, sizeof *cpus);
    sample->workers = calloc(snap->worker_count + 1, sizeof *sample->workers);
    if (!cpus || !sample->workers) {
        free(cpus);
        return false;
    }
    sample->worker_count = snap->worker_count;
    for (size_t i = 0; i < snap->worker_count; i++)
        put_worker(watch, &sample->workers[i], &snap->workers[i], snap->when, &cpus[i], snap);
    free(watch->cpus);
    watch->cpus = cpus;
    watch->cpu_count = snap->worker_count;
    return true;
}

/* ---- Actors ---- */

static const struct weft_stats_actor *actor_before(const struct watch *watch, uint64_t id)
{
    static const struct weft_stats_actor none;
    for (size_t i = 0; i < watch->before.actor_count; i++)
        if (watch->before.actors[i].id == id)
            return &watch->before.actors[i];
    return &none;
}

static bool put_actors(struct watch *watch, struct sample *sample, const struct snap *snap)
{
    static const char *const states[] = {"new", "runnable", "running", "waiting", "over"};
    double all = sample->seconds;
    sample->actors = calloc(snap->actor_count + 1, sizeof *sample->actors);
    if (!sample->actors)
        return false;
    sample->actor_count = snap->actor_count;
    for (size_t i = 0; i < snap->actor_count; i++) {
        const struct weft_stats_actor *now = &snap->actors[i], *before;
        struct sample_actor *out = &sample->actors[i];
        before = actor_before(watch, now->id);
        snprintf(out->name, sizeof out->name, "%s", now->name);
        out->id = now->id;
        out->pool = now->pool;
        out->state = now->activity < sizeof states / sizeof states[0] ? states[now->activity] : "?";
        out->memory = now->memory;
        out->limit = now->memory_limit;
        out->executor = now->executor;
        out->share = all > 0 ? seconds(since(before->run_ns, now->run_ns)) / all : 0;
        out->ready = all > 0 ? seconds(since(before->runnable_ns, now->runnable_ns)) / all : 0;
        out->turns = all > 0 ? (double)since(before->quanta, now->quanta) / all : 0;
        out->steals = all > 0 ? (double)since(before->steals, now->steals) / all : 0;
        name_of(watch, now->fn, snap->when, out->runs);
        out->waits_for = waits_of_actor(snap, now, out->waits);
        out->needs = out->waits[0] && (now->waits_object || now->waits_actor);
        out->lasts =
            out->waits[0] && now->waits_since ? seconds(since(now->waits_since, snap->when)) : -1;
    }
    return true;
}

/* ---- Pools ---- */

static void add_worker(struct sample_pool *pool, const struct sample_worker *worker)
{
    bool own = strcmp(worker->kind, "worker") == 0 || strcmp(worker->kind, "caller") == 0;
    for (int i = 0; own && i < SHARES; i++)
        pool->shares[i] += worker->shares[i] / (pool->workers ? pool->workers : 1);
    pool->guests += !own && strcmp(worker->state, "outside") != 0;
    pool->blocked += strcmp(worker->state, "blocked") == 0;
    pool->rates.jobs += worker->rates.jobs;
    pool->rates.steals += worker->rates.steals;
    pool->rates.wakes += worker->rates.wakes;
}

static bool put_pools(struct sample *sample, const struct snap *snap)
{
    sample->pools = calloc(snap->pool_count + 1, sizeof *sample->pools);
    if (!sample->pools)
        return false;
    sample->pool_count = snap->pool_count;
    for (size_t i = 0; i < snap->pool_count; i++) {
        const struct weft_stats_pool *now = &snap->pools[i];
        struct sample_pool *out = &sample->pools[i];
        memcpy(out->name, now->name, sizeof out->name);
        out->id = now->id;
        out->address = now->address;
        out->workers = now->workers;
        out->queued = now->queued;
        out->reports = now->reports;
        for (size_t k = 0; k < sample->worker_count; k++)
            if (sample->workers[k].pool == now->address)
                add_worker(out, &sample->workers[k]);
    }
    return true;
}

/* ---- All of it ---- */

const char *sample_who(const struct sample *sample, int i)
{
    size_t k = (size_t)i;
    return k < sample->worker_count ? sample->workers[k].who
                                    : sample->actors[k - sample->worker_count].name;
}

int sample_next(const struct sample *sample, int i)
{
    size_t k = (size_t)i;
    return k < sample->worker_count ? sample->workers[k].waits_for
                                    : sample->actors[k - sample->worker_count].waits_for;
}

/* Each waits for one other at most: who comes back to where it began, after at most as many steps
 * as there are, is in a circle. */
static int find_circle(const struct sample *sample)
{
    int all = (int)(sample->worker_count + sample->actor_count);
    for (int start = 0; start < all; start++) {
        int i = sample_next(sample, start);
        for (int steps = 0; i >= 0 && i != start && steps < all; steps++)
            i = sample_next(sample, i);
        if (i == start)
            return start;
    }
    return -1;
}

static bool stands_still(const struct sample *sample)
{
    bool waits = false;
    for (size_t i = 0; i < sample->worker_count; i++) {
        const struct sample_worker *worker = &sample->workers[i];
        if (strcmp(worker->state, "busy") == 0 || worker->rates.jobs > 0)
            return false;
        waits |= worker->waits[0] != 0;
    }
    for (size_t i = 0; i < sample->actor_count; i++) {
        const struct sample_actor *actor = &sample->actors[i];
        if (actor->turns > 0 || strcmp(actor->state, "runnable") == 0)
            return false;
        waits |= actor->needs;
    }
    return waits;
}

static bool fill(struct watch *watch, struct sample *sample, const struct snap *snap)
{
    uint64_t first = watch->before.when ? watch->before.when : snap->made;
    *sample = (struct sample){.circle = -1};
    sample->seconds = seconds(since(first, snap->when));
    sample->age = seconds(since(snap->made, snap->when));
    if (process_look(watch->pid, &sample->process) && sample->seconds > 0)
        sample->cpu = seconds(since(watch->cpu_ns, sample->process.cpu_ns)) / sample->seconds;
    watch->cpu_ns = sample->process.cpu_ns;
    if (!put_workers(watch, sample, snap) || !put_actors(watch, sample, snap) ||
        !put_pools(sample, snap))
        return false;
    memcpy(sample->left, snap->left, sizeof sample->left);
    sample->circle = find_circle(sample);
    sample->stands_still = stands_still(sample);
    if (snap->report.when) {
        sample->report = strdup(snap->report.text);
        sample->reported = seconds(since(snap->report.when, snap->when));
    }
    return true;
}

struct watch *watch_open_page(struct page *page, pid_t pid)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch) {
        page_close(page);
        return NULL;
    }
    watch->pid = pid;
    watch->page = page;
    return watch;
}

struct watch *watch_open(pid_t pid, char why[PAGE_WHY_SIZE])
{
    struct page *page = page_open(pid, why);
    struct watch *watch = page ? watch_open_page(page, pid) : NULL;
    if (page && !watch)
        snprintf(why, PAGE_WHY_SIZE, "there is no memory");
    return watch;
}

void watch_close(struct watch *watch)
{
    page_close(watch->page);
    snap_free(&watch->before);
    if (watch->names)
        names_close(watch->names);
    free(watch->cpus);
    free(watch);
}

bool watch_look(struct watch *watch, struct sample *sample, char why[PAGE_WHY_SIZE])
{
    struct snap snap;
    if (!page_read(watch->page, &snap, why))
        return false;
    if (!fill(watch, sample, &snap)) {
        snprintf(why, PAGE_WHY_SIZE, "there is no memory");
        sample_free(sample);
        snap_free(&snap);
        return false;
    }
    snap_free(&watch->before);
    watch->before = snap;
    return true;
}

void sample_free(struct sample *sample)
{
    free(sample->pools);
    free(sample->workers);
    free(sample->actors);
    free(sample->report);
    *sample = (struct sample){.circle = -1};
}
