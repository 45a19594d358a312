/* SPDX-License-Identifier: MIT */
/* deadlocks.c: random programs of mutexes, channels, events, joins, scopes and tasks. Ten
 * thousand that can't but deadlock, however they are scheduled: each is reported, and soon. A
 * hundred thousand that can't: none is reported, and all end. A program is made from a number;
 * TEST_SEED=number tries that one alone, many times. */
#include "check.h"
#include "child.h"
#include "pools.h"
#include "watchdog.h"
#include "weft/sync.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DEAD = SCALED(10000, 30),
    LIVE = SCALED(100000, 30),
    LIVE_FIRST = 1000000, /* number of the first one */
    AGAIN = 1000,         /* TEST_SEED */
    OBJECTS = 8,          /* of each kind */
    ROOTS_MAX = 16,
    SUBS_MAX = 48,
    OPS_MAX = 16,
    MEDIAN_NS = 2000000000, /* on a busy machine */
};

/* What a job does, one after the other. */
enum what {
    LOCK,
    TRY, /* and lock, if that fails */
    UNLOCK,
    SEND,
    RECEIVE,
    CLOSE,
    DRAINED, /* receive finds it closed and empty */
    WAIT,
    SET,
    MEET,   /* until all jobs that do this are there, without the pool's knowledge */
    LINGER, /* so that others come to steal */
    HELP,   /* weft_yield */
    NAP,    /* between weft_block_begin and weft_block_end */
    JOIN,   /* forks a job, lingers, merges */
    SCOPE,  /* spawns this job and those after it */
    TASK,   /* submits it, and waits */
};

struct op {
    unsigned char what, which, n;
};

struct job {
    struct program *program;
    unsigned length;
    struct op ops[OPS_MAX];
};

enum way_in { RUN_SPAWNED, RUN_FORKED, SUBMIT_SPAWNED, SUBMIT_FORKED, SUBMIT_EACH, WAYS_IN };

static const char *const mutex_names[] = {"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"};
static const char *const event_names[] = {"e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7"};
static const char *const channel_names[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"};

struct program {
    uint64_t seed, random;
    weft_config config;
    weft_pool *pool;
    enum way_in in;
    bool fifo;

    unsigned roots, subs, mutexes, events, channels; /* how many there are of each */
    struct job root[ROOTS_MAX], sub[SUBS_MAX];
    weft_mutex mutex[OBJECTS];
    weft_event event[OBJECTS];
    weft_channel channel[OBJECTS];
    size_t capacity[OBJECTS];
    unsigned long locked[OBJECTS], to_lock[OBJECTS]; /* the first under the mutex */
    atomic_uint sent[OBJECTS], received[OBJECTS];
    bool outside; /* the last event is set from outside */

    unsigned meeting; /* how many MEET */
    atomic_uint met, ended;
    atomic_ullong blocked_at; /* when the last one was about to block */

    const char *stuck[3 * OBJECTS]; /* whom a report should name: all of the first ones, or */
    unsigned stuck_n, stuck_all;    /* at least one */
};

static struct program program; /* the one that is tried now */

/* ---- Running one ---- */

static void note_block(struct program *p)
{
    unsigned long long now = weft_now(), last = atomic_load(&p->blocked_at);
    while (last < now && !atomic_compare_exchange_weak(&p->blocked_at, &last, now))
        ;
}

static void linger(unsigned us)
{
    uint64_t end = weft_now() + us * UINT64_C(1000);
    while (weft_now() < end)
        sched_yield();
}

static void run_job(weft *w, void *arg);

static void join(weft *w, struct job *right, unsigned us)
{
    weft_fork(w, run_job, right);
    linger(us);
    note_block(right->program);
    if (!weft_merge(w))
        run_job(w, right);
}

static void spawn(weft *w, struct job *jobs, unsigned n, bool fifo)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (unsigned i = 0; i < n; i++)
        CHECK((fifo ? weft_spawn_fifo : weft_spawn)(w, &scope, run_job, &jobs[i]) == 0);
    note_block(jobs->program);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void submit(weft *w, struct job *job)
{
    weft_task task;
    CHECK(weft_submit(weft_pool_of(w), &task, run_job, job) == 0);
    note_block(job->program);
    CHECK(weft_task_wait(&task) == 0);
}

static void nap(weft *w, unsigned us)
{
    weft_block_begin(w);
    if (us == 0)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
    weft_block_end(w);
}

static void meet(struct program *p)
{
    atomic_fetch_add(&p->met, 1);
    WAIT_UNTIL(atomic_load(&p->met) == p->meeting);
}

static void lock(weft *w, struct program *p, unsigned i, bool try)
{
    if (!try || !weft_mutex_trylock(w, &p->mutex[i]))
        weft_mutex_lock(w, &p->mutex[i]);
    p->locked[i]++; /* plain: a lost update, or the sanitizer, tells */
}

static void send_next(weft *w, struct program *p, unsigned i)
{
    unsigned item = atomic_fetch_add(&p->sent[i], 1);
    CHECK(weft_channel_send(w, &p->channel[i], &item) == 0);
}

static void receive_next(weft *w, struct program *p, unsigned i)
{
    unsigned item;
    CHECK(weft_channel_receive(w, &p->channel[i], &item) == 0);
    CHECK(item == atomic_fetch_add(&p->received[i], 1));
}

static void use_object(weft *w, struct program *p, enum what what, unsigned i)
{
    unsigned ignored;
    switch (what) {
    case UNLOCK:
        weft_mutex_unlock(w, &p->mutex[i]);
        break;
    case SEND:
        send_next(w, p, i);
        break;
    case RECEIVE:
        receive_next(w, p, i);
        break;
    case CLOSE:
        weft_channel_close(w, &p->channel[i]);
        break;
    case DRAINED:
        CHECK(weft_channel_receive(w, &p->channel[i], &ignored) == -EPIPE);
        break;
    case WAIT:
        weft_event_wait(w, &p->event[i]);
        break;
    case SET:
        weft_event_set(w, &p->event[i]);
        break;
    default:
        lock(w, p, i, what == TRY);
    }
}

static void run_op(weft *w, struct program *p, const struct op *op)
{
    unsigned i = op->which;
    switch ((enum what)op->what) {
    case MEET:
        meet(p);
        break;
    case LINGER:
        linger(op->n);
        break;
    case HELP:
        weft_yield(w);
        break;
    case NAP:
        nap(w, op->n);
        break;
    case JOIN:
        join(w, &p->sub[i], op->n);
        break;
    case SCOPE:
        spawn(w, &p->sub[i], op->n, i % 2);
        break;
    case TASK:
        submit(w, &p->sub[i]);
        break;
    default:
        use_object(w, p, (enum what)op->what, i);
    }
}

static void run_job(weft *w, void *arg)
{
    struct job *job = arg;
    for (unsigned i = 0; i < job->length; i++) {
        note_block(job->program);
        run_op(w, job->program, &job->ops[i]);
    }
    atomic_fetch_add(&job->program->ended, 1);
}

static void run_spawned(weft *w, void *arg)
{
    struct program *p = arg;
    spawn(w, p->root, p->roots, p->fifo);
}

struct range {
    struct program *program;
    unsigned begin, end;
};

static void run_range(weft *w, void *arg)
{
    struct range *range = arg;
    unsigned n = range->end - range->begin;
    if (n == 1) {
        run_job(w, &range->program->root[range->begin]);
        return;
    }
    struct range left = *range, right = *range;
    left.end = right.begin = range->begin + n / 2;
    weft *in = weft_fork(w, run_range, &right);
    run_range(in, &left);
    note_block(range->program);
    if (!weft_merge(w))
        run_range(w, &right);
}

static void run_forked(weft *w, void *arg)
{
    run_range(w, &(struct range){arg, 0, ((struct program *)arg)->roots});
}

/* What comes from outside comes before that thread waits, too. */
static void wait_for(struct program *p, weft_task *tasks, unsigned n)
{
    if (p->outside)
        weft_event_set(NULL, &p->event[OBJECTS - 1]);
    note_block(p);
    for (unsigned i = 0; i < n; i++)
        CHECK(weft_task_wait(&tasks[i]) == 0);
}

static void run_program(struct program *p)
{
    weft_task tasks[ROOTS_MAX];
    weft_fn *whole = p->in == RUN_SPAWNED || p->in == SUBMIT_SPAWNED ? run_spawned : run_forked;
    if (p->in == RUN_SPAWNED || p->in == RUN_FORKED) {
        CHECK(weft_run(p->pool, whole, p) == 0);
    } else if (p->in == SUBMIT_EACH) {
        for (unsigned i = 0; i < p->roots; i++)
            CHECK(weft_submit(p->pool, &tasks[i], run_job, &p->root[i]) == 0);
        wait_for(p, tasks, p->roots);
    } else {
        CHECK(weft_submit(p->pool, &tasks[0], whole, p) == 0);
        wait_for(p, tasks, 1);
    }
    CHECK(atomic_load(&p->ended) == p->roots + p->subs);
}

/* ---- Making one ---- */

/* splitmix64: 0 to n - 1. */
static unsigned pick(struct program *p, unsigned n)
{
    uint64_t x = p->random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ x >> 31) % n);
}

static unsigned pick_from(struct program *p, unsigned low, unsigned high)
{
    return low + pick(p, high - low + 1);
}

static void add(struct job *job, enum what what, unsigned which, unsigned n)
{
    CHECK(job->length < OPS_MAX);
    job->ops[job->length++] =
        (struct op){(unsigned char)what, (unsigned char)which, (unsigned char)n};
}

static struct job *add_root(struct program *p)
{
    CHECK(p->roots < ROOTS_MAX);
    struct job *job = &p->root[p->roots++];
    *job = (struct job){.program = p};
    return job;
}

static struct job *add_sub(struct program *p)
{
    CHECK(p->subs < SUBS_MAX);
    struct job *job = &p->sub[p->subs++];
    *job = (struct job){.program = p};
    return job;
}

static void shuffle_roots(struct program *p)
{
    for (unsigned i = p->roots; i > 1; i--) {
        unsigned j = pick(p, i);
        struct job job = p->root[i - 1];
        p->root[i - 1] = p->root[j];
        p->root[j] = job;
    }
}

static void begin_program(struct program *p, uint64_t seed)
{
    *p = (struct program){.seed = seed, .random = seed};
    for (unsigned i = 0; i < OBJECTS; i++)
        p->capacity[i] = pick(p, 4);
    p->in = (enum way_in)pick(p, WAYS_IN);
    p->fifo = pick(p, 2);
}

static void end_program(struct program *p)
{
    shuffle_roots(p);
    for (unsigned i = 0; i < OBJECTS; i++) {
        weft_mutex_init(&p->mutex[i], mutex_names[i]);
        weft_event_init(&p->event[i], event_names[i]);
        CHECK(weft_channel_init(&p->channel[i], channel_names[i], sizeof(unsigned),
                                p->capacity[i]) == 0);
    }
}

static void drop_program(struct program *p)
{
    for (unsigned i = 0; i < OBJECTS; i++)
        weft_channel_destroy(&p->channel[i]);
}

static void print_job(const char *kind, unsigned number, const struct job *job)
{
    static const char *const words[] = {"lock",    "try",  "unlock", "send", "receive", "close",
                                        "drained", "wait", "set",    "meet", "linger",  "help",
                                        "nap",     "join", "scope",  "task"};
    fprintf(stderr, "  %s %u:", kind, number);
    for (unsigned i = 0; i < job->length; i++)
        fprintf(stderr, " %s %u %u;", words[job->ops[i].what], job->ops[i].which, job->ops[i].n);
    fprintf(stderr, "\n");
}

static void print_program(const struct program *p)
{
    static const char *const ways[] = {"run spawned", "run forked", "submit spawned",
                                       "submit forked", "submit each"};
    const weft_config *config = &p->config;
    fprintf(stderr,
            "seed %llu: %u workers, %d spares, flags %u, fork %d, quantum %lld, spin %d; %s\n",
            (unsigned long long)p->seed, config->workers, config->spares, config->flags,
            (int)config->fork, (long long)config->quantum, config->spin_rounds, ways[p->in]);
    for (unsigned i = 0; i < p->roots; i++)
        print_job("job", i, &p->root[i]);
    for (unsigned i = 0; i < p->subs; i++)
        print_job("part", i, &p->sub[i]);
}

/* Is TEST_SEED not set, or one of the n numbers from `first` on? */
static bool is_asked_for(uint64_t first, uint64_t n)
{
    const char *only = getenv("TEST_SEED");
    return !only || strtoull(only, NULL, 10) - first < n;
}

static unsigned rounds(unsigned all)
{
    return getenv("TEST_SEED") ? AGAIN : all;
}

static uint64_t seed_of(uint64_t number)
{
    const char *only = getenv("TEST_SEED");
    return only ? strtoull(only, NULL, 10) : number;
}

/* ---- Those that deadlock ---- */

static void suspect(struct program *p, const char *name)
{
    p->stuck[p->stuck_n++] = name;
}

static unsigned new_mutex(struct program *p)
{
    suspect(p, mutex_names[p->mutexes]);
    return p->mutexes++;
}

static unsigned new_event(struct program *p)
{
    suspect(p, event_names[p->events]);
    return p->events++;
}

static unsigned new_channel(struct program *p)
{
    suspect(p, channel_names[p->channels]);
    return p->channels++;
}

/* Each has its own mutex before it asks for the next one's. */
static void mutex_cycle(struct program *p, unsigned n)
{
    p->meeting = p->mutexes = n;
    for (unsigned i = 0; i < n; i++) {
        struct job *job = add_root(p);
        suspect(p, mutex_names[i]);
        add(job, LOCK, i, 0);
        add(job, MEET, 0, 0);
        add(job, LOCK, (i + 1) % n, 0);
    }
    p->stuck_all = n;
}

/* Each waits for the one before. */
static void channel_ring(struct program *p, unsigned n)
{
    unsigned first = p->channels;
    for (unsigned i = 0; i < n; i++) {
        struct job *job = add_root(p);
        add(job, RECEIVE, new_channel(p), 0);
        add(job, SEND, first + (i + 1) % n, 0);
    }
}

static void event_ring(struct program *p, unsigned n)
{
    unsigned first = p->events;
    for (unsigned i = 0; i < n; i++) {
        struct job *job = add_root(p);
        add(job, WAIT, new_event(p), 0);
        add(job, SET, first + (i + 1) % n, 0);
    }
}

static void full_channel(struct program *p, unsigned n)
{
    unsigned channel = new_channel(p);
    for (unsigned i = 0; i < n; i++) {
        struct job *job = add_root(p);
        for (unsigned item = 0; item <= p->capacity[channel]; item++)
            add(job, SEND, channel, 0);
    }
}

/* A sender and a receiver that meet under a mutex. */
static void rendezvous_under_mutex(struct program *p, unsigned n)
{
    unsigned mutex = new_mutex(p), channel = new_channel(p);
    p->capacity[channel] = 0;
    for (unsigned i = 0; i < n; i++) {
        struct job *job = add_root(p);
        add(job, LOCK, mutex, 0);
        add(job, i % 2 ? SEND : RECEIVE, channel, 0);
        add(job, UNLOCK, mutex, 0);
    }
}

/* Waits for parts of its own in one of three ways. */
static void add_wait(struct program *p, struct job *job, unsigned sub, unsigned n)
{
    switch (pick(p, 3)) {
    case 0:
        add(job, JOIN, sub, pick(p, 100));
        break;
    case 1:
        add(job, SCOPE, sub, n);
        break;
    default:
        add(job, TASK, sub, 0);
        break;
    }
}

/* A part of its own wants the mutex that the job holds, */
static void mutex_across_wait(struct program *p, unsigned n)
{
    unsigned mutex = new_mutex(p), sub = p->subs;
    struct job *job = add_root(p);
    for (unsigned i = 1; i < n; i++)
        add(add_sub(p), LOCK, mutex, 0);
    add(job, LOCK, mutex, 0);
    add_wait(p, job, sub, n - 1);
    add(job, UNLOCK, mutex, 0);
}

/* or waits for what the job does afterwards. */
static void event_after_wait(struct program *p, unsigned n)
{
    unsigned event = new_event(p), sub = p->subs;
    struct job *job = add_root(p);
    for (unsigned i = 1; i < n; i++)
        add(add_sub(p), WAIT, event, 0);
    add_wait(p, job, sub, n - 1);
    add(job, SET, event, 0);
}

/* Waits for a job that is stuck. */
static void wait_behind(struct program *p, unsigned n)
{
    unsigned event = new_event(p);
    add(&p->root[pick(p, p->roots)], SET, event, 0);
    for (unsigned i = 0; i < n; i++)
        add(add_root(p), WAIT, event, 0);
}

typedef void part_fn(struct program *p, unsigned n);

struct part {
    part_fn *add;
    unsigned least, most; /* threads that may come to wait in it */
};

static const struct part parts[] = {
    {channel_ring, 1, 4},           {event_ring, 1, 3},        {full_channel, 1, 3},
    {rendezvous_under_mutex, 2, 4}, {mutex_across_wait, 2, 3}, {event_after_wait, 2, 3},
};

/* Those who meet need a thread each, whatever else waits; so then no more than `room`. */
static unsigned add_part(struct program *p, const struct part *part, unsigned room)
{
    if (part->least > room)
        return 0;
    unsigned n = pick_from(p, part->least, part->most < room ? part->most : room);
    part->add(p, n);
    return n;
}

static void add_bystander(struct program *p)
{
    struct job *job = add_root(p);
    unsigned mutex = OBJECTS - 1;
    add(job, LINGER, 0, pick(p, 60));
    add(job, TRY, mutex, 0);
    add(job, UNLOCK, mutex, 0);
    if (p->meeting == 0)
        add(job, HELP, 0, 0); /* who meets must not lie under one that waits for it */
    add(job, SET, OBJECTS - 1, 0);
}

static void configure(struct program *p)
{
    static const enum weft_fork forks[] = {WEFT_FORK_LAZY, WEFT_FORK_EAGER};
    static const unsigned flags[] = {0, 0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    p->config = (weft_config)WEFT_CONFIG_INIT;
    p->config.workers = pick_from(p, 1, 4);
    p->config.spares = (int)pick(p, 6) - 1;
    p->config.fork = forks[pick(p, 2)];
    p->config.quantum = pick(p, 3) ? 0 : WEFT_NONE;
    p->config.spin_rounds = pick(p, 2) ? 0 : -1;
    p->config.flags = flags[pick(p, 4)];
}

static void make_dead(struct program *p, uint64_t seed)
{
    enum { PLENTY = 8 };
    begin_program(p, seed);
    configure(p);
    unsigned workers = p->config.workers, room = PLENTY;
    if (workers > 1 && pick(p, 3) == 0) {
        unsigned n = pick_from(p, 2, workers);
        mutex_cycle(p, n);
        room = workers - n;
    } else {
        const struct part *first = &parts[pick(p, sizeof parts / sizeof parts[0])];
        room -= add_part(p, first, room);
    }
    for (unsigned more = pick(p, 3); more > 0; more--)
        room -= add_part(p, &parts[pick(p, sizeof parts / sizeof parts[0])], room);
    if (pick(p, 3) == 0)
        room -= add_part(p, &(struct part){wait_behind, 1, 2}, room);
    for (unsigned n = pick(p, 4); n > 0; n--)
        add_bystander(p);
    end_program(p);
}

static uint64_t *found_after; /* nanoseconds, one for each; shared with the children */

static bool names(const char *report, const char *name)
{
    char quoted[8];
    snprintf(quoted, sizeof quoted, "'%s'", name);
    return strstr(report, quoted) != NULL;
}

static bool names_the_stuck(const struct program *p, const char *report)
{
    unsigned named = 0;
    for (unsigned i = 0; i < p->stuck_n; i++) {
        bool is_there = names(report, p->stuck[i]);
        if (i < p->stuck_all && !is_there)
            return false;
        named += is_there;
    }
    return named > 0;
}

static void judge(weft_pool *pool, const char *report, const char *graph, void *data)
{
    uint64_t *after = data;
    *after = weft_now() - atomic_load(&program.blocked_at);
    if (names_the_stuck(&program, report) && strstr(graph, "digraph"))
        _exit(EXIT_SUCCESS);
    fprintf(stderr, "the report names other things:\n%s", report);
    _exit(EXIT_FAILURE);
}

static void run_dead(void *after)
{
    program.config.deadlock = judge;
    program.config.data = after;
    program.pool = child_pool_of(&program.config);
    run_program(&program);
    fprintf(stderr, "it came to an end\n");
    _exit(EXIT_FAILURE);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void judge_times(uint64_t *ns, unsigned n)
{
    qsort(ns, n, sizeof ns[0], compare);
    print_message("found after: median %.3f ms, 99th %.3f ms, longest %.3f ms\n",
                  (double)ns[n / 2] / 1e6, (double)ns[n - 1 - n / 100] / 1e6,
                  (double)ns[n - 1] / 1e6);
    assert_in_range(ns[n / 2], 0, MEDIAN_NS);
}

static void every_deadlock_is_found(void **state)
{
    static struct child child;
    unsigned n = rounds(DEAD);
    if (!is_asked_for(0, LIVE_FIRST))
        skip();
    size_t bytes = n * sizeof found_after[0];
    found_after = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(found_after, MAP_FAILED);
    for (unsigned i = 0; i < n; i++) {
        make_dead(&program, seed_of(i));
        child_run(&child, run_dead, &found_after[i]);
        drop_program(&program);
        if (!child.hung && WIFEXITED(child.status) && WEXITSTATUS(child.status) == 0)
            continue;
        print_program(&program);
        fail_msg("%s: status %#x: %s", child.hung ? "not found" : "wrong", (unsigned)child.status,
                 child.said);
    }
    judge_times(found_after, n);
    munmap(found_after, bytes);
}

/* ---- Those that don't ---- */

enum { MUTEXES = 5, DEPTH = 2 };

static void add_section(struct program *p, struct job *job, unsigned depth, unsigned above);

static unsigned add_parts(struct program *p, unsigned n, unsigned depth, unsigned above)
{
    unsigned first = p->subs;
    p->subs += n; /* side by side; what they have themselves comes after */
    for (unsigned i = first; i < first + n; i++) {
        p->sub[i] = (struct job){.program = p};
        add_section(p, &p->sub[i], depth + 1, above);
    }
    return first;
}

/* Something that takes a moment, perhaps in parts of its own. */
static void add_work(struct program *p, struct job *job, unsigned depth, unsigned above)
{
    unsigned n = pick_from(p, 1, 3), kind = pick(p, 8);
    bool splits = depth < DEPTH && p->subs + n <= SUBS_MAX / 2;
    if (kind == 0)
        add(job, LINGER, 0, pick(p, 20));
    else if (kind == 1 && !p->config.deadlock)
        add(job, NAP, 0, pick(p, 4) ? 0 : pick(p, 30));
    else if (kind == 2 && splits)
        add(job, JOIN, add_parts(p, 1, depth, above), pick(p, 3) ? 0 : pick(p, 50));
    else if (kind == 3 && splits)
        add(job, SCOPE, add_parts(p, n, depth, above), n);
    else if (kind == 4 && splits)
        add(job, TASK, add_parts(p, 1, depth, above), 0);
}

/* Locks in order, works, and unlocks. */
static void add_section(struct program *p, struct job *job, unsigned depth, unsigned above)
{
    if (above == MUTEXES || pick(p, 3) == 0) {
        add_work(p, job, depth, above);
        return;
    }
    unsigned mutex = pick_from(p, above, MUTEXES - 1);
    p->to_lock[mutex]++;
    add(job, pick(p, 4) ? LOCK : TRY, mutex, 0);
    add_section(p, job, depth, mutex + 1);
    add(job, UNLOCK, mutex, 0);
}

static void add_locker(struct program *p)
{
    struct job *job = add_root(p);
    add_section(p, job, 0, 0);
    struct op *ops = job->ops + job->length;
    if (job->length > 3 && ops[-2].what == UNLOCK && pick(p, 2)) {
        struct op inner = ops[-2]; /* the order of unlocking is free */
        ops[-2] = ops[-1];
        ops[-1] = inner;
    }
}

/* n stages, a few items. */
static void add_pipe(struct program *p, unsigned n)
{
    unsigned items = pick_from(p, 1, 5);
    bool close = pick(p, 2);
    for (unsigned stage = 0; stage < n; stage++) {
        struct job *job = add_root(p);
        unsigned in = p->channels - 1, out = p->channels;
        for (unsigned i = 0; i < items; i++) {
            if (stage > 0)
                add(job, RECEIVE, in, 0);
            if (stage < n - 1)
                add(job, SEND, out, 0);
        }
        if (close && stage > 0)
            add(job, DRAINED, in, 0);
        if (close && stage < n - 1)
            add(job, CLOSE, out, 0);
        p->channels += stage < n - 1;
    }
}

/* One that waits for nothing sets it; the others wait. */
static void add_event(struct program *p, unsigned n)
{
    unsigned event = p->events++;
    for (unsigned i = 0; i < n; i++) {
        struct job *job = add_root(p);
        add(job, i == 0 ? SET : WAIT, event, 0);
        add_section(p, job, i == 0 ? DEPTH : 0, 0);
    }
}

static void add_outside(struct program *p, unsigned n)
{
    p->outside = true;
    for (unsigned i = 0; i < n; i++)
        add(add_root(p), WAIT, OBJECTS - 1, 0);
}

/* `blocked`: as many jobs may wait for others at once. Those who wait for parts of theirs help
 * meanwhile, and what they bury goes on when these do. */
static void make_live(struct program *p, unsigned blocked)
{
    while (blocked >= 2 && p->roots + 4 <= ROOTS_MAX && pick(p, 3)) {
        unsigned n = pick_from(p, 2, blocked < 4 ? blocked : 4);
        if (pick(p, 2) && p->channels + n < OBJECTS)
            add_pipe(p, n);
        else if (p->in >= SUBMIT_SPAWNED && pick(p, 2))
            add_outside(p, n);
        else if (p->events < OBJECTS - 1)
            add_event(p, n);
        blocked -= n;
    }
    for (unsigned n = pick_from(p, 1, 6); n > 0 && p->roots < ROOTS_MAX; n--)
        add_locker(p);
    end_program(p);
    if (p->outside)
        weft_event_from_outside(&p->event[OBJECTS - 1]);
}

static atomic_bool expected, reported;

static void on_report(weft_pool *pool, const char *report, const char *graph, void *data)
{
    if (atomic_load(&expected)) {
        atomic_store(&reported, true);
        return;
    }
    print_program(&program);
    fprintf(stderr, "false: %s", report);
    _exit(EXIT_FAILURE);
}

static void tell_which(int signal)
{
    print_program(&program); /* the process is lost anyway */
}

/* A pool without a handler writes the graph of a deadlock here. */
static char graph_path[64];

static weft_config live_config(unsigned i)
{
    static const int spares[] = {-1, 0, 2, 4};
    static const unsigned flags[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1 + i % 4;
    config.spares = spares[i / 4 % 4];
    config.flags = flags[i / 16 % 3];
    config.spin_rounds = i % 3 ? 0 : -1;
    config.fork = i % 5 < 3 ? WEFT_FORK_LAZY : WEFT_FORK_EAGER;
    config.quantum = i % 5 ? 0 : WEFT_NONE;
    config.deadlock = i % 2 == i / 4 % 2 ? on_report : NULL;
    return config;
}

static void run_live(weft_pool *pool, const weft_config *config, uint64_t seed)
{
    begin_program(&program, seed);
    program.pool = pool;
    program.config = *config;
    int spares = config->spares == 0 ? 16 : config->spares; /* one for each that is blocked */
    make_live(&program, spares > 0 ? (unsigned)spares : 0);
    run_program(&program);
    for (unsigned i = 0; i < MUTEXES; i++)
        CHECK(program.locked[i] == program.to_lock[i]);
    CHECK(access(graph_path, F_OK) != 0);
    drop_program(&program);
    watchdog_kick();
}

/* After all these, a pool still finds one: nobody is counted who is not there. */
static void *set_when_reported(void *event)
{
    UNTIL(atomic_load(&reported));
    weft_event_set(NULL, event);
    return NULL;
}

static void wait_for_event(weft *w, void *event)
{
    weft_event_wait(w, event);
}

static void find_one(weft_pool *pool)
{
    weft_event event;
    pthread_t thread;
    weft_event_init(&event, "never");
    atomic_store(&reported, false);
    atomic_store(&expected, true);
    child_thread(set_when_reported, &event, &thread);
    CHECK(weft_run(pool, wait_for_event, &event) == 0);
    child_thread_join(thread);
    atomic_store(&expected, false);
}

/* Pools one after the other, so that each is used again and again. */
static void no_deadlock_is_made_up(void **state)
{
    enum { POOLS = 48 };
    snprintf(graph_path, sizeof graph_path, "/tmp/weft-deadlocks-%d.dot", (int)getpid());
    assert_int_equal(setenv("WEFT_DEADLOCK_DOT", graph_path, 1), 0);
    unlink(graph_path);          /* of one that failed, long ago */
    signal(SIGABRT, tell_which); /* the watchdog's, and failed checks */
    for (unsigned i = 0; i < POOLS; i++) {
        unsigned each = LIVE / POOLS + 1;
        uint64_t first = LIVE_FIRST + (uint64_t)i * each;
        if (!is_asked_for(first, each))
            continue;
        weft_config config = live_config(i);
        weft_pool *pool = pool_make_with(&config);
        for (unsigned j = 0; j < rounds(each); j++)
            run_live(pool, &config, seed_of(first + j));
        if (config.deadlock)
            find_one(pool);
        pool_drop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_deadlock_is_found),
        cmocka_unit_test(no_deadlock_is_made_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
