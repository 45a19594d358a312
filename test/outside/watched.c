/* SPDX-License-Identifier: MIT */
/* watched.c: what programs do with weft, for tools that watch them. Each part hands plain data from
 * thread to thread by one of the library's ways, and by nothing else.
 *     watched ROUNDS PART... */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>
#include <weft/actor.h>
#include <weft/lines.h>
#include <weft/parallel.h>
#include <weft/sort.h>
#include <weft/sync.h>

enum { MANY = 4096, SOME = 32 };

static void expect(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    exit(1);
}

/* So that somebody else has the time to take what is left. */
static long work(long n)
{
    volatile long sum = 0;
    for (long i = 0; i < n; i++)
        sum = sum + i;
    return sum;
}

/* ---- Scopes ---- */

struct item {
    long in, out;
};

static void child(weft *w, void *arg)
{
    struct item *item = arg;
    (void)w;
    work(200);
    item->out = item->in + 1;
}

static void scope(weft *w, void *arg)
{
    struct item items[SOME];
    weft_scope scope;
    (void)arg;
    weft_scope_open(w, &scope);
    for (long i = 0; i < SOME; i++) {
        items[i].in = i;
        weft_spawn(w, &scope, child, &items[i]);
    }
    weft_scope_close(w, &scope);
    for (long i = 0; i < SOME; i++)
        expect(items[i].out == i + 1, "scope");
}

/* ---- Words: a reduction of lines ---- */

struct words {
    long count;
    char longest[16];
};

static void words_fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    struct words *words = accumulator;
    const weft_text *text = arg;
    (void)w;
    for (size_t i = begin, length = 0; i < end; i++) {
        length = text->bytes[i] > ' ' ? length + 1 : 0;
        words->count += length == 1;
        if (length > strlen(words->longest))
            memset(words->longest, 'x', length);
    }
}

static void words_combine(weft *w, void *left, const void *right, void *arg)
{
    struct words *into = left;
    const struct words *more = right;
    (void)w;
    (void)arg;
    into->count += more->count;
    if (strlen(more->longest) > strlen(into->longest))
        *into = (struct words){into->count, ""}, strcpy(into->longest, more->longest);
}

static void words(weft *w, void *arg)
{
    static const char line[] = "it was a bright cold day in April\n";
    enum { LINES = 400, LENGTH = sizeof line - 1, WORDS = 8 };
    (void)arg;
    char *bytes = malloc(LINES * LENGTH);
    for (size_t i = 0; i < LINES; i++)
        memcpy(bytes + i * LENGTH, line, LENGTH);
    weft_text text = {bytes, LINES * LENGTH};
    weft_reducer reducer = {
        .size = sizeof(struct words), .fold = words_fold, .combine = words_combine, .block = 256};
    struct words result = {0};
    weft_reduce_lines(w, &text, &reducer, &text, &result);
    expect(result.count == LINES * WORDS && strlen(result.longest) == 6, "words");
    free(bytes);
}

/* ---- A tree of forks ---- */

struct node {
    struct node *left, *right;
    long size;
};

struct grow {
    int depth;
    struct node *root;
};

static void grow_run(weft *w, void *arg);

static struct node *grow(weft *w, int depth)
{
    struct node *node = malloc(sizeof *node);
    *node = (struct node){.size = 1};
    if (depth == 0)
        return node;
    struct grow right = {.depth = depth - 1};
    weft *in = weft_fork(w, grow_run, &right);
    node->left = grow(in, depth - 1);
    if (!weft_merge(w))
        right.root = grow(w, depth - 1);
    node->right = right.root;
    node->size += node->left->size + node->right->size;
    return node;
}

static void grow_run(weft *w, void *arg)
{
    struct grow *g = arg;
    work(100);
    g->root = grow(w, g->depth);
}

static void fell(weft *w, void *arg)
{
    struct node *node = arg;
    if (!node)
        return;
    weft_join(w, fell, node->left, fell, node->right);
    free(node);
}

static void tree(weft *w, void *arg)
{
    (void)arg;
    struct node *root = grow(w, 8);
    expect(root->size == 511, "tree");
    fell(w, root);
}

/* ---- Loops, sorts, scans ---- */

static void fill(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w;
    for (size_t i = begin; i < end; i++)
        ((struct item *)arg)[i] = (struct item){(long)(i * 7919 % MANY), (long)i};
}

static int by_in(const void *a, const void *b, void *arg)
{
    const struct item *x = a, *y = b;
    (void)arg;
    return (x->in > y->in) - (x->in < y->in);
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    (void)w;
    (void)arg;
    ((struct item *)left)->in += ((const struct item *)right)->in;
}

static bool is_even(weft *w, const void *element, void *arg)
{
    (void)w;
    (void)arg;
    return ((const struct item *)element)->in % 2 == 0;
}

static void arrays(weft *w, void *arg)
{
    struct item *items = malloc(MANY * sizeof *items), *sums = malloc(MANY * sizeof *items);
    struct item total = {0};
    (void)arg;
    weft_for(w, 0, MANY, fill, items);
    weft_sort(w, items, MANY, sizeof *items, by_in, NULL);
    expect(items[0].in == 0 && items[MANY - 1].in == MANY - 1, "sort");
    weft_for(w, 0, MANY, fill, items);
    weft_sort_stable(w, items, MANY, sizeof *items, by_in, NULL);
    expect(items[0].in == 0 && items[MANY - 1].in == MANY - 1, "stable sort");
    weft_scan_inclusive(w, items, MANY, sizeof *items, add, NULL, sums);
    weft_array_reduce(w, items, MANY, sizeof *items, add, NULL, &total);
    expect(sums[MANY - 1].in == total.in, "scan");
    size_t kept = weft_filter(w, items, MANY, sizeof *items, is_even, NULL, sums);
    expect(kept == MANY / 2 && sums[1].in == 2, "filter");
    free(sums);
    free(items);
}

/* ---- Tasks, from outside ---- */

static void tasks(void)
{
    struct item items[SOME];
    weft_task tasks[SOME];
    for (long i = 0; i < SOME; i++) {
        items[i].in = i;
        weft_submit(NULL, &tasks[i], child, &items[i]);
    }
    for (long i = 0; i < SOME; i++) {
        if (i % 4 == 1) {
            struct pollfd ready = {weft_task_fd(&tasks[i]), POLLIN, 0};
            while (poll(&ready, 1, -1) != 1)
                ;
        } else if (i % 4 == 2) {
            while (!weft_task_done(&tasks[i]))
                work(100);
            expect(items[i].out == i + 1, "task that is done");
        }
        expect(weft_task_wait(&tasks[i]) == 0 && items[i].out == i + 1, "tasks");
    }
}

/* ---- Mutexes, events, channels ---- */

struct shared {
    weft_mutex mutex;
    weft_event event;
    weft_channel channel;
    long counter, told, received;
};

static void count(weft *w, size_t begin, size_t end, void *arg)
{
    struct shared *shared = arg;
    for (size_t i = begin; i < end; i++) {
        weft_mutex_lock(w, &shared->mutex);
        shared->counter++;
        weft_mutex_unlock(w, &shared->mutex);
    }
}

static void tell(weft *w, void *arg)
{
    struct shared *shared = arg;
    work(100);
    shared->told = 42;
    weft_event_set(w, &shared->event);
}

static void send_all(weft *w, void *arg)
{
    struct shared *shared = arg;
    for (long i = 0; i < SOME; i++) {
        long *message = malloc(sizeof *message);
        *message = i;
        weft_channel_send(w, &shared->channel, &message);
    }
    weft_channel_close(w, &shared->channel);
}

static void receive_all(weft *w, void *arg)
{
    struct shared *shared = arg;
    long *message;
    while (weft_channel_receive(w, &shared->channel, &message) == 0) {
        shared->received += *message;
        free(message);
    }
}

static void locks(weft *w, void *arg)
{
    struct shared shared = {.counter = 0};
    weft_scope scope;
    (void)arg;
    weft_mutex_init(&shared.mutex, "mutex");
    weft_event_init(&shared.event, "event");
    weft_channel_init(&shared.channel, "channel", sizeof(long *), 4);
    weft_for(w, 0, SOME, count, &shared);
    weft_scope_open(w, &scope);
    weft_spawn(w, &scope, tell, &shared);
    weft_spawn(w, &scope, send_all, &shared);
    weft_spawn(w, &scope, receive_all, &shared);
    weft_event_wait(w, &shared.event);
    expect(shared.told == 42, "event");
    weft_scope_close(w, &scope);
    expect(shared.counter == SOME, "mutex");
    expect(shared.received == SOME * (SOME - 1) / 2, "channel");
    weft_channel_destroy(&shared.channel);
}

/* ---- Actors ---- */

static int sum_of_messages(weft *w, void *arg)
{
    long *sum = arg;
    for (int i = 0; i < SOME; i++) {
        void *message;
        struct item *item;
        if (weft_receive(w, &message))
            return 1;
        item = message;
        weft_join(w, child, item, child, &(struct item){0, 0});
        *sum += item->out;
        free(item);
    }
    return 0;
}

static int sender(weft *w, void *arg)
{
    for (long i = 0; i < SOME; i++) {
        struct item *item = malloc(sizeof *item);
        *item = (struct item){i, 0};
        if (weft_actor_send(w, arg, item))
            return 1;
    }
    return 0;
}

static void actors(void)
{
    enum { PAIRS = 4 };
    long sums[PAIRS] = {0};
    weft_actor *receivers[PAIRS], *senders[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        weft_actor_create(&receivers[i], NULL, sum_of_messages, &sums[i], NULL);
        weft_actor_create(&senders[i], NULL, sender, receivers[i], NULL);
        weft_actor_run(senders[i]);
    }
    for (int i = 0; i < PAIRS; i++) {
        expect(weft_actor_wait(NULL, senders[i]) == 0, "sender");
        expect(weft_actor_wait(NULL, receivers[i]) == 0, "receiver");
        expect(sums[i] == SOME * (SOME + 1) / 2, "messages");
        weft_actor_release(senders[i]);
        weft_actor_release(receivers[i]);
    }
}

static int fall(weft *w, void *arg)
{
    volatile char frame[1024];
    frame[0] = 0;
    return arg ? fall(w, arg) + frame[0] : 0;
}

/* One ends alone, and the next one has its stack. */
static void overflow(void)
{
    weft_actor *actor;
    weft_actor_create(&actor, NULL, fall, &actor, NULL);
    weft_actor_run(actor);
    int reason = weft_actor_wait(NULL, actor);
    weft_actor_release(actor);
    expect(reason == -75 /* EOVERFLOW */, "overflow");
    actors();
}

/* ---- A pool that comes and goes ---- */

static void pools(void)
{
    weft_pool *pool;
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 3;
    expect(weft_pool_create(&pool, &config) == 0, "pool");
    weft_run(pool, scope, NULL);
    weft_run(pool, tree, NULL);
    weft_pool_destroy(pool);
}

/* ---- What is wrong, and has to be found ---- */

/* Relaxed, so that the only order there is would be weft's; and one after the other: the sanitizer
 * may miss what really happens at the same time. */
struct careless {
    int turn;
    long counter;
};

static void race_right(weft *w, void *arg)
{
    struct careless *c = arg;
    (void)w;
    c->counter++;
    __atomic_store_n(&c->turn, 1, __ATOMIC_RELAXED);
}

static void race_left(weft *w, void *arg)
{
    struct careless *c = arg;
    (void)w;
    while (__atomic_load_n(&c->turn, __ATOMIC_RELAXED) == 0)
        ;
    c->counter++;
}

static void race(weft *w, void *arg)
{
    static struct careless c; /* what nobody reads afterwards need not be written */
    (void)arg;
    c.turn = 0;
    weft_join(w, race_left, &c, race_right, &c);
}

static void lost(weft *w, void *arg)
{
    (void)w;
    *(void **)arg = malloc(100);
}

static void leak(void)
{
    void *block;
    weft_run(NULL, lost, &block);
    block = NULL;
}

static int stray(weft *w, void *arg)
{
    char *block = malloc(16);
    (void)w;
    (void)arg;
    *(volatile char *)(block + 16) = 1;
    free(block);
    return 0;
}

static void stray_actor(void)
{
    weft_actor *actor;
    weft_actor_create(&actor, NULL, stray, NULL, NULL);
    weft_actor_run(actor);
    weft_actor_wait(NULL, actor);
    weft_actor_release(actor);
}

static const struct {
    const char *name;
    weft_fn *job;
    void (*outside)(void);
} parts[] = {
    {"scope", scope, NULL},   {"words", words, NULL}, {"tree", tree, NULL},
    {"arrays", arrays, NULL}, {"tasks", NULL, tasks}, {"locks", locks, NULL},
    {"actors", NULL, actors}, {"pools", NULL, pools}, {"overflow", NULL, overflow},
    {"race", race, NULL},     {"leak", NULL, leak},   {"stray", NULL, stray_actor},
};

static void run(const char *name)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(parts[i].name, name))
            continue;
        if (parts[i].job)
            weft_run(NULL, parts[i].job, NULL);
        else
            parts[i].outside();
        return;
    }
    expect(false, name);
}

int main(int argc, char **argv)
{
    for (int round = argc > 1 ? atoi(argv[1]) : 0; round > 0; round--)
        for (int i = 2; i < argc; i++)
            run(argv[i]);
    return 0;
}
