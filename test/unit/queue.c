/* SPDX-License-Identifier: MIT */
/* queue.c: first in, first out, taken out of the middle, by many at once. */
#include "core/queue.h"

#include "check.h"

#include <stdlib.h>

enum { FEW = 5 };

static struct weft__node nodes[FEW];

static void fill(struct weft__queue *queue)
{
    *queue = (struct weft__queue){0};
    for (int i = 0; i < FEW; i++)
        weft__queue_push(queue, &nodes[i]);
    assert_int_equal(weft__queue_length(queue), FEW);
}

static void expect_pop(struct weft__queue *queue, int i)
{
    assert_ptr_equal(weft__queue_pop(queue), &nodes[i]);
}

static void expect_empty(struct weft__queue *queue)
{
    assert_int_equal(weft__queue_length(queue), 0);
    assert_null(weft__queue_pop(queue));
}

static void first_in_first_out(void **state)
{
    struct weft__queue queue = {0};
    expect_empty(&queue);
    fill(&queue);
    for (int i = 0; i < FEW; i++)
        expect_pop(&queue, i);
    expect_empty(&queue);
    weft__queue_push(&queue, &nodes[3]); /* usable after it was empty */
    expect_pop(&queue, 3);
    expect_empty(&queue);
}

/* True: it was still in the queue, and is out of it now. */
static bool take_out(struct weft__queue *queue, struct weft__node *node)
{
    if (!weft__node_claim(node))
        return false;
    weft__queue_remove(queue, node);
    return true;
}

static void remove_any(void **state)
{
    for (int gone = 0; gone < FEW; gone++) {
        struct weft__queue queue;
        fill(&queue);
        assert_true(take_out(&queue, &nodes[gone]));
        assert_false(take_out(&queue, &nodes[gone]));
        assert_int_equal(weft__queue_length(&queue), FEW - 1);
        weft__queue_push(&queue, &nodes[gone]); /* now the last one */
        for (int i = 0; i < FEW; i++)
            if (i != gone)
                expect_pop(&queue, i);
        expect_pop(&queue, gone);
        expect_empty(&queue);
    }
}

static void remove_the_only_one(void **state)
{
    struct weft__queue queue = {0};
    weft__queue_push(&queue, &nodes[0]);
    assert_true(take_out(&queue, &nodes[0]));
    expect_empty(&queue);
    weft__queue_push(&queue, &nodes[1]);
    expect_pop(&queue, 1);
    assert_false(take_out(&queue, &nodes[1])); /* popped is not queued */
}

/* Between claim and removal it is nobody else's, and not in their way. */
static void claimed_ones_are_passed_over(void **state)
{
    struct weft__queue queue;
    fill(&queue);
    assert_true(weft__node_claim(&nodes[0]));
    assert_true(weft__node_claim(&nodes[2]));
    expect_pop(&queue, 1);
    expect_pop(&queue, 3);
    weft__queue_remove(&queue, &nodes[2]);
    expect_pop(&queue, 4);
    assert_null(weft__queue_pop(&queue));
    expect_empty(&queue); /* nobody is kept awake by what is not to be had */
    weft__queue_remove(&queue, &nodes[0]);
    expect_empty(&queue);
}

/* ---- Urgent ones ---- */

static void urgent_ones_first(void **state)
{
    struct weft__queue queue = {0};
    weft__queue_push_urgent(&queue, &nodes[0]); /* the only one */
    assert_true(weft__queue_has_urgent(&queue));
    expect_pop(&queue, 0);
    assert_false(weft__queue_has_urgent(&queue));
    expect_empty(&queue);
    weft__queue_push(&queue, &nodes[0]);
    weft__queue_push_urgent(&queue, &nodes[1]);
    weft__queue_push(&queue, &nodes[2]);
    weft__queue_push_urgent(&queue, &nodes[3]);
    assert_int_equal(weft__queue_length(&queue), 4);
    expect_pop(&queue, 1);
    expect_pop(&queue, 3);
    assert_false(weft__queue_has_urgent(&queue));
    weft__queue_push_urgent(&queue, &nodes[4]);
    expect_pop(&queue, 4);
    expect_pop(&queue, 0);
    expect_pop(&queue, 2);
    expect_empty(&queue);
}

/* Whichever is taken out of the middle, and whoever is claimed. */
static void remove_urgent(void **state)
{
    for (int gone = 0; gone < FEW; gone++)
        for (int urgent = 0; urgent < 1 << FEW; urgent++) {
            struct weft__queue queue = {0};
            for (int i = 0; i < FEW; i++)
                (urgent >> i & 1 ? weft__queue_push_urgent : weft__queue_push)(&queue, &nodes[i]);
            assert_true(take_out(&queue, &nodes[gone]));
            for (int i = 0; i < FEW; i++)
                if (i != gone && urgent >> i & 1)
                    expect_pop(&queue, i);
            assert_false(weft__queue_has_urgent(&queue));
            for (int i = 0; i < FEW; i++)
                if (i != gone && !(urgent >> i & 1))
                    expect_pop(&queue, i);
            expect_empty(&queue);
        }
}

static void ordinary_ones_are_not_starved(void **state)
{
    static struct weft__node urgent[3 * WEFT__URGENT_RUN];
    struct weft__queue queue = {0};
    for (int i = 0; i < 2; i++)
        weft__queue_push(&queue, &nodes[i]);
    for (int i = 0; i < 3 * WEFT__URGENT_RUN; i++)
        weft__queue_push_urgent(&queue, &urgent[i]);
    for (int i = 0; i < 3 * WEFT__URGENT_RUN; i++) {
        assert_ptr_equal(weft__queue_pop(&queue), &urgent[i]);
        if (i == WEFT__URGENT_RUN - 1)
            expect_pop(&queue, 0);
        if (i == 2 * WEFT__URGENT_RUN - 1) {
            assert_true(weft__node_claim(&nodes[1])); /* gone: the next is urgent again */
            weft__queue_push(&queue, &nodes[2]);
            expect_pop(&queue, 2);
        }
    }
    expect_empty(&queue);
}

/* ---- Many threads ---- */

enum { PRODUCERS = 3, CONSUMERS = 3, EACH = SCALED(200000, 10) };

struct item {
    struct weft__node node;
    unsigned producer;
    size_t number;
    struct atomic_u32 seen;
};

struct market {
    struct weft__queue queue;
    struct item *items; /* PRODUCERS times EACH */
    struct atomic_size taken;
    unsigned consumers;
    bool removes; /* the producers want their items back */
};

static void produce(struct market *market, unsigned producer)
{
    struct item *mine = market->items + producer * (size_t)EACH;
    for (size_t i = 0; i < EACH; i++) {
        mine[i].producer = producer;
        mine[i].number = i;
        weft__queue_push(&market->queue, &mine[i].node);
        if (market->removes && take_out(&market->queue, &mine[i].node)) {
            atomic_fetch_add_relaxed(&mine[i].seen, 1);
            atomic_fetch_add_relaxed(&market->taken, 1);
        }
    }
}

static void consume(struct market *market)
{
    size_t next[PRODUCERS] = {0};
    while (atomic_load_relaxed(&market->taken) < PRODUCERS * (size_t)EACH) {
        struct item *item = (struct item *)weft__queue_pop(&market->queue);
        if (!item) {
            wait_a_moment();
            continue;
        }
        /* What one producer pushed comes out in its order, for any one consumer. */
        CHECK(item->number >= next[item->producer]);
        next[item->producer] = item->number + 1;
        atomic_fetch_add_relaxed(&item->seen, 1);
        atomic_fetch_add_relaxed(&market->taken, 1);
    }
}

static void trade(unsigned i, void *arg)
{
    if (i < PRODUCERS)
        produce(arg, i);
    else
        consume(arg);
}

static void play(bool removes)
{
    struct market market = {.removes = removes};
    market.items = calloc(PRODUCERS * (size_t)EACH, sizeof market.items[0]);
    assert_non_null(market.items);
    in_threads(PRODUCERS + CONSUMERS, trade, &market);
    for (size_t i = 0; i < PRODUCERS * (size_t)EACH; i++)
        assert_int_equal(atomic_load_relaxed(&market.items[i].seen), 1);
    expect_empty(&market.queue);
    free(market.items);
}

static void many_to_many_once(void **state)
{
    play(false);
}

static void remove_against_pop(void **state)
{
    play(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(remove_any),
        cmocka_unit_test(remove_the_only_one),
        cmocka_unit_test(claimed_ones_are_passed_over),
        cmocka_unit_test(urgent_ones_first),
        cmocka_unit_test(remove_urgent),
        cmocka_unit_test(ordinary_ones_are_not_starved),
        cmocka_unit_test(many_to_many_once),
        cmocka_unit_test(remove_against_pop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
