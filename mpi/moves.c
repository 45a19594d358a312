/* SPDX-License-Identifier: MIT */
#include "moves.h"

/* The longer the time since the last look, the colder the caches, and the longer a look. And the
 * more do looks differ: after a long nap, many that copy nothing take more than the usual, but
 * nearly all that follow each other copy if the other side naps as long. After a short nap, few
 * that copy nothing do, and one in three copies. The times were measured on virtual machines,
 * where 96 KB take 3 to 8 us. */
static const struct kind {
    uint64_t pause;      /* ns: up to so long */
    int64_t usual, more; /* ns: at first; and how much more a look takes that copies */
    int each, less;      /* what such a look adds to the weight, and what others take away */
} kinds[WEFT__MOVES_KINDS] = {
    {10000, 2000, 2000, 6, 1},    {200000, 3000, 2200, 6, 1},      {2000000, 4000, 2500, 4, 2},
    {16000000, 8000, 3500, 4, 2}, {UINT64_MAX, 12000, 4500, 4, 2},
};

enum { SURE = 11, MOST = 24 }; /* weights */

void weft__moves_begin(struct weft__moves *m)
{
    *m = (struct weft__moves){.tokens = WEFT__MOVES_TOKENS};
    for (int i = 0; i < WEFT__MOVES_KINDS; i++)
        m->usual[i] = kinds[i].usual;
}

/* The usual is that of the shorter looks: it falls soon and rises late, so that a long message does
 * not become the usual. */
static bool takes_more(struct weft__moves *m, int kind, int64_t look)
{
    int64_t usual = m->usual[kind];
    m->usual[kind] += look < usual ? (look - usual) / 8 : usual / 64 + 1;
    return look > usual + kinds[kind].more;
}

static bool take_token(struct weft__moves *m, uint64_t now)
{
    uint64_t back = (now - m->refilled) / WEFT__MOVES_REFILL;
    m->refilled += back * WEFT__MOVES_REFILL;
    m->tokens =
        back < WEFT__MOVES_TOKENS - m->tokens ? m->tokens + (unsigned)back : WEFT__MOVES_TOKENS;
    if (m->tokens == 0)
        return false;
    m->tokens--;
    return true;
}

bool weft__moves_judge(struct weft__moves *m, uint64_t pause, int64_t look, uint64_t now)
{
    int kind = 0;
    while (pause > kinds[kind].pause)
        kind++;
    bool more = takes_more(m, kind, look);
    m->weight += more ? kinds[kind].each : -kinds[kind].less;
    m->weight = m->weight < 0 ? 0 : m->weight > MOST ? MOST : m->weight;
    return more && m->weight >= SURE && take_token(m, now);
}

bool weft__moves_surely(const struct weft__moves *m)
{
    return m->weight == MOST;
}

void weft__moves_end(struct weft__moves *m)
{
    m->tokens = WEFT__MOVES_TOKENS;
}
