/* SPDX-License-Identifier: MIT */
/* moves.h: does data move? MPI moves a long message in pieces, some at each look of both sides, and
 * does not say so. But a look that copies takes more CPU time than the usual one.
 *
 *   NAPS -a look took more-> NAPS, that begin anew
 *   NAPS -two of the last few did-> WINDOW, and naps begin anew
 *   WINDOW -over, an eighth of it was such looks-> WINDOW, and naps begin anew; or else NAPS
 *
 * Naps that begin anew are short at first, as for a new wait: the other side may nap just now. In a
 * WINDOW the thread looks again and again, without naps.
 *
 * Worst cases: a look may take more for other reasons. Such a mistake costs a WINDOW and the first
 * naps of a wait, some 0.7 ms of CPU time. So a single look is believed once in DOUBT only, and two
 * looks cost a token: there are TOKENS, which come back one by one, in REFILL each, and all at once
 * when data has moved in a WINDOW. That makes TOKENS mistakes at first, and then 5 a second. A look
 * that copies for a few microseconds only, after a long nap, is not noticed: such a message is
 * slow.
 */
#ifndef WEFT_MPI_MOVES_H
#define WEFT_MPI_MOVES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WEFT__MOVES_KINDS = 5,
    WEFT__MOVES_WINDOW = 200000, /* ns */
    WEFT__MOVES_DOUBT = 1000000000,
    WEFT__MOVES_TOKENS = 40,
    WEFT__MOVES_REFILL = 250000000,
};

struct weft__moves {
    int64_t usual[WEFT__MOVES_KINDS]; /* ns of CPU time, after pauses of some lengths */
    int weight;        /* of the last looks: one that took more weighs as some that did not */
    uint64_t doubt;    /* until then a single look is not believed */
    uint64_t tokens;   /* for two looks */
    uint64_t refilled; /* when tokens came back last */
    uint64_t window;   /* when it ends; 0: there is none */
    int64_t moving;    /* ns of looks that took more, in the window */
};

void weft__moves_begin(struct weft__moves *m);

/* A look has taken `look` ns of CPU time; `pause` ns after the last one. True: naps begin anew. */
bool weft__moves_judge(struct weft__moves *m, uint64_t pause, int64_t look, uint64_t now);

/* The next look should come at once. */
static inline bool weft__moves_now(const struct weft__moves *m)
{
    return m->window != 0;
}

#endif
