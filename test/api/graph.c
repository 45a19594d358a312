/* SPDX-License-Identifier: MIT */
/* graph.c: every node runs once, after all before it, and sees what they wrote; as often as the
 * graph is run; whatever fails, no node begins that should not. */
#include "weft/graph.h"
#include "actors.h"
#include "property.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 400, EDGES_MAX = 4 };

/* A random graph without cycles: node `order[i]` has edges from nodes that come before it. */
struct node {
    struct net *net;
    size_t before[EDGES_MAX], before_n;
    uint64_t value, expected; /* ordinary memory: a missing order is a race */
    int fails_with;           /* 0: it does not */
    bool heavy;               /* forks, too */
};

struct net {
    weft_graph *graph;
    size_t n;
    uint64_t round;
    atomic_size_t ran;
    struct node nodes[NODES_MAX];
};

static void leaf(weft *w, size_t begin, size_t end, void *arg)
{
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add((atomic_size_t *)arg, 1);
}

static uint64_t mix(uint64_t round, size_t i)
{
    return (round + i) * 0x9e3779b97f4a7c15u;
}

static void node_run(weft *w, void *arg)
{
    struct node *node = arg;
    struct net *net = node->net;
    size_t i = (size_t)(node - net->nodes);
    uint64_t value = mix(net->round, i);
    for (size_t k = 0; k < node->before_n; k++)
        value = value * 3 + net->nodes[node->before[k]].value;
    if (node->heavy) {
        atomic_size_t count = 0;
        weft_for(w, 0, 50, leaf, &count);
        HOLDS(weft_cancelled(w) || count == 50);
    }
    dawdle(i);
    node->value = value;
    atomic_fetch_add(&net->ran, 1);
    if (node->fails_with)
        weft_fail(w, node->fails_with);
}

/* What each node must compute: in order, since edges lead from small numbers to large ones. */
static void expect_values(struct net *net)
{
    for (size_t i = 0; i < net->n; i++) {
        struct node *node = &net->nodes[i];
        node->expected = mix(net->round, i);
        for (size_t k = 0; k < node->before_n; k++)
            node->expected = node->expected * 3 + net->nodes[node->before[k]].expected;
    }
}

/* The numbers of nodes in the graph are shuffled, so that its order is not that of the array. */
static struct net *net_make(struct dice *dice, size_t n)
{
    struct net *net = calloc(1, sizeof *net);
    int number[NODES_MAX];
    size_t shuffled[NODES_MAX];
    CHECK(net && weft_graph_create(&net->graph) == 0);
    net->n = n;
    for (size_t i = 0; i < n; i++) {
        size_t k = dice_below(dice, i + 1);
        shuffled[i] = shuffled[k];
        shuffled[k] = i;
    }
    for (size_t i = 0; i < n; i++) {
        struct node *node = &net->nodes[shuffled[i]];
        *node = (struct node){.net = net, .heavy = dice_below(dice, 16) == 0};
        number[shuffled[i]] = weft_graph_add(net->graph, NULL, node_run, node);
        CHECK(number[shuffled[i]] == (int)i);
    }
    size_t near = dice_below(dice, 4) ? n : 5; /* narrow ones are rarely parallel */
    for (size_t i = 1; i < n; i++) {
        net->nodes[i].before_n = dice_below(dice, EDGES_MAX + 1);
        for (size_t k = 0; k < net->nodes[i].before_n; k++) {
            size_t back = 1 + dice_below(dice, i < near ? i : near);
            net->nodes[i].before[k] = i - back;
            CHECK(weft_graph_edge(net->graph, number[i - back], number[i]) == 0);
        }
    }
    return net;
}

static void net_drop(struct net *net)
{
    weft_graph_destroy(net->graph);
    free(net);
}

static void run_well(weft *w, struct net *net)
{
    net->round++;
    net->ran = 0;
    expect_values(net);
    HOLDS(weft_graph_run(w, net->graph) == 0);
    HOLDS(net->ran == net->n);
    for (size_t i = 0; i < net->n; i++)
        HOLDS(net->nodes[i].value == net->nodes[i].expected);
}

static void random_graph(weft *w, struct dice *dice)
{
    struct net *net = net_make(dice, dice_size(dice, NODES_MAX));
    for (int i = 0; i < 3; i++)
        run_well(w, net);
    net_drop(net);
}

static void every_node_comes_after_those_before(void **state)
{
    property_holds(random_graph, SCALED(60, 6));
}

struct graph_call {
    weft_graph *graph;
    int error;
};

static void graph_job(weft *w, void *arg)
{
    struct graph_call *call = arg;
    call->error = weft_graph_run(w, call->graph);
}

static int run_in(weft_pool *pool, weft_graph *graph)
{
    struct graph_call call = {graph, -1};
    CHECK(weft_run(pool, graph_job, &call) == 0);
    return call.error;
}

static weft_graph *graph_make(void)
{
    weft_graph *graph;
    CHECK(weft_graph_create(&graph) == 0);
    return graph;
}

static void with_sixteen_workers(void **state)
{
    weft_pool *pool = pool_make(16, 0);
    struct dice dice = {42};
    for (int i = 0; i < SCALED(20, 5); i++) {
        struct net *net = net_make(&dice, NODES_MAX);
        for (int k = 0; k < 3; k++) {
            net->round++;
            net->ran = 0;
            expect_values(net);
            assert_int_equal(run_in(pool, net->graph), 0);
            for (size_t j = 0; j < net->n; j++)
                assert_true(net->nodes[j].value == net->nodes[j].expected);
        }
        net_drop(net);
    }
    pool_drop(pool);
}

/* ---- Failure ---- */

/* No node after the one that fails has run, and the graph runs well afterwards. */
static void failing_graph(weft *w, struct dice *dice)
{
    struct net *net = net_make(dice, 1 + dice_size(dice, 60));
    bool after[NODES_MAX];
    for (size_t bad = 0; bad < net->n; bad++) {
        struct node *node = &net->nodes[bad];
        net->round++;
        node->fails_with = 1000 + (int)bad;
        for (size_t i = 0; i < net->n; i++) {
            net->nodes[i].value = 7;
            after[i] = false;
            for (size_t k = 0; k < net->nodes[i].before_n; k++)
                after[i] |= net->nodes[i].before[k] == bad || after[net->nodes[i].before[k]];
        }
        HOLDS(weft_graph_run(w, net->graph) == 1000 + (int)bad);
        HOLDS(!weft_cancelled(w));
        for (size_t i = 0; i < net->n; i++)
            HOLDS(!after[i] || net->nodes[i].value == 7);
        node->fails_with = 0;
        run_well(w, net);
    }
    net_drop(net);
}

static void failures_at_each_node(void **state)
{
    property_holds(failing_graph, SCALED(6, 3));
}

static void count_node(weft *w, void *arg)
{
    atomic_fetch_add((atomic_size_t *)arg, 1);
}

static void fail_node(weft *w, void *arg)
{
    weft_fail(w, -EDOM);
}

/* With one worker it is known which nodes are not begun: after the failure, none. */
static void nothing_begins_after_a_failure(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    weft_graph *graph = graph_make();
    atomic_size_t count = 0;
    int first = weft_graph_add(graph, "first", fail_node, NULL);
    for (int i = 0; i < 100; i++)
        weft_graph_edge(graph, first, weft_graph_add(graph, NULL, count_node, &count));
    assert_int_equal(run_in(pool, graph), -EDOM);
    assert_int_equal(count, 0);
    assert_int_equal(run_in(pool, graph), -EDOM);
    weft_graph_destroy(graph);
    pool_drop(pool);
}

static void run_past_the_deadline(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now()); /* it has passed when it is looked at */
    CHECK(weft_graph_run(w, arg) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
    CHECK(weft_graph_run(w, arg) == 0);
}

static void until_cancelled(weft *w, void *arg)
{
    while (arg && !weft_cancelled(w))
        wait_a_moment();
}

static void run_until_the_deadline(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 1000000);
    CHECK(weft_graph_run(w, arg) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
}

static void deadlines_end_it(void **state)
{
    for (unsigned workers = 1; workers < 4; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        weft_graph *graph = graph_make();
        atomic_size_t count = 0;
        weft_graph_edge(graph, weft_graph_add(graph, NULL, count_node, &count),
                        weft_graph_add(graph, NULL, count_node, &count));
        assert_int_equal(weft_run(pool, run_past_the_deadline, graph), 0);
        assert_int_equal(count, 2);
        int waits = weft_graph_add(graph, NULL, until_cancelled, &count);
        weft_graph_edge(graph, waits, weft_graph_add(graph, NULL, count_node, &count));
        assert_int_equal(weft_run(pool, run_until_the_deadline, graph), 0);
        assert_true(count <= 4);
        weft_graph_destroy(graph);
        pool_drop(pool);
    }
}

/* ---- Shapes ---- */

struct chain {
    size_t next, wrong;
};

struct ring {
    struct chain *chain;
    size_t number;
};

static void chain_node(weft *w, void *arg)
{
    struct ring *ring = arg;
    ring->chain->wrong += ring->chain->next++ != ring->number;
}

/* A million nodes: no stack grows, and no fork is pending for each. Then the same with a node
 * beside each of them. */
static void long_chains(void **state)
{
    const size_t n = SCALED(1000000, 20);
    struct ring *rings = malloc(n * sizeof *rings);
    weft_pool *pool = pool_make(2, 0);
    for (int beside = 0; beside < 2; beside++) {
        weft_graph *graph = graph_make();
        struct chain chain = {0, 0};
        atomic_size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            rings[i] = (struct ring){&chain, i};
            int node = weft_graph_add(graph, NULL, chain_node, &rings[i]);
            int after = beside ? weft_graph_add(graph, NULL, count_node, &count) : node;
            if (i > 0)
                weft_graph_edge(graph, node - 1 - beside, node);
            if (beside)
                weft_graph_edge(graph, node, after);
        }
        for (int i = 0; i < 2; i++) {
            chain.next = 0;
            assert_int_equal(run_in(pool, graph), 0);
            assert_int_equal(chain.next, n);
            assert_int_equal(chain.wrong, 0);
        }
        assert_int_equal(count, beside ? 2 * n : 0);
        weft_graph_destroy(graph);
    }
    pool_drop(pool);
    free(rings);
}

/* Two nodes that wait for each other's beginning: both run at the same time, though both follow the
 * same node, and though others are ready, too. */
struct meeting {
    atomic_int arrived;
};

static void meet(weft *w, void *arg)
{
    struct meeting *meeting = arg;
    atomic_fetch_add(&meeting->arrived, 1);
    WAIT_UNTIL(meeting->arrived == 2);
}

static void ready_nodes_run_at_the_same_time(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int round = 0; round < rounds_of(40); round++) {
        weft_graph *graph = graph_make();
        struct meeting meeting = {0};
        atomic_size_t count = 0;
        int first = weft_graph_add(graph, NULL, count_node, &count);
        for (int i = 0; i < 10; i++) {
            bool meets = i == round % 10 || i == (round / 10 + round % 10 + 1) % 10;
            int node = meets ? weft_graph_add(graph, NULL, meet, &meeting)
                             : weft_graph_add(graph, NULL, count_node, &count);
            weft_graph_edge(graph, first, node);
        }
        if (round % 10 == (round / 10 + round % 10 + 1) % 10)
            meeting.arrived = 1;
        if (round % 8 == 0)
            pool_wait_asleep(pool);
        assert_int_equal(run_in(pool, graph), 0);
        weft_graph_destroy(graph);
    }
    pool_drop(pool);
}

static void nothing_to_do(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_graph *graph = graph_make();
    assert_int_equal(weft_graph_check(graph, NULL), 0);
    assert_int_equal(run_in(pool, graph), 0);
    atomic_size_t count = 0;
    weft_graph_add(graph, "a", count_node, &count); /* changed between runs */
    assert_int_equal(run_in(pool, graph), 0);
    weft_graph_edge(graph, 0, weft_graph_add(graph, "b", count_node, &count));
    assert_int_equal(run_in(pool, graph), 0);
    assert_int_equal(count, 3);
    weft_graph_destroy(graph);
    weft_graph_destroy(NULL);
    pool_drop(pool);
}

/* ---- Conditions ---- */

struct loop {
    int left, steps, sides, joined, ended;
};

static void loop_begin(weft *w, void *arg)
{
    struct loop *loop = arg;
    loop->left = 10;
}

static void loop_step(weft *w, void *arg)
{
    ((struct loop *)arg)->steps++;
}

static void loop_side(weft *w, void *arg)
{
    ((struct loop *)arg)->sides++;
}

static void loop_join(weft *w, void *arg)
{
    struct loop *loop = arg;
    CHECK(loop->steps == loop->sides);
    loop->joined++;
}

static int loop_again(weft *w, void *arg)
{
    struct loop *loop = arg;
    return --loop->left > 0 ? 0 : 1;
}

static void loop_end(weft *w, void *arg)
{
    ((struct loop *)arg)->ended++;
}

/* begin -> head; head -> step, side -> join -> again? -0-> head, -1-> end. Each step of the loop
 * waits for both sides. */
static void conditions_make_loops(void **state)
{
    for (unsigned workers = 1; workers <= 4; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        weft_graph *graph = graph_make();
        struct loop loop = {0};
        atomic_size_t heads = 0;
        int begin = weft_graph_add(graph, "begin", loop_begin, &loop);
        int head = weft_graph_add(graph, "head", count_node, &heads);
        int step = weft_graph_add(graph, "step", loop_step, &loop);
        int side = weft_graph_add(graph, "side", loop_side, &loop);
        int join = weft_graph_add(graph, "join", loop_join, &loop);
        int again = weft_graph_add_condition(graph, "again?", loop_again, &loop);
        int end = weft_graph_add(graph, "end", loop_end, &loop);
        weft_graph_edge(graph, begin, head);
        weft_graph_edge(graph, head, step);
        weft_graph_edge(graph, head, side);
        weft_graph_edge(graph, step, join);
        weft_graph_edge(graph, side, join);
        weft_graph_edge(graph, join, again);
        weft_graph_edge(graph, again, head);
        weft_graph_edge(graph, again, end);
        for (int run = 1; run <= 20; run++) {
            assert_int_equal(run_in(pool, graph), 0);
            assert_int_equal(loop.steps, 10 * run);
            assert_int_equal(loop.joined, 10 * run);
            assert_int_equal(loop.ended, run);
            assert_int_equal(heads, 10 * run);
        }
        weft_graph_destroy(graph);
        pool_drop(pool);
    }
}

static int chosen(weft *w, void *arg)
{
    return *(int *)arg;
}

/* A branch that is not taken leaves a join half waited for; the next run begins anew. */
static void conditions_make_branches(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_graph *graph = graph_make();
    atomic_size_t counts[4] = {0};
    int choice = 0;
    int which = weft_graph_add_condition(graph, "which?", chosen, &choice);
    int left = weft_graph_add(graph, "left", count_node, &counts[0]);
    int right = weft_graph_add(graph, "right", count_node, &counts[1]);
    int other = weft_graph_add(graph, "other", count_node, &counts[2]);
    int join = weft_graph_add(graph, "join", count_node, &counts[3]);
    weft_graph_edge(graph, which, left);
    weft_graph_edge(graph, which, right);
    weft_graph_edge(graph, left, join);
    weft_graph_edge(graph, other, join);
    static const int choices[] = {0, 1, 1, 0, 2, -1, 1, 0};
    static const size_t lefts[] = {1, 1, 1, 2, 2, 2, 2, 3}, rights[] = {0, 1, 2, 2, 2, 2, 3, 3};
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        choice = choices[i];
        assert_int_equal(run_in(pool, graph), 0);
        assert_int_equal(counts[0], lefts[i]);
        assert_int_equal(counts[1], rights[i]);
        assert_int_equal(counts[2], i + 1);
        assert_int_equal(counts[3], lefts[i]);
    }
    weft_graph_destroy(graph);
    pool_drop(pool);
}

/* ---- Graphs in graphs ---- */

static void graphs_nest(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        weft_graph *inner[8], *outer = graph_make();
        atomic_size_t count = 0, after = 0;
        int last = weft_graph_add(outer, "last", count_node, &after);
        for (int i = 0; i < 8; i++) {
            inner[i] = graph_make();
            int root = weft_graph_add(inner[i], NULL, count_node, &count);
            for (int k = 0; k < 20; k++)
                weft_graph_edge(inner[i], root, weft_graph_add(inner[i], NULL, count_node, &count));
            weft_graph_edge(outer, weft_graph_add_graph(outer, "inner", inner[i]), last);
        }
        for (int run = 1; run <= 10; run++) {
            assert_int_equal(run_in(pool, outer), 0);
            assert_int_equal(count, 8 * 21 * run);
            assert_int_equal(after, run);
        }
        weft_graph_add(inner[3], "bad", fail_node, NULL);
        assert_int_equal(run_in(pool, outer), -EDOM);
        assert_int_equal(after, 10);
        weft_graph_destroy(outer);
        for (int i = 0; i < 8; i++)
            weft_graph_destroy(inner[i]);
        pool_drop(pool);
    }
}

/* ---- What is refused ---- */

static void run_itself(weft *w, void *graph)
{
    CHECK(weft_graph_run(w, graph) == -EBUSY);
    CHECK(weft_graph_check(graph, NULL) == -EBUSY);
    CHECK(weft_graph_add(graph, NULL, run_itself, NULL) == -EBUSY);
    CHECK(weft_graph_edge(graph, 0, 0) == -EBUSY);
}

static void one_run_at_a_time(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_graph *graph = graph_make(), *around = graph_make();
    weft_graph_add(graph, "itself", run_itself, graph);
    assert_int_equal(run_in(pool, graph), 0);
    assert_int_equal(run_in(pool, graph), 0);
    /* Each runs the other. */
    weft_graph_add_graph(graph, "around", around);
    weft_graph_add_graph(around, "graph", graph);
    assert_int_equal(run_in(pool, graph), -EBUSY);
    weft_graph_destroy(graph);
    weft_graph_destroy(around);
    pool_drop(pool);
}

static void wrong_arguments(weft *w, void *arg)
{
    weft_graph *graph = graph_make();
    CHECK(weft_graph_create(NULL) == -EINVAL);
    CHECK(weft_graph_run(w, NULL) == -EINVAL && weft_graph_check(NULL, NULL) == -EINVAL);
    CHECK(weft_graph_add(NULL, "a", fail_node, NULL) == -EINVAL);
    CHECK(weft_graph_edge(NULL, 0, 0) == -EINVAL);
    CHECK(weft_graph_add(graph, "a", count_node, NULL) == 0);
    CHECK(weft_graph_check(graph, NULL) == 0);
    /* The first error stays. */
    CHECK(weft_graph_edge(graph, 0, 1) == -EINVAL && weft_graph_edge(graph, -1, 0) == -EINVAL);
    CHECK(weft_graph_run(w, graph) == -EINVAL && weft_graph_check(graph, NULL) == -EINVAL);
    weft_graph_destroy(graph);
    graph = graph_make();
    CHECK(weft_graph_add(graph, "a", NULL, NULL) == -EINVAL);
    CHECK(weft_graph_add_condition(graph, "a", NULL, NULL) == -EINVAL);
    CHECK(weft_graph_add_graph(graph, "a", NULL) == -EINVAL);
    CHECK(weft_graph_add_graph(graph, "a", graph) == -EINVAL);
    CHECK(weft_graph_run(w, graph) == -EINVAL);
    weft_graph_destroy(graph);
}

static void what_is_wrong_is_said(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_run(pool, wrong_arguments, NULL), 0);
    pool_drop(pool);
}

/* What weft_graph_check() says; the caller frees it. */
static char *complaint(weft_graph *graph, int error)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(weft_graph_check(graph, out), error);
    fclose(out);
    return text;
}

static void cycles_are_refused(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_graph *graph = graph_make();
    atomic_size_t count = 0;
    int start = weft_graph_add(graph, "start", count_node, &count);
    int a = weft_graph_add(graph, "a", count_node, &count);
    int b = weft_graph_add(graph, "b", count_node, &count);
    int c = weft_graph_add(graph, NULL, count_node, &count);
    int end = weft_graph_add(graph, "end", count_node, &count);
    weft_graph_edge(graph, start, a);
    weft_graph_edge(graph, a, b);
    weft_graph_edge(graph, b, c);
    weft_graph_edge(graph, c, end);
    char *text = complaint(graph, 0);
    assert_string_equal(text, "");
    free(text);
    weft_graph_edge(graph, c, a);
    assert_int_equal(run_in(pool, graph), -ELOOP);
    assert_int_equal(count, 0);
    text = complaint(graph, -ELOOP);
    assert_true(strcmp(text, "a cycle without a condition: a -> b -> node 3 -> a\n") == 0 ||
                strcmp(text, "a cycle without a condition: b -> node 3 -> a -> b\n") == 0 ||
                strcmp(text, "a cycle without a condition: node 3 -> a -> b -> node 3\n") == 0);
    free(text);
    weft_graph_destroy(graph);

    graph = graph_make();
    weft_graph_edge(graph, weft_graph_add(graph, "self", count_node, &count), 0);
    text = complaint(graph, -ELOOP);
    assert_string_equal(text, "a cycle without a condition: self -> self\n");
    free(text);
    weft_graph_destroy(graph);

    /* A condition is in the way of the cycle, but nothing begins. */
    graph = graph_make();
    int choice = 0;
    weft_graph_edge(graph, weft_graph_add_condition(graph, "which?", chosen, &choice), 0);
    assert_int_equal(run_in(pool, graph), -ELOOP);
    text = complaint(graph, -ELOOP);
    assert_non_null(strstr(text, "no node can begin"));
    free(text);
    weft_graph_destroy(graph);
    pool_drop(pool);
}

/* ---- Drawings ---- */

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

static void dumps_can_be_drawn(void **state)
{
    weft_graph *graph = graph_make(), *inner = graph_make();
    char *text = NULL;
    size_t size;
    int a = weft_graph_add(graph, "say \"a\\b\"", count_node, NULL);
    int which = weft_graph_add_condition(graph, "which?", chosen, NULL);
    int sub = weft_graph_add_graph(graph, "sub", inner);
    int y = weft_graph_add(inner, NULL, count_node, NULL);
    weft_graph_edge(inner, y, weft_graph_add(inner, "z", count_node, NULL));
    weft_graph_add_graph(inner, "back", graph); /* drawn once */
    weft_graph_edge(graph, a, which);
    weft_graph_edge(graph, which, a);
    weft_graph_edge(graph, which, sub);
    FILE *out = open_memstream(&text, &size);
    weft_graph_dump(graph, out);
    weft_graph_dump(NULL, out);
    weft_graph_dump(graph, NULL);
    fclose(out);
    static const char *const lines[] = {
        "digraph weft {\n",
        "  n0 [label=\"say \\\"a\\\\b\\\"\"];\n",
        "  n1 [label=\"which?\", shape=diamond];\n",
        "  n2 [label=\"sub\", shape=box, peripheries=2];\n",
        "  subgraph cluster_n2 {\n",
        "  n2_0 [label=\"node 0\"];\n",
        "  n2_1 [label=\"z\"];\n",
        "  n2_2 [label=\"back\", shape=box, peripheries=2];\n",
        "  n2_0 -> n2_1;\n",
        "  n0 -> n1;\n",
        "  n1 -> n0 [style=dashed, label=\"0\"];\n",
        "  n1 -> n2 [style=dashed, label=\"1\"];\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_int_equal(occurrences(text, lines[i]), 1);
    assert_int_equal(occurrences(text, "->"), 4);
    assert_int_equal(occurrences(text, "label=\""), 6 + 2);
    assert_int_equal(occurrences(text, "{"), occurrences(text, "}"));
    free(text);
    weft_graph_destroy(graph);
    weft_graph_destroy(inner);
}

/* ---- Actors ---- */

static int graph_actor(weft *w, void *graph)
{
    return weft_graph_run(w, graph);
}

static void yield_node(weft *w, void *arg)
{
    weft_yield(w);
    atomic_fetch_add((atomic_size_t *)arg, 1);
}

static void stay_node(weft *w, void *arg)
{
    atomic_fetch_add((atomic_size_t *)arg, 1);
    for (;;)
        weft_poll(w);
}

static void actors_run_graphs(void **state)
{
    weft_pool *pool = pool_make(3, 0);
    weft_graph *graph = graph_make();
    atomic_size_t count = 0, begun = 0;
    int root = weft_graph_add(graph, NULL, yield_node, &count);
    for (int i = 0; i < 100; i++)
        weft_graph_edge(graph, root, weft_graph_add(graph, NULL, yield_node, &count));
    for (int i = 0; i < 5; i++)
        assert_int_equal(run_one(pool, graph_actor, graph), 0);
    assert_int_equal(count, 5 * 101);
    /* Killed in the middle; then run by another. */
    int stays = weft_graph_add(graph, NULL, stay_node, &begun);
    weft_graph_edge(graph, root, stays);
    weft_actor *actor = start(pool, graph_actor, graph, NULL);
    WAIT_UNTIL(begun > 0);
    weft_actor_kill(actor);
    assert_int_equal(end(actor), -ECANCELED);
    actor = start(pool, graph_actor, graph, NULL);
    WAIT_UNTIL(begun > 1);
    weft_actor_kill(actor);
    assert_int_equal(end(actor), -ECANCELED);
    weft_graph_destroy(graph);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_comes_after_those_before),
        cmocka_unit_test(with_sixteen_workers),
        cmocka_unit_test(failures_at_each_node),
        cmocka_unit_test(nothing_begins_after_a_failure),
        cmocka_unit_test(deadlines_end_it),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(ready_nodes_run_at_the_same_time),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(conditions_make_loops),
        cmocka_unit_test(conditions_make_branches),
        cmocka_unit_test(graphs_nest),
        cmocka_unit_test(one_run_at_a_time),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(cycles_are_refused),
        cmocka_unit_test(dumps_can_be_drawn),
        cmocka_unit_test(actors_run_graphs),
    };
    return RUN_ON_ALL_ROADS(tests);
}
