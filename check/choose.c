/* SPDX-License-Identifier: MIT */
#include "choose.h"

#include "execution.h"
#include "trail.h"

/* Two executions that differ in nothing but this, so far, are not at the same place. */
static void note(unsigned chosen)
{
    uint64_t *digest = &now.chosen[now.running];
    *digest = (*digest ^ (chosen + 1)) * UINT64_C(0x9e3779b97f4a7c15);
    *digest = (*digest ^ memory_clock(now.running)[now.running]) * UINT64_C(0xbf58476d1ce4e5b9);
}

unsigned choose_any(unsigned n)
{
    unsigned chosen = trail_choose(n);
    if (n > 1)
        note(chosen);
    return chosen;
}

static unsigned choose_bounded(unsigned n, unsigned *used, int limit)
{
    if (limit >= 0 && *used >= (unsigned)limit)
        return 0;
    unsigned chosen = trail_choose(n);
    *used += chosen > 0;
    return chosen;
}

unsigned choose_stale(unsigned n)
{
    const struct harness *harness = now.harness;
    if (harness->stale_in && !(harness->stale_in & 1u << now.running))
        return 0;
    int limit = now.options->stale;
    if (limit >= 0 && harness->stale)
        limit = (int)harness->stale;
    return choose_bounded(n, &now.stale, limit);
}

bool choose_spurious(void)
{
    return choose_bounded(2, &now.spurious, now.options->spurious) > 0;
}

bool choose_failure(void)
{
    bool fails = now.running && choose_bounded(2, &now.failures, (int)now.harness->failures) > 0;
    if (fails)
        note(1); /* what fails is no event */
    return fails;
}

bool choose_impatience(void)
{
    return now.running && choose_bounded(2, &now.impatience, 1) > 0;
}
