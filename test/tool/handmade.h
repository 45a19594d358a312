/* SPDX-License-Identifier: MIT */
/* handmade.h: a trace made by hand, in which every moment is known: a tick is a nanosecond. */
#ifndef TEST_HANDMADE_H
#define TEST_HANDMADE_H

#include "check.h"
#include "summary.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Small blocks: the header says how long they are. Events at the same moment come in the order of
 * their threads' numbers: so thieves and wakers have the lower ones. */
enum { BLOCK = 4096, BLOCKS = 8, ROOM = WEFT_TRACE_HEADER_SIZE + BLOCKS * BLOCK };
enum { MAIN = 100, THIEF = 90, OTHER = 91, F = 0x1000, G = 0x2000, WHOLE = 0x7060 };

static union {
    struct weft_trace_header header;
    char bytes[ROOM];
} file;

static int fd; /* in memory: some thousand files are written */
static char file_path[32];

static inline struct weft_trace_block *block_at(unsigned i)
{
    return (struct weft_trace_block *)(file.bytes + WEFT_TRACE_HEADER_SIZE + i * BLOCK);
}

static inline size_t file_size(void)
{
    return WEFT_TRACE_HEADER_SIZE + file.header.blocks * BLOCK;
}

static inline void begin_file(uint64_t ns)
{
    memset(&file, 0, sizeof file);
    file.header = (struct weft_trace_header){
        .byte_order = WEFT_TRACE_BYTE_ORDER,
        .version = WEFT_TRACE_VERSION,
        .block_size = BLOCK,
        .state = WEFT_TRACE_STOPPED,
        .pid = 7,
        .first = {5000, 6000},
        .last = {5000 + ns, 6000 + ns},
        .program = "/bin/made-by-hand",
    };
    memcpy(file.header.magic, WEFT_TRACE_MAGIC, sizeof file.header.magic);
}

static inline struct weft_trace_block *begin_block(uint32_t thread, uint64_t sequence)
{
    struct weft_trace_block *block = block_at((unsigned)file.header.blocks++);
    block->kind = WEFT_TRACE_RECORDS;
    block->thread = thread;
    block->sequence = sequence;
    snprintf(block->name, sizeof block->name, "thread-%u", thread);
    return block;
}

static inline void record(struct weft_trace_block *block, uint64_t ns, unsigned kind, uint64_t a,
                          uint64_t b)
{
    struct weft_trace_record *records = (struct weft_trace_record *)(block + 1);
    records[block->used++] = (struct weft_trace_record){ns << 8 | kind, a, b};
}

static inline void record_text(struct weft_trace_block *block, uint64_t ns,
                               enum weft_trace_kind kind, uint64_t a, const char *text)
{
    size_t size = strlen(text), places = (size + sizeof(struct weft_trace_record) - 1) /
                                         sizeof(struct weft_trace_record);
    record(block, ns, kind | WEFT_TRACE_HAS_TEXT, a, size);
    memcpy((struct weft_trace_record *)(block + 1) + block->used, text, size);
    block->used += (uint32_t)places;
}

static inline void write_file(size_t size)
{
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, file.bytes, size, 0), size);
}

static inline struct trace *open_file(void)
{
    char why[TRACE_WHY_SIZE];
    write_file(file_size());
    struct trace *trace = trace_open(file_path, why);
    if (!trace)
        fail_msg("%s", why);
    return trace;
}

enum { MS = 1000000 };

/* Before all. False: there is no such file. */
static inline bool make_file(void)
{
    fd = memfd_create("trace", MFD_CLOEXEC);
    snprintf(file_path, sizeof file_path, "/proc/self/fd/%d", fd);
    return fd >= 0;
}

#endif
