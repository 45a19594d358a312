/* SPDX-License-Identifier: MIT */
/* lifeline.c: the machine that balances bags, without MPI. A world of a few ranks and the messages
 * between them is taken through all its schedules, if it is small, and through many at random, if
 * not. No schedule may lose work, or end before it is done, or not end, or go round in a circle. */
#include "../../mpi/lifeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 8, LEVELS = 4, DEPTH = 24, FAILURE = 5 };

struct parcel {
    uint8_t kind, code;
    uint8_t load[LEVELS];
};

/* An item of level n makes two of level n - 1, if that is not negative. */
struct world {
    int ranks;
    struct weft__lifeline m[MOST];
    int thieves[MOST][MOST];
    bool has_begun[MOST];
    uint8_t items[MOST][LEVELS];
    uint8_t mail[MOST][LEVELS]; /* that has come, and no hand has taken */
    bool has_thief[MOST];       /* a hand has taken it, and has not answered yet */
    struct weft__thief thief[MOST];
    bool was_told[MOST]; /* a rank that is over was told that it is idle, too late */
    struct {
        uint8_t n;
        struct parcel first[DEPTH];
    } line[MOST][MOST]; /* from, to */
    uint8_t failures;   /* that may still happen */
    uint8_t hungers;    /* likewise: how often a rank that has work asks for more */
    bool has_failed;
};

static struct world now; /* machines point into it, so it has one place */

/* ---- Steps ---- */

static unsigned weight(const uint8_t load[LEVELS])
{
    unsigned sum = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        sum += load[level];
    return sum;
}

static void post(int from, int to, const struct weft__bag_message *message, const uint8_t *load)
{
    assert_true(from != to && to >= 0 && to < now.ranks);
    assert_true(now.line[from][to].n < DEPTH);
    struct parcel *parcel = &now.line[from][to].first[now.line[from][to].n++];
    memset(parcel, 0, sizeof *parcel);
    parcel->kind = (uint8_t)message->kind;
    parcel->code = (uint8_t)message->code;
    if (load)
        memcpy(parcel->load, load, LEVELS);
}

/* No work may be anywhere when the end is decided without a failure. */
static void check_done(void)
{
    for (int i = 0; i < now.ranks; i++) {
        assert_int_equal(weight(now.items[i]) + weight(now.mail[i]), 0);
        assert_true(now.has_begun[i]);
        for (int k = 0; k < now.ranks; k++)
            for (int n = 0; n < now.line[i][k].n; n++)
                assert_int_not_equal(now.line[i][k].first[n].kind, WEFT__BAG_LOOT);
    }
}

static bool is_hungry; /* in a call of weft__lifeline_hungry() */

static void on_send(void *context, int to, const struct weft__bag_message *message)
{
    struct weft__lifeline *m = context;
    if (message->kind == WEFT__BAG_END && message->code == 0 && m->me == 0)
        check_done();
    if (message->kind == WEFT__BAG_STEAL)
        assert_true(!m->is_busy || is_hungry);
    if (message->kind == WEFT__BAG_LIFELINE)
        assert_false(m->is_busy);
    assert_true(!m->is_over || message->kind == WEFT__BAG_END); /* what it sent is counted */
    post(m->me, to, message, NULL);
}

static void take_first(int from, int to, struct parcel *parcel)
{
    *parcel = now.line[from][to].first[0];
    int n = --now.line[from][to].n;
    memmove(now.line[from][to].first, now.line[from][to].first + 1, (size_t)n * sizeof *parcel);
    memset(&now.line[from][to].first[n], 0, sizeof *parcel);
}

static void deliver(int from, int to, uint64_t random)
{
    struct parcel parcel;
    take_first(from, to, &parcel);
    struct weft__bag_message message = {parcel.kind, parcel.code, 0};
    assert_true(parcel.kind != WEFT__BAG_END || !now.m[to].is_over); /* it comes once */
    weft__lifeline_receive(&now.m[to], from, &message, random);
    for (int level = 0; level < LEVELS && parcel.kind == WEFT__BAG_LOOT; level++)
        now.mail[to][level] += parcel.load[level];
}

/* All that has come: the machine counts LOOTs, so it is told about each. */
static void take_mail(int rank)
{
    for (unsigned i = now.m[rank].coming; i > 0; i--)
        weft__lifeline_take(&now.m[rank]);
    for (int level = 0; level < LEVELS; level++)
        now.items[rank][level] += now.mail[rank][level];
    memset(now.mail[rank], 0, LEVELS);
}

static void process(int rank)
{
    for (int level = LEVELS; level-- > 0;) {
        if (!now.items[rank][level])
            continue;
        now.items[rank][level]--;
        if (level > 0)
            now.items[rank][level - 1] += 2;
        return;
    }
}

/* Two steps, as a hand does it: anything may happen between them. */
static void take(int rank)
{
    assert_true(weft__lifeline_next_thief(&now.m[rank], &now.thief[rank]));
    now.has_thief[rank] = true;
}

static void serve(int rank)
{
    struct weft__lifeline *m = &now.m[rank];
    struct weft__thief *thief = &now.thief[rank];
    uint8_t load[LEVELS] = {0};
    unsigned half = weight(now.items[rank]) / 2;
    now.has_thief[rank] = false;
    if (half == 0) {
        weft__lifeline_refuse(m, thief);
        return;
    }
    for (int level = LEVELS; level-- > 0;)
        for (; now.items[rank][level] && weight(load) < half; load[level]++)
            now.items[rank][level]--;
    struct weft__bag_message message = weft__lifeline_give(m, thief, weight(load));
    post(rank, thief->rank, &message, load);
}

enum what { BEGIN, DELIVER, REFUSE, TAKE_MAIL, PROCESS, TAKE, SERVE, HUNGRY, IDLE, FAIL };

struct action {
    enum what what;
    int rank, from;
    uint64_t random;
};

static void act(const struct action *a)
{
    struct weft__lifeline *m = &now.m[a->rank];
    switch (a->what) {
    case BEGIN:
        now.has_begun[a->rank] = true;
        weft__lifeline_begin(m, weight(now.items[a->rank]) > 0);
        break;
    case DELIVER:
        deliver(a->from, a->rank, a->random);
        break;
    case REFUSE: /* a STEAL that comes to a rank which has had work for a short time only */
        m->is_young = true;
        deliver(a->from, a->rank, a->random);
        m->is_young = false;
        break;
    case TAKE_MAIL:
        take_mail(a->rank);
        break;
    case PROCESS:
        process(a->rank);
        break;
    case TAKE:
        take(a->rank);
        break;
    case SERVE:
        serve(a->rank);
        break;
    case HUNGRY:
        now.hungers--;
        is_hungry = true;
        weft__lifeline_hungry(m, a->random);
        is_hungry = false;
        assert_true(m->victim != WEFT__BAG_NOBODY);
        break;
    case IDLE:
        now.was_told[a->rank] = m->is_over;
        weft__lifeline_idle(m, a->random);
        break;
    case FAIL:
        now.failures--;
        now.has_failed = true;
        weft__lifeline_fail(m, FAILURE);
        assert_true(m->has_failed);
        break;
    }
}

/* ---- What holds always ---- */

static int count(int from, int to, enum weft__bag_kind kind, int code)
{
    int n = 0;
    for (int i = 0; i < now.line[from][to].n; i++) {
        const struct parcel *parcel = &now.line[from][to].first[i];
        n += parcel->kind == kind && parcel->code == code;
    }
    return n;
}

static int count_held(int victim, int thief, bool by_lifeline)
{
    return now.has_thief[victim] && now.thief[victim].rank == thief &&
           now.thief[victim].by_lifeline == by_lifeline;
}

/* A question that was asked is on its way, or known to the victim, or the answer is on its way. */
static void check_questions(int rank)
{
    const struct weft__lifeline *m = &now.m[rank], *other;
    for (int i = 0; i < now.ranks; i++) {
        other = &now.m[i];
        if (i == rank || other->is_over)
            continue;
        int n = count(rank, i, WEFT__BAG_STEAL, 0) + count(i, rank, WEFT__BAG_NONE, 0) +
                count(i, rank, WEFT__BAG_LOOT, 0) + count_held(i, rank, false);
        for (int k = 0; k < other->n_thieves; k++)
            n += other->thieves[k] == rank;
        assert_int_equal(n, m->victim == i);
        unsigned bit = (unsigned)(i ^ rank);
        if (bit & (bit - 1))
            continue;
        n = count(rank, i, WEFT__BAG_LIFELINE, 0) + count(i, rank, WEFT__BAG_LOOT, 1) +
            count_held(i, rank, true) + (other->askers & bit ? 1 : 0);
        assert_int_equal(n, m->asked & bit ? 1 : 0);
    }
}

/* A rank that has nothing leaves nobody waiting, unless it has a lifeline; and asks itself. */
static void check_always(void)
{
    for (int i = 0; i < now.ranks; i++) {
        const struct weft__lifeline *m = &now.m[i];
        if (!now.has_begun[i] || m->is_over || m->has_failed)
            continue;
        check_questions(i);
        if (m->is_busy)
            continue;
        assert_int_equal(m->n_thieves, 0);
        assert_true(m->victim != WEFT__BAG_NOBODY || m->asked || now.ranks == 1);
    }
}

/* ---- What can happen next ---- */

enum { ACTIONS = 512 };

struct choice {
    struct action actions[ACTIONS];
    unsigned n;
};

static void add(struct choice *choice, enum what what, int rank, int from, bool asks)
{
    for (int random = 0; random < (asks && now.ranks > 2 ? now.ranks - 1 : 1); random++) {
        assert_true(choice->n < ACTIONS);
        choice->actions[choice->n++] = (struct action){what, rank, from, (uint64_t)random};
    }
}

static bool has_thief(const struct weft__lifeline *m, unsigned items)
{
    return m->n_thieves > 0 || (m->askers && items > 1);
}

static void list(struct choice *choice)
{
    choice->n = 0;
    for (int rank = 0; rank < now.ranks; rank++) {
        struct weft__lifeline *m = &now.m[rank];
        if (!now.has_begun[rank]) {
            add(choice, BEGIN, rank, 0, false);
            continue;
        }
        for (int from = 0; from < now.ranks; from++) {
            if (now.line[from][rank].n == 0)
                continue;
            int kind = now.line[from][rank].first[0].kind;
            add(choice, DELIVER, rank, from, kind == WEFT__BAG_NONE);
            if (kind == WEFT__BAG_STEAL && m->is_busy)
                add(choice, REFUSE, rank, from, false);
        }
        if (now.has_thief[rank])
            add(choice, SERVE, rank, 0, false);
        if (m->is_over && m->is_busy && !now.was_told[rank])
            add(choice, IDLE, rank, 0, false);
        if (m->is_over || m->has_failed)
            continue;
        unsigned items = weight(now.items[rank]);
        if (weight(now.mail[rank]) > 0)
            add(choice, TAKE_MAIL, rank, 0, false);
        if (items > 0)
            add(choice, PROCESS, rank, 0, false);
        if (items > 0 && !now.has_thief[rank] && has_thief(m, items))
            add(choice, TAKE, rank, 0, false);
        if (m->is_busy && items == 0 && !now.has_thief[rank])
            add(choice, IDLE, rank, 0, true);
        if (now.hungers > 0 && m->is_busy && m->victim == WEFT__BAG_NOBODY && m->coming == 0 &&
            now.ranks > 1)
            add(choice, HUNGRY, rank, 0, true);
        if (now.failures > 0)
            add(choice, FAIL, rank, 0, false);
    }
}

/* Nothing can happen any more. */
static void check_end(void)
{
    int32_t code = now.m[0].code;
    for (int i = 0; i < now.ranks; i++) {
        assert_true(now.m[i].is_over);
        assert_int_equal(now.m[i].code, code);
    }
    assert_true(code == 0 || (code == FAILURE && now.has_failed));
    if (code == 0)
        check_done();
}

static void begin(int ranks, int tries, int failures, int hungers)
{
    memset(&now, 0, sizeof now);
    now.ranks = ranks;
    now.failures = (uint8_t)failures;
    now.hungers = (uint8_t)hungers;
    for (int i = 0; i < ranks; i++)
        now.m[i] = (struct weft__lifeline){.me = i,
                                           .ranks = ranks,
                                           .tries_most = tries,
                                           .thieves = now.thieves[i],
                                           .send = on_send,
                                           .context = &now.m[i]};
}

/* ---- All schedules ---- */

/* Worlds that were seen, by a hash of 64 bits: that two of 10^6 have the same one, which would hide
 * one of them, is as likely as 1 to 10^7. Open: on the way here. */
static struct {
    size_t size, n;
    uint64_t *seen;
    bool *is_open;
} table;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

/* Field by field: structures have gaps. */
static uint64_t hash_of_now(void)
{
    uint64_t h = mix(1, now.failures | (unsigned)now.hungers << 8);
    for (int i = 0; i < now.ranks; i++) {
        const struct weft__lifeline *m = &now.m[i];
        h = mix(h, (uint64_t)now.has_begun[i] | (uint64_t)m->is_busy << 1 |
                       (uint64_t)m->has_failed << 2 | (uint64_t)m->is_over << 3 |
                       (uint64_t)m->code << 4 | (uint64_t)(m->parent + 1) << 8 |
                       (uint64_t)(m->victim + 1) << 12 | (uint64_t)m->tries << 16 |
                       (uint64_t)now.was_told[i] << 60 | (uint64_t)m->asked << 20 |
                       (uint64_t)m->askers << 28 | m->owed << 36);
        for (int n = 0; n < m->n_thieves; n++)
            h = mix(h, 100U + (unsigned)m->thieves[n]);
        if (now.has_thief[i])
            h = mix(h, 300U + 2U * (unsigned)now.thief[i].rank + now.thief[i].by_lifeline);
        for (int level = 0; level < LEVELS; level++)
            h = mix(h, now.items[i][level] | (unsigned)now.mail[i][level] << 8);
        for (int k = 0; k < now.ranks; k++) {
            h = mix(h, 200U + now.line[i][k].n);
            for (int n = 0; n < now.line[i][k].n; n++) {
                const struct parcel *p = &now.line[i][k].first[n];
                h = mix(h, p->kind | (unsigned)p->code << 4 | (uint64_t)p->load[0] << 8 |
                               (uint64_t)p->load[1] << 16 | (uint64_t)p->load[2] << 24 |
                               (uint64_t)p->load[3] << 32);
            }
        }
    }
    return h ? h : 1;
}

static size_t place_of(uint64_t hash)
{
    size_t place = hash % table.size;
    while (table.seen[place] && table.seen[place] != hash)
        place = (place + 1) % table.size;
    return place;
}

static void explore(void)
{
    uint64_t hash = hash_of_now();
    size_t place = place_of(hash);
    if (table.seen[place]) {
        assert_false(table.is_open[place]); /* a circle */
        return;
    }
    table.seen[place] = hash;
    table.is_open[place] = true;
    assert_true(++table.n < table.size / 2);
    struct choice *choice = malloc(sizeof *choice);
    struct world *here = malloc(sizeof *here);
    assert_true(choice && here);
    list(choice);
    if (choice->n == 0)
        check_end();
    *here = now;
    for (unsigned i = 0; i < choice->n; i++) {
        act(&choice->actions[i]);
        check_always();
        if (choice->actions[i].what != IDLE || hash_of_now() != hash) /* idle, but for its mail */
            explore();
        now = *here;
    }
    free(choice);
    free(here);
    table.is_open[place] = false;
}

static void explore_all(const char *what)
{
    table.size = (size_t)1 << 22;
    table.n = 0;
    table.seen = calloc(table.size, sizeof *table.seen);
    table.is_open = calloc(table.size, sizeof *table.is_open);
    assert_true(table.seen && table.is_open);
    explore();
    print_message("%s: %zu worlds\n", what, table.n);
    free(table.seen);
    free(table.is_open);
}

static void one_rank(void **state)
{
    (void)state;
    begin(1, 4, 1, 1);
    now.items[0][1] = 2;
    explore_all("1 rank");
}

static void two_ranks(void **state)
{
    (void)state;
    for (int failures = 0; failures <= 2; failures++)
        for (int owner = 0; owner < 2; owner++) {
            begin(2, 1, failures, failures == 0);
            now.items[owner][2] = 2;
            now.items[1 - owner][0] = (uint8_t)owner;
            explore_all("2 ranks");
        }
}

static void three_ranks(void **state)
{
    (void)state;
    for (int owner = 0; owner < 3; owner++) {
        begin(3, 1, 0, 2);
        now.items[owner][0] = 2;
        explore_all("3 ranks");
    }
    begin(3, 2, 0, 1);
    now.items[1][1] = 1;
    now.items[1][0] = 1;
    explore_all("3 ranks, 2 tries");
}

static void three_ranks_fail(void **state)
{
    (void)state;
    begin(3, 1, 1, 1);
    now.items[2][0] = 2;
    explore_all("3 ranks, 1 failure");
}

/* ---- Many schedules of more ranks ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return *state >> 33;
}

static void run_at_random(uint64_t seed)
{
    static struct choice choice;
    uint64_t random = seed;
    int ranks = 2 + (int)(seed % (MOST - 1));
    begin(ranks, (int)(seed / 8 % 5), seed % 3 == 0, (int)(seed / 40 % 20));
    for (int i = 0; i < ranks; i++)
        if (next_random(&random) % 3 == 0)
            now.items[i][next_random(&random) % LEVELS] = (uint8_t)(next_random(&random) % 6);
    for (unsigned steps = 0;; steps++) {
        assert_true(steps < 100000);
        list(&choice);
        if (choice.n == 0)
            break;
        struct action *a = &choice.actions[next_random(&random) % choice.n];
        if (a->what == FAIL && next_random(&random) % 64)
            continue;
        act(a);
        check_always();
    }
    check_end();
}

/* Without an item being done, work comes to all ranks: there is enough, and items are not split. */
static void spread_at_random(uint64_t seed)
{
    static struct choice choice;
    uint64_t random = seed;
    int ranks = 2 + (int)(seed % (MOST - 1));
    begin(ranks, (int)(seed / 8 % 5), 0, 0);
    now.items[seed % (unsigned)ranks][0] = 128;
    do {
        list(&choice);
        unsigned n = 0;
        for (unsigned i = 0; i < choice.n; i++)
            if (choice.actions[i].what != PROCESS)
                choice.actions[n++] = choice.actions[i];
        choice.n = n;
        if (n > 0)
            act(&choice.actions[next_random(&random) % n]);
    } while (choice.n > 0);
    for (int i = 0; i < ranks; i++)
        assert_true(weight(now.items[i]) > 0);
}

static void work_spreads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++)
        spread_at_random(seed);
}

static void many_ranks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5000; seed++)
        run_at_random(seed);
}

/* ---- What is not asked, and not given: schedules end without it, too, but later ---- */

/* The last message from a rank to another; none is left. */
static int last_kind(int from, int to)
{
    struct parcel parcel = {.kind = WEFT__BAG_QUIT};
    while (now.line[from][to].n > 0)
        take_first(from, to, &parcel);
    return parcel.kind;
}

static void young_rank_gives_nothing(void **state)
{
    (void)state;
    struct weft__thief thief;
    struct weft__bag_message steal = {.kind = WEFT__BAG_STEAL},
                             lifeline = {.kind = WEFT__BAG_LIFELINE};
    begin(2, 1, 0, 0);
    weft__lifeline_begin(&now.m[0], true);
    now.m[0].is_young = true;
    weft__lifeline_receive(&now.m[0], 1, &steal, 0);
    assert_int_equal(last_kind(0, 1), WEFT__BAG_NONE);
    weft__lifeline_receive(&now.m[0], 1, &lifeline, 0);
    assert_false(weft__lifeline_next_thief(&now.m[0], &thief));
    now.m[0].is_young = false;
    assert_true(weft__lifeline_next_thief(&now.m[0], &thief) && thief.by_lifeline);
}

static void no_more_is_asked_for_than_needed(void **state)
{
    (void)state;
    struct weft__bag_message loot = {.kind = WEFT__BAG_LOOT, .code = 1},
                             none = {.kind = WEFT__BAG_NONE};
    begin(2, 4, 0, 0);
    weft__lifeline_begin(&now.m[1], false);
    weft__lifeline_receive(&now.m[1], 0, &loot, 0);
    last_kind(1, 0);
    weft__lifeline_hungry(&now.m[1], 0); /* there is something that no hand has taken */
    assert_int_equal(last_kind(1, 0), WEFT__BAG_QUIT);
    weft__lifeline_take(&now.m[1]);
    weft__lifeline_idle(&now.m[1], 0);
    assert_int_equal(last_kind(1, 0), WEFT__BAG_STEAL);
    weft__lifeline_receive(&now.m[1], 0, &none, 0); /* there is nobody else */
    assert_int_equal(last_kind(1, 0), WEFT__BAG_QUIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank),
        cmocka_unit_test(two_ranks),
        cmocka_unit_test(three_ranks),
        cmocka_unit_test(three_ranks_fail),
        cmocka_unit_test(many_ranks),
        cmocka_unit_test(work_spreads),
        cmocka_unit_test(young_rank_gives_nothing),
        cmocka_unit_test(no_more_is_asked_for_than_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
