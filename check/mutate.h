/* SPDX-License-Identifier: MIT */
/* mutate.h: the library with one order weakened, or one fence, wake-up or last look left out.
 * Every place in the source at which something of the kind was seen is remembered, with its
 * order and the harnesses that come by there. */
#ifndef CHECK_MUTATE_H
#define CHECK_MUTATE_H

#include "explore.h"
#include "model.h"

struct mutant {
    const struct site *site;
    enum operation operation;
    enum order from, to;
    bool dropped; /* left out, not weakened */
    unsigned place;
};

/* Called for each operation: notes it, and gives the order that it has now. */
enum order mutate_order(const struct site *site, enum operation operation, enum order order);
bool mutate_dropped(const struct site *site);

/* From now on the library is this mutant; NULL: itself. A site at line 0 is any place in that
 * file, which may be the end of a path, with that text. */
void mutate_apply(const struct mutant *mutant);

/* Which ones: those that are named, or the others; of these every `parts`th, beginning with number
 * `part`, from 1. */
struct share {
    unsigned part, parts;
    bool others;
    const char *at; /* only mutants whose description has this; NULL: all */
};

/* Tries every mutant, or this share of them, on the harnesses of these lists, and prints what
 * becomes of each. */
int mutate_all(struct options options, const struct harness *const *lists, unsigned n,
               struct share share, char **names);

#endif
