/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "os/trace.h"

#include "os/clock.h"
#include "os/lock.h"
#include "os/memory.h"
#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weft/trace.h>

enum {
    BLOCK = WEFT_TRACE_BLOCK_SIZE,
    IN_BLOCK = (BLOCK - sizeof(struct weft_trace_block)) / sizeof(struct weft_trace_record),
    AT_ONCE = 16, /* blocks that get disk space together */
    DEFAULT_SIZE = 64 << 20,
};

/* ---- One trace: under the lock, all but what is constant while it is on ---- */

struct trace {
    struct weft_trace_header *header; /* the whole file, in memory */
    uint64_t most;                    /* blocks */
    uint64_t ready;                   /* blocks that have disk space */
    int fd;                           /* -1: stopped */
};

static struct weft__lock lock;
static struct trace now;
static uint32_t started; /* how often */
struct atomic_u32 weft__trace_on;

static uint64_t ticks(void)
{
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return weft__clock_now();
#endif
}

static struct weft_trace_moment moment(void)
{
    return (struct weft_trace_moment){ticks(), weft__clock_now()};
}

static struct weft_trace_block *block_at(struct weft_trace_header *header, uint64_t i)
{
    return (struct weft_trace_block *)((char *)header + WEFT_TRACE_HEADER_SIZE + i * BLOCK);
}

/* When the program is killed, what it has counted is there. Other processes read the file, and
 * nobody else. */
static void set_used(struct weft_trace_block *block, uint32_t used)
{
    atomic_fence_compiler(); /* first the records */
    *(volatile uint32_t *)&block->used = used;
}

/* A new block, or NULL: the file is as long as it may be, or the disk is full. */
static struct weft_trace_block *take_block(void)
{
    uint64_t i = now.header->blocks;
    if (now.fd < 0 || i >= now.most)
        return NULL;
    if (i >= now.ready) {
        uint64_t more = now.most - i < AT_ONCE ? now.most - i : AT_ONCE;
        off_t from = (off_t)(WEFT_TRACE_HEADER_SIZE + i * BLOCK);
        if (posix_fallocate(now.fd, from, (off_t)(more * BLOCK)) != 0) {
            now.most = i;
            return NULL;
        }
        now.ready = i + more;
#ifdef MADV_POPULATE_WRITE /* at once takes less time than page by page; an error is harmless */
        (void)madvise((char *)now.header + from, more * BLOCK, MADV_POPULATE_WRITE);
#endif
    }
    now.header->blocks = i + 1;
    now.header->last = moment();
    return block_at(now.header, i);
}

/* ---- A thread ---- */

struct tracer {
    uint32_t trace; /* of which its blocks are; compared with `started` */
    uint64_t first_ticks;
    struct weft_trace_header *header;
    struct weft_trace_block *block; /* the newest */
    uint64_t sequence;
    uint32_t used;                 /* in the newest */
    struct weft_trace_block **own; /* all, as a ring: the oldest is at `oldest` */
    size_t count, room, oldest;
};

static _Thread_local struct tracer here;

static WEFT__OF_THREAD struct tracer *tracer_here(void)
{
    return &here;
}

/* Of a thread that ends. */
static pthread_key_t ending;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void *own)
{
    weft__free(own);
    here = (struct tracer){0};
}

static void in_child(void)
{
    lock = (struct weft__lock){0};
    atomic_store_relaxed(&weft__trace_on, 0); /* relaxed: one thread; the file is the parent's */
    now.fd = -1;
}

static void stop_at_exit(void)
{
    (void)weft_trace_stop();
}

static void prepare(void)
{
    pthread_key_create(&ending, forget);
    (void)pthread_atfork(NULL, NULL, in_child);
    atexit(stop_at_exit);
}

static void begin_block(struct tracer *me, struct weft_trace_block *block)
{
    set_used(block, 0);
    block->kind = WEFT_TRACE_RECORDS;
    block->thread = (uint32_t)weft__thread_number();
    block->sequence = ++me->sequence;
    memset(block->name, 0, sizeof block->name);
    pthread_getname_np(pthread_self(), block->name, sizeof block->name);
    me->block = block;
    me->used = 0;
}

static bool keep(struct tracer *me, struct weft_trace_block *block)
{
    if (me->count == me->room) {
        size_t room = me->room ? 2 * me->room : 16;
        struct weft_trace_block **own = weft__small(room * sizeof *own);
        if (!own)
            return false;
        for (size_t i = 0; i < me->count; i++)
            own[i] = me->own[(me->oldest + i) % me->count];
        weft__free(me->own);
        me->own = own;
        me->room = room;
        me->oldest = 0;
        pthread_setspecific(ending, own);
    }
    me->own[me->count++] = block;
    return true;
}

/* The thread is new in this trace. Under the lock. */
static void join(struct tracer *me)
{
    if (me->trace == started)
        return;
    me->trace = started;
    me->header = now.header;
    me->first_ticks = now.header->first.ticks;
    me->block = NULL;
    me->sequence = 0;
    me->count = me->oldest = 0;
}

/* False: there is no place for a record, which is counted as lost. */
static bool next_block(struct tracer *me)
{
    weft__lock_take(&lock);
    join(me);
    struct weft_trace_block *block = take_block();
    if (block && !keep(me, block))
        block = NULL; /* it stays empty */
    if (!block && me->count > 0) {
        block = me->own[me->oldest];
        me->oldest = (me->oldest + 1) % me->count;
        me->header->lost += block->used;
        me->header->last = moment();
    }
    if (!block)
        me->header->lost++;
    weft__lock_drop(&lock);
    if (block)
        begin_block(me, block);
    return block;
}

/* Places for n records in a row, or NULL. */
static struct weft_trace_record *place_for(struct tracer *me, uint32_t n)
{
    /* relaxed: a thread that finds the number of the last trace writes one record more there. */
    uint32_t trace = atomic_load_relaxed(&weft__trace_on);
    if (trace == 0)
        return NULL;
    if ((me->trace != trace || !me->block || me->used + n > IN_BLOCK) && !next_block(me))
        return NULL;
    return (struct weft_trace_record *)(me->block + 1) + me->used;
}

static void fill(struct tracer *me, struct weft_trace_record *record, enum weft_trace_kind kind,
                 uint64_t a, uint64_t b)
{
    *record = (struct weft_trace_record){(ticks() - me->first_ticks) << 8 | kind, a, b};
}

void weft__trace_record(enum weft_trace_kind kind, uint64_t a, uint64_t b)
{
    struct tracer *me = tracer_here();
    struct weft_trace_record *record = place_for(me, 1);
    if (!record)
        return;
    fill(me, record, kind, a, b);
    set_used(me->block, ++me->used);
}

void weft__trace_record_text(enum weft_trace_kind kind, uint64_t a, const char *text)
{
    struct tracer *me = tracer_here();
    size_t size = text ? strnlen(text, WEFT_TRACE_TEXT_MOST) : 0;
    uint32_t more = (uint32_t)((size + sizeof(struct weft_trace_record) - 1) /
                               sizeof(struct weft_trace_record));
    struct weft_trace_record *record = place_for(me, 1 + more);
    if (!record)
        return;
    fill(me, record, kind, a, size);
    if (size > 0)
        memcpy(record + 1, text, size);
    set_used(me->block, me->used += 1 + more);
}

/* ---- Beginning and end ---- */

/* Where the program's code lies, so that readers can find names. */
static void write_modules(void)
{
    struct weft_trace_block *block = take_block();
    FILE *maps = block ? fopen("/proc/self/maps", "re") : NULL;
    char *text = (char *)(block + 1), line[1024];
    uint32_t used = 0;
    if (!maps)
        return;
    block->kind = WEFT_TRACE_MODULES;
    while (fgets(line, sizeof line, maps)) {
        size_t size = strlen(line);
        if (!strstr(line, " r-xp ") || !strchr(line, '/') || used + size > BLOCK - sizeof *block)
            continue;
        memcpy(text + used, line, size);
        used += (uint32_t)size;
    }
    fclose(maps);
    set_used(block, used);
}

static void begin_header(struct weft_trace_header *header)
{
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    memcpy(header->magic, WEFT_TRACE_MAGIC, sizeof header->magic);
    header->byte_order = WEFT_TRACE_BYTE_ORDER;
    header->version = WEFT_TRACE_VERSION;
    header->block_size = BLOCK;
    header->state = WEFT_TRACE_RUNNING;
    header->pid = (uint32_t)getpid();
    header->started = (uint64_t)real.tv_sec * UINT64_C(1000000000) + (uint64_t)real.tv_nsec;
    header->first = header->last = moment();
    if (readlink("/proc/self/exe", header->program, sizeof header->program - 1) < 0)
        header->program[0] = 0;
}

/* A file of that name is removed, not shortened: another process may have it in its memory. */
static int make_file(const char *path)
{
    struct stat there;
    char full[PATH_MAX];
    const char *number = strstr(path, "%p");
    int size = number ? snprintf(full, sizeof full, "%.*s%d%s", (int)(number - path), path,
                                 (int)getpid(), number + 2)
                      : snprintf(full, sizeof full, "%s", path);
    if (size >= (int)sizeof full)
        return -ENAMETOOLONG;
    if (lstat(full, &there) == 0 && S_ISREG(there.st_mode))
        unlink(full);
    int fd = open(full, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

/* Under the lock. */
static int start(const char *path, size_t bytes)
{
    if (now.header && now.fd >= 0)
        return -EBUSY;
    size_t size = bytes ? bytes : DEFAULT_SIZE;
    uint64_t most = size / BLOCK;
    if (most < 4)
        return -EINVAL;
    int fd = make_file(path);
    if (fd < 0)
        return fd;
    int error = posix_fallocate(fd, 0, WEFT_TRACE_HEADER_SIZE);
    size = WEFT_TRACE_HEADER_SIZE + most * BLOCK;
    void *file = error ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED) {
        error = error ? error : errno;
        close(fd);
        return -error;
    }
    now = (struct trace){.header = file, .most = most, .fd = fd};
    begin_header(now.header);
    write_modules();
    started++;
    atomic_store_relaxed(&weft__trace_on, started); /* relaxed: next_block() takes the lock */
    return 0;
}

int weft_trace_start(const char *path, size_t bytes)
{
    if (!path || !*path)
        return -EINVAL;
    pthread_once(&once, prepare);
    weft__lock_take(&lock);
    int error = start(path, bytes);
    weft__lock_drop(&lock);
    return error;
}

int weft_trace_stop(void)
{
    weft__lock_take(&lock);
    bool on = now.header && now.fd >= 0;
    if (on) {
        atomic_store_relaxed(&weft__trace_on, 0); /* relaxed: a record more or less */
        write_modules();
        now.header->last = moment();
        now.header->state = WEFT_TRACE_STOPPED;
        /* Without the blocks that were made ready for nothing; none will be taken any more. */
        off_t end = (off_t)(WEFT_TRACE_HEADER_SIZE + now.header->blocks * BLOCK);
        (void)!ftruncate(now.fd, end);
        close(now.fd);
        now.fd = -1;
    }
    weft__lock_drop(&lock);
    return on ? 0 : -EINVAL;
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

void weft__trace_from_environment(void)
{
    const char *path = getenv("WEFT_TRACE");
    int error = path && *path ? weft_trace_start(path, 0) : 0;
    if (error && error != -EBUSY)
        fprintf(stderr, "weft: WEFT_TRACE=%s: %s; there is no trace\n", path, strerror(-error));
}
