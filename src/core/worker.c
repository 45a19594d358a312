/* SPDX-License-Identifier: MIT */
#include "core/worker.h"

#include "core/fatal.h"
#include "core/fork.h"
#include "core/pool.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/thread.h"

enum {
    DEQUE_CAPACITY = 256,
    INJECTOR_TURN = 16, /* every so many searches the injector comes first, so that outside
                           work is not starved by inside work */
};

/* Set by weft__worker_push(), and by weft__execute() for as long as a job runs. */
static _Thread_local struct weft__worker *current;

struct weft__worker *weft__worker_make(struct weft_pool *pool, unsigned index,
                                       enum worker_kind kind)
{
    struct weft__worker *worker = weft__alloc(sizeof *worker);
    if (!worker)
        return NULL;
    worker->pool = pool;
    worker->index = index;
    worker->kind = kind;
    worker->random = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (weft__deque_init(&worker->deque, DEQUE_CAPACITY))
        goto no_deque;
    worker->context = weft__context_make(worker, pool->config.fork == WEFT_FORK_EAGER,
                                         pool->config.quantum);
    if (!worker->context)
        goto no_context;
    worker->park = worker->own_park = weft__park_get();
    if (!worker->park)
        goto no_park;
    worker->stop.owner = worker->park;
    return worker;

no_park:
    weft__context_free(worker->context);
no_context:
    weft__deque_destroy(&worker->deque);
no_deque:
    weft__free(worker);
    return NULL;
}

void weft__worker_free(struct weft__worker *worker)
{
    while (worker->spare) {
        struct weft__node *node = worker->spare;
        worker->spare = node->next;
        weft__free(node);
    }
    weft__park_put(worker->own_park);
    weft__context_free(worker->context);
    weft__deque_destroy(&worker->deque);
    weft__free(worker);
}

struct weft__worker *weft__worker_current(void)
{
    return current;
}

struct weft__worker *weft__worker_in(const struct weft_pool *pool)
{
    struct weft__worker *worker = current;
    while (worker && worker->pool != pool)
        worker = worker->host;
    return worker;
}

void weft__worker_push(struct weft__worker *worker, const char *entry)
{
    worker->stack = weft__thread_stack();
    worker->entry = entry;
    worker->host = current;
    worker->host_top = current ? weft__context_top(current->context) : NULL;
    current = worker;
}

void weft__worker_remove(struct weft__worker *worker)
{
    struct weft__worker **link = &current;
    while (*link && *link != worker)
        link = &(*link)->host;
    if (*link)
        *link = worker->host;
}

static bool on_own_stack(const struct weft__worker *me, const char *frame)
{
    return frame >= me->stack.low && frame < me->stack.high;
}

/* A guest's job runs below the call that started it. If the stack is shorter than that
 * now, the job's frames are gone although it never returned. */
void weft__worker_check_left(const char *frame)
{
    struct weft__worker *me = current;
    if (me && me->kind == WORKER_GUEST && on_own_stack(me, frame) && frame > me->entry)
        weft__fatal("a job started by weft_run was left by longjmp or an exception; "
                    "jobs must return");
}

/* Is there stack for other people's jobs? Not on a stack that is the program's own
 * business, such as a coroutine's. */
static bool may_help(const struct weft__worker *me)
{
    const char *frame = __builtin_frame_address(0);
    return on_own_stack(me, frame) && frame - me->stack.low > (me->stack.high - me->stack.low) / 2;
}

static void count_up(struct atomic_u64 *count)
{
    /* relaxed, and no read-modify-write: one writer; readers want a hint. */
    atomic_store_relaxed(count, atomic_load_relaxed(count) + 1);
}

static void state_is(struct weft__worker *worker, enum worker_state state)
{
    atomic_store_relaxed(&worker->counts.state, state); /* relaxed: for weft_pool_dump() */
}

void weft__worker_rest(struct weft__worker *worker)
{
    state_is(worker, WORKER_OUTSIDE);
}

/* ---- Running jobs ---- */

void weft__execute(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    struct weft__worker *before = current;
    struct weft__frame *outer = me->frame;
    struct weft__frame frame = {outer, job->fn, outer ? outer->depth + 1 : 0};
    struct weft__context *context = me->context;
    if (!context->eager && weft__sleep_sleeping(&me->pool->sleep) > 0)
        weft__context_expect(context, false);
    count_up(&me->counts.jobs);
    if (frame.depth > atomic_load_relaxed(&me->counts.depth_max))
        atomic_store_relaxed(&me->counts.depth_max, frame.depth);
    state_is(me, WORKER_BUSY);
    me->frame = &frame;
    current = me;
    job->execute(w, job);
    if (me->frame != &frame)
        weft__fatal("a job on worker %u was left by longjmp or an exception; jobs must return",
                    me->index);
    me->frame = outer;
    current = before;
}

/* Everybody who runs a part of it has to know. */
static void call_attention(struct weft_pool *pool)
{
    for (unsigned i = 0; i < pool->config.workers; i++)
        weft__context_call(pool->workers[i]->context);
    /* acquire G1 */
    struct weft__worker *guest = atomic_load_acquire(&pool->guests);
    for (; guest; guest = guest->next_guest)
        weft__context_call(guest->context);
}

void weft__fail(weft *w, int code)
{
    if (weft__group_fail(weft__context_of(w)->group, code))
        call_attention(weft__worker_of(w)->pool);
}

bool weft__cancelled(weft *w)
{
    if (!weft__group_alarm())
        return false;
    bool noticed = false;
    bool cancelled = weft__group_walk(weft__context_of(w)->group, &noticed);
    if (noticed)
        call_attention(weft__worker_of(w)->pool);
    return cancelled;
}

void weft__call(weft *w, weft_fn *fn, void *arg, struct weft__group *group)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    struct weft__group *outer = context->group, *outer_here = slot->group;
    context->group = slot->group = group;
    if (!weft__cancelled(w))
        fn(w, arg);
    if (atomic_load_relaxed(&slot->fn)) /* relaxed: own writes */
        weft__fatal("a job returned without merging what it forked");
    if (context->group != group)
        weft__fatal("a job returned without closing a scope that it opened");
    context->group = outer;
    slot->group = outer_here;
    if (weft__group_alarm())
        weft__context_call(context); /* what is below may be cancelled */
}

void weft__call_whole(weft *w, weft_fn *fn, void *arg, struct weft__group *group)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__habits *habits = &context->worker->pool->habits;
    if (context->wants_help)
        context->expects_little = weft__habit_is_brief(habits, fn);
    weft__call(w, fn, arg, group);
    if (context->started) {
        bool brief = weft__clock_now() - context->started < WEFT__LITTLE_NS;
        weft__habit_learn(habits, fn, brief && !weft__context_robbed(context));
        context->started = 0;
    }
    context->wants_help = false;
}

int weft__call_root(weft *w, weft_fn *fn, void *arg)
{
    struct weft__group group;
    weft__group_begin(&group, weft__context_of(w)->group);
    weft__call_whole(w, fn, arg, &group);
    return weft__group_end(&group);
}

/* ---- Searching ---- */

static uint64_t next_random(struct weft__worker *me)
{
    me->random ^= me->random << 13;
    me->random ^= me->random >> 7;
    me->random ^= me->random << 17;
    return me->random;
}

/* One try, and again as long as somebody else was faster: EMPTY is then true of a moment
 * within this call, which the sleep module relies on. */
static struct weft__job *steal_from(struct weft__worker *me, struct weft__worker *victim)
{
    struct weft__job *job = NULL;
    enum steal_result result;
    if (victim == me)
        return NULL;
    do
        result = weft__deque_steal(&victim->deque, &job);
    while (result == STEAL_LOST);
    if (result == STEAL_EMPTY && !victim->context->eager)
        result = weft__steal_slot(me, victim->context, &job);
    me->saw_young |= result == STEAL_YOUNG;
    if (result != STEAL_GOT)
        return NULL;
    count_up(&me->counts.steals);
    return job;
}

static struct weft__job *steal(struct weft__worker *me, struct atomic_ptr *thief)
{
    struct weft_pool *pool = me->pool;
    struct weft__job *job;
    /* acquire T1: the thief is a live worker of this pool, or a guest, which are kept. */
    struct weft__worker *helped = thief ? atomic_load_acquire(thief) : NULL;
    if (helped && (job = steal_from(me, helped)))
        return job;
    unsigned n = pool->config.workers;
    unsigned start = (unsigned)(next_random(me) % n);
    for (unsigned i = 0; i < n; i++)
        if ((job = steal_from(me, pool->workers[(start + i) % n])))
            return job;
    /* acquire G1: guests in the list are made. */
    struct weft__worker *guest = atomic_load_acquire(&pool->guests);
    for (; guest; guest = guest->next_guest)
        if ((job = steal_from(me, guest)))
            return job;
    return NULL;
}

static struct weft__job *take_injected(struct weft__worker *me)
{
    struct weft__node *node = weft__queue_pop(&me->pool->injector);
    if (!node)
        return NULL;
    count_up(&me->counts.injected);
    return &node->job;
}

static struct weft__job *take_mail(struct weft__worker *me)
{
    struct weft__node *node = weft__queue_pop(&me->mailbox);
    return node ? &node->job : NULL;
}

/* Anything for `me` to run. Mail always: nobody else can; its sender knows that it runs on
 * top of whatever waits here. */
static struct weft__job *find(struct weft__worker *me, struct atomic_ptr *thief, bool own,
                              bool others)
{
    struct weft__job *job = own ? weft__deque_pop(&me->deque) : NULL;
    if (job || (job = take_mail(me)) || !others)
        return job;
    if (next_random(me) % INJECTOR_TURN == 0 && (job = take_injected(me)))
        return job;
    if ((job = steal(me, thief)))
        return job;
    return take_injected(me);
}

static bool has_work(struct weft__worker *worker)
{
    return weft__deque_size(&worker->deque) > 0 || weft__context_pending(worker->context);
}

static bool pool_holds_work(struct weft_pool *pool)
{
    for (unsigned i = 0; i < pool->config.workers; i++)
        if (has_work(pool->workers[i]))
            return true;
    /* acquire G1 */
    struct weft__worker *guest = atomic_load_acquire(&pool->guests);
    for (; guest; guest = guest->next_guest)
        if (has_work(guest))
            return true;
    return false;
}

/* ---- Waiting ---- */

/* A wait. The thread is `me`, and whatever hosts it; it sleeps as `root`. */
struct wait {
    weft *w;
    struct weft__worker *me;
    struct weft__worker *root; /* the outermost one */
    struct weft__latch *latch;
    struct atomic_ptr *thief;
    int64_t base; /* its own deque is part of what it waits for from here on */
    bool others;  /* may take other people's jobs: there is stack for it */
    bool counted; /* idle and asleep as a worker of root's pool */
    struct weft__idle idle;
    uint64_t patient_until; /* how long to stay awake for right sides that are too young */
};

static bool mail_waits(void *arg)
{
    struct weft__worker *root = arg;
    return weft__queue_length(&root->mailbox) > 0;
}

static bool anything_queued(void *arg)
{
    struct weft__worker *root = arg;
    return mail_waits(root) || weft__queue_length(&root->pool->injector) > 0;
}

static void start_looking(struct wait *wait)
{
    state_is(wait->me, WORKER_SEARCHING);
    if (wait->counted)
        weft__sleep_start_looking(&wait->root->pool->sleep, &wait->idle);
    else
        wait->idle.round = 0;
    wait->patient_until = 0;
}

static void stop_looking(struct wait *wait)
{
    state_is(wait->me, WORKER_BUSY);
    if (!wait->counted)
        return;
    struct weft_pool *pool = wait->root->pool;
    if (!weft__sleep_work_found(&pool->sleep))
        return;
    bool injected = weft__queue_length(&pool->injector) > 0;
    if (injected || pool_holds_work(pool))
        weft__sleep_more_work(&pool->sleep, injected);
}

static bool may_pop(const struct wait *wait)
{
    return wait->others || weft__deque_bottom(&wait->me->deque) > wait->base;
}

/* A job for any of the workers this thread is, and where to run it. */
static struct weft__job *look_everywhere(struct wait *wait, weft **where)
{
    *where = wait->w;
    wait->me->saw_young = wait->root->saw_young = false;
    struct weft__job *job = find(wait->me, wait->thief, may_pop(wait), wait->others);
    for (struct weft__worker *me = wait->me; !job && me->host; me = me->host) {
        *where = me->host_top;
        job = find(me->host, NULL, wait->others, wait->others);
    }
    return job;
}

static void sleep_uncounted(struct wait *wait, const struct weft__sleeper *sleeper)
{
    struct weft__sleep *sleep = &wait->me->pool->sleep;
    if (wait->idle.round++ < sleep->rounds) {
        weft__thread_yield();
        return;
    }
    bool guest = wait->me->kind == WORKER_GUEST;
    if (guest)
        weft__sleep_guest_left(sleep);
    if (weft__sleep_uncounted(sleeper))
        count_up(&wait->me->counts.sleeps);
    if (guest)
        weft__sleep_guest_entered(sleep);
    wait->idle.round = 0;
}

/* There is work that will be old enough to be taken soon, unless its owner gets to it
 * first: not for ever, since a program may fork and merge without end and leave nothing. */
static bool be_patient(struct wait *wait)
{
    enum { PATIENCE = 4 }; /* quanta */
    if (!wait->me->saw_young && !wait->root->saw_young)
        return false;
    uint64_t now = weft__clock_now();
    if (wait->patient_until == 0)
        wait->patient_until = now + PATIENCE * wait->me->pool->config.quantum;
    if (now >= wait->patient_until)
        return false;
    weft__thread_yield();
    return true;
}

static void found_nothing(struct wait *wait)
{
    struct weft__worker *root = wait->root;
    if (be_patient(wait))
        return;
    if (weft__pool_is_forked(wait->me->pool))
        weft__fatal("a job waits in a forked child for a worker that only its parent has");
    struct weft__sleeper sleeper = {
        .park = root->park,
        .latch = wait->latch,
        .last_look = wait->counted ? anything_queued : mail_waits,
        .arg = root,
    };
    if (!wait->counted)
        sleep_uncounted(wait, &sleeper);
    else if (weft__sleep_no_work(&root->pool->sleep, &wait->idle, &sleeper))
        count_up(&wait->me->counts.sleeps);
}

void weft__wait(weft *w, struct weft__latch *latch, struct atomic_ptr *thief, int64_t base)
{
    struct weft__worker *me = weft__worker_of(w);
    struct wait wait = {.w = w, .me = me, .root = me, .latch = latch, .thief = thief, .base = base};
    while (wait.root->host)
        wait.root = wait.root->host;
    wait.others = may_help(me);
    wait.counted = wait.others && wait.root->kind != WORKER_GUEST;

    while (!weft__latch_probe(latch)) {
        /* Its own jobs first, without telling anybody that it is idle. */
        struct weft__job *job = may_pop(&wait) ? weft__deque_pop(&me->deque) : NULL;
        if (job) {
            weft__execute(w, job);
            continue;
        }
        weft *where = w;
        start_looking(&wait);
        while (!weft__latch_probe(latch) && !(job = look_everywhere(&wait, &where)))
            found_nothing(&wait);
        stop_looking(&wait);
        if (job)
            weft__execute(where, job);
    }
}

bool weft__run_one(weft *w)
{
    struct weft__worker *me = weft__worker_of(w);
    bool others = may_help(me);
    struct weft__job *job = find(me, NULL, others, others);
    if (job)
        weft__execute(w, job);
    return job != NULL;
}

void weft__worker_loop(struct weft__worker *worker)
{
    weft__wait(worker->context->first, &worker->stop.core, NULL, WAIT_NOTHING_OWN);
    weft__worker_rest(worker);
}

int weft__post(struct weft__worker *worker, struct weft__job *job)
{
    bool was_empty = weft__deque_size(&worker->deque) == 0;
    int error = weft__deque_push(&worker->deque, job);
    if (!error)
        weft__sleep_new_jobs(&worker->pool->sleep, 1, was_empty);
    return error;
}

void weft__worker_spill(struct weft__worker *worker)
{
    struct weft__job *job;
    unsigned moved = 0;
    while ((job = weft__deque_pop(&worker->deque))) {
        weft__queue_push(&worker->pool->injector, (struct weft__node *)job);
        moved++;
    }
    if (moved)
        weft__sleep_new_injected(&worker->pool->sleep, moved, true);
}
