/* SPDX-License-Identifier: MIT */
/* descent.h: a thread that looks for work and finds none, on its way to sleep: it searches a few
 * rounds, waits for right sides that are too young, lingers if that has paid lately, and sleeps.
 * The whole descent, with what the sleep module does, is listed in ../sleep/README.md. */
#ifndef WEFT_CORE_DESCENT_H
#define WEFT_CORE_DESCENT_H

#include "core/wait.h"
#include "sleep/sleep.h"

/* A wait. The thread is `me`, and whatever hosts it; it sleeps as `root`. */
struct weft__wait {
    weft *w; /* where it runs other jobs meanwhile */
    struct weft__worker *me;
    struct weft__worker *root; /* the outermost worker that this thread is */
    struct weft__latch *latch;
    struct weft__awaited awaited;
    bool limited;    /* it takes no jobs of others; see wait.h */
    bool last;       /* limited, as all other threads of its pool are: it may have to take a job */
    bool despair;    /* last, and no job has begun in its pool for a while: it takes one */
    uint64_t jobs;   /* last: so many had begun in its pool when it looked before */
    bool holds;      /* it holds a mutex, or runs a part of what a holder does */
    bool counted;    /* idle and asleep as a worker of root's pool */
    bool loop;       /* not a wait at all: a worker's own loop */
    bool steps_back; /* too many threads of root's pool are up: it begins nothing new */
    bool settled;    /* it has seen to it that it is on a CPU of its own */
    struct weft__idle idle;
    uint64_t since;         /* when it began to look for work */
    uint64_t patient_until; /* how long to stay awake for right sides that are too young */
};

/* From here on it has nothing to run. */
void weft__descent_begin(struct weft__wait *wait);

/* After each search in vain: one step of the descent, which may be to sleep until it is woken. */
void weft__descent_step(struct weft__wait *wait);

/* It has something to run, or its latch is set. `stole`: that was stolen. */
void weft__descent_end(struct weft__wait *wait, bool stole);

#endif
