/* SPDX-License-Identifier: MIT */
/* descent.h: the steps from finding no work to sleeping. A thread searches a few rounds, waits for
 * right sides that are too young, lingers if that was worth it the last times, and sleeps. The
 * whole descent, with what the sleep module does, is listed in ../sleep/README.md. */
#ifndef WEFT_CORE_DESCENT_H
#define WEFT_CORE_DESCENT_H

#include "core/wait.h"
#include "sleep/sleep.h"

/* A wait. It belongs to the worker `me`; the thread sleeps as `outermost`. */
struct weft__wait {
    weft *w; /* where it runs other jobs meanwhile */
    struct weft__worker *me;
    struct weft__worker *outermost; /* weft__outermost(me) */
    struct weft__latch *latch;
    struct weft__awaited awaited;
    bool limited;    /* it takes no jobs of others; see wait.h */
    bool last;       /* it is limited, and so are all other threads of its pool: it may have to take
                        a job all the same */
    bool despair;    /* it is the last, and no job began in its pool for a while: it takes one */
    uint64_t jobs;   /* how many jobs had begun in its pool when the last one looked before */
    bool holds;      /* it holds a mutex, or runs a part of what a holder does */
    bool counted;    /* the sleep module counts it as a worker of outermost->pool */
    bool loop;       /* no job waits: this is a worker's own loop */
    bool steps_back; /* too many threads of outermost->pool are awake: it begins nothing new */
    bool settled;    /* it has moved away from the CPUs of busy threads, or need not */
    struct weft__idle idle;
    uint64_t since;         /* when it began to look for work */
    uint64_t patient_until; /* how long to stay awake for right sides that are too young */
};

/* The thread has nothing to run from here on. */
void weft__descent_begin(struct weft__wait *wait);

/* After each search that found nothing: one step of the descent, which may be to sleep until it is
 * woken. */
void weft__descent_step(struct weft__wait *wait);

/* The thread has something to run, or its latch is set. `stole`: the job was stolen. */
void weft__descent_end(struct weft__wait *wait, bool stole);

#endif
