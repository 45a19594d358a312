/* SPDX-License-Identifier: MIT */
/* Flows. Everything but running the tasks is done by the spawner, the job that opened the flow: it
 * has the table of addresses, and the memory of tasks and links. A thread that ends a task leaves
 * it in `over`; the spawner finds it there, forgets it, and uses it again. */
#include "parallel/flow.h"

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "parallel/flow_table.h"
#include "weft/graph.h"

#include <errno.h>

enum {
    LIVE_EACH = 64, /* with so many tasks for each worker, the spawner runs some itself */
    CHUNK_TASKS = 64,
    CHUNK_LINKS = 128,
};

struct chunk {
    struct chunk *next;
    union {
        struct weft__flow_task tasks[CHUNK_TASKS];
        struct weft__flow_link links[CHUNK_LINKS];
    } of;
};

struct flow {
    struct weft__crew crew; /* first: the crew is the flow */
    weft_scope scope;
    struct weft__cleanup cleanup;
    weft *w;                         /* where it was opened; NULL: closed */
    const struct weft__frame *frame; /* the spawner; NULL in an actor */
    struct atomic_ptr over;          /* struct weft__flow_task: a list of those that are over */
    size_t live;                     /* tasks that are not known to be over */
    struct weft__flow_table table;
    struct weft__flow_task *free_tasks;
    struct weft__flow_link *free_links;
    size_t free_links_n;
    struct chunk *chunks;
};

_Static_assert(sizeof(struct flow) <= sizeof(weft_flow), "weft_flow is too small");

static struct flow *flow_of(weft_flow *flow)
{
    return (struct flow *)(void *)flow;
}

/* ---- Memory ---- */

static struct chunk *chunk_make(struct flow *flow)
{
    struct chunk *chunk = weft__scratch(sizeof *chunk);
    if (!chunk)
        return NULL;
    chunk->next = flow->chunks;
    flow->chunks = chunk;
    return chunk;
}

static void task_free(struct flow *flow, struct weft__flow_task *task)
{
    task->next = flow->free_tasks;
    flow->free_tasks = task;
}

static void link_free(struct flow *flow, struct weft__flow_link *link)
{
    link->next = flow->free_links;
    flow->free_links = link;
    flow->free_links_n++;
}

static struct weft__flow_link *link_make(struct flow *flow, struct weft__flow_task *task)
{
    struct weft__flow_link *link = flow->free_links;
    flow->free_links = link->next;
    flow->free_links_n--;
    link->task = task;
    return link;
}

static bool have_task(struct flow *flow)
{
    if (flow->free_tasks)
        return true;
    struct chunk *chunk = chunk_make(flow);
    for (size_t i = 0; chunk && i < CHUNK_TASKS; i++)
        task_free(flow, &chunk->of.tasks[i]);
    return chunk != NULL;
}

static bool have_links(struct flow *flow, size_t count)
{
    while (flow->free_links_n < count) {
        struct chunk *chunk = chunk_make(flow);
        if (!chunk)
            return false;
        for (size_t i = 0; i < CHUNK_LINKS; i++)
            link_free(flow, &chunk->of.links[i]);
    }
    return true;
}

static void free_all(struct flow *flow)
{
    struct chunk *next;
    for (struct chunk *chunk = flow->chunks; chunk; chunk = next) {
        next = chunk->next;
        weft__free(chunk);
    }
    weft__flow_table_free(&flow->table);
}

/* ---- Tasks that are over ---- */

static struct weft__ready *run_task(weft *w, struct weft__ready *item)
{
    struct weft__flow_task *task = (struct weft__flow_task *)item;
    struct flow *flow = (struct flow *)item->crew;
    task->fn(w, task->arg);
    struct weft__forest forest = {0};
    struct weft__flow_link *next;
    for (struct weft__flow_link *link = weft__flow_close(task); link; link = next) {
        next = link->next; /* the link belongs to its task, which may be over after this */
        struct weft__flow_task *follower = link->task;
        if (weft__flow_arrive(follower))
            weft__forest_add(&forest, &follower->ready);
    }
    weft__flow_leave(&flow->over, task); /* last touch of the task */
    return weft__forest_tree(&forest);
}

static void unname(struct flow *flow, struct weft__flow_task *task)
{
    if (--task->named == 0 && task->over)
        task_free(flow, task);
}

/* The links of a task that is over have been followed, all of them. */
static void collect(struct flow *flow)
{
    struct weft__flow_task *next;
    for (struct weft__flow_task *task = weft__flow_collect(&flow->over); task; task = next) {
        struct weft__flow_link *mine;
        next = task->next;
        for (struct weft__flow_link *link = task->links; link; link = mine) {
            mine = link->mine;
            link_free(flow, link);
        }
        flow->live--;
        task->over = true;
        if (task->named == 0)
            task_free(flow, task);
    }
}

/* ---- Addresses ---- */

static void forget_reader(struct flow *flow, struct weft__flow_link **at)
{
    struct weft__flow_link *link = *at;
    *at = link->next;
    unname(flow, link->task);
    link_free(flow, link);
}

static void forget_readers(struct flow *flow, struct weft__flow_entry *entry, bool all)
{
    for (struct weft__flow_link **at = &entry->readers; *at;) {
        if (all || (*at)->task->over) {
            forget_reader(flow, at);
            entry->readers_n--;
        } else {
            at = &(*at)->next;
        }
    }
    entry->crowded_at = 2 * entry->readers_n + 16;
}

/* Forgets what is over. True: then nothing is left. */
static bool forget_entry(struct weft__flow_entry *entry, void *arg)
{
    struct flow *flow = arg;
    forget_readers(flow, entry, false);
    if (entry->writer && entry->writer->over) {
        unname(flow, entry->writer);
        entry->writer = NULL;
    }
    return !entry->writer && !entry->readers;
}

static unsigned follow(struct flow *flow, struct weft__flow_task *task,
                       struct weft__flow_task *before)
{
    if (before == task || before->over)
        return 0;
    struct weft__flow_link *link = link_make(flow, task);
    if (!weft__flow_follow(before, link)) {
        link_free(flow, link);
        return 0;
    }
    link->mine = task->links;
    task->links = link;
    return 1;
}

static unsigned read_after(struct flow *flow, struct weft__flow_task *task,
                           struct weft__flow_entry *entry)
{
    unsigned count = entry->writer ? follow(flow, task, entry->writer) : 0;
    if (entry->readers_n >= entry->crowded_at)
        forget_readers(flow, entry, false);
    struct weft__flow_link *link = link_make(flow, task);
    link->next = entry->readers;
    entry->readers = link;
    entry->readers_n++;
    task->named++;
    return count;
}

static unsigned write_after(struct flow *flow, struct weft__flow_task *task,
                            struct weft__flow_entry *entry)
{
    unsigned count = 0;
    for (const struct weft__flow_link *link = entry->readers; link; link = link->next)
        count += follow(flow, task, link->task);
    if (!entry->readers && entry->writer)
        count += follow(flow, task, entry->writer);
    forget_readers(flow, entry, true);
    if (entry->writer)
        unname(flow, entry->writer);
    entry->writer = task;
    task->named++;
    return count;
}

/* ---- Spawning ---- */

/* Everything that spawn() needs, so that it can't fail later. A task may name an address twice:
 * then it finds itself among the readers. */
static int reserve(struct flow *flow, const weft_dep *deps, size_t n)
{
    if (!have_task(flow) || !weft__flow_table_reserve(&flow->table, n, forget_entry, flow))
        return -ENOMEM;
    size_t links = 3 * n;
    for (size_t i = 0; i < n; i++) {
        if (deps[i].access == WEFT_IN)
            continue;
        const struct weft__flow_entry *entry = weft__flow_table_find(&flow->table, deps[i].address);
        links += entry ? entry->readers_n : 0;
    }
    return have_links(flow, links) ? 0 : -ENOMEM;
}

static bool spawn(struct flow *flow, struct weft__flow_task *task, const weft_dep *deps, size_t n)
{
    unsigned count = 0;
    for (size_t i = 0; i < n; i++) {
        struct weft__flow_entry *entry = weft__flow_table_at(&flow->table, deps[i].address);
        count += deps[i].access == WEFT_IN ? read_after(flow, task, entry)
                                           : write_after(flow, task, entry);
    }
    flow->live++;
    return weft__flow_release(task, count);
}

static struct weft__flow_task *task_make(struct flow *flow, weft_fn *fn, void *arg)
{
    struct weft__flow_task *task = flow->free_tasks;
    flow->free_tasks = task->next;
    *task = (struct weft__flow_task){.ready.crew = &flow->crew, .fn = fn, .arg = arg};
    atomic_store_relaxed(&task->waits, WAITS_HELD); /* relaxed: no other thread knows it */
    return task;
}

/* ---- Running here ---- */

static const struct weft__frame nobody; /* no job has this frame */

static struct weft__group *group_of(struct flow *flow)
{
    return (struct weft__group *)(void *)&flow->scope;
}

/* While something runs inside weft_flow_spawn(), that is not the spawner, and must not spawn. It is
 * part of the flow, and not of a scope that the spawner has opened since. */
struct spawner {
    const struct weft__frame *frame;
    struct weft__group *group, *here;
    weft *base;
};

static struct spawner step_back(weft *w, struct flow *flow)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    struct spawner spawner = {flow->frame, context->group, slot->group, context->base};
    flow->frame = &nobody;
    context->group = slot->group = group_of(flow);
    context->base = w;
    return spawner;
}

static void step_forth(weft *w, struct flow *flow, const struct spawner *spawner)
{
    flow->frame = spawner->frame;
    weft__context_of(w)->group = spawner->group;
    weft__context_of(w)->base = spawner->base;
    weft__slot_of(w)->group = spawner->here;
}

static bool is_clear(const struct flow *flow, const weft_dep *dep)
{
    const struct weft__flow_entry *entry = weft__flow_table_find(&flow->table, dep->address);
    if (!entry)
        return true;
    if (entry->writer && !weft__flow_is_over(entry->writer))
        return false;
    if (dep->access != WEFT_IN)
        for (const struct weft__flow_link *link = entry->readers; link; link = link->next)
            if (!weft__flow_is_over(link->task))
                return false;
    return true;
}

/* Are there tasks enough for all workers? Then the spawner runs tasks instead: they need no memory,
 * and what they use is in its cache. Tasks of an actor wait until the flow is closed. */
static bool has_many(weft *w, const struct flow *flow)
{
    unsigned workers = weft_pool_workers(weft_pool_of(w));
    return !weft__is_fiber(w) && (workers == 1 || flow->live / LIVE_EACH >= workers);
}

/* Runs the new task, if it waits for none: nothing has to be noted about it, since it is over
 * afterwards. */
static bool run_new(weft *w, struct flow *flow, const weft_dep *deps, size_t n, weft_fn *fn,
                    void *arg)
{
    for (size_t i = 0; i < n; i++)
        if (!is_clear(flow, &deps[i]))
            return false;
    struct spawner spawner = step_back(w, flow);
    if (!weft__is_cancelled(w))
        weft__ready_call(w, fn, arg);
    step_forth(w, flow, &spawner);
    return true;
}

/* Without memory to spawn the task, it runs here. */
static void run_or_spawn(weft *w, struct flow *flow, struct weft__flow_task *task)
{
    if (weft_spawn(w, &flow->scope, weft__ready_job, &task->ready) == 0)
        return;
    struct spawner spawner = step_back(w, flow);
    weft__ready_run(w, &task->ready);
    step_forth(w, flow, &spawner);
}

/* ---- Arguments ---- */

static bool are_right(const weft_dep *deps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!deps[i].address || (unsigned)deps[i].access > WEFT_INOUT)
            return false;
    return true;
}

static const struct weft__frame *frame_of(weft *w)
{
    return weft__is_fiber(w) ? NULL : weft__worker_of(w)->frame;
}

static struct flow *open_flow(weft *w, weft_flow *public, const char *function)
{
    struct flow *flow = flow_of(public);
    if (!flow->w)
        weft__fatal("%s: the flow is closed, or was never opened", function);
    if (flow->w != w || flow->frame != frame_of(w))
        weft__fatal("%s: not the job and the context that opened the flow", function);
    return flow;
}

int weft_flow_spawn(weft *w, weft_flow *public, const weft_dep *deps, size_t n, weft_fn *fn,
                    void *arg)
{
    if (!w || !public || !fn || (n && !deps) || !are_right(deps, n))
        return -EINVAL;
    WEFT__EXPECT_CONTEXT(w);
    struct flow *flow = open_flow(w, public, __func__);
    collect(flow);
    if (weft__context_of(w)->group == group_of(flow) && weft__is_cancelled(w))
        return 0; /* it would never begin */
    bool many = has_many(w, flow);
    if (many && run_new(w, flow, deps, n, fn, arg))
        return 0;
    int error = reserve(flow, deps, n);
    if (error)
        return error;
    struct weft__flow_task *task = task_make(flow, fn, arg);
    if (spawn(flow, task, deps, n))
        run_or_spawn(w, flow, task);
    else if (many)
        weft_yield(w); /* runs another one, which this one may wait for */
    return 0;
}

/* ---- Beginning and end ---- */

/* An actor ends before it has closed the flow. */
static void unwind(struct weft__cleanup *of, weft *w)
{
    (void)w;
    free_all((struct flow *)((char *)of - offsetof(struct flow, cleanup)));
}

void weft_flow_open(weft *w, weft_flow *public)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(public, "a flow");
    struct flow *flow = flow_of(public);
    *flow = (struct flow){.crew = {&flow->scope, run_task}, .w = w, .frame = frame_of(w)};
    weft__cleanup_push(w, &flow->cleanup, unwind);
    weft_scope_open(w, &flow->scope);
}

int weft_flow_close(weft *w, weft_flow *public)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(public, "a flow");
    struct flow *flow = open_flow(w, public, __func__);
    int error = weft_scope_close(w, &flow->scope);
    weft__cleanup_pop(w, &flow->cleanup);
    free_all(flow);
    flow->w = NULL;
    return error;
}
