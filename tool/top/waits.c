/* SPDX-License-Identifier: MIT */
#include "waits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *waits_kind(const struct weft_stats_worker *worker)
{
    static const char *const kinds[] = {"worker", "caller", "guest", "spare"};
    return worker->kind < sizeof kinds / sizeof kinds[0] ? kinds[worker->kind] : "thread";
}

void waits_title(const struct snap *snap, const struct weft_stats_worker *worker,
                 char out[SAMPLE_WHO])
{
    const char *pool = NULL;
    for (size_t i = 0; i < snap->pool_count && snap->pool_count > 1; i++)
        if (snap->pools[i].address == worker->pool)
            pool = snap->pools[i].name;
    snprintf(out, SAMPLE_WHO, pool ? "%s %u of %s" : "%s %u", waits_kind(worker), worker->index,
             pool);
}

/* ---- Who has it ---- */

static int worker_at(const struct snap *snap, uint64_t address)
{
    for (size_t i = 0; i < snap->worker_count; i++)
        if (snap->workers[i].address == address)
            return (int)i;
    return -1;
}

static int worker_visiting(const struct snap *snap, uint64_t visitor)
{
    for (size_t i = 0; i < snap->worker_count; i++)
        if (snap->workers[i].visitor == visitor)
            return (int)i;
    return -1;
}

static int actor_on(const struct snap *snap, uint64_t fiber)
{
    for (size_t i = 0; i < snap->actor_count; i++)
        if (snap->actors[i].fiber == fiber)
            return (int)(snap->worker_count + i);
    return -1;
}

static int actor_at(const struct snap *snap, uint64_t address)
{
    for (size_t i = 0; i < snap->actor_count; i++)
        if (snap->actors[i].address == address)
            return (int)(snap->worker_count + i);
    return -1;
}

/* The name of the holder; 0: nobody, or several; *known false: not noted. */
static uint64_t holder_of(const struct snap *snap, uint64_t object, bool *known)
{
    *known = false;
    for (size_t i = 0; i < snap->holder_count; i++)
        if (snap->holders[i].object == object) {
            *known = true;
            return snap->holders[i].holder;
        }
    return 0;
}

/* ---- In words ---- */

/* Adds to the text, as far as there is room. */
static __attribute__((format(printf, 2, 3))) void add(char out[SAMPLE_WORDS], const char *format,
                                                      ...)
{
    size_t used = strlen(out);
    va_list list;
    va_start(list, format);
    vsnprintf(out + used, SAMPLE_WORDS - used, format, list);
    va_end(list);
}

static void add_words(const struct snap *snap, uint64_t words, const char *other,
                      char out[SAMPLE_WORDS])
{
    for (size_t i = 0; i < snap->word_count; i++)
        if (snap->words[i].address == words)
            other = snap->words[i].text;
    add(out, "%s", other);
}

static void add_who(const struct snap *snap, int who, char out[SAMPLE_WORDS])
{
    char title[SAMPLE_WHO];
    if ((size_t)who >= snap->worker_count) {
        add(out, "actor '%s'", snap->actors[(size_t)who - snap->worker_count].name);
        return;
    }
    waits_title(snap, &snap->workers[who], title);
    add(out, "%s", title);
}

static int add_holder(const struct snap *snap, uint64_t object, int self, char out[SAMPLE_WORDS])
{
    bool known;
    uint64_t name = holder_of(snap, object, &known);
    if (!known || name == 0)
        return -1;
    int who = name & WEFT_STATS_NO_WORKER ? worker_visiting(snap, name) : worker_at(snap, name);
    if (who < 0 && name & WEFT_STATS_NO_WORKER)
        who = actor_on(snap, name & ~(uint64_t)WEFT_STATS_NO_WORKER);
    add(out, ", held by ");
    if (who >= 0)
        add_who(snap, who, out);
    else
        add(out, name & WEFT_STATS_NO_WORKER ? "a thread outside, or an actor not shown"
                                             : "a thread that is not shown");
    if (who == self)
        add(out, ", which is itself");
    return who;
}

static int add_object(const struct snap *snap, uint64_t object, const char *name, int self,
                      char out[SAMPLE_WORDS])
{
    bool owned = object & WEFT_STATS_OWNED;
    object &= ~(uint64_t)WEFT_STATS_OWNED;
    if (name[0])
        add(out, " '%s'", name);
    else if (object)
        add(out, " 0x%" PRIx64, object);
    return owned ? add_holder(snap, object, self, out) : -1;
}

/* The thread waits for children of a scope: threads whose job on top is one. Returns the first. */
static int add_children(const struct snap *snap, const struct weft_stats_worker *worker,
                        char out[SAMPLE_WORDS])
{
    enum { MOST = 3 };
    int first = -1;
    unsigned more = 0;
    for (size_t i = 0; i < snap->worker_count && worker->awaits_for; i++) {
        const struct weft_stats_worker *other = &snap->workers[i];
        if (other == worker || other->group != worker->awaits_for || other->depth == 0)
            continue;
        if (first < 0)
            first = (int)i;
        if (more++ < MOST) {
            add(out, ", on ");
            add_who(snap, (int)i, out);
        }
    }
    if (more > MOST)
        add(out, " and %u more", more - MOST);
    return more == 1 ? first : -1;
}

int waits_of_worker(const struct snap *snap, const struct weft_stats_worker *worker,
                    char out[SAMPLE_WORDS])
{
    int self = (int)(worker - snap->workers);
    out[0] = 0;
    if (worker->state == WEFT_STATS_BLOCKED) {
        add_words(snap, worker->waits, "is blocked", out);
        return add_object(snap, worker->waits_object, worker->waits_name, self, out);
    }
    if (worker->state != WEFT_STATS_SEARCHING || !worker->awaits)
        return -1;
    add_words(snap, worker->awaits, "waits", out);
    int thief = worker->phases.phase == WEFT_STATS_SLEEPS && worker->awaits_thief
                    ? worker_at(snap, worker->awaits_thief)
                    : -1;
    if (thief < 0)
        return add_children(snap, worker, out);
    add(out, " that ");
    add_who(snap, thief, out);
    add(out, " took from it");
    return thief;
}

int waits_of_actor(const struct snap *snap, const struct weft_stats_actor *actor,
                   char out[SAMPLE_WORDS])
{
    enum { WAITING = 3 }; /* as in enum weft_actor_state */
    int self = (int)(snap->worker_count + (size_t)(actor - snap->actors));
    out[0] = 0;
    if (actor->activity != WAITING || !actor->waits)
        return -1;
    add_words(snap, actor->waits, "waits", out);
    int who = actor->waits_actor ? actor_at(snap, actor->waits_actor) : -1;
    if (who >= 0) {
        add(out, ", '%s'", snap->actors[(size_t)who - snap->worker_count].name);
        return who;
    }
    return add_object(snap, actor->waits_object, actor->waits_name, self, out);
}
