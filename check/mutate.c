/* SPDX-License-Identifier: MIT */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

enum { SEEN_MAX = 400 };

static struct {
    const struct site *site;
    enum operation operation;
    enum order order;
} seen[SEEN_MAX];
static unsigned seen_count;
static const struct mutant *applied;

/* An inline function has a copy of its sites in each file that uses it. */
static bool same(const struct site *a, const struct site *b)
{
    return a == b || (a->line == b->line && strcmp(a->file, b->file) == 0);
}

static void note(const struct site *site, enum operation operation, enum order order)
{
    for (unsigned i = 0; i < seen_count; i++)
        if (same(seen[i].site, site) && seen[i].order == order)
            return;
    if (seen_count == SEEN_MAX)
        abort();
    seen[seen_count].site = site;
    seen[seen_count].operation = operation;
    seen[seen_count++].order = order;
}

enum order mutate_order(const struct site *site, enum operation operation, enum order order)
{
    if (!site || site->line == 0)
        return order; /* the model's own */
    if (applied)
        return same(applied->site, site) && applied->from == order ? applied->to : order;
    note(site, operation, order);
    return order;
}

bool mutate_dropped(const struct site *site)
{
    return applied && site && applied->dropped && same(applied->site, site);
}

static unsigned weaker(enum operation operation, enum order order, enum order list[static 3])
{
    unsigned n = 0;
    bool reads = operation != OP_STORE, writes = operation != OP_LOAD;
    if (order == SEQ_CST)
        list[n++] = !writes ? ACQUIRE : !reads ? RELEASE : ACQ_REL;
    else if (order == ACQ_REL) {
        list[n++] = ACQUIRE;
        list[n++] = RELEASE;
    } else if (order != RELAXED) {
        list[n++] = RELAXED;
    }
    return n;
}

unsigned mutate_list(struct mutant *list, unsigned room)
{
    unsigned n = 0;
    for (unsigned i = 0; i < seen_count; i++) {
        enum order orders[3];
        unsigned count = weaker(seen[i].operation, seen[i].order, orders);
        bool whole = seen[i].operation >= OP_FENCE;
        if (whole)
            orders[0] = seen[i].order;
        for (unsigned k = 0; k < (whole ? 1 : count) && n < room; k++)
            list[n++] =
                (struct mutant){seen[i].site, seen[i].operation, seen[i].order, orders[k], whole};
    }
    return n;
}

void mutate_apply(const struct mutant *mutant)
{
    applied = mutant;
}

const char *mutate_order_name(enum order order)
{
    static const char *const names[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    return names[order];
}
