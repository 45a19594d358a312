/* SPDX-License-Identifier: MIT */
/* Nodes of a graph that wait for others, and tasks of a flow that are told to wait while those that
 * they follow end. */
#include "harnesses.h"
#include "parallel/flow.h"
#include "parallel/graph.h"

static int wrote[3]; /* by the nodes or tasks that come first */
static unsigned ran;

/* ---- Graphs ---- */

static struct weft__graph_node node;
static weft_graph graph;

static void setup_node(uint32_t joins)
{
    node = (struct weft__graph_node){.joins = joins & 3};
    weft__graph_wait_anew(&node);
    graph = (weft_graph){.error = 0};
    ran = 0;
}

static void setup_two(void)
{
    setup_node(2);
}

static void setup_three(void)
{
    setup_node(3);
}

/* The node before number i is over; the last one runs the node, which sees what all wrote. */
static bool end_node(int i, int value)
{
    wrote[i] = value;
    if (!weft__graph_arrive(&node))
        return false;
    for (int k = 0; k < (int)node.joins; k++)
        MODEL_ASSERT(wrote[k] == value);
    ran++;
    return true;
}

static void end_first(void)
{
    end_node(0, 1);
}

static void end_second(void)
{
    end_node(1, 1);
}

static void end_third(void)
{
    end_node(2, 1);
}

/* What comes after the node runs both nodes before it again, as a loop or the next run does. */
static void again(int i)
{
    if (!end_node(i, 1))
        return;
    MODEL_ASSERT(!end_node(i, 2));
    MODEL_ASSERT(end_node(1 - i, 2));
}

static void end_first_again(void)
{
    again(0);
}

static void end_second_again(void)
{
    again(1);
}

static void once(void)
{
    MODEL_ASSERT(ran == 1);
}

static void twice(void)
{
    MODEL_ASSERT(ran == 2);
}

/* Runs of the same graph do not overlap. */
static void run_graph(void)
{
    if (!weft__graph_begin(&graph))
        return;
    wrote[0]++;
    ran++;
    weft__graph_end(&graph);
}

static void at_least_once(void)
{
    MODEL_ASSERT(ran >= 1);
}

/* ---- Flows ---- */

static struct weft__flow_task before[2], follower;
static struct weft__flow_link links[2];
static struct atomic_ptr over;

static void setup_flow(void)
{
    before[0] = before[1] = follower = (struct weft__flow_task){.arg = NULL};
    over = (struct atomic_ptr){NULL};
    ran = 0;
}

static void run_follower(int followed)
{
    for (int i = 0; i < followed; i++)
        MODEL_ASSERT(wrote[i] == 1);
    MODEL_ASSERT(follower.arg == &ran); /* what the spawner wrote */
    ran++;
    MODEL_ASSERT(!weft__flow_close(&follower));
    weft__flow_leave(&over, &follower);
}

/* `followed`: how many tasks the follower waits for, in all. */
static void end_task(int i, int followed)
{
    wrote[i] = 1;
    struct weft__flow_link *next;
    for (struct weft__flow_link *link = weft__flow_close(&before[i]); link; link = next) {
        next = link->next;
        if (weft__flow_arrive(link->task))
            run_follower(followed);
    }
    weft__flow_leave(&over, &before[i]);
}

static void end_only_task(void)
{
    end_task(0, 1);
}

static void end_first_task(void)
{
    end_task(0, 2);
}

static void end_second_task(void)
{
    end_task(1, 2);
}

/* Tasks that are over, and the links of those, are used again. */
static void use_again(void)
{
    struct weft__flow_task *next;
    for (struct weft__flow_task *task = weft__flow_collect(&over); task; task = next) {
        next = task->next;
        for (int i = 0; task == &follower && i < 2; i++)
            links[i] = (struct weft__flow_link){.task = NULL};
        task->fn = NULL;
        task->next = NULL;
    }
}

static void spawn_after(int followed)
{
    uint32_t count = 0;
    follower.arg = &ran;
    atomic_store_relaxed(&follower.waits, WAITS_HELD);
    for (int i = 0; i < followed; i++) {
        links[i].task = &follower;
        if (weft__flow_follow(&before[i], &links[i]))
            count++;
        else
            MODEL_ASSERT(wrote[i] == 1);
    }
    if (weft__flow_release(&follower, count))
        run_follower(followed);
    use_again();
}

static void spawn_after_one(void)
{
    spawn_after(1);
}

static void spawn_after_two(void)
{
    spawn_after(2);
}

/* A task that is found to be over has written all that it writes. */
static void look(void)
{
    if (weft__flow_is_over(&before[0]))
        MODEL_ASSERT(wrote[0] == 1);
}

const struct harness graph_harnesses[] = {
    {.name = "graph-join",
     .what = "two nodes end; the last one runs the node after both",
     .setup = setup_two,
     .thread = {end_first, end_second},
     .finish = once},
    {.name = "graph-three",
     .what = "the same with three",
     .setup = setup_three,
     .thread = {end_first, end_second, end_third},
     .finish = once},
    {.name = "graph-again",
     .what = "and runs both nodes before it again",
     .setup = setup_two,
     .thread = {end_first_again, end_second_again},
     .finish = twice},
    {.name = "graph-busy",
     .what = "one run at a time",
     .setup = setup_two,
     .thread = {run_graph, run_graph, run_graph},
     .finish = at_least_once},
    {.name = "flow-follow",
     .what = "a task is told to wait while the one before it ends",
     .setup = setup_flow,
     .thread = {spawn_after_one, end_only_task},
     .finish = once},
    {.name = "flow-follow-two",
     .what = "the same with two",
     .setup = setup_flow,
     .thread = {spawn_after_two, end_first_task, end_second_task},
     .finish = once},
    {.name = "flow-over",
     .what = "the spawner sees what a task wrote that is over",
     .setup = setup_flow,
     .thread = {look, end_only_task}},
    {0},
};
