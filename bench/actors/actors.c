/* SPDX-License-Identifier: MIT */
/* What actors cost, and whether they keep to their shares. */
#include "actors.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

void actors_claim(const struct bench_run *run, const char *part, const char *what, double value,
                  enum report_bound bound, double limit)
{
    report_claim(run->report, what, value, bound, limit);
    while (*what == ' ')
        what++;
    report_add(run->report, &(struct result){.bench = part,
                                             .peer = what,
                                             .workers = run->workers,
                                             .steals = -1,
                                             .measured = true,
                                             .value = value});
}

void actors_time(const struct bench_run *run, const char *part, const char *what, unsigned workers,
                 const struct samples *seconds, double unit, double limit)
{
    struct summary summary = samples_summary(seconds);
    report_claim(run->report, what, summary.median / unit, REPORT_AT_MOST, limit);
    report_add(run->report, &(struct result){.bench = part,
                                             .peer = what,
                                             .workers = workers,
                                             .seconds = summary,
                                             .ns_per_op = summary.median * 1e9,
                                             .steals = -1});
}

weft_actor *actors_start(weft_pool *pool, weft_actor_fn *fn, void *arg,
                         const weft_actor_config *config)
{
    weft_actor *actor = NULL;
    int error = weft_actor_create(&actor, pool, fn, arg, config);
    if (error)
        warnx("no actor: %s", strerror(-error));
    else
        weft_actor_run(actor);
    return actor;
}

int actors_reap(weft *w, weft_actor *actor)
{
    int reason = weft_actor_wait(w, actor);
    weft_actor_release(actor);
    return reason;
}

static int status(bool good)
{
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Peers are started before there is much memory to copy. */
int bench_actors(const struct bench_run *run)
{
    return status(actors_fairness(run) && actors_costs(run) && actors_memory(run) &&
                  actors_trees(run) && actors_many(run));
}

int bench_actors_fair(const struct bench_run *run)
{
    return status(actors_fairness(run));
}

int bench_actors_trees(const struct bench_run *run)
{
    return status(actors_trees(run));
}
