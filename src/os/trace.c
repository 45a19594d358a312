/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "os/trace.h"

#include "os/lock.h"
#include "os/memory.h"
#include "os/probes.h"
#include "os/thread.h"
#include "os/ticks.h"
#include "os/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/trace.h>

enum {
    IN_BLOCK = (WEFT_TRACE_BLOCK_SIZE - sizeof(struct weft_trace_block)) /
               sizeof(struct weft_trace_record),
    DEFAULT_MB = 64,
};

/* ---- Blocks in a row, the oldest first ---- */

struct row {
    struct weft_trace_block **list;
    size_t count, room, oldest;
};

static bool row_push(struct row *row, struct weft_trace_block *block)
{
    if (row->count == row->room) {
        size_t room = row->room ? 2 * row->room : 16;
        struct weft_trace_block **list = weft__small(room * sizeof *list);
        if (!list)
            return false;
        for (size_t i = 0; i < row->count; i++)
            list[i] = row->list[(row->oldest + i) % row->count];
        weft__free(row->list);
        row->list = list;
        row->room = room;
        row->oldest = 0;
    }
    row->list[(row->oldest + row->count++) % row->room] = block;
    return true;
}

static struct weft_trace_block *row_pop(struct row *row)
{
    if (row->count == 0)
        return NULL;
    struct weft_trace_block *block = row->list[row->oldest];
    row->oldest = (row->oldest + 1) % row->room;
    row->count--;
    return block;
}

/* ---- One trace: under the lock ---- */

static struct weft__lock lock;
static struct weft__trace_file file;
static bool is_on;
static uint32_t started;   /* how often */
static struct row orphans; /* blocks of threads that have ended */

static struct atomic_u32 trace_now; /* how often one was started; 0: none is on */

/* relaxed, both: next_block() takes the lock; a record more or less. */

static void turn_on(void)
{
    is_on = true;
    atomic_store_relaxed(&trace_now, ++started);
    atomic_fetch_add_relaxed(&weft__trace_wanted, WEFT__TRACE_IS_ON);
}

static void turn_off(void)
{
    is_on = false;
    atomic_store_relaxed(&trace_now, 0);
    atomic_fetch_sub_relaxed(&weft__trace_wanted, WEFT__TRACE_IS_ON);
    orphans.count = 0;
}

/* ---- A thread ---- */

struct tracer {
    uint32_t trace; /* of which its blocks are; compared with `trace_now` */
    uint64_t first_ticks;
    struct weft_trace_block *block; /* the newest */
    uint64_t sequence;
    uint32_t used;               /* in the newest */
    struct row own;              /* under the lock, this and what follows */
    struct tracer *next, **link; /* in the list of all; link: NULL: not in it */
};

static _Thread_local struct tracer here;
static struct tracer *tracers; /* threads that record, or have recorded. Under the lock */

static WEFT__OF_THREAD struct tracer *tracer_here(void)
{
    return &here;
}

static pthread_key_t ending;
static bool have_ending;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* False: no memory. */
static bool enlist(struct tracer *me)
{
    if (me->link)
        return true;
    if (pthread_setspecific(ending, me) != 0)
        return false;
    me->next = tracers;
    me->link = &tracers;
    if (tracers)
        tracers->link = &me->next;
    tracers = me;
    return true;
}

static void delist(struct tracer *me)
{
    if (!me->link)
        return; /* this is a forked child, where it is in no list */
    *me->link = me->next;
    if (me->next)
        me->next->link = me->link;
}

/* The thread ends: others may have its blocks. */
static void thread_ends(void *unused)
{
    (void)unused;
    struct tracer *me = tracer_here();
    struct weft_trace_block *block;
    weft__lock_take(&lock);
    while (is_on && me->trace == started && (block = row_pop(&me->own)))
        if (!row_push(&orphans, block))
            break;
    delist(me);
    weft__lock_drop(&lock);
    weft__free(me->own.list);
    *me = (struct tracer){0};
}

/* Another thread may have been at work on the list of orphans, so that is not used any more, and
 * can't be freed. It is kept where leak checkers find it. */
static struct row given_up;

static void in_child(void)
{
    given_up = orphans;
    lock = (struct weft__lock){0};
    tracers = NULL;
    here.link = NULL;
    orphans = (struct row){0};
    if (!is_on)
        return;
    turn_off();
    weft__trace_file_forget(&file);
}

static void stop_at_exit(void)
{
    (void)weft_trace_stop();
}

static void prepare(void)
{
    have_ending = pthread_key_create(&ending, thread_ends) == 0;
    (void)pthread_atfork(NULL, NULL, in_child);
    atexit(stop_at_exit);
}

static void begin_block(struct tracer *me, struct weft_trace_block *block)
{
    weft__trace_block_used(block, 0);
    block->kind = WEFT_TRACE_RECORDS;
    block->thread = (uint32_t)weft__thread_number();
    block->records = 0;
    block->sequence = ++me->sequence;
    memset(block->name, 0, sizeof block->name);
    pthread_getname_np(pthread_self(), block->name, sizeof block->name);
    me->block = block;
    me->used = 0;
}

/* The thread may be new in this trace. Under the lock. False: no memory. */
static bool join(struct tracer *me)
{
    if (me->trace == started)
        return true;
    if (!enlist(me))
        return false;
    me->trace = started;
    me->first_ticks = file.header->first.ticks;
    me->block = NULL;
    me->sequence = 0;
    me->own.count = 0;
    return true;
}

/* The oldest block of the thread that has most, if that is more than the caller would have then.
 * That thread does not look at its older blocks. So in the long run all threads that record have
 * the same share of a full file. */
static struct weft_trace_block *take_from_richest(const struct tracer *me)
{
    struct tracer *richest = NULL;
    for (struct tracer *one = tracers; one; one = one->next)
        if (one->trace == started && (!richest || one->own.count > richest->own.count))
            richest = one;
    return richest->own.count > me->own.count + 1 ? row_pop(&richest->own) : NULL;
}

/* A block that no thread has written into, or the one whose loss hurts least; NULL: there is none.
 * Under the lock. */
static struct weft_trace_block *find_block(struct tracer *me)
{
    struct weft_trace_block *block = weft__trace_file_take(&file);
    if (block)
        return block;
    block = row_pop(&orphans);
    if (!block)
        block = take_from_richest(me);
    if (!block)
        block = row_pop(&me->own);
    weft__trace_file_touch(&file);
    file.header->lost += block ? block->records : 1;
    return block;
}

/* False: there is no place for a record, which is counted as lost; or there is no trace any more.
 */
static bool next_block(struct tracer *me)
{
    struct weft_trace_block *block = NULL;
    weft__lock_take(&lock);
    if (is_on && join(me)) {
        block = find_block(me);
        if (block && !row_push(&me->own, block))
            block = NULL; /* no memory: it keeps what it has */
        me->block = block;
    }
    if (block)
        begin_block(me, block);
    weft__lock_drop(&lock);
    return block;
}

/* Places for n records in a row, or NULL. */
static struct weft_trace_record *place_for(struct tracer *me, uint32_t n)
{
    /* relaxed: a thread that finds the number of the last trace writes one record more there. */
    uint32_t trace = atomic_load_relaxed(&trace_now);
    if (trace == 0)
        return NULL;
    if ((me->trace != trace || !me->block || me->used + n > IN_BLOCK) && !next_block(me))
        return NULL;
    return (struct weft_trace_record *)(me->block + 1) + me->used;
}

static void fill(struct tracer *me, struct weft_trace_record *record, unsigned kind, uint64_t a,
                 uint64_t b)
{
    *record = (struct weft_trace_record){(weft__ticks() - me->first_ticks) << 8 | kind, a, b};
}

static void is_filled(struct tracer *me, uint32_t n)
{
    me->block->records++;
    weft__trace_block_used(me->block, me->used += n);
}

void weft__trace_record(enum weft_trace_kind kind, uint64_t a, uint64_t b)
{
    struct tracer *me = tracer_here();
    weft__probe(kind, a, b);
    struct weft_trace_record *record = place_for(me, 1);
    if (!record)
        return;
    fill(me, record, kind, a, b);
    is_filled(me, 1);
}

void weft__trace_record_text(enum weft_trace_kind kind, uint64_t a, const char *text)
{
    struct tracer *me = tracer_here();
    size_t size = text ? strnlen(text, WEFT_TRACE_TEXT_MOST) : 0;
    uint32_t more = (uint32_t)((size + sizeof(struct weft_trace_record) - 1) /
                               sizeof(struct weft_trace_record));
    weft__probe(kind, a, (uintptr_t)text);
    struct weft_trace_record *record = place_for(me, 1 + more);
    if (!record)
        return;
    fill(me, record, kind | WEFT_TRACE_HAS_TEXT, a, size);
    if (size > 0)
        memcpy(record + 1, text, size);
    is_filled(me, 1 + more);
}

/* ---- Beginning and end ---- */

int weft_trace_start(const char *path, size_t bytes)
{
    if (!path || !*path)
        return -EINVAL;
    pthread_once(&once, prepare);
    if (!have_ending)
        return -EAGAIN; /* the program has all keys: ends of threads would not be noticed */
    weft__lock_take(&lock);
    int error =
        is_on ? -EBUSY : weft__trace_file_open(&file, path, bytes ? bytes : DEFAULT_MB << 20);
    if (!error)
        turn_on();
    weft__lock_drop(&lock);
    return error;
}

int weft_trace_stop(void)
{
    weft__lock_take(&lock);
    bool was_on = is_on;
    if (was_on) {
        turn_off();
        weft__trace_file_close(&file);
    }
    weft__lock_drop(&lock);
    return was_on ? 0 : -EINVAL;
}

void weft_span_begin(const char *name)
{
    WEFT__TRACE_TEXT(SPAN, 0, name);
}

void weft_span_end(void)
{
    WEFT__TRACE(SPAN_END, 0, 0);
}

void weft_trace_mark(const char *name, int64_t value)
{
    WEFT__TRACE_TEXT(MARK, value, name);
}

/* ---- The environment ---- */

/* 0: not valid, which was complained about. */
static size_t bytes_wanted(void)
{
    const char *text = secure_getenv("WEFT_TRACE_MB");
    if (!text || !*text)
        return (size_t)DEFAULT_MB << 20;
    char *end;
    errno = 0;
    unsigned long long mb = strtoull(text, &end, 10);
    if (errno == 0 && !*end && *text >= '0' && *text <= '9' && mb > 0 && mb <= PTRDIFF_MAX >> 21)
        return (size_t)mb << 20;
    fprintf(stderr, "weft: WEFT_TRACE_MB=%s: should be a number of MiB; there is no trace\n", text);
    return 0;
}

/* A program that has more rights than its user writes no file where the user says. */
void weft__trace_from_environment(void)
{
    const char *path = secure_getenv("WEFT_TRACE");
    size_t bytes = path && *path ? bytes_wanted() : 0;
    int error = bytes > 0 ? weft_trace_start(path, bytes) : 0;
    if (error && error != -EBUSY)
        fprintf(stderr, "weft: WEFT_TRACE=%s: %s; there is no trace\n", path, strerror(-error));
}
