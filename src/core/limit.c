/* SPDX-License-Identifier: MIT */
#include "core/limit.h"

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/group.h"
#include "os/clock.h"

#include <errno.h>

enum { LISTS_LOG = 5 };

static struct list {
    WEFT__ALIGNED struct weft__lock lock;
    struct weft__limit *first;
} lists[1 << LISTS_LOG];

static struct list *list_of(const struct weft__group *root)
{
    uint64_t hash = (uint64_t)(uintptr_t)root * UINT64_C(0x9e3779b97f4a7c15);
    return &lists[hash >> (64 - LISTS_LOG)];
}

struct weft__limit weft__limit_until(uint64_t when)
{
    struct weft__worker *me = weft__worker_current();
    struct weft__context *context = me ? weft__context_now(me) : NULL;
    struct weft__limit limit = {.when = when, .context = context};
    if (context)
        limit.around = weft__context_around(context);
    return limit;
}

void weft__limit_begin(struct weft__limit *limit)
{
    if (!limit->around.group)
        return;
    struct list *list = list_of(limit->around.group->root);
    weft__lock_take(&list->lock);
    limit->next = list->first;
    limit->link = &list->first;
    if (limit->next)
        limit->next->link = &limit->next;
    list->first = limit;
    weft__lock_drop(&list->lock);
}

void weft__limit_end(struct weft__limit *limit)
{
    if (!limit->around.group)
        return;
    struct list *list = list_of(limit->around.group->root);
    weft__lock_take(&list->lock);
    *limit->link = limit->next;
    if (limit->next)
        limit->next->link = limit->link;
    weft__lock_drop(&list->lock);
}

void weft__limit_nudge(const struct weft__group *root)
{
    struct list *list = list_of(root);
    weft__lock_take(&list->lock);
    for (struct weft__limit *limit = list->first; limit; limit = limit->next)
        if (limit->around.group->root == root)
            limit->nudge(limit);
    weft__lock_drop(&list->lock);
}

void weft__limits_forked(void)
{
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        lists[i] = (struct list){0};
}

/* A deadline that is due by now cancels its group at the next look. */
int weft__limit_reached(const struct weft__limit *limit, uint64_t *left)
{
    if (limit->around.group && weft__is_cancelled(limit->context->first))
        return -ECANCELED;
    uint64_t deadline = weft__group_deadline(limit->around.group);
    uint64_t until = limit->when < deadline ? limit->when : deadline;
    *left = WEFT_FOREVER;
    if (until == WEFT_FOREVER)
        return 0;
    uint64_t now = weft__clock_now();
    if (now >= limit->when)
        return -ETIMEDOUT;
    *left = until > now ? until - now : 1;
    return 0;
}

int weft__limit_passed(uint64_t when)
{
    struct weft__limit limit = weft__limit_until(when);
    uint64_t left;
    return weft__limit_reached(&limit, &left);
}

enum group_state weft__limit_look(const struct weft__limit *limit)
{
    const struct weft__around *around = &limit->around;
    if (!weft__group_alarm(around->group))
        return GROUP_FINE;
    if (weft__any_right_failed(around->base, around->at))
        return GROUP_CANCELLED;
    return weft__group_walk(around->group, NULL);
}

bool weft__limit_ends(const struct weft__limit *limit)
{
    return limit && (limit->when != WEFT_FOREVER || weft__limit_look(limit) != GROUP_FINE);
}
