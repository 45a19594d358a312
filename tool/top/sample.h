/* SPDX-License-Identifier: MIT */
/* sample.h: what the threads and actors of a process did between two readings of its page, in words
 * and shares. */
#ifndef TOP_SAMPLE_H
#define TOP_SAMPLE_H

#include "page.h"
#include "process.h"

enum { SAMPLE_WHO = 48, SAMPLE_WORDS = 200, SAMPLE_NAME = 80 };

/* Shares of the time between the readings, 0 to 1; they add up to 1. */
enum share { SHARE_BUSY, SHARE_SEARCHING, SHARE_ASLEEP, SHARE_BLOCKED, SHARE_OUTSIDE, SHARES };

/* What happened a second. */
struct rates {
    double jobs, steals, wakes;
};

struct sample_worker {
    char who[SAMPLE_WHO]; /* "worker 0"; and of which pool, if there are several */
    uint64_t id, pool;    /* the pool: its address */
    const char *kind;     /* "worker", "caller", "guest", "spare" */
    unsigned index;
    const char *state; /* "busy", "searching", "asleep", "waiting", "blocked", "outside" */
    double lasts;      /* seconds that it is in that state; below 0: unknown */
    double shares[SHARES];
    double cpu; /* the share of a CPU that its thread had, whatever it did */
    struct rates rates;
    int thread; /* 0: none */
    unsigned depth;
    char runs[SAMPLE_NAME];   /* the function of its job, or "" */
    char waits[SAMPLE_WORDS]; /* what it waits for, or "" */
    int waits_for; /* the place of who has it, in `workers`, or after them in `actors`; or
                      -1 */
};

struct sample_actor {
    char name[33];
    uint64_t id, pool;
    const char *state; /* "new", "runnable", "waiting", "over" */
    double share;      /* of the time in which it ran: 1 is one thread all the time */
    double ready;      /* of the time in which it could have run, and did not */
    double lasts;      /* seconds that it waits; below 0: it does not, or unknown */
    double turns, steals;
    uint64_t memory, limit;
    int executor;
    char runs[SAMPLE_NAME];
    char waits[SAMPLE_WORDS];
    bool needs;    /* it waits for an object or an actor, and not for a message or a time */
    int waits_for; /* as above */
};

struct sample_pool {
    char name[16];
    uint64_t id, address;
    unsigned workers, guests, blocked; /* guests: threads that are inside now */
    double shares[SHARES];             /* of its workers together, without guests */
    struct rates rates;
    uint64_t queued, reports;
};

struct sample {
    struct process process;
    double cpu;     /* shares of a CPU, all threads together */
    double seconds; /* between the readings */
    double age;     /* of the page, in seconds */
    struct sample_pool *pools;
    struct sample_worker *workers;
    struct sample_actor *actors;
    size_t pool_count, worker_count, actor_count;
    uint32_t left[WEFT_STATS_ACTORS + 1]; /* what is not shown */
    bool stands_still;                    /* threads or actors wait, and none works */
    int circle;      /* the first of those that wait for each other, as in waits_for; or -1 */
    char *report;    /* of a deadlock; or NULL */
    double reported; /* how many seconds ago */
};

struct watch;

/* NULL: and why. */
struct watch *watch_open(pid_t pid, char why[PAGE_WHY_SIZE]);
struct watch *watch_open_page(struct page *page, pid_t pid); /* closes the page; NULL: no memory */
void watch_close(struct watch *watch);

/* What happened since the last time; the first time, since the page was made. False: and why. */
bool watch_look(struct watch *watch, struct sample *sample, char why[PAGE_WHY_SIZE]);
void sample_free(struct sample *sample);

/* Of those that waits_for counts. */
const char *sample_who(const struct sample *sample, int i);
int sample_next(const struct sample *sample, int i);

#endif
