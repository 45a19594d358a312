/* SPDX-License-Identifier: MIT */
#include "core/worker.h"

#include "core/fatal.h"
#include "core/fork.h"
#include "core/pool.h"
#include "os/clock.h"
#include "os/membarrier.h"
#include "os/memory.h"
#include "os/thread.h"

enum {
    STUCK_NS = 10000000, /* how long a pool stands still before its last limited waiter helps */
    DEQUE_CAPACITY = 256,
    INJECTOR_TURN = 16, /* every so many searches the injector comes first, so that outside
                           work is not starved by inside work */
};

static _Thread_local struct weft__worker *top;     /* what this thread is, innermost first */
static _Thread_local struct weft__worker *current; /* one of these: the one that works */

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
    worker->context =
        weft__context_make(worker, pool->config.fork == WEFT_FORK_EAGER, pool->config.quantum);
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

struct weft__worker *weft__worker_top(void)
{
    return top;
}

struct weft__worker *weft__worker_in(const struct weft_pool *pool)
{
    struct weft__worker *worker = top;
    while (worker && worker->pool != pool)
        worker = worker->host;
    return worker;
}

static bool on_own_stack(const struct weft__worker *me, const char *frame)
{
    return frame >= me->stack.low && frame < me->stack.high;
}

void weft__worker_push(struct weft__worker *worker, const char *entry)
{
    worker->stack = weft__thread_stack();
    if (worker->kind == WORKER_THREAD && on_own_stack(worker, entry))
        worker->stack.high = entry; /* what lies above is somebody else's, thread-local data */
    worker->host = top;
    worker->outer = current;
    top = current = worker;
}

const char *weft__worker_explain(const void *address)
{
    struct weft__context *context = current ? current->context : NULL;
    if (!context || (const char *)address <= (const char *)context->last ||
        (const char *)address >= (const char *)context + WEFT_BLOCK_SIZE)
        return NULL;
    return "weft: more forks are pending in one context than it has slots for (65,000); "
           "merge some before forking more, or use a scope\n";
}

void weft__worker_forked(void)
{
    top = current = NULL;
}

void weft__worker_remove(struct weft__worker *worker)
{
    if (top == worker) {
        top = worker->host;
        current = worker->outer;
    } else if (current == worker) { /* a job that forked the process comes back in the child */
        current = NULL;
    }
}

/* The innermost job's record lies in weft__execute()'s frame. If the stack is shorter than
 * that now, the job's frames are gone although it never returned. */
void weft__worker_check_left(const char *frame)
{
    struct weft__worker *me = current;
    const char *job = me && me->frame ? me->frame->address : NULL;
    if (job && on_own_stack(me, job) && on_own_stack(me, frame) && frame > job)
        weft__fatal("a job was left by longjmp or an exception; jobs must return");
}

bool weft__may_help(const struct weft__worker *me)
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

/* On the lazy road nobody is told of a fork. So a job that starts, or goes on after a wait,
 * looks whether anybody sleeps. It counts as at work before: see EnterFence. */
static void expect_help(struct weft__worker *me)
{
    if (!me->context->eager && weft__sleep_sleeping(&me->pool->sleep) > 0)
        weft__context_expect(me->context);
}

static void left(const struct weft__worker *me)
{
    weft__fatal("a job on worker %u was left by longjmp or an exception; jobs must return",
                me->index);
}

void weft__execute(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    struct weft__worker *before = current;
    struct weft__frame *outer = me->frame;
    struct weft__frame frame = {outer, __builtin_frame_address(0), outer ? outer->depth + 1 : 0};
    struct weft__help outer_help = me->context->help;
    me->context->help = (struct weft__help){0};
    expect_help(me);
    count_up(&me->counts.jobs);
    if (frame.depth > atomic_load_relaxed(&me->counts.depth_max))
        atomic_store_relaxed(&me->counts.depth_max, frame.depth);
    state_is(me, WORKER_BUSY);
    me->frame = &frame;
    current = me;
    job->execute(w, job);
    bool forked = weft__pool_is_forked(me->pool);
    if (forked && me->kind == WORKER_THREAD)
        weft__fatal("a forked child came back from a job to the worker; it should exec or exit");
    if (me->frame != &frame || (current != me && !forked))
        left(me);
    me->frame = outer;
    current = forked ? NULL : before;
    me->context->help = outer_help;
    if (outer && outer_help.wanted)
        weft__context_call(me->context); /* the first fork is still to come */
}

/* The pool's workers, then its guests; NULL at the end. Start with NULL. */
static struct weft__worker *next_worker(struct weft_pool *pool, struct weft__worker *worker)
{
    if (worker && worker->kind == WORKER_GUEST)
        return worker->next_guest;
    unsigned next = worker ? worker->index + 1 : 0;
    if (next < pool->config.workers)
        return pool->workers[next];
    return atomic_load_acquire(&pool->guests); /* acquire G1 */
}

void weft__call_attention(struct weft_pool *pool)
{
    if (weft__pool_is_forked(pool))
        return; /* nobody is there, and their locks may be held for ever */
    struct weft__worker *worker = NULL;
    while ((worker = next_worker(pool, worker)))
        weft__context_call(worker->context);
    if (pool->config.fork == WEFT_FORK_LAZY)
        weft__membarrier();
    while ((worker = next_worker(pool, worker)))
        weft__context_call_merges(worker->context);
}

void weft__fail(weft *w, int code)
{
    if (weft__group_fail(weft__context_of(w)->group, code))
        weft__call_attention(weft__worker_of(w)->pool);
}

bool weft__cancelled(weft *w)
{
    if (!weft__group_alarm())
        return false;
    bool noticed = false;
    bool cancelled = weft__group_walk(weft__context_of(w)->group, &noticed);
    if (noticed) {
        weft__call_attention(weft__worker_of(w)->pool);
    } else if (cancelled) { /* by a computation around it, perhaps in another pool */
        weft__context_call(weft__context_of(w));
        weft__context_call_merges(weft__context_of(w));
    }
    return cancelled;
}

void weft__call(weft *w, weft_fn *fn, void *arg, struct weft__group *group)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    struct weft__group *outer = context->group, *outer_here = slot->group;
    struct weft__frame *frame = context->worker->frame;
    context->group = slot->group = group;
    if (weft__group_alarm())
        weft__context_call(context); /* perhaps for this group */
    if (!weft__cancelled(w))
        fn(w, arg);
    if (context->worker->frame != frame)
        left(context->worker);
    if (atomic_load_relaxed(&slot->fn)) /* relaxed: own writes */
        weft__fatal("a job returned without merging what it forked");
    if (context->group != group)
        weft__fatal("a job returned without closing a scope that it opened");
    context->group = outer;
    slot->group = outer_here;
    if (weft__group_alarm()) { /* what is below may be cancelled */
        weft__context_call(context);
        weft__context_call_merges(context);
    }
}

void weft__call_whole(weft *w, weft_fn *fn, void *arg, struct weft__group *group)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__help *help = &context->help;
    help->whole = fn;
    weft__call(w, fn, arg, group);
    if (!help->started || help->whole != fn)
        return;
    bool brief = weft__clock_now() - help->started < WEFT__LITTLE_NS;
    weft__habit_learn(&context->worker->pool->habits, fn, help->first_right,
                      brief && !weft__context_robbed(context));
}

int weft__call_root(weft *w, weft_fn *fn, void *arg, struct weft__group *parent)
{
    struct weft__group group;
    weft__group_begin(&group, parent);
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

/* Anything for `me` to run that is not on its own deque. Mail always: nobody else can; its
 * sender knows that it runs on top of whatever waits here. */
static struct weft__job *find(struct weft__worker *me, struct atomic_ptr *thief, bool others)
{
    struct weft__job *job = take_mail(me);
    if (job || !others)
        return job;
    if (next_random(me) % INJECTOR_TURN == 0 && (job = take_injected(me)))
        return job;
    if ((job = steal(me, thief)))
        return job;
    return take_injected(me);
}

static bool pool_holds_jobs(struct weft_pool *pool)
{
    if (weft__queue_length(&pool->injector) > 0)
        return true;
    struct weft__worker *worker = NULL;
    while ((worker = next_worker(pool, worker)))
        if (weft__deque_size(&worker->deque) > 0)
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
    struct weft__awaited awaited;
    bool limited;  /* takes no other people's jobs, */
    bool last;     /* unless it is the last one left */
    bool despair;  /* and nothing has happened for a while: */
    uint64_t jobs; /* so many were run in its pool when it looked last */
    bool counted;  /* idle and asleep as a worker of root's pool */
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
    if (!weft__sleep_work_found(&pool->sleep, &wait->idle))
        return;
    /* Somebody should look out for forks, even if there are none now. */
    bool jobs = pool_holds_jobs(pool);
    if (jobs || pool->config.fork == WEFT_FORK_LAZY)
        weft__sleep_more_work(&pool->sleep, !jobs);
}

/* The next one on its own deque. A limited waiter runs only children of the scope that it
 * waits for; whatever else lies on top of those goes where others find it. */
static struct weft__job *pop_own(struct wait *wait)
{
    struct weft__worker *me = wait->me;
    if (!wait->limited)
        return weft__deque_pop(&me->deque);
    while (wait->awaited.scope && weft__deque_bottom(&me->deque) > wait->awaited.base) {
        struct weft__job *job = weft__deque_pop(&me->deque);
        if (!job || job->group == wait->awaited.scope)
            return job;
        weft__queue_push(&me->pool->injector, weft__spawn_node(job));
        weft__sleep_new_jobs(&me->pool->sleep, 1, false);
    }
    return NULL;
}

/* A job for any of the workers this thread is, and where to run it. */
static struct weft__job *look_everywhere(struct wait *wait, weft **where)
{
    *where = wait->w;
    wait->me->saw_young = wait->root->saw_young = false;
    struct weft__job *job = pop_own(wait);
    bool others = !wait->limited || wait->despair;
    wait->despair = false;
    if (!job)
        job = find(wait->me, wait->awaited.thief, others);
    for (struct weft__worker *host = wait->me->host; !job && host; host = host->host) {
        if (others)
            job = weft__deque_pop(&host->deque);
        if (!job)
            job = find(host, NULL, others);
        if (job)
            *where = weft__context_top(host->context);
    }
    return job;
}

/* There is work that will be old enough to be taken soon, unless its owner gets to it
 * first: not for ever, since a program may fork and merge without end and leave nothing. */
static bool be_patient(struct wait *wait)
{
    enum { QUANTA = 4, MOST_NS = 2000000 };
    if (!wait->me->saw_young && !wait->root->saw_young)
        return false;
    uint64_t now = weft__clock_now();
    if (wait->patient_until == 0) {
        uint64_t patience = QUANTA * wait->me->pool->config.quantum;
        wait->patient_until = now + (patience < MOST_NS ? patience : MOST_NS);
    }
    if (now >= wait->patient_until)
        return false;
    weft__thread_yield();
    return true;
}

/* A guest that sleeps leaves its place to a worker. */
static void guests_rest(struct wait *wait)
{
    for (struct weft__worker *me = wait->me; me; me = me->host) {
        struct weft_pool *pool = me->pool;
        if (me->kind == WORKER_GUEST && weft__sleep_guest_left(&pool->sleep))
            weft__sleep_more_work(&pool->sleep, true);
    }
}

static void guests_return(struct wait *wait)
{
    for (struct weft__worker *me = wait->me; me; me = me->host)
        if (me->kind == WORKER_GUEST)
            weft__sleep_guest_entered(&me->pool->sleep);
}

/* Has nobody in the pool run anything since this was asked last? */
static bool stands_still(struct wait *wait)
{
    uint64_t jobs = 0;
    struct weft__worker *worker = NULL;
    while ((worker = next_worker(wait->root->pool, worker)))
        jobs += atomic_load_relaxed(&worker->counts.jobs); /* relaxed: a hint */
    bool same = jobs == wait->jobs;
    wait->jobs = jobs;
    return same;
}

static void found_nothing(struct wait *wait)
{
    struct weft__worker *root = wait->root;
    struct weft__sleep *sleep = &root->pool->sleep;
    if (be_patient(wait))
        return;
    struct weft__sleeper sleeper = {
        .park = root->park,
        .latch = wait->latch,
        .last_look = wait->counted ? anything_queued : mail_waits,
        .arg = root,
    };
    bool slept = false;
    if (wait->idle.round < sleep->rounds) {
        wait->idle.round++;
        weft__thread_yield();
        return;
    }
    guests_rest(wait);
    if (wait->counted) {
        slept = weft__sleep_no_work(sleep, &wait->idle, &sleeper);
    } else {
        enum park_result result = weft__sleep_uncounted(&sleeper, wait->last ? STUCK_NS : 0);
        slept = result != PARK_WAS_NUDGED;
        wait->despair = result == PARK_TIMED_OUT && stands_still(wait);
        wait->idle.round = 0;
    }
    guests_return(wait);
    if (slept) {
        count_up(&wait->me->counts.sleeps);
        wait->patient_until = 0;
    }
}

/* A limited waiter. True: it is the last one left of the pool's threads, and has to take
 * what the others wait for if nobody else does. A thread counts once, however many limited
 * waits are on its stack. */
static bool limit(struct weft__worker *root)
{
    struct weft_pool *pool = root->pool;
    unsigned threads = pool->config.workers - (pool->config.flags & WEFT_USE_CALLER ? 1 : 0);
    if (root->kind != WORKER_THREAD)
        return root->kind == WORKER_CALLER && threads == 0;
    /* relaxed: a number; its modification order says who is the last. */
    if (root->limited_waits++ == 0)
        root->last_left = atomic_fetch_add_relaxed(&pool->limited, 1) + 1 == threads;
    return root->last_left;
}

static void unlimit(struct weft__worker *root)
{
    if (root->kind == WORKER_THREAD && --root->limited_waits == 0)
        atomic_fetch_sub_relaxed(&root->pool->limited, 1); /* relaxed: as above */
}

static void wait_on(struct wait *wait)
{
    struct weft__latch *latch = wait->latch;
    while (!weft__latch_probe(latch)) {
        if (weft__pool_is_forked(wait->me->pool))
            weft__fatal("a job waits in a forked child for what only its parent's workers do");
        /* Its own jobs first, without telling anybody that it is idle. */
        struct weft__job *job = pop_own(wait);
        weft *where = wait->w;
        if (!job) {
            start_looking(wait);
            while (!weft__latch_probe(latch) && !(job = look_everywhere(wait, &where)))
                found_nothing(wait);
            stop_looking(wait);
        }
        if (job)
            weft__execute(where, job);
    }
}

static struct weft__worker *root_of(struct weft__worker *me)
{
    while (me->host)
        me = me->host;
    return me;
}

void weft__wait(weft *w, struct weft__latch *latch, struct weft__awaited awaited)
{
    struct weft__worker *me = weft__worker_of(w);
    struct wait wait = {.w = w, .me = me, .root = root_of(me), .latch = latch, .awaited = awaited};
    if (weft__latch_probe(latch))
        return;
    weft__worker_check_left(__builtin_frame_address(0));
    wait.limited = !weft__may_help(me);
    wait.last = wait.limited && limit(wait.root);
    wait.counted = !wait.limited && wait.root->kind != WORKER_GUEST;
    wait_on(&wait);
    if (wait.limited)
        unlimit(wait.root);
    if (!me->context->help.wanted)
        expect_help(me); /* those who helped may have gone to sleep meanwhile */
}

/* Destroy's waiter for USE_CALLER, and a worker's own loop, must go on however full the
 * stack is: nobody is below whom they could keep waiting. */
static void wait_unlimited(struct weft__worker *me, struct weft__latch *latch)
{
    struct wait wait = {
        .w = weft__context_top(me->context), .me = me, .root = root_of(me), .latch = latch};
    wait.counted = wait.root->kind != WORKER_GUEST;
    wait_on(&wait);
}

struct weft__park *weft__thread_park(void)
{
    return current ? current->park : weft__park_get();
}

void weft__thread_unpark(struct weft__park *park)
{
    if (!current)
        weft__park_put(park);
}

void weft__wait_anywhere(struct weft__spin_latch *latch)
{
    struct weft__worker *me = current;
    if (!me) {
        struct weft__sleeper sleeper = {.park = latch->owner, .latch = &latch->core};
        while (!weft__latch_probe(&latch->core))
            weft__sleep_uncounted(&sleeper, 0);
    } else if (me->kind == WORKER_CALLER && !me->frame) {
        weft__worker_caller_in(me);
        wait_unlimited(me, &latch->core);
        weft__worker_caller_out(me);
    } else {
        weft__wait(weft__context_top(me->context), &latch->core, (struct weft__awaited){0});
    }
}

/* One piece of work of any kind that is left to others. */
static bool run_one(weft *w)
{
    struct weft__worker *me = weft__worker_of(w);
    struct weft__job *job = weft__deque_pop(&me->deque);
    if (!job)
        job = find(me, NULL, true);
    if (job)
        weft__execute(w, job);
    return job != NULL;
}

bool weft__run_one(weft *w)
{
    struct weft__worker *me = weft__worker_of(w);
    return !weft__pool_is_forked(me->pool) && weft__may_help(me) && run_one(w);
}

void weft__worker_loop(struct weft__worker *worker)
{
    wait_unlimited(worker, &worker->stop.core);
    /* What jobs of other pools left here is theirs to wait for. */
    while (run_one(worker->context->first))
        ;
    weft__worker_rest(worker);
}

void weft__worker_caller_in(struct weft__worker *me)
{
    weft__sleep_caller_entered(&me->pool->sleep);
}

void weft__worker_caller_out(struct weft__worker *me)
{
    if (weft__pool_is_forked(me->pool))
        return; /* what is left is the parent's */
    weft__worker_spill(me);
    weft__worker_rest(me);
    weft__sleep_caller_left(&me->pool->sleep);
}

int weft__post_fork(struct weft__worker *worker, struct weft__job *job)
{
    bool was_empty = weft__deque_size(&worker->deque) == 0;
    int error = weft__deque_push(&worker->deque, job);
    if (!error)
        weft__sleep_new_fork(&worker->pool->sleep, was_empty);
    return error;
}

int weft__post_spawn(struct weft__worker *worker, struct weft__job *job)
{
    int error = weft__deque_push(&worker->deque, job);
    if (!error)
        weft__sleep_new_jobs(&worker->pool->sleep, 1, false);
    return error;
}

void weft__worker_spill(struct weft__worker *worker)
{
    struct weft__job *job;
    unsigned moved = 0;
    while ((job = weft__deque_pop(&worker->deque))) {
        weft__queue_push(&worker->pool->injector, weft__spawn_node(job));
        moved++;
    }
    if (moved)
        weft__sleep_new_jobs(&worker->pool->sleep, moved, true);
}
