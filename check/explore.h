/* SPDX-License-Identifier: MIT */
/* explore.h: all executions of a harness, one after the other. */
#ifndef CHECK_EXPLORE_H
#define CHECK_EXPLORE_H

#include "memory.h"
#include "model.h"

enum { HARNESS_THREADS = 4 };

struct harness {
    const char *name;
    const char *what;
    void (*setup)(void);                   /* before the threads, with plain operations */
    void (*thread[HARNESS_THREADS])(void); /* NULL: there are no more; they may start others */
    void (*finish)(void);                  /* after them; may be NULL */
    const char *fails;    /* it is known to, with these words: finding that is success */
    unsigned preemptions; /* a tighter bound than the options', if these have one; 0: none */
    unsigned stale;    /* how many times loads read something else than the newest store, and stores
                          land earlier than last; 0: as the options say */
    unsigned stale_in; /* only in these threads, as bits; 0: in all */
    unsigned failures; /* so many allocations and thread creations fail */
    bool times_out; /* when nobody can go on, those who sleep for a time have slept enough, and what
                       was old is not read any more; a few times */
    const struct rules *rules; /* of the memory; NULL: as the options say */
};

struct options {
    int preemptions;     /* at most so many; -1: any number */
    int stale;           /* the same for old values; -1: any number */
    int spurious;        /* and for wake-ups without a reason */
    struct rules rules;  /* of the memory */
    uint64_t executions; /* gives up after so many; 0: never */
    double seconds;      /* and after so much CPU time; 0: never */
    bool resumable;      /* and says where */
    bool verbose;
};

enum verdict { VERDICT_FINE, VERDICT_FAILED, VERDICT_GAVE_UP };

struct result {
    enum verdict verdict;
    uint64_t executions; /* to their end */
    uint64_t known;      /* cut off: they had come to where another one was before */
    uint64_t forbidden;  /* failed, but RC11 does not allow them */
    char why[600];
    char trail[4000];
    char *position; /* given up, and resumable: where to go on, in a line for explore_on(); to be
                       freed */
};

struct result explore(const struct harness *harness, const struct options *options);

/* Goes on where another process of the same program has given up. What that one knew of places is
 * lost, so some executions are done again. Begins at the beginning if the line does not fit. */
struct result explore_on(const struct harness *harness, const struct options *options,
                         const char *position);

/* One execution again. Returns why it fails; "": it does not. */
const char *explore_again(const struct harness *harness, const struct options *options,
                          const char *trail);

/* Prints it, one column for each thread. */
void explore_show(const struct harness *harness, const struct options *options, const char *trail);

/* ---- For model.c and memory.c ---- */

/* One of n, the first if nothing speaks against it. */
unsigned explore_choose(unsigned n);

/* One of n, of which all but the first are old values; or wake-ups without a reason, or
 * failures, or impatience: bounded. */
unsigned explore_choose_stale(unsigned n);
bool explore_choose_spurious(void);
bool explore_choose_failure(void);
bool explore_choose_impatience(void); /* a thread that could let others go first goes on */

/* What a thread is about to do; two that concern the same location, unless both only read it,
 * can't change places, and so can't two sequentially consistent fences. */
enum touch { TOUCH_READ, TOUCH_WRITE, TOUCH_FENCE, TOUCH_ALL };

/* Before an operation: others may go first, if they can see the difference. */
void explore_step(enum touch touch, const void *at);

/* The location at this address; the operation that was announced concerns it. */
int explore_location(const void *at, unsigned size);

/* Plain memory is touched: fails if it is gone. */
void explore_touch(const void *at, size_t size);

/* Threads. */
unsigned explore_start(void (*fn)(void *), void *arg); /* 0: there are too many */
void explore_join(unsigned thread);
void explore_stack(const char **low, const char **high);

/* The running thread waits at a location, until somebody makes it ready. */
void explore_wait(int location, uint64_t ns); /* 0: not for a time */
uint64_t explore_passed(void); /* so many ns have passed, because nobody could go on */
unsigned explore_waiting(int location, unsigned list[static THREADS_MAX]);
void explore_ready(unsigned thread);

#endif
