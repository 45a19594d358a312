/* SPDX-License-Identifier: MIT */
/* actors.h: the parts of `weft bench actors`, and how they tell what came out. */
#ifndef BENCH_ACTORS_ACTORS_H
#define BENCH_ACTORS_ACTORS_H

#include "../bench.h"

#include <weft/actor.h>

/* False, with a message. */
bool actors_costs(const struct bench_run *run);    /* a switch, a life */
bool actors_fairness(const struct bench_run *run); /* small requests beside a greedy one */
bool actors_memory(const struct bench_run *run);   /* more than is allowed */
bool actors_trees(const struct bench_run *run);    /* forks in actors and in the pool itself */
bool actors_many(const struct bench_run *run);     /* alive, suspended, more than there is room */

/* A number with its limit, for readers and for programs. */
void actors_claim(const struct bench_run *run, const char *part, const char *what, double value,
                  enum report_bound bound, double limit);

/* A time for one of many, likewise: its median in `unit`s of a second. */
void actors_time(const struct bench_run *run, const char *part, const char *what, unsigned workers,
                 const struct samples *seconds, double unit, double limit);

/* A new actor that runs, or NULL with a message. */
weft_actor *actors_start(weft_pool *pool, weft_actor_fn *fn, void *arg,
                         const weft_actor_config *config);

/* Waits, and lets go; what its end was. */
int actors_reap(weft *w, weft_actor *actor);

#endif
