/* SPDX-License-Identifier: MIT */
#include "core/standing.h"

#include "core/limit.h"
#include "core/misuse.h"
#include "core/object.h"
#include "core/pool.h"

static const char *const kinds[] = {"worker", "caller", "guest", "spare"};

/* By enum blocked_kind. */
static const char *const object_kinds[] = {
    "",          "mutex",     "event",   "channel", "channel", "read-write lock", "read-write lock",
    "semaphore", "condition", "barrier", "once",    "channel", "actor",           "actor"};

const char *weft__kind_of(const struct weft__worker *worker)
{
    return kinds[worker->kind];
}

struct weft__who weft__who(const struct weft__worker *worker)
{
    return worker ? (struct weft__who){true, worker->kind, worker->index} : (struct weft__who){0};
}

bool weft__lock_try_long(struct weft__lock *lock)
{
    enum { TRIES = 1000 };
    for (int i = 0; i < TRIES; i++) {
        if (weft__lock_try(lock))
            return true;
        weft__thread_yield();
    }
    return false;
}

/* ---- Noted ---- */

bool weft__is_holder(const struct weft__worker *worker, uintptr_t name)
{
    /* relaxed: a hint, or all are at rest. */
    uintptr_t visitor = atomic_load_relaxed((struct atomic_uptr *)(uintptr_t)&worker->visitor);
    return (uintptr_t)worker == name || (visitor && weft__mutex_name(visitor) == name);
}

const struct weft__owned *weft__blocked_by(const struct weft__blocked *blocked)
{
    const struct weft__owned *owned = (const struct weft__owned *)blocked->object;
    switch (blocked->kind) {
    case BLOCKED_MUTEX:
        return owned;
    case BLOCKED_READ:
    case BLOCKED_WRITE:
    case BLOCKED_ONCE:
        return weft__owned_holder(owned) == MUTEX_FREE ? NULL : owned;
    default:
        return NULL;
    }
}

void weft__standing_blocked(struct weft__standing *standing, const struct weft__worker *worker)
{
    const struct weft__sync *object = worker->blocked->object;
    standing->blocked = true;
    standing->kind = worker->blocked->kind;
    standing->object = object;
    standing->limited = weft__limit_ends(worker->blocked->limit);
    for (const struct weft__blocked *more = worker->blocked->more; more; more = more->more)
        standing->more++;
    if (object && object->name)
        snprintf(standing->name, sizeof standing->name, "%s", object->name);
    const struct weft__owned *owned = weft__blocked_by(worker->blocked);
    standing->owned = owned != NULL;
    standing->holder_name = owned ? weft__owned_holder(owned) : MUTEX_FREE;
    if (standing->kind == BLOCKED_WRITE) /* relaxed: as the holder's name */
        standing->readers = atomic_load_relaxed(&((const struct weft__rwlock *)object)->readers);
}

void weft__standing_holder(struct weft__standing *standing, const struct weft__worker *other)
{
    if (!standing->owned || !weft__is_holder(other, standing->holder_name))
        return;
    standing->holder = weft__who(other);
    standing->holder_is_itself =
        other->kind == standing->who.kind && other->index == standing->who.index;
}

void weft__standing_child(struct weft__standing *standing, const struct weft__worker *child)
{
    enum { MOST = sizeof standing->children / sizeof standing->children[0] };
    if (standing->child_count < MOST)
        standing->children[standing->child_count] = weft__who(child);
    standing->child_count++;
}

static bool is_inside(const struct weft__group *group, const struct weft__group *outer)
{
    while (group && group != outer)
        group = group->parent;
    return group != NULL;
}

bool weft__runs_child(const struct weft__worker *worker, const struct weft__group *scope)
{
    for (const struct weft__frame *frame = worker->frame; frame; frame = frame->outer)
        if (is_inside(frame->group, scope))
            return true;
    return false;
}

/* ---- Written ---- */

const char *const weft__blocked_kinds[] = {
    "is blocked in code of its own",
    "waits for mutex",
    "waits for event",
    "wants to send into channel",
    "wants to receive from channel",
    "wants to read under read-write lock",
    "wants to write under read-write lock",
    "waits for semaphore",
    "waits for condition",
    "waits at barrier",
    "waits for the end of once",
    "waits in weft_select for channel",
    "waits for the end of an actor",
    "waits for room in the mailbox of an actor",
};

const char *weft__object_words(enum blocked_kind kind)
{
    return object_kinds[kind];
}

void weft__put_object(FILE *out, enum blocked_kind kind, const struct weft__sync *object)
{
    if (object->name)
        fprintf(out, "%s '%s'", object_kinds[kind], object->name);
    else
        fprintf(out, "%s %p", object_kinds[kind], (const void *)object);
}

void weft__put_function(FILE *out, weft_fn *fn)
{
    char name[200];
    weft__function_name(name, sizeof name, fn);
    fputs(name, out);
}

void weft__put_who(FILE *out, const char *before, const struct weft__who *who)
{
    fprintf(out, "%s%s %u", before, kinds[who->kind], who->index);
}

static void put_holder(FILE *out, const struct weft__standing *standing)
{
    uintptr_t name = standing->holder_name;
    if (name == MUTEX_FREE) {
        fprintf(out, ", which is handed over just now");
    } else if (standing->holder.known) {
        weft__put_who(out, ", held by ", &standing->holder);
        fputs(standing->holder_is_itself ? ", which is itself" : "", out);
        fputs(name & MUTEX_OUTSIDE ? ", since before it came in" : "", out);
    } else if (weft__mutex_is_of_fiber(name)) {
        fprintf(out, ", held by an actor");
    } else if (name & MUTEX_OUTSIDE) {
        fprintf(out, ", held by a thread outside the pool%s",
                standing->holder_waits ? ", which waits for a task of it" : "");
    } else {
        fprintf(out, ", held by a thread of another pool");
    }
}

static void put_blocked(FILE *out, const struct weft__standing *standing)
{
    fputs(weft__blocked_words(standing->kind), out);
    if (standing->kind == BLOCKED_OUTSIDE)
        return;
    if (standing->name[0])
        fprintf(out, " '%s'", standing->name);
    else
        fprintf(out, " %p", standing->object);
    if (standing->more > 0)
        fprintf(out, " and %u more", standing->more);
    if (standing->owned)
        put_holder(out, standing);
    else if (standing->readers > 0)
        fprintf(out, ", held by readers: %u", standing->readers);
    fputs(standing->limited ? ", for a limited time" : "", out);
}

void weft__put_standing(FILE *out, const struct weft__standing *standing)
{
    if (standing->blocked) {
        put_blocked(out, standing);
        return;
    }
    fputs(standing->awaits, out);
    if (standing->thief.known) {
        weft__put_who(out, " that ", &standing->thief);
        fputs(" took from it", out);
    }
    unsigned most = sizeof standing->children / sizeof standing->children[0];
    for (unsigned i = 0; i < standing->child_count && i < most; i++)
        weft__put_who(out, ", on ", &standing->children[i]);
    if (standing->child_count > most)
        fprintf(out, " and %u more", standing->child_count - most);
}
