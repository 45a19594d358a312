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

#endif
