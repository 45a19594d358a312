/* SPDX-License-Identifier: MIT */
#include "moves.h"

#include <string.h>

/* ns. The longer the time since the last look, the colder the caches, and the longer a look: up to
 * the first pause, up to the second, and so on, and from the last on. */
static const uint64_t pauses[WEFT__MOVES_KINDS - 1] = {10000, 200000, 2000000, 16000000};
static const int64_t usual_first[WEFT__MOVES_KINDS] = {2000, 4000, 6000, 10000, 16000};
static const int64_t spread[WEFT__MOVES_KINDS] = {2000, 5000, 6000, 8000, 10000};

enum { EACH = 4, SURE = 6 }; /* the second one within three looks */

void weft__moves_begin(struct weft__moves *m)
{
    *m = (struct weft__moves){0};
    memcpy(m->usual, usual_first, sizeof m->usual);
}

/* The usual is that of the shorter looks: it falls soon and rises late, so that a long message does
 * not become the usual. */
static bool takes_more(struct weft__moves *m, uint64_t pause, int64_t look)
{
    int kind = 0;
    while (kind < WEFT__MOVES_KINDS - 1 && pause >= pauses[kind])
        kind++;
    int64_t usual = m->usual[kind];
    m->usual[kind] += look < usual ? (look - usual) / 8 : usual / 64 + 1;
    return look > usual + spread[kind];
}

static void open_window(struct weft__moves *m, uint64_t now)
{
    m->window = now + WEFT__MOVES_WINDOW;
    m->moving = 0;
}

static bool judge_window(struct weft__moves *m, bool more, int64_t look, uint64_t now)
{
    m->moving += more ? look : 0;
    if (now < m->window)
        return false;
    bool goes_on = 8 * m->moving >= WEFT__MOVES_WINDOW;
    m->window = 0;
    m->weight = 0;
    if (goes_on) {
        m->doubt = now;
        m->tokens = WEFT__MOVES_TOKENS;
        open_window(m, now);
    }
    return goes_on;
}

static bool take_token(struct weft__moves *m, uint64_t now)
{
    uint64_t back = (now - m->refilled) / WEFT__MOVES_REFILL;
    m->refilled += back * WEFT__MOVES_REFILL;
    m->tokens = back < WEFT__MOVES_TOKENS - m->tokens ? m->tokens + back : WEFT__MOVES_TOKENS;
    if (m->tokens == 0)
        return false;
    m->tokens--;
    return true;
}

bool weft__moves_judge(struct weft__moves *m, uint64_t pause, int64_t look, uint64_t now)
{
    bool more = takes_more(m, pause, look);
    if (m->window)
        return judge_window(m, more, look, now);
    if (!more) {
        m->weight -= m->weight > 0;
        return false;
    }
    if (m->weight < SURE)
        m->weight += EACH;
    if (m->weight >= SURE && take_token(m, now)) {
        open_window(m, now);
        return true;
    }
    if (now < m->doubt)
        return false;
    m->doubt = now + WEFT__MOVES_DOUBT;
    return true;
}
