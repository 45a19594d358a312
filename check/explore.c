/* SPDX-License-Identifier: MIT */
/* Depth-first through all choices. An execution is made of the choices on the trail, and of
 * first ones after its end; the next execution takes the last choice that has another one left.
 *
 * Threads change places only before an operation on a location that several threads use.
 * Which these are is learnt on the way: when another turns out to be one, all starts again.
 *
 * Three things keep most executions from being tried twice:
 * - Where an execution has come to is all that its threads have done and read, and the
 *   modification orders; not in which order unrelated things were done. If another execution
 *   has been there, this one ends: what follows is known. (With a bound on preemptions, only
 *   if it had used up as many.)
 * - Sleep sets, if preemptions have no bound: what thread A would do next has been tried
 *   before B's step was; it is tried again after B's step only if B's step makes a difference
 *   to it. Godefroid, "Partial-Order Methods", 1996, shows how this goes together with the
 *   first.
 * - A thread that spins comes back when somebody has written something, and it does not read
 *   again what it has seen to be old. */
#include "explore.h"

#include "consistency.h"
#include "execution.h"
#include "position.h"
#include "schedule.h"
#include "trail.h"
#include "visited.h"

#include <time.h>

static void begin(const struct harness *h, const struct options *o)
{
    execution_of(h, o);
    trail_forget();
    visited_forget();
    shared.count = 0;
}

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool is_enough(const struct result *result, double until)
{
    uint64_t most = now.options->executions;
    return (most && result->executions + result->known >= most) ||
           (now.options->seconds > 0 && cpu_seconds() >= until);
}

/* False: there are no more. */
static bool next_execution(void)
{
    if (!shared.grew)
        return trail_next();
    trail_forget();
    visited_forget();
    return true;
}

static struct result explore_all(void)
{
    struct result result = {.verdict = VERDICT_FINE};
    double until = cpu_seconds() + now.options->seconds;
    do {
        if ((result.executions || result.known) && is_enough(&result, until)) {
            result.verdict = VERDICT_GAVE_UP;
            result.position = now.options->resumable ? position_write() : NULL;
            return result;
        }
        shared.grew = false;
        execution_run();
        if (trail.misfits)
            return result;
        *(now.ending == KNOWN ? &result.known : &result.executions) += 1;
        if (now.ending != FAILED && now.ending != STUCK && now.ending != ENDLESS)
            continue;
        if (consistency_holds(execution_rules())) {
            result.verdict = VERDICT_FAILED;
            snprintf(result.why, sizeof result.why, "%s", now.why);
            trail_write(result.trail, sizeof result.trail);
            return result;
        }
        result.forbidden++;
    } while (next_execution());
    return result;
}

struct result explore(const struct harness *h, const struct options *o)
{
    begin(h, o);
    return explore_all();
}

struct result explore_on(const struct harness *h, const struct options *o, const char *position)
{
    begin(h, o);
    execution_prepare();
    if (!position_read(position))
        return explore(h, o);
    struct result result = explore_all();
    return trail.misfits ? explore(h, o) : result;
}

const char *explore_again(const struct harness *h, const struct options *o, const char *text)
{
    begin(h, o);
    trail_read(text);
    execution_run();
    return now.why;
}
