/* SPDX-License-Identifier: MIT */
/* graph.c: graphs and flows without memory, which say so or have done everything; and what is a
 * broken rule. */
#include "weft/graph.h"
#include "child.h"
#include "os/memory.h"
#include "weft/actor.h"

#include <errno.h>

enum { NODES = 40, TASKS = 300 };

/* ---- Graphs without memory ---- */

struct net {
    uint32_t fail_at;
    atomic_int ran;
    int error;
};

static void ran(weft *w, void *arg)
{
    sched_yield(); /* so that thieves come, and spawn what they take */
    atomic_fetch_add((atomic_int *)arg, 1);
}

static weft_graph *net_make(struct net *net)
{
    weft_graph *graph;
    net->error = weft_graph_create(&graph);
    if (net->error)
        return NULL;
    int root = weft_graph_add(graph, "root", ran, &net->ran);
    for (int i = 1; i < NODES; i++)
        weft_graph_edge(graph, root, weft_graph_add(graph, "leaf", ran, &net->ran));
    net->error = weft_graph_check(graph, NULL);
    return graph;
}

static void net_job(weft *w, void *arg)
{
    struct net *net = arg;
    atomic_store_relaxed(&weft__alloc_fail_at, net->fail_at);
    weft_graph *graph = net_make(net);
    if (!net->error)
        net->error = weft_graph_run(w, graph);
    atomic_store_relaxed(&weft__alloc_fail_at, 0);
    weft_graph_destroy(graph);
}

static int try_net(unsigned workers, uint32_t k)
{
    weft_pool *pool = child_pool(workers, 0, WAY_NO_SPIN);
    struct net net = {.fail_at = k};
    until_asleep(pool, workers); /* they allocate when they start */
    CHECK_EQUAL(weft_run(pool, net_job, &net), 0);
    CHECK(net.error == 0 || net.error == -ENOMEM);
    CHECK_EQUAL(net.ran, net.error ? 0 : NODES); /* once it runs, it needs none */
    child_pool_end(pool);
    return net.error;
}

static void graphs_without_memory(void)
{
    uint32_t k = 1;
    while (try_net(1, k))
        k++;
    CHECK(k > NODES); /* the names */
    for (uint32_t end = k + 10; k < end; k++)
        CHECK_EQUAL(try_net(3, k), 0);
}

/* Once a graph has run, it allocates no more. */
static void again_job(weft *w, void *arg)
{
    struct net *net = arg;
    weft_graph *graph = net_make(net);
    CHECK_EQUAL(weft_graph_run(w, graph), 0);
    atomic_store_relaxed(&weft__alloc_fail_at, UINT32_MAX);
    for (int i = 0; i < 100; i++)
        CHECK_EQUAL(weft_graph_run(w, graph), 0);
    CHECK_EQUAL(atomic_load_relaxed(&weft__alloc_fail_at), UINT32_MAX);
    atomic_store_relaxed(&weft__alloc_fail_at, 0);
    weft_graph_destroy(graph);
}

static void runs_do_not_allocate(void)
{
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    struct net net = {0};
    until_asleep(pool, 1);
    CHECK_EQUAL(weft_run(pool, again_job, &net), 0);
    CHECK_EQUAL(net.ran, 101 * NODES);
    child_pool_end(pool);
}

/* ---- Flows without memory ---- */

struct stream {
    uint32_t fail_at;
    int refused;
    size_t spawned, sum, count;
};

static void add_one(weft *w, void *arg)
{
    struct stream *stream = arg;
    stream->count++;
}

static void stream_job(weft *w, void *arg)
{
    struct stream *stream = arg;
    weft_flow flow;
    weft_flow_open(w, &flow);
    atomic_store_relaxed(&weft__alloc_fail_at, stream->fail_at);
    for (int i = 0; i < TASKS; i++) {
        char *address = (char *)stream + 1 + i % 150;
        weft_dep deps[] = {{&stream->count, WEFT_INOUT}, {address, i % 3 ? WEFT_IN : WEFT_OUT}};
        int error = weft_flow_spawn(w, &flow, deps, 2, add_one, stream);
        CHECK(error == 0 || error == -ENOMEM);
        stream->refused += error != 0;
        stream->spawned += error == 0;
    }
    CHECK_EQUAL(weft_flow_close(w, &flow), 0);
    atomic_store_relaxed(&weft__alloc_fail_at, 0);
}

static int try_stream(unsigned workers, uint32_t k)
{
    weft_pool *pool = child_pool(workers, 0, WAY_NO_SPIN);
    struct stream stream = {.fail_at = k};
    until_asleep(pool, workers);
    CHECK_EQUAL(weft_run(pool, stream_job, &stream), 0);
    CHECK_EQUAL(stream.count, stream.spawned);
    child_pool_end(pool);
    return stream.refused;
}

static void flows_without_memory(void)
{
    int refused = 0;
    for (uint32_t k = 1; k < 30; k++) {
        refused += try_stream(1, k);
        refused += try_stream(3, k);
    }
    CHECK(refused > 5); /* tasks, links, the table as it grows */
}

/* ---- An actor that ends inside a run ---- */

static void drop_graph(weft *w, void *graph)
{
    weft_graph_destroy(graph);
}

static void until_killed(weft *w, void *started)
{
    atomic_store((atomic_int *)started, 1);
    for (;;)
        weft_poll(w);
}

static int run_own_graph(weft *w, void *started)
{
    weft_graph *graph;
    CHECK_EQUAL(weft_graph_create(&graph), 0);
    CHECK_EQUAL(weft_defer(w, drop_graph, graph), 0);
    weft_graph_add(graph, "endless", until_killed, started);
    return weft_graph_run(w, graph);
}

/* The deferred function destroys the graph: what ends after that does not look at it. */
static void killed_in_its_graph(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, 0, way);
        for (int i = 0; i < 10; i++) {
            weft_actor *actor;
            atomic_int started = 0;
            CHECK_EQUAL(weft_actor_create(&actor, pool, run_own_graph, &started, NULL), 0);
            CHECK_EQUAL(weft_actor_run(actor), 0);
            UNTIL(atomic_load(&started));
            weft_actor_kill(actor);
            CHECK_EQUAL(weft_actor_wait(NULL, actor), -ECANCELED);
            weft_actor_release(actor);
        }
        child_pool_end(pool);
    }
}

/* ---- Broken rules ---- */

struct mistake {
    weft_fn *job;
    enum way way;
};

static void make_mistake(void *arg)
{
    const struct mistake *mistake = arg;
    weft_pool *pool = child_pool(1, 0, mistake->way);
    (void)weft_run(pool, mistake->job, NULL);
    child_pool_end(pool);
}

static void expect_named(weft_fn *job, const char *const *words)
{
    expect_abort(make_mistake, &(struct mistake){job, WAY_NO_SPIN}, words);
    expect_abort(make_mistake, &(struct mistake){job, WAY_EAGER_NO_SPIN}, words);
}

static void spawns_itself(weft *w, void *flow)
{
    (void)weft_flow_spawn(w, flow, NULL, 0, nothing, NULL);
}

static void in_task(weft *w, void *arg)
{
    weft_flow flow;
    weft_flow_open(w, &flow);
    CHECK_EQUAL(weft_flow_spawn(w, &flow, NULL, 0, spawns_itself, &flow), 0);
    (void)weft_flow_close(w, &flow);
}

static void after_close(weft *w, void *arg)
{
    weft_flow flow;
    weft_flow_open(w, &flow);
    CHECK_EQUAL(weft_flow_close(w, &flow), 0);
    spawns_itself(w, &flow);
}

static void flow_of_another_job(void **state)
{
    expect_named(in_task, WORDS("weft_flow_spawn", "not the job"));
    expect_named(after_close, WORDS("weft_flow_spawn", "closed"));
}

static void destroys(weft *w, void *graph)
{
    weft_graph_destroy(graph);
}

static void run_one(weft *w, weft_fn *node)
{
    weft_graph *graph;
    CHECK_EQUAL(weft_graph_create(&graph), 0);
    weft_graph_add(graph, "node", node, graph);
    (void)weft_graph_run(w, graph);
    weft_graph_destroy(graph);
}

static void destroy_job(weft *w, void *arg)
{
    run_one(w, destroys);
}

static void destroyed_while_running(void **state)
{
    expect_named(destroy_job, WORDS("weft_graph_destroy", "running"));
}

static void forks(weft *w, void *arg)
{
    weft_fork(w, nothing, arg);
}

static void opens(weft *w, void *arg)
{
    static weft_scope scope;
    weft_scope_open(w, &scope);
}

static void fork_job(weft *w, void *arg)
{
    run_one(w, forks);
}

static void open_job(weft *w, void *arg)
{
    run_one(w, opens);
}

static void node_leaves_a_fork(void **state)
{
    expect_named(fork_job, WORDS("a node or task returned without merging"));
    expect_named(open_job, WORDS("a node or task returned without closing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(graphs_without_memory),       IN_CHILD(runs_do_not_allocate),
        IN_CHILD(flows_without_memory),        IN_CHILD(killed_in_its_graph),
        cmocka_unit_test(flow_of_another_job), cmocka_unit_test(destroyed_while_running),
        cmocka_unit_test(node_leaves_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
