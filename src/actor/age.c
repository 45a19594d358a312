/* SPDX-License-Identifier: MIT */
#include "actor/age.h"

#include "actor/fiber.h"
#include "os/fatal.h"

void weft__stamped(weft *w, void *arg)
{
    (void)arg;
    weft__fatal("a stamp is called in %p", (void *)w);
}

static bool is_stamped(weft *w)
{
    return atomic_load_relaxed(&weft__slot_of(w)->fn) == weft__stamped; /* relaxed: own */
}

/* Stops at the first stamp: all slots below a stamped one are stamped, those of lower members, too.
 */
void weft__age_stamp(struct weft__fiber *fiber, weft *first_free, uint32_t quantum)
{
    for (weft *w = first_free; w-- > fiber->context.first && !is_stamped(w);) {
        struct weft__actor_slot *slot = weft__actor_slot_of(w);
        slot->right = atomic_load_relaxed(&slot->fn); /* relaxed, both: its own thread's */
        slot->quantum = quantum;
        slot->use = fiber->top->arena.account.used;
        atomic_store_relaxed(&slot->fn, weft__stamped);
    }
}

/* While the fiber is away, it must not look at its executor: weft__age_anew() follows when it is
 * back. */
void weft__age_stamp_early(struct weft__fiber *fiber, weft *first_free)
{
    weft__age_stamp(fiber, first_free,
                    fiber->blocks > 0 ? 0 : weft__executor_of(fiber)->quanta + 1);
}

void weft__age_anew(struct weft__fiber *fiber, uint32_t quantum)
{
    weft *end = fiber->context.end;
    for (struct weft__member *member = fiber->top; member; member = member->below) {
        for (weft *w = member->cursor; w < end && is_stamped(w); w++)
            weft__actor_slot_of(w)->quantum = quantum;
        end = member->base;
    }
}

bool weft__age_is_enough(struct weft__fiber *fiber, weft *w, weft *end)
{
    return w < end && is_stamped(w) &&
           (int32_t)(weft__executor_of(fiber)->quanta - weft__actor_slot_of(w)->quantum) > 0;
}

static bool may_lose(const struct weft__member *member)
{
    return atomic_load_relaxed(&member->outcome) == OUTCOME_RUNS; /* relaxed: own */
}

struct weft__member *weft__age_victim(struct weft__fiber *fiber, weft *first_free, weft **its_end)
{
    struct weft__member *found = NULL;
    weft *end = first_free;
    for (struct weft__member *member = fiber->top; member; member = member->below) {
        if (may_lose(member) && weft__age_is_enough(fiber, member->cursor, end)) {
            found = member;
            *its_end = end;
        }
        end = member->base;
    }
    return found;
}

bool weft__age_has_more(struct weft__fiber *fiber, weft *first_free)
{
    weft *end = first_free;
    for (struct weft__member *member = fiber->top; member; member = member->below) {
        if (may_lose(member) && member->cursor < end &&
            atomic_load_relaxed(&weft__slot_of(member->cursor)->fn)) /* relaxed: own */
            return true;
        end = member->base;
    }
    return false;
}
