/* SPDX-License-Identifier: MIT */
#include "core/group.h"

#include "core/context.h"
#include "core/limit.h"
#include "os/clock.h"
#include "os/trace.h"

#include <errno.h>

/* All accesses here are relaxed: an error code travels alone, and the group's latch or
 * its owner's return orders everything else. */

void weft__group_begin(struct weft__group *group, struct weft__group *parent)
{
    group->parent = parent;
    group->root = parent ? parent->root : group;
    group->abandon = NULL;
    atomic_store_relaxed(&group->alarms, 0);
    if (parent) {
        group->base = group->at = NULL;
        group->given_up = NULL;
    } else {
        atomic_store_relaxed(&group->takers, 0);
    }
    atomic_store_relaxed(&group->deadline, 0);
    atomic_store_relaxed(&group->error, 0);
}

void weft__group_alarm_add(struct weft__group *root)
{
    atomic_fetch_add_relaxed(&root->alarms, 1);
    weft__limit_nudge(root);
}

void weft__group_begin_in(struct weft__group *group, const struct weft__around *around)
{
    weft__group_begin(group, around->group);
    if (!around->group)
        return;
    group->base = around->base;
    group->at = around->at;
}

void weft__part_of(struct weft__group *part, const struct weft__around *around,
                   const struct atomic_bool *given_up)
{
    weft__group_begin_in(part, around);
    part->given_up = given_up;
}

void weft__group_give_up(struct weft__group *group, struct atomic_bool *given_up)
{
    atomic_store_relaxed(given_up, true);
    weft__group_alarm_add(group->root);
}

void weft__group_take_up(struct weft__group *group, struct atomic_bool *given_up)
{
    atomic_store_relaxed(given_up, false);
    atomic_fetch_sub_relaxed(&group->root->alarms, 1);
}

bool weft__group_mark(struct weft__group *group, int code)
{
    int32_t none = 0;
    if (!atomic_cas_relaxed(&group->error, &none, code))
        return false;
    atomic_fetch_add_relaxed(&group->root->alarms, 1);
    WEFT__TRACE(CANCEL, (uintptr_t)group, (int64_t)code);
    return true;
}

bool weft__group_fail(struct weft__group *group, int code)
{
    bool first = weft__group_mark(group, code);
    if (first)
        weft__limit_nudge(group->root);
    return first;
}

void weft__group_set_deadline(struct weft__group *group, uint64_t when)
{
    if (atomic_load_relaxed(&group->deadline) == 0)
        atomic_fetch_add_relaxed(&group->root->alarms, 1);
    atomic_store_relaxed(&group->deadline, when ? when : 1);
    weft__limit_nudge(group->root);
}

uint64_t weft__group_deadline(const struct weft__group *group)
{
    uint64_t first = WEFT_FOREVER;
    if (!weft__group_alarm(group))
        return first;
    for (; group; group = group->parent) {
        uint64_t deadline = atomic_load_relaxed(&group->deadline);
        if (deadline != 0 && deadline < first)
            first = deadline;
    }
    return first;
}

/* The context knows the last of such forks, and nearly always that is enough. */
bool weft__any_right_failed(const weft *base, const weft *at)
{
    if (base == at)
        return false;
    const weft *last = atomic_load_relaxed(&weft__context_of((weft *)at)->failed);
    if (!last || last < base)
        return false;
    if (last < at)
        return true;
    while (at-- > base)
        if (atomic_load_relaxed(&((const struct weft__slot *)at)->failed))
            return true;
    return false;
}

/* Does the parent go on without it? */
static bool is_left_of_failed(const struct weft__group *group)
{
    return group->parent && weft__any_right_failed(group->base, group->at);
}

static bool has_failed(const struct weft__group *group)
{
    return atomic_load_relaxed(&group->error) ||
           (weft__group_is_part(group) && atomic_load_relaxed(group->given_up));
}

enum group_state weft__group_walk(struct weft__group *group, bool *noticed)
{
    uint64_t now = 0;
    enum group_state state = GROUP_FINE;
    for (struct weft__group *g = group; g; g = g->parent) {
        if (has_failed(g) || is_left_of_failed(g))
            return GROUP_CANCELLED;
        uint64_t deadline = atomic_load_relaxed(&g->deadline);
        if (deadline == 0)
            continue;
        state = GROUP_TIMED;
        if (noticed && now == 0)
            now = weft__clock_now();
        if (now >= deadline) {
            *noticed = weft__group_fail(g, -ETIMEDOUT);
            return GROUP_CANCELLED;
        }
    }
    return state;
}

static bool parent_failed(const struct weft__group *group)
{
    if (!weft__group_alarm(group))
        return false;
    for (const struct weft__group *g = group; g->parent; g = g->parent)
        if (is_left_of_failed(g) || has_failed(g->parent))
            return true;
    return false;
}

/* The deadline is not compared with the clock here: if no thread noticed that it passed, it has
 * cancelled nothing. */
int weft__group_end(struct weft__group *group)
{
    bool cancelled = parent_failed(group);
    int error = atomic_load_relaxed(&group->error);
    if (error)
        atomic_fetch_sub_relaxed(&group->root->alarms, 1);
    if (atomic_load_relaxed(&group->deadline))
        atomic_fetch_sub_relaxed(&group->root->alarms, 1);
    return error ? error : cancelled ? -ECANCELED : 0;
}
