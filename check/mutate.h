/* SPDX-License-Identifier: MIT */
/* mutate.h: the library with one order weakened, or one fence left out. Every place in the
 * source at which an atomic operation was seen is remembered with its order. */
#ifndef CHECK_MUTATE_H
#define CHECK_MUTATE_H

#include "model.h"

struct mutant {
    const struct site *site;
    enum operation operation;
    enum order from, to;
    bool dropped; /* a fence that is not there */
};

/* Called for each operation: notes it, and gives the order that it has now. */
enum order mutate_order(const struct site *site, enum operation operation, enum order order);
bool mutate_dropped(const struct site *site);

/* All weaker versions of what was seen so far; how many. */
unsigned mutate_list(struct mutant *list, unsigned room);

void mutate_apply(const struct mutant *mutant); /* NULL: the library as it is */
const char *mutate_order_name(enum order order);

#endif
