/* SPDX-License-Identifier: MIT */
/* The actors' part of weft_pool_dump(): how many there are, what they wait for, and some of them by
 * name. Under the system's lock no actor is freed. The lock is tried for a while, and not held
 * while anything is written: see core/dump.c. */
#include "actor/dump.h"

#include "actor/executor.h"
#include "actor/info.h"
#include "core/misuse.h"
#include "core/standing.h"
#include "os/clock.h"
#include "os/thread.h"

#include <string.h>

enum { SHOWN = 16, REASONS = 16 };

struct look {
    char name[32];
    weft_actor_fn *fn;
    enum weft_actor_state state;
    int executor;
    size_t messages;
    const char *waits_for;
    char waits_name[24];
    uint64_t waits_since;
};

struct reason {
    const char *words;
    size_t count;
};

struct looks {
    size_t count, states[WEFT_ACTOR_OVER + 1];
    struct look shown[SHOWN];
    unsigned shown_count;
    struct reason reasons[REASONS];
};

/* A name is several words. If it may have changed between two of them, it is not shown. */
static void look_at_wait(struct look *look, struct weft__actor_counts *counts)
{
    uint64_t words[sizeof look->waits_name / sizeof(uint64_t)];
    look->waits_for = atomic_load_relaxed(&counts->waits_for); /* relaxed, all: hints */
    look->waits_since = atomic_load_relaxed(&counts->waits_since);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        words[i] = atomic_load_relaxed(&counts->waits_name[i]);
    memcpy(look->waits_name, words, sizeof words);
    look->waits_name[sizeof look->waits_name - 1] = '\0';
    if (atomic_load_relaxed(&counts->waits_for) != look->waits_for ||
        atomic_load_relaxed(&counts->waits_since) != look->waits_since)
        look->waits_name[0] = '\0';
}

static enum weft_actor_state state_of(struct weft_actor *actor)
{
    if (weft_actor_done(actor))
        return WEFT_ACTOR_OVER;
    return (enum weft_actor_state)atomic_load_relaxed(&actor->counts->activity); /* a hint */
}

static void look_at(struct look *look, struct weft_actor *actor)
{
    *look = (struct look){
        .fn = actor->fn,
        .state = state_of(actor),
        .executor = atomic_load_relaxed(&actor->counts->executor), /* relaxed: a hint */
    };
    memcpy(look->name, actor->name, sizeof look->name);
    if (look->state == WEFT_ACTOR_WAITING)
        look_at_wait(look, actor->counts);
    if (!weft__lock_try(&actor->sync.lock))
        return;
    look->messages = actor->count;
    if (look->state == WEFT_ACTOR_RUNNABLE && !actor->closed && weft__actor_is_running(actor))
        look->state = WEFT_ACTOR_RUNNING;
    weft__lock_drop(&actor->sync.lock);
}

static void count_reason(struct looks *looks, const char *words)
{
    struct reason *reason = looks->reasons;
    while (reason < looks->reasons + REASONS - 1 && reason->words && strcmp(reason->words, words))
        reason++;
    reason->words = reason->words ? reason->words : words;
    reason->count++;
}

static void show(struct looks *looks, const struct look *look)
{
    if (looks->shown_count < SHOWN)
        looks->shown[looks->shown_count++] = *look;
}

/* A dump is for programs that stand still: actors that wait come first, the others if there is
 * room. */
static void look_at_all(struct looks *looks, struct weft__actors *system)
{
    struct look others[SHOWN];
    unsigned other_count = 0;
    looks->count = system->actor_count;
    for (struct weft_actor *actor = system->actors; actor; actor = actor->next) {
        struct look look;
        look_at(&look, actor);
        looks->states[look.state]++;
        if (look.waits_for) {
            count_reason(looks, look.waits_for);
            show(looks, &look);
        } else if (other_count < SHOWN) {
            others[other_count++] = look;
        }
    }
    for (unsigned i = 0; i < other_count; i++)
        show(looks, &others[i]);
}

static void put(FILE *out, const struct look *look, uint64_t now)
{
    static const char *const states[] = {
        [WEFT_ACTOR_NEW] = "not started",    [WEFT_ACTOR_RUNNABLE] = "can run",
        [WEFT_ACTOR_RUNNING] = "is running", [WEFT_ACTOR_WAITING] = "waits",
        [WEFT_ACTOR_OVER] = "is over",
    };
    bool waits = look->state == WEFT_ACTOR_WAITING && look->waits_for;
    fprintf(out, "    actor '%s': %s", look->name, waits ? look->waits_for : states[look->state]);
    if (waits && look->waits_name[0])
        fprintf(out, " '%s'", look->waits_name);
    if (waits && now > look->waits_since)
        fprintf(out, " for %.3f s", (double)(now - look->waits_since) / 1e9);
    fputs("; runs ", out);
    weft__put_function(out, (weft_fn *)(void (*)(void))look->fn);
    fprintf(out, "; executor %d, messages %zu\n", look->executor, look->messages);
}

static unsigned driven(const struct weft__actors *system)
{
    unsigned count = 0;
    for (unsigned i = 0; i < system->executor_count; i++)
        count += !weft__executor_is_idle(&system->executors[i]);
    return count;
}

void weft__actors_dump(struct weft__actors *system, FILE *out)
{
    struct looks looks = {0};
    if (!weft__lock_try_long(&system->lock)) {
        fprintf(out, "  actors: one begins or ends just now\n");
        return;
    }
    look_at_all(&looks, system);
    weft__lock_drop(&system->lock);
    fprintf(out, "  actors: %zu, %zu not started, %zu running, %zu runnable, %zu waiting; ",
            looks.count, looks.states[WEFT_ACTOR_NEW], looks.states[WEFT_ACTOR_RUNNING],
            looks.states[WEFT_ACTOR_RUNNABLE], looks.states[WEFT_ACTOR_WAITING]);
    fprintf(out, "executors: %u, %u with something to do\n", system->executor_count,
            driven(system));
    for (unsigned i = 0; i < REASONS && looks.reasons[i].words; i++)
        fprintf(out, "    %zu %s\n", looks.reasons[i].count, looks.reasons[i].words);
    uint64_t now = weft__clock_now();
    for (unsigned i = 0; i < looks.shown_count; i++)
        put(out, &looks.shown[i], now);
    if (looks.count > looks.shown_count)
        fprintf(out, "    and %zu more\n", looks.count - looks.shown_count);
}
