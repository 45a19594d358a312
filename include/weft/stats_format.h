/* SPDX-License-Identifier: MIT */
/* stats_format.h: the statistics page, for programs that look into a running one, as `weft top`
 * does. weft_stats(7) says how to find and read it.
 *
 * A process that has had a pool has one page, in a memory file called WEFT_STATS_NAME, which ends
 * with the process. It begins with a header, which says where tables of records are:
 *
 *     header | pools | workers | actors | words | holders | report
 *
 * A record is in use if its `id` is neither 0 nor has its highest bit set. No two things of a kind
 * ever have the same id, so a reader that finds another id has met another thing. Each number is
 * written by itself, while the reader reads: two of them need not fit each other, except as
 * `sequence` says. Addresses are those of the process, and mean two things only: equal ones are the
 * same thing, and code has names. Numbers have the byte order of the machine; times are nanoseconds
 * of CLOCK_MONOTONIC.
 *
 * A reader must believe nothing: the page belongs to the other process, which may be broken. It
 * uses read(2) and not a mapping, and checks all numbers that lead it anywhere. */
#ifndef WEFT_STATS_FORMAT_H
#define WEFT_STATS_FORMAT_H

#include <stdint.h>

#define WEFT_STATS_NAME "weft-stats"
#define WEFT_STATS_MAGIC "weft sta" /* 8 bytes, without a zero */
#define WEFT_STATS_BYTE_ORDER UINT32_C(0x01020304)
enum {
    WEFT_STATS_VERSION = 1, /* changes if older readers would misunderstand the page */
    WEFT_STATS_SIZE_MOST = 16 << 20,
};

enum weft_stats_kind {
    WEFT_STATS_POOLS,
    WEFT_STATS_WORKERS,
    WEFT_STATS_ACTORS,
    WEFT_STATS_WORDS,
    WEFT_STATS_HOLDERS,
    WEFT_STATS_REPORT,
    WEFT_STATS_TABLES
};

/* Readers skip what they do not know at the end of a record. */
struct weft_stats_table {
    uint32_t offset; /* of the first record in the page */
    uint32_t count;  /* of records */
    uint32_t each;   /* bytes of one record */
    uint32_t left;   /* how many things of the kind exist and found no record */
};

struct weft_stats_header {
    char magic[8];
    uint32_t byte_order, version;
    uint32_t pid;     /* as the process itself sees it */
    uint32_t library; /* weft_version_number() */
    uint64_t size;    /* of the page */
    uint64_t made;    /* when */
    struct weft_stats_table tables[WEFT_STATS_TABLES];
};

struct weft_stats_pool {
    uint64_t id;
    uint64_t address;
    char name[16];   /* ends with a zero */
    uint64_t made;   /* when */
    uint64_t queued; /* jobs in its queue: submitted, and not begun */
    uint32_t workers;
    uint32_t unused;
    uint64_t reports; /* of deadlocks */
    uint64_t reserved[7];
};

/* What a thread does. BUSY: it runs a job. */
enum weft_stats_state {
    WEFT_STATS_OUTSIDE,
    WEFT_STATS_BUSY,
    WEFT_STATS_SEARCHING, /* and asleep if the phase says so; and waiting if `awaits` is not 0 */
    WEFT_STATS_BLOCKED,
};

enum weft_stats_phase {
    WEFT_STATS_WORKS,
    WEFT_STATS_SEARCHES,
    WEFT_STATS_SLEEPS,
    WEFT_STATS_IS_BLOCKED,
    WEFT_STATS_PHASES
};

/* How long it was in each phase. Time that is in none of them was work. The sequence is odd while
 * the others are written: those of two readings with the same even sequence fit each other. */
struct weft_stats_phases {
    uint32_t sequence;
    uint32_t phase;                        /* enum weft_stats_phase */
    uint64_t since;                        /* when that began */
    uint64_t times[WEFT_STATS_PHASES - 1]; /* of SEARCHES, SLEEPS and IS_BLOCKED; the phase that
                                              lasts is not in it */
    uint64_t outside; /* how long its thread was outside the pool. By the kernel's tick: the sum of
                         many short times is right, one of them may not be */
    uint64_t left;    /* 0: inside; or when it went out, by the same clock */
};

enum weft_stats_worker_kind {
    WEFT_STATS_THREAD,
    WEFT_STATS_CALLER, /* the thread that made the pool (WEFT_USE_CALLER) */
    WEFT_STATS_GUEST,  /* a thread in weft_run() */
    WEFT_STATS_SPARE,  /* in the place of a blocked one */
};

struct weft_stats_worker {
    uint64_t jobs, steals, injected, sleeps; /* as in weft_worker_info */
    uint64_t fn;                             /* what the job on top runs, or 0 */
    uint64_t group;                          /* the group of that job, or 0 */
    uint32_t depth;                          /* how many jobs lie on top of each other */
    uint32_t state;                          /* enum weft_stats_state */
    uint32_t depth_max;
    int32_t cpu;         /* on which it last began to work */
    int32_t thread;      /* the kernel's number of its thread; 0: it has none */
    uint32_t executor;   /* the number of the actors' executor that it drives, plus 1; or 0 */
    uint64_t since;      /* when it last began or ended a search, or was blocked; 0: unknown */
    uint64_t jobs_then;  /* how many jobs it had begun at that time */
    uint64_t awaits;     /* words for the innermost wait of its job, or 0 */
    uint64_t awaits_for; /* if the wait is for children: their group */
    struct weft_stats_phases phases;
    uint64_t waits;        /* if it is blocked: words for it */
    uint64_t waits_object; /* and for what, plus WEFT_STATS_OWNED; or 0 */
    char waits_name[24];   /* the name of that, cut off; or empty */
    uint64_t awaits_thief; /* the worker that took what it waits for; or 0 */
    uint64_t visitor;      /* the name by which its thread holds mutexes that it locked outside */
    uint64_t reserved;
    uint64_t id; /* written last when the record is taken, and first when it is left */
    uint64_t address;
    uint64_t pool; /* the address of its pool */
    uint32_t index;
    uint32_t kind; /* enum weft_stats_worker_kind */
};

/* As in weft_actor_info. */
struct weft_stats_actor {
    uint64_t quanta, steals, delegates, given_back, moves, run_ns, runnable_ns;
    uint64_t memory, memory_peak;
    uint32_t activity; /* enum weft_actor_state, but RUNNABLE for RUNNING */
    int32_t executor;
    uint64_t waits; /* words for what it waited for last */
    char waits_name[24];
    uint64_t waits_since;
    uint64_t waits_object; /* as above */
    uint64_t waits_actor;  /* the address of the actor that it waits for, or 0 */
    uint64_t id;
    uint64_t address;
    uint64_t fiber; /* a part of the name by which it holds mutexes; or 0 */
    uint64_t pool;  /* the address of its pool */
    uint64_t fn;
    uint64_t memory_limit;
    char name[32];
    uint64_t reserved[5];
};

/* What is said at an address: static words of the library. */
struct weft_stats_words {
    uint64_t address;
    char text[56];
};

/* Who holds a mutex, a read-write lock or a once that somebody waits for. Several objects share a
 * record: the one that was written last is in it. */
struct weft_stats_holder {
    uint64_t object;
    uint64_t holder; /* the address of a worker; or a name with WEFT_STATS_NO_WORKER; or 0: nobody,
                        or several that read */
};
enum { WEFT_STATS_OWNED = 1 };     /* in an object: somebody may hold it */
enum { WEFT_STATS_NO_WORKER = 8 }; /* in a holder: it is an actor's fiber, or a visitor */

/* The last report of a deadlock. */
struct weft_stats_report {
    uint64_t when; /* 0: there was none */
    uint64_t pool; /* its address */
    char text[4080];
};

#endif
