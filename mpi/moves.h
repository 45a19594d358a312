/* SPDX-License-Identifier: MIT */
/* moves.h: does data move? MPI moves a long message in pieces, some at each look, if the other side
 * looks, too, and does not say so. But a look that copies takes more CPU time than the usual one.
 *
 * After a long pause looks differ too much to tell. So only looks soon after another one count. One
 * that takes more may have other reasons; three, with few others between them, say that data moves.
 * From then on each such look makes naps begin anew, as for a new wait, so that they are short when
 * the other side looks; until only one look in many takes more. If both sides do so, some pieces
 * take two or three short naps.
 *
 * Worst cases. If looks take more for other reasons, and more than one in seven does, naps stay
 * short: up to half a CPU. So there are TOKENS, one for each time that naps begin anew. They come
 * back one by one, in REFILL each, and all at once when a wait ends: half a CPU for a second at
 * most, and after that a tenth of one. It lasts as long as the reason does, unless nearly all looks
 * take more: that becomes the usual. A message that needs more tokens is slow: a long nap for some
 * pieces. So is one whose pieces take too little time to be noticed. */
#ifndef WEFT_MPI_MOVES_H
#define WEFT_MPI_MOVES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WEFT__MOVES_KINDS = 3,
    WEFT__MOVES_TOKENS = 5000,
    WEFT__MOVES_REFILL = 2000000, /* ns */
};

struct weft__moves {
    int64_t usual[WEFT__MOVES_KINDS]; /* ns of CPU time, after pauses of some lengths */
    int weight;                       /* of the last looks: of those that took more, less others */
    unsigned tokens;
    uint64_t refilled; /* when tokens came back last */
};

void weft__moves_begin(struct weft__moves *m);

/* A look has taken `look` ns of CPU time; `pause` ns after the last one. True: naps begin anew. */
bool weft__moves_judge(struct weft__moves *m, uint64_t pause, int64_t look, uint64_t now);

/* Many of the last looks took more, and tokens are left. */
bool weft__moves_surely(const struct weft__moves *m);

/* A wait has ended. */
void weft__moves_end(struct weft__moves *m);

#endif
