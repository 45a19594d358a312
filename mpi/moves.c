/* SPDX-License-Identifier: MIT */
#include "moves.h"

/* The longer the time since the last look, the colder the caches, and the longer a look. The times
 * were measured on virtual machines, where 96 KB take 3 to 8 us, and one look in ten to twenty that
 * copies nothing takes more than that. */
static const struct kind {
    uint64_t pause;      /* ns: up to so long */
    int64_t usual, more; /* ns: at first; and how much more a look takes that copies */
} kinds[WEFT__MOVES_KINDS] = {
    {10000, 1500, 1500},
    {200000, 2000, 1800},
    {2000000, 3000, 2500},
};

enum { EACH = 6, SURE = 13, MOST = 24 }; /* weights */

void weft__moves_begin(struct weft__moves *m)
{
    *m = (struct weft__moves){.tokens = WEFT__MOVES_TOKENS};
    for (int i = 0; i < WEFT__MOVES_KINDS; i++)
        m->usual[i] = kinds[i].usual;
}

/* The usual is that of the shorter looks: it falls soon and rises late, and not at all while data
 * moves, when all looks may copy; unless that has lasted for all tokens. */
static bool takes_more(struct weft__moves *m, int kind, int64_t look)
{
    int64_t usual = m->usual[kind];
    if (look < usual)
        m->usual[kind] += (look - usual) / 8;
    else if (m->weight < SURE || m->tokens == 0)
        m->usual[kind] += usual / 64 + 1;
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
    while (kind < WEFT__MOVES_KINDS && pause > kinds[kind].pause)
        kind++;
    if (kind == WEFT__MOVES_KINDS)
        return false;
    bool more = takes_more(m, kind, look);
    m->weight += more ? EACH : m->weight > 0 ? -1 : 0;
    if (m->weight > MOST)
        m->weight = MOST;
    return more && m->weight >= SURE && take_token(m, now);
}

bool weft__moves_surely(const struct weft__moves *m)
{
    return m->weight == MOST && m->tokens > WEFT__MOVES_TOKENS / 10;
}

void weft__moves_end(struct weft__moves *m)
{
    m->tokens = WEFT__MOVES_TOKENS;
}
