/* SPDX-License-Identifier: MIT */
/* What survives a first look: mutants that one harness kills, but only without bounds; and orders
 * that no harness needs, and why they are kept. */
#include "harnesses.h"
#include "mutate.h"

#include <string.h>

struct known {
    const char *file, *what;
    enum operation operation;
    enum order from, to;
    const char *text;
};

/* `text`: the harness. */
static const struct known stubborn[] = {
    {"core/fork.c", "&slot->fn", OP_LOAD, ACQUIRE, RELAXED, "fork-lazy-reused"},
};

static const char lb[] =
    "RC11 forbids load buffering, C11 does not: a thief could read what is written to the place "
    "after its job was taken";
static const char le[] =
    "RC11's fences are stronger than C11's; with these the published proof holds (Le and others "
    "2013); the same instruction on most machines";
static const char fences[] =
    "no wake-up rests on it: there is a fence before (F1). But it saves vain searches, and forks, "
    "which have no fence, find a sleeper's place";
static const char tickle[] =
    "the document wants it; the fences beside it would do in RC11, not in C11";
static const char tickled[] =
    "V1: who is tickled finds at once what for; it would before it sleeps, too";
static const char census[] =
    "one rule for all who change the census (Z1); only coming to rest needs all of it";
static const char enter[] =
    "left out, who falls asleep may overlook a guest that comes in, and nobody looks out for its "
    "forks; no harness has a clock to see that by, but lookout-leaves shows the same for events";
static const char leaves[] =
    "as where a guest leaves, which the step-back harnesses show; those of blocking have no guests";
static const char anew[] =
    "a default pool that is made anew where another one was: in no harness, since it has workers; "
    "ThreadSanitizer sees it in fault.destroy";
static const char thief[] =
    "who misses its fork has taken a lock, or read top before a fence; that is far away, and this "
    "is the plain reason";
static const char fd[] =
    "eventfd is the kernel's, and in no harness; the number itself is all that is handed over";
static const char waiter[] =
    "the result comes with the latch that is set next; this has only to hand over the waiter";
static const char answers[] =
    "each count-down goes on from the one before, so release alone would do, for the last one too; "
    "but os/atomic.h has no such operation, and here it would save nothing on x86";
static const char rests[] = "release alone would do (Z5); but os/atomic.h has no such operation, "
                            "and this is no fast road";
static const char marked[] = "who is marked has passed a fence (F1) before it rests; that is far "
                             "away, and this is the plain "
                             "reason";
static const char threads[] = "X1, X2: the last one may come to need what the others did";

static const struct known kept[] = {
    {"core/deque.c", "&deque->top", OP_LOAD, ACQUIRE, RELAXED, lb},
    {"core/deque.c", "&deque->top", OP_CAS, SEQ_CST, ACQ_REL, le},
    {"sleep/events.c", "&sleep->counters", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"sleep/events.c", "&sleep->counters", OP_CAS, ACQ_REL, ACQUIRE, fences},
    {"sleep/events.c", "&sleep->counters", OP_CAS, ACQ_REL, RELEASE, fences},
    {"sleep/sleep.c", "&sleep->counters", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"sleep/counters.c", "&sleep->counters", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"sleep/counters.c", "&sleep->counters", OP_RMW, ACQ_REL, ACQUIRE, fences},
    {"sleep/counters.c", "&sleep->counters", OP_RMW, ACQ_REL, RELEASE, fences},
    {"sleep/tickle.c", "&sleep->counters", OP_LOAD, ACQUIRE, RELAXED, fences},
    {"core/block.c", "fence", OP_FENCE, SEQ_CST, SEQ_CST, leaves},
    {"core/pool.c", "&pool->pending", OP_CAS, ACQUIRE, RELAXED, anew},
    {"sleep/tickle.c", "fence", OP_FENCE, SEQ_CST, SEQ_CST, enter},
    {"sleep/crowd.c", "&crowd->state", OP_CAS, SEQ_CST, ACQ_REL, tickle},
    {"sleep/crowd.h", "&crowd->state", OP_RMW, SEQ_CST, ACQ_REL, tickle},
    {"core/deque.c", "&deque->flag", OP_LOAD, SEQ_CST, ACQUIRE, tickle},
    {"core/deque.c", "&deque->flag", OP_STORE, SEQ_CST, RELEASE, tickle},
    {"sleep/crowd.h", "&crowd->state", OP_LOAD, ACQUIRE, RELAXED, tickled},
    {"sleep/crowd.c", "&crowd->state", OP_CAS, ACQ_REL, ACQUIRE, tickled},
    {"sleep/census.h", "&census->word", OP_RMW, ACQ_REL, ACQUIRE, census},
    {"sleep/census.h", "&census->word", OP_RMW, ACQ_REL, RELEASE, census},
    {"sleep/sleep.c", "&sleep->counters", OP_CAS, ACQ_REL, ACQUIRE, fences},
    {"sleep/sleep.c", "&sleep->counters", OP_CAS, ACQ_REL, RELEASE, fences},
    {"core/block.c", "&me->rests", OP_RMW, ACQ_REL, RELEASE, rests},
    {"core/block.c", "&me->rests", OP_RMW, ACQ_REL, ACQUIRE, marked},
    {"core/fork.c", "&slot->thief", OP_STORE, RELEASE, RELAXED, thief},
    {"core/search.c", "aim->thief", OP_LOAD, ACQUIRE, RELAXED, thief},
    {"core/run.c", "&task->fd", OP_CAS, ACQ_REL, ACQUIRE, fd},
    {"core/run.c", "&task->fd", OP_CAS, ACQ_REL, RELEASE, fd},
    {"core/run.c", "&task->fd", OP_RMW, ACQUIRE, RELAXED, fd},
    {"core/run.c", "&task->waiter", OP_RMW, ACQ_REL, ACQUIRE, waiter},
    {"core/run.c", "&task->waiter", OP_CAS, ACQ_REL, RELEASE, waiter},
    {"core/pool.c", "&pool->threads", OP_RMW, ACQ_REL, RELEASE, threads},
    {"actor/answer.h", "&victim->pending", OP_RMW, ACQ_REL, RELEASE, answers},
};

static const char *find(const struct known *list, size_t n, const struct mutant *mutant)
{
    for (size_t i = 0; i < n; i++) {
        size_t file = strlen(mutant->site->file), tail = strlen(list[i].file);
        if (file >= tail && strcmp(mutant->site->file + file - tail, list[i].file) == 0 &&
            strcmp(mutant->site->what, list[i].what) == 0 &&
            mutant->operation == list[i].operation && mutant->from == list[i].from &&
            mutant->to == list[i].to)
            return list[i].text;
    }
    return NULL;
}

const char *reason_for(const struct mutant *mutant)
{
    return find(kept, sizeof kept / sizeof kept[0], mutant);
}

const char *stubborn_killer_of(const struct mutant *mutant)
{
    return find(stubborn, sizeof stubborn / sizeof stubborn[0], mutant);
}
