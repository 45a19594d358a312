/* SPDX-License-Identifier: MIT */
/* weft_pool_dump(): what each thread of a pool does, and if nothing, why.
 *
 * The pool goes on meanwhile, so counts are hints. What a thread left on its stack, or in the
 * program's own objects, is read only while the thread can't go on: a thread that is blocked and
 * rests has to be roused, and the thread that rouses it needs the lock that is held here (block.h).
 * Of all other threads only struct weft__counts is read, and its pointers are compared, not
 * followed.
 *
 * Locks are tried for a while, never waited for: a debugger may have stopped the thread that holds
 * one. Nothing is written while a lock is held: the FILE may be one that calls the program. */
#include "core/default.h"
#include "core/misuse.h"
#include "core/object.h"
#include "core/pool.h"
#include "core/standing.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/syscall.h"
#include "os/thread.h"

/* One thread, at some moment. */
struct look {
    struct weft__standing standing;
    bool unknown; /* it is blocked, but what blocks it could not be read */
    enum worker_state state;
    uint32_t park, stop;
    bool in_crowd;
    int thread;
    weft_fn *fn;
    unsigned executor, depth, deepest;
    uint64_t lasts;      /* for how long it is in this state, in ns; 0: unknown */
    uint64_t jobs_since; /* how many jobs it began in that time; 0: unknown */
    bool lasts_longer;   /* `lasts` is only a lower bound */
    size_t forks, pending, deque, mail;
    uint64_t jobs, steals, injected, sleeps;
};

/* ---- Locks ---- */

/* The locks that are held while one thread is looked at. */
struct locks {
    struct weft_pool *pool;
    bool own;     /* this thread has the lock for rousing already: it calls the deadlock handler */
    bool rousing; /* pool->blocking.lock is held */
    bool guests;  /* pool->guests.lock is held */
};

/* The locks are taken in the same order as for reports. */
static void take_locks(struct locks *locks, struct weft_pool *pool)
{
    int reporter = atomic_load_relaxed(&pool->blocking.reporter); /* relaxed: own */
    *locks = (struct locks){.pool = pool, .own = reporter && reporter == weft__thread_number()};
    locks->rousing = locks->own || weft__lock_try_long(&pool->blocking.lock);
    locks->guests = weft__lock_try_long(&pool->guests.lock);
}

static void drop_locks(struct locks *locks)
{
    if (locks->guests)
        weft__lock_drop(&locks->pool->guests.lock);
    if (locks->rousing && !locks->own)
        weft__lock_drop(&locks->pool->blocking.lock);
}

/* ---- Looking ---- */

/* The thread with the smallest number from `index` on. NULL: there is none, or it is a guest, and
 * their lock is not held. */
static struct weft__worker *next_of(const struct locks *locks, unsigned index)
{
    struct weft_pool *pool = locks->pool;
    if (index < pool->config.workers)
        return pool->workers[index];
    struct weft__worker *next = NULL, *guest = locks->guests ? weft__guests_first(pool) : NULL;
    for (; guest; guest = weft__guests_next(guest))
        if (guest->index >= index && (!next || guest->index < next->index))
            next = guest;
    return next;
}

static struct weft__worker *other_of(const struct locks *locks, const struct weft__worker *worker)
{
    return next_of(locks, worker ? worker->index + 1 : 0);
}

static bool rests(const struct locks *locks, struct weft__worker *worker)
{
    return locks->rousing && weft__block_rests(worker);
}

static void look_at_blocked(const struct locks *locks, struct look *look,
                            struct weft__worker *worker)
{
    struct weft__worker *other = NULL;
    weft__standing_blocked(&look->standing, worker);
    while (weft__blocked_by(worker->blocked) && (other = other_of(locks, other)))
        weft__standing_holder(&look->standing, other);
}

/* The thief that stands in `place`, if it is still a thread of the pool. */
static struct weft__who thief_in(const struct locks *locks, struct weft__worker *worker,
                                 struct atomic_ptr *place)
{
    if (weft__context_of((weft *)(void *)place) != worker->context)
        return weft__who(NULL);                     /* the worker waits for something else by now */
    const void *thief = atomic_load_relaxed(place); /* relaxed: it is only compared */
    const struct weft__worker *other = NULL;
    while (thief && (other = other_of(locks, other)))
        if (other == thief)
            return weft__who(other);
    return weft__who(NULL);
}

/* Of a thread that rests, all jobs on its stack are known; of another thread only the job on
 * top. */
static bool runs_child(const struct locks *locks, struct weft__worker *other, const void *scope)
{
    return rests(locks, other) ? weft__runs_child(other, scope)
                               : atomic_load_relaxed(&other->counts->group) == scope; /* a hint */
}

static void look_at_wait(struct look *look, const struct locks *locks, struct weft__worker *worker)
{
    struct weft__standing *standing = &look->standing;
    struct weft__worker *other = NULL;
    void *place = atomic_load_relaxed(&worker->counts->awaits_for); /* relaxed, both: hints */
    standing->awaits = atomic_load_relaxed(&worker->counts->awaits);
    if (standing->awaits == weft__awaits_thief && place)
        standing->thief = thief_in(locks, worker, place);
    while (standing->awaits == weft__awaits_children && (other = other_of(locks, other)))
        if (other != worker && runs_child(locks, other, place))
            weft__standing_child(standing, other);
}

/* How many forks are not merged; and, on the lazy road, how many of them were neither stolen nor
 * published. relaxed, all: hints. */
static void look_at_forks(struct look *look, struct weft__context *context)
{
    weft *oldest = atomic_load_relaxed(&context->oldest);
    for (weft *w = context->first; w <= context->last; w++) {
        if (!atomic_load_relaxed(&weft__slot_of(w)->fn))
            break;
        look->forks++;
        look->pending += !context->eager && w >= oldest;
    }
}

/* For how long it is in this state. A thread notes when it was blocked, and when it began or ended
 * a search. If it has noted nothing, an earlier dump may have seen it in the same state. */
static void look_at_time(struct look *look, const struct locks *locks, struct weft__worker *worker)
{
    uint64_t now = weft__clock_now();
    uint64_t since = atomic_load_relaxed(&worker->counts->since); /* relaxed, both: hints */
    uint64_t jobs_then = atomic_load_relaxed(&worker->counts->jobs_then);
    look->jobs_since = look->jobs > jobs_then ? look->jobs - jobs_then : 0;
    if (since) {
        look->lasts = now > since ? now - since : 1;
        return;
    }
    if (!locks->guests)
        return;
    if (worker->seen_at == 0 || worker->seen_jobs != look->jobs ||
        worker->seen_state != look->state) {
        worker->seen_jobs = look->jobs;
        worker->seen_state = look->state;
        worker->seen_at = now;
        return;
    }
    look->lasts = now > worker->seen_at ? now - worker->seen_at : 1;
    look->lasts_longer = true;
    look->jobs_since = 0;
}

static void look_at(struct look *look, const struct locks *locks, struct weft__worker *worker)
{
    struct weft__counts *counts = worker->counts;
    /* relaxed, all: hints. */
    *look = (struct look){
        .standing.who = weft__who(worker),
        .state = (enum worker_state)atomic_load_relaxed(&counts->state),
        .park = atomic_load_relaxed(&worker->own_park->state),
        .in_crowd = atomic_load_relaxed(&worker->own_park->in_crowd),
        .stop = atomic_load_relaxed(&worker->stop.core.state),
        .thread = atomic_load_relaxed(&counts->thread),
        .fn = atomic_load_relaxed(&counts->fn),
        .executor = atomic_load_relaxed(&counts->executor),
        .depth = atomic_load_relaxed(&counts->depth),
        .deepest = atomic_load_relaxed(&counts->depth_max),
        .deque = weft__deque_size(&worker->deque) + weft__pile_size(&worker->pile),
        .mail = weft__queue_length(&worker->mailbox),
        .jobs = atomic_load_relaxed(&counts->jobs),
        .steals = atomic_load_relaxed(&counts->steals),
        .injected = atomic_load_relaxed(&counts->injected),
        .sleeps = atomic_load_relaxed(&counts->sleeps),
    };
    if (rests(locks, worker)) {
        look->state = WORKER_BLOCKED;
        look_at_blocked(locks, look, worker);
    } else if (look->state == WORKER_SEARCHING) {
        look_at_wait(look, locks, worker);
    }
    look->unknown = look->state == WORKER_BLOCKED && !look->standing.blocked;
    look_at_forks(look, worker->context);
    look_at_time(look, locks, worker);
}

/* ---- Writing ---- */

static const char *state_of(const struct look *look)
{
    static const char *const states[] = {"outside", "busy", "searching", "blocked"};
    if (look->state == WORKER_SEARCHING && look->standing.awaits)
        return "waiting";
    bool asleep = look->in_crowd || (look->park & ~(uint32_t)PARK_UNCOUNTED) == PARK_ASLEEP;
    if (look->state == WORKER_SEARCHING && asleep)
        return "asleep";
    return states[look->state];
}

static void put_time(FILE *out, const struct look *look)
{
    if (!look->lasts || look->state == WORKER_OUTSIDE)
        return;
    fprintf(out, " for %s%.3f s", look->lasts_longer ? "at least " : "", (double)look->lasts / 1e9);
    if (look->jobs_since && look->state == WORKER_BUSY)
        fprintf(out, " and %llu job%s", (unsigned long long)look->jobs_since,
                look->jobs_since == 1 ? "" : "s");
}

static void put_reason(FILE *out, const struct look *look)
{
    char call[80];
    if (look->standing.blocked || look->standing.awaits) {
        fputs(", ", out);
        weft__put_standing(out, &look->standing);
    } else if (look->unknown) {
        fputs(", on its way into a wait or out of it", out);
    }
    bool in_own_code = look->state == WORKER_BUSY ||
                       (look->standing.blocked && look->standing.kind == BLOCKED_OUTSIDE);
    if (!in_own_code)
        return;
    if (look->thread == weft__thread_number())
        fputs(", in weft_pool_dump", out);
    else if (weft__syscall_of(look->thread, call, sizeof call))
        fprintf(out, ", in %s", call);
}

static void put_jobs(FILE *out, const struct look *look)
{
    if (look->depth == 0)
        return;
    fputs("; runs ", out);
    if (look->fn)
        weft__put_function(out, look->fn);
    if (look->executor)
        fprintf(out, "%sactors of executor %u", look->fn ? ", or " : "", look->executor - 1);
    else if (!look->fn)
        fputs("a job of the library's own", out);
    if (look->depth > 1)
        fprintf(out, " on top of %u more job%s", look->depth - 1, look->depth == 2 ? "" : "s");
}

static void put_numbers(FILE *out, const struct look *look)
{
    static const char *const parks[] = {"awake", "drowsy", "nudged", "asleep", "waking"};
    fprintf(out,
            "; forks %zu, pending %zu, deque %zu, mail %zu; parking place %s%s, stop latch %u, "
            "jobs %llu, steals %llu, injected %llu, sleeps %llu, deepest %u\n",
            look->forks, look->pending, look->deque, look->mail,
            look->in_crowd ? "unused" : parks[look->park & ~(uint32_t)PARK_UNCOUNTED],
            look->park & PARK_UNCOUNTED ? " uncounted" : "", look->stop,
            (unsigned long long)look->jobs, (unsigned long long)look->steals,
            (unsigned long long)look->injected, (unsigned long long)look->sleeps, look->deepest);
}

static void put(FILE *out, const struct look *look)
{
    weft__put_who(out, "  ", &look->standing.who);
    fprintf(out, ": %s", state_of(look));
    put_time(out, look);
    put_reason(out, look);
    put_jobs(out, look);
    put_numbers(out, look);
}

static void put_pool(FILE *out, struct weft_pool *pool)
{
    uint32_t pending = atomic_load_relaxed(&pool->pending); /* relaxed: a hint */
    struct weft__resting resting = weft__sleep_resting(&pool->sleep);
    fprintf(
        out,
        "weft pool \"%s\": %u workers, %u idle, %u asleep, %u guests, %zu queued, %u pending%s%s\n",
        pool->config.name, pool->config.workers, resting.idle, resting.sleeping,
        weft__sleep_guests(&pool->sleep), weft__queue_length(&pool->injector),
        pending & ~(uint32_t)POOL_CLOSED, pending & POOL_CLOSED ? ", closing" : "",
        weft__pool_is_forked(pool) ? ", its threads are in the parent process" : "");
}

static void dump(struct weft_pool *pool, FILE *out)
{
    put_pool(out, pool);
    unsigned index = 0;
    for (bool more = true; more;) {
        struct locks locks;
        struct look look;
        take_locks(&locks, pool);
        struct weft__worker *worker = next_of(&locks, index);
        if ((more = worker)) {
            index = worker->index + 1;
            look_at(&look, &locks, worker);
        }
        drop_locks(&locks);
        if (more)
            put(out, &look);
        else if (!locks.guests)
            fprintf(out, "  guests: unknown, as one enters or leaves just now\n");
    }
    struct weft__actors *actors = atomic_load_acquire(&pool->actors); /* acquire A1 */
    if (actors)
        pool->actors_dump(actors, out);
}

void weft_pool_dump(weft_pool *given, FILE *out)
{
    WEFT__NEEDS(out, "a stream");
    weft_pool *pool = given ? given : weft__pool_enter_default();
    if (!pool) {
        fprintf(out, "weft: there is no default pool\n");
        return;
    }
    dump(pool, out);
    if (!given)
        weft__pool_leave(pool);
}
