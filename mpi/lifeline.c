/* SPDX-License-Identifier: MIT */
#include "lifeline.h"

static void send(struct weft__lifeline *m, int to, enum weft__bag_kind kind, int32_t code)
{
    struct weft__bag_message message = {.kind = (int32_t)kind, .code = code};
    m->send(m->context, to, &message);
}

/* ---- The tree that all ranks begin in, and that END comes along ---- */

/* The number without its lowest bit: rank 0 is the root. */
static int parent_of(int rank)
{
    return rank & (rank - 1);
}

/* The nth child, or something beyond the last rank. */
static int64_t child_of(const struct weft__lifeline *m, int n)
{
    return m->me | (int64_t)1 << n;
}

static bool has_child(const struct weft__lifeline *m, int n)
{
    bool is_below = m->me == 0 || (int64_t)1 << n < (m->me & -m->me);
    return is_below && child_of(m, n) < m->ranks;
}

static void end(struct weft__lifeline *m, int32_t code)
{
    m->is_over = true;
    m->code = code;
    for (int n = 0; has_child(m, n); n++)
        send(m, (int)child_of(m, n), WEFT__BAG_END, code);
}

/* ---- Whether all is done ---- */

/* A rank that has no work, and that nobody owes an ACK, answers for nothing any more. One that has
 * failed with work stays busy for ever. */
static void rest(struct weft__lifeline *m)
{
    if (m->is_busy || m->owed > 0)
        return;
    if (m->me == 0) {
        end(m, 0);
    } else if (m->parent != WEFT__BAG_NOBODY) {
        send(m, m->parent, WEFT__BAG_ACK, 0);
        m->parent = WEFT__BAG_NOBODY;
    }
}

/* ---- A thief ---- */

static void ask_lifelines(struct weft__lifeline *m)
{
    for (int bit = 0; (int64_t)1 << bit < m->ranks; bit++) {
        int other = m->me ^ (int)(1U << bit);
        if (other >= m->ranks || m->asked >> bit & 1)
            continue;
        m->asked |= 1U << bit;
        send(m, other, WEFT__BAG_LIFELINE, 0);
    }
}

static void ask_one(struct weft__lifeline *m, uint64_t random)
{
    m->victim = (int)(random % (uint64_t)(m->ranks - 1));
    m->victim += m->victim >= m->me;
    send(m, m->victim, WEFT__BAG_STEAL, 0);
}

static bool may_ask(const struct weft__lifeline *m)
{
    return !m->is_over && !m->has_failed && m->victim == WEFT__BAG_NOBODY;
}

static void ask(struct weft__lifeline *m, uint64_t random)
{
    if (m->is_busy || !may_ask(m) || m->tries == 0)
        return;
    m->tries--;
    ask_one(m, random);
}

void weft__lifeline_hungry(struct weft__lifeline *m, uint64_t random)
{
    if (m->is_busy && m->coming == 0 && m->ranks > 1 && may_ask(m))
        ask_one(m, random);
}

static void loot_came(struct weft__lifeline *m, int from, bool by_lifeline)
{
    if (by_lifeline)
        m->asked &= ~(uint32_t)(from ^ m->me);
    else
        m->victim = WEFT__BAG_NOBODY;
    m->is_busy = true;
    m->coming++;
    if (m->me == 0 ||
        m->parent != WEFT__BAG_NOBODY) /* who waits for this rank waits for that, too */
        send(m, from, WEFT__BAG_ACK, 0);
    else
        m->parent = from;
}

/* ---- A victim ---- */

static void thief_came(struct weft__lifeline *m, int from)
{
    if (m->is_busy && !m->is_young)
        m->thieves[m->n_thieves++] = from;
    else
        send(m, from, WEFT__BAG_NONE, 0);
}

bool weft__lifeline_next_thief(struct weft__lifeline *m, struct weft__thief *thief)
{
    if (m->is_over || m->has_failed)
        return false;
    if (m->n_thieves > 0) {
        *thief = (struct weft__thief){m->thieves[--m->n_thieves], false};
        return true;
    }
    if (!m->askers || m->is_young)
        return false;
    uint32_t lowest = m->askers & -m->askers;
    m->askers &= ~lowest;
    *thief = (struct weft__thief){m->me ^ (int)lowest, true};
    return true;
}

struct weft__bag_message weft__lifeline_give(struct weft__lifeline *m,
                                             const struct weft__thief *thief, uint64_t size)
{
    m->owed++;
    return (struct weft__bag_message){WEFT__BAG_LOOT, thief->by_lifeline, size};
}

void weft__lifeline_refuse(struct weft__lifeline *m, const struct weft__thief *thief)
{
    if (m->is_over)
        return;
    if (thief->by_lifeline)
        m->askers |= (uint32_t)(thief->rank ^ m->me);
    else
        send(m, thief->rank, WEFT__BAG_NONE, 0);
}

/* ---- What happens ---- */

void weft__lifeline_begin(struct weft__lifeline *m, bool is_busy)
{
    m->is_busy = is_busy;
    m->is_young = false;
    m->has_failed = m->is_over = false;
    m->code = 0;
    m->parent = m->me == 0 ? WEFT__BAG_NOBODY : parent_of(m->me);
    m->owed = 0;
    while (has_child(m, (int)m->owed))
        m->owed++;
    m->victim = WEFT__BAG_NOBODY;
    m->asked = m->askers = 0;
    m->n_thieves = 0;
    m->coming = 0;
    if (is_busy)
        return;
    rest(m);
    ask_lifelines(m);
}

void weft__lifeline_take(struct weft__lifeline *m)
{
    if (!m->is_over) /* then it is not counted any more */
        m->coming--;
}

void weft__lifeline_idle(struct weft__lifeline *m, uint64_t random)
{
    if (m->is_over || m->has_failed || m->coming > 0)
        return;
    m->is_busy = false;
    while (m->n_thieves > 0)
        send(m, m->thieves[--m->n_thieves], WEFT__BAG_NONE, 0);
    rest(m);
    if (m->is_over)
        return;
    ask_lifelines(m);
    m->tries = m->tries_most < m->ranks ? m->tries_most : m->ranks - 1;
    ask(m, random);
}

void weft__lifeline_fail(struct weft__lifeline *m, int32_t code)
{
    if (m->is_over || m->has_failed)
        return;
    m->has_failed = true;
    if (m->me == 0)
        end(m, code);
    else
        send(m, 0, WEFT__BAG_FAIL, code);
}

void weft__lifeline_receive(struct weft__lifeline *m, int from,
                            const struct weft__bag_message *message, uint64_t random)
{
    if (m->is_over)
        return;
    switch (message->kind) {
    case WEFT__BAG_STEAL:
        thief_came(m, from);
        break;
    case WEFT__BAG_LIFELINE:
        m->askers |= (uint32_t)(from ^ m->me);
        break;
    case WEFT__BAG_LOOT:
        loot_came(m, from, message->code);
        break;
    case WEFT__BAG_NONE:
        m->victim = WEFT__BAG_NOBODY;
        ask(m, random);
        break;
    case WEFT__BAG_ACK:
        m->owed--;
        rest(m);
        break;
    case WEFT__BAG_FAIL:
    case WEFT__BAG_END:
        end(m, message->code);
        break;
    }
}
