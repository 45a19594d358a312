/* SPDX-License-Identifier: MIT */
#include "core/help.h"

#include "core/pool.h"
#include "os/clock.h"

void weft__context_expect(struct weft__context *context)
{
    context->help = (struct weft__help){.wanted = true};
    weft__context_raise_guard(context);
}

/* The job's thread counts as working before it looks for a sleeping worker that may be woken: see
 * EnterFence. A thread that makes room later wakes a worker itself. */
void weft__expect_help(struct weft__worker *me)
{
    struct weft__sleep *sleep = &me->pool->sleep;
    /* relaxed: a hint. While a thread is blocked, the first fork may call a spare in its place. */
    bool short_handed = atomic_load_relaxed(&sleep->blocked) > 0;
    if (!me->context->eager && (weft__sleep_has_room(sleep) || short_handed))
        weft__context_expect(me->context);
}

void weft__expect_help_again(struct weft__worker *me)
{
    const struct weft__help *help = &me->context->help;
    if (!help->wanted || (help->little && !weft__sleep_has_lookout_apart(&me->pool->sleep)))
        weft__expect_help(me);
}

/* Usually the first fork wakes the sleeping worker, since the owner may never fork again. But if
 * jobs of this kind have been brief so far, the worker is woken only when this job has taken
 * longer; until then shallow forks look at the clock. That is a guess, and if it is wrong, the
 * first right side waits for a nap of the look-out. So it is made only while there is a
 * look-out. */
bool weft__help_is_due_now(struct weft__context *context, weft *w)
{
    struct weft__help *help = &context->help;
    uint64_t now = weft__clock_now();
    if (help->started == 0) {
        help->started = now;
        help->first_right = atomic_load_relaxed(&weft__slot_of(w)->fn); /* relaxed: own */
        struct weft_pool *pool = context->worker->pool;
        help->little = help->whole && weft__sleep_has_lookout_apart(&pool->sleep) &&
                       weft__habit_is_brief(&pool->habits, help->whole, help->first_right);
    }
    return !help->little || now - help->started >= WEFT__LITTLE_NS;
}

void weft__context_is_long(struct weft__context *context)
{
    if (!context->help.wanted || !context->help.little)
        return;
    context->help.little = false;
    weft__context_raise_guard(context);
}
