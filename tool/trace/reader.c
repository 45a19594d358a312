/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD = sizeof(struct weft_trace_record), HEADER = WEFT_TRACE_HEADER_SIZE };
enum {
    NS_PER_S = 1000000000,
    MEASURED_NS = 1000000, /* less is too short to measure how long a tick is */
    MODULES_MOST = 8,
    TOUCHED_MOST = 4 << 20,
    LATE_NS = NS_PER_S, /* a thread may be about to write a record when the trace ends */
};

/* A block with records, or a part of one, as it was when the file was opened: the program may run
 * yet, and use it again. */
struct block {
    uint64_t index;
    uint64_t first;  /* time of its first record, in ticks */
    uint32_t thread; /* the kernel's number */
    uint32_t used;   /* records that are there */
};

struct cursor {
    struct trace_thread thread;
    size_t first, end; /* of its blocks */
    size_t block;      /* the next record: in which block, */
    uint32_t record;   /* and which one there */
    uint64_t ticks;    /* of the last record */
    struct trace_event next;
};

struct trace {
    const char *file;
    uint64_t size;
    struct weft_trace_header header;
    struct trace_info info;
    double ns_per_tick;
    uint64_t blocks; /* that the file has, at least in part */
    uint64_t block_size;
    uint64_t touched;               /* bytes of it that may be in memory, more or less */
    uint64_t modules[MODULES_MOST]; /* blocks, the oldest first */
    unsigned modules_count;
    struct block *record_blocks;
    size_t record_blocks_count;
    struct cursor *cursors;
    unsigned *heap; /* indexes of cursors, by the time of their next records */
    unsigned heap_size;
};

/* ---- Time ---- */

static bool is_tick(double ns)
{
    return ns > 1e-6 && ns < 1e6;
}

static uint64_t to_ns(const struct trace *trace, uint64_t ticks)
{
    double ns = (double)ticks * trace->ns_per_tick;
    return ns < 9e18 ? (uint64_t)ns : UINT64_C(9000000000000000000);
}

/* ---- The file ---- */

static bool map(struct trace *trace, const char *path, char *why)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &about) != 0) {
        snprintf(why, TRACE_WHY_SIZE, "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    void *file = MAP_FAILED;
    trace->size = (uint64_t)about.st_size;
    if (!S_ISREG(about.st_mode))
        snprintf(why, TRACE_WHY_SIZE, "not a file");
    else if (trace->size < sizeof trace->header)
        snprintf(why, TRACE_WHY_SIZE, trace->size ? "too short for a trace" : "it is empty");
    else if ((file = mmap(NULL, trace->size, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED)
        snprintf(why, TRACE_WHY_SIZE, "%s", strerror(errno));
    close(fd);
    trace->file = file == MAP_FAILED ? NULL : file;
    return trace->file;
}

static bool check_header(struct trace *trace, char *why)
{
    struct weft_trace_header *header = &trace->header;
    memcpy(header, trace->file, sizeof *header);
    if (memcmp(header->magic, WEFT_TRACE_MAGIC, sizeof header->magic) != 0)
        snprintf(why, TRACE_WHY_SIZE, "not a trace of weft");
    else if (header->byte_order != WEFT_TRACE_BYTE_ORDER)
        snprintf(why, TRACE_WHY_SIZE, "written by a machine with another byte order");
    else if (header->version != WEFT_TRACE_VERSION)
        snprintf(why, TRACE_WHY_SIZE, "its format is version %u; this program reads version %d",
                 header->version, WEFT_TRACE_VERSION);
    else if (header->block_size < sizeof(struct weft_trace_block) + RECORD ||
             header->block_size > UINT32_C(1) << 30 || header->block_size % 8 != 0)
        snprintf(why, TRACE_WHY_SIZE, "its blocks have an impossible size");
    else
        return true;
    return false;
}

static void clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

/* A tick is as long as the whole trace, in nanoseconds, divided by its ticks. If the trace is too
 * short for that, as the header says. */
static void measure_tick(struct trace *trace)
{
    const struct weft_trace_header *header = &trace->header;
    uint64_t ticks = header->last.ticks - header->first.ticks;
    uint64_t ns = header->last.ns - header->first.ns;
    double measured = ticks > 0 ? (double)ns / (double)ticks : 0;
    double said = header->ticks_per_second > 0 ? 1e9 / (double)header->ticks_per_second : 0;
    bool well = ns >= MEASURED_NS && is_tick(measured);
    trace->ns_per_tick = well ? measured : is_tick(said) ? said : is_tick(measured) ? measured : 1;
    trace->info.rough = !well && !is_tick(said);
    trace->info.ns = well ? ns : is_tick(trace->ns_per_tick) && ticks > 0 ? to_ns(trace, ticks) : 0;
}

static void read_header(struct trace *trace)
{
    struct weft_trace_header *header = &trace->header;
    header->program[sizeof header->program - 1] = 0;
    clean(header->program);
    uint64_t rest = trace->size > HEADER ? trace->size - HEADER : 0;
    trace->block_size = header->block_size;
    trace->blocks = (rest + trace->block_size - 1) / trace->block_size;
    bool cut = header->blocks > rest / trace->block_size;
    if (!cut)
        trace->blocks = header->blocks;
    trace->info = (struct trace_info){
        .program = header->program,
        .pid = header->pid,
        .ended = header->state == WEFT_TRACE_STOPPED,
        .cut = cut,
        .lost = header->lost,
        .started = header->started,
        .size = trace->size,
    };
    measure_tick(trace);
}

/* ---- Blocks ---- */

static const char *block_at(const struct trace *trace, uint64_t i)
{
    return trace->file + HEADER + i * trace->block_size;
}

/* How many bytes of block i are there, after its header; 0 also if the header is not. */
static uint64_t block_room(const struct trace *trace, uint64_t i)
{
    uint64_t from = HEADER + i * trace->block_size + sizeof(struct weft_trace_block);
    if (from >= trace->size)
        return 0;
    uint64_t rest = trace->size - from, whole = trace->block_size - sizeof(struct weft_trace_block);
    return rest < whole ? rest : whole;
}

/* One more block was read. After some, nothing of the file stays in memory: what is needed again,
 * a text that somebody remembers, or the blocks that are being read, is mapped again by itself. */
static void forget_pages(struct trace *trace)
{
    trace->touched += trace->block_size;
    if (trace->touched < TOUCHED_MOST)
        return;
    (void)madvise((void *)(uintptr_t)trace->file, trace->size, MADV_DONTNEED);
    trace->touched = 0;
}

static struct weft_trace_record record_at(const struct trace *trace, const struct block *block,
                                          uint32_t i)
{
    struct weft_trace_record record;
    const char *records = block_at(trace, block->index) + sizeof(struct weft_trace_block);
    memcpy(&record, records + (size_t)i * RECORD, RECORD);
    return record;
}

/* The newest are enough: a trace has two. */
static void note_modules(struct trace *trace, uint64_t i)
{
    if (trace->modules_count == MODULES_MOST)
        memmove(trace->modules, trace->modules + 1,
                --trace->modules_count * sizeof *trace->modules);
    trace->modules[trace->modules_count++] = i;
}

static bool look_at_block(struct trace *trace, uint64_t i, struct block *out)
{
    struct weft_trace_block head;
    uint64_t room = block_room(trace, i) / RECORD;
    if (room == 0)
        return false;
    memcpy(&head, block_at(trace, i), sizeof head);
    if (head.kind == WEFT_TRACE_MODULES)
        note_modules(trace, i);
    if (head.kind != WEFT_TRACE_RECORDS || head.used == 0)
        return false;
    *out = (struct block){.index = i, .thread = head.thread};
    out->used = head.used < room ? head.used : (uint32_t)room;
    out->first = record_at(trace, out, 0).head >> 8;
    if (head.used > room)
        trace->info.cut = true;
    return true;
}

/* By thread, then by time: the kernel gives the number of a thread that has ended to others. */
static int compare_blocks(const void *left, const void *right)
{
    const struct block *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool find_blocks(struct trace *trace)
{
    size_t count = 0;
    struct block block;
    for (uint64_t i = 0; i < trace->blocks; i++) {
        count += look_at_block(trace, i, &block);
        forget_pages(trace);
    }
    trace->record_blocks = calloc(count + 1, sizeof block);
    if (!trace->record_blocks)
        return false;
    /* Again: the file may have grown meanwhile. */
    trace->modules_count = 0;
    for (uint64_t i = 0; i < trace->blocks; i++) {
        if (look_at_block(trace, i, &block) && trace->record_blocks_count < count)
            trace->record_blocks[trace->record_blocks_count++] = block;
        forget_pages(trace);
    }
    qsort(trace->record_blocks, trace->record_blocks_count, sizeof block, compare_blocks);
    return true;
}

/* ---- Threads ---- */

static void name_thread(struct trace *trace, struct cursor *cursor)
{
    struct weft_trace_block head;
    const struct block *newest = &trace->record_blocks[cursor->end - 1];
    memcpy(&head, block_at(trace, newest->index), sizeof head);
    cursor->thread.number = newest->thread;
    memcpy(cursor->thread.name, head.name, sizeof head.name);
    clean(cursor->thread.name);
}

static bool find_threads(struct trace *trace)
{
    const struct block *blocks = trace->record_blocks;
    size_t count = trace->record_blocks_count;
    unsigned threads = 0;
    for (size_t i = 0; i < count; i++)
        threads += i == 0 || blocks[i].thread != blocks[i - 1].thread;
    trace->cursors = calloc((size_t)threads + 1, sizeof *trace->cursors);
    trace->heap = calloc((size_t)threads + 1, sizeof *trace->heap);
    if (!trace->cursors || !trace->heap)
        return false;
    trace->info.threads = threads;
    struct cursor *cursor = trace->cursors;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && blocks[i].thread != blocks[i - 1].thread)
            cursor++;
        if (cursor->end == 0)
            cursor->first = i;
        cursor->end = i + 1;
    }
    for (unsigned i = 0; i < threads; i++)
        name_thread(trace, &trace->cursors[i]);
    return true;
}

const struct trace_thread *trace_thread(const struct trace *trace, unsigned index)
{
    return &trace->cursors[index].thread;
}

int trace_find_thread(const struct trace *trace, uint64_t number)
{
    unsigned low = 0, high = trace->info.threads;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (trace->cursors[middle].thread.number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < trace->info.threads && trace->cursors[low].thread.number == number ? (int)low : -1;
}

/* ---- Records of one thread ---- */

/* The text that follows a record; false: it does not fit into the block. */
static bool take_text(const struct trace *trace, const struct block *block, struct cursor *cursor)
{
    struct trace_event *event = &cursor->next;
    uint64_t places = (event->b + RECORD - 1) / RECORD;
    if (event->b > WEFT_TRACE_TEXT_MOST || places > block->used - cursor->record)
        return false;
    event->size = (uint32_t)event->b;
    event->text = block_at(trace, block->index) + sizeof(struct weft_trace_block) +
                  (size_t)cursor->record * RECORD;
    cursor->record += (uint32_t)places;
    return true;
}

/* Is that long after the end of the trace? */
static bool is_beyond(const struct trace *trace, uint64_t ns)
{
    return ns > trace->info.ns && ns - trace->info.ns > LATE_NS;
}

/* A record that makes sense, at the cursor. It is one further afterwards. */
static bool decode(struct trace *trace, const struct block *block, struct cursor *cursor)
{
    struct weft_trace_record record = record_at(trace, block, cursor->record++);
    uint64_t kind = record.head & (WEFT_TRACE_HAS_TEXT - 1), ticks = record.head >> 8;
    uint64_t ns = to_ns(trace, ticks);
    if (record.head == WEFT_TRACE_NOTHING)
        return false;
    cursor->next = (struct trace_event){
        .ns = ns, .a = record.a, .b = record.b, .text = "", .kind = (enum weft_trace_kind)kind};
    if (kind == WEFT_TRACE_NOTHING || is_beyond(trace, ns) ||
        (record.head & WEFT_TRACE_HAS_TEXT && !take_text(trace, block, cursor))) {
        trace->info.bad++;
        return false;
    }
    trace->info.unknown += kind >= WEFT_TRACE_KINDS;
    if (kind >= WEFT_TRACE_KINDS || ns > trace->info.ns)
        return false;
    if (ticks < cursor->ticks) /* clocks of two processors may differ a little */
        cursor->next.ns = to_ns(trace, cursor->ticks);
    else
        cursor->ticks = ticks;
    return true;
}

/* False: the thread has no more. */
static bool advance(struct trace *trace, struct cursor *cursor)
{
    while (cursor->block < cursor->end) {
        const struct block *block = &trace->record_blocks[cursor->block];
        while (cursor->record < block->used)
            if (decode(trace, block, cursor))
                return true;
        forget_pages(trace);
        cursor->block++;
        cursor->record = 0;
    }
    return false;
}

/* How long a trace is whose program did not end it: up to the newest record of any thread. */
static void measure(struct trace *trace)
{
    if (trace->info.ended && trace->info.ns > 0)
        return;
    uint64_t most = trace->info.ns;
    trace->info.ns = UINT64_MAX;
    for (unsigned i = 0; i < trace->info.threads; i++) {
        struct cursor *cursor = &trace->cursors[i];
        cursor->block = cursor->end - 1;
        while (advance(trace, cursor))
            most = cursor->next.ns > most ? cursor->next.ns : most;
    }
    trace->info.ns = most;
}

/* ---- All threads: a heap, the earliest record first ---- */

static bool before(const struct trace *trace, unsigned a, unsigned b)
{
    uint64_t left = trace->cursors[a].next.ns, right = trace->cursors[b].next.ns;
    return left != right ? left < right : a < b;
}

static void sift_down(struct trace *trace, unsigned i)
{
    unsigned *heap = trace->heap;
    for (;;) {
        unsigned least = i;
        for (unsigned child = 2 * i + 1; child <= 2 * i + 2 && child < trace->heap_size; child++)
            if (before(trace, heap[child], heap[least]))
                least = child;
        if (least == i)
            return;
        unsigned moved = heap[i];
        heap[i] = heap[least];
        heap[least] = moved;
        i = least;
    }
}

void trace_rewind(struct trace *trace)
{
    trace->heap_size = 0;
    trace->info.bad = trace->info.unknown = 0;
    for (unsigned i = 0; i < trace->info.threads; i++) {
        struct cursor *cursor = &trace->cursors[i];
        cursor->block = cursor->first;
        cursor->record = 0;
        cursor->ticks = 0;
        if (advance(trace, cursor))
            trace->heap[trace->heap_size++] = i;
    }
    for (unsigned i = trace->heap_size / 2; i-- > 0;)
        sift_down(trace, i);
}

bool trace_next(struct trace *trace, struct trace_event *event)
{
    if (trace->heap_size == 0)
        return false;
    unsigned thread = trace->heap[0];
    struct cursor *cursor = &trace->cursors[thread];
    *event = cursor->next;
    event->thread = thread;
    if (!advance(trace, cursor))
        trace->heap[0] = trace->heap[--trace->heap_size];
    sift_down(trace, 0);
    return true;
}

/* ---- Modules ---- */

const char *trace_modules(const struct trace *trace, unsigned age, size_t *size)
{
    struct weft_trace_block head;
    if (age >= trace->modules_count)
        return NULL;
    uint64_t i = trace->modules[trace->modules_count - 1 - age], room = block_room(trace, i);
    memcpy(&head, block_at(trace, i), sizeof head);
    *size = head.used < room ? head.used : (size_t)room;
    return block_at(trace, i) + sizeof head;
}

/* ---- All of it ---- */

const struct trace_info *trace_about(const struct trace *trace)
{
    return &trace->info;
}

struct trace *trace_open(const char *path, char why[TRACE_WHY_SIZE])
{
    struct trace *trace = calloc(1, sizeof *trace);
    snprintf(why, TRACE_WHY_SIZE, "there is no memory");
    if (!trace)
        return NULL;
    if (!map(trace, path, why) || !check_header(trace, why)) {
        trace_close(trace);
        return NULL;
    }
    read_header(trace);
    if (!find_blocks(trace) || !find_threads(trace)) {
        trace_close(trace);
        return NULL;
    }
    measure(trace);
    trace_rewind(trace);
    return trace;
}

void trace_close(struct trace *trace)
{
    if (trace->file)
        munmap((void *)(uintptr_t)trace->file, trace->size);
    free(trace->record_blocks);
    free(trace->cursors);
    free(trace->heap);
    free(trace);
}
