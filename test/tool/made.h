/* SPDX-License-Identifier: MIT */
/* made.h: traces made by hand, of any length. A tick is a nanosecond. Records of a thread come in
 * the order of time; threads may be mixed. */
#ifndef TEST_MADE_H
#define TEST_MADE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <weft/trace_format.h>

enum { MADE_THREADS = 2000, MADE_FIRST = 100, MADE_MS = 1000000 };

struct made {
    struct weft_trace_header header;
    char *blocks;
    size_t room; /* blocks */
    struct {
        size_t block; /* plus 1; 0: it has none */
        uint64_t sequence;
        const char *name;
    } threads[MADE_THREADS];
};

static inline void made_begin(struct made *made, uint64_t ns)
{
    *made = (struct made){.header = {
                              .byte_order = WEFT_TRACE_BYTE_ORDER,
                              .version = WEFT_TRACE_VERSION,
                              .block_size = WEFT_TRACE_BLOCK_SIZE,
                              .state = WEFT_TRACE_STOPPED,
                              .pid = 7,
                              .first = {5000, 6000},
                              .last = {5000 + ns, 6000 + ns},
                              .program = "/bin/made-by-hand",
                          }};
    memcpy(made->header.magic, WEFT_TRACE_MAGIC, sizeof made->header.magic);
}

static inline struct weft_trace_block *made_block(struct made *made, unsigned thread)
{
    return (struct weft_trace_block *)(made->blocks +
                                       (made->threads[thread].block - 1) * WEFT_TRACE_BLOCK_SIZE);
}

static inline void made_new_block(struct made *made, unsigned thread)
{
    if (made->header.blocks == made->room) {
        made->room = made->room ? 2 * made->room : 8;
        made->blocks = realloc(made->blocks, made->room * WEFT_TRACE_BLOCK_SIZE);
        if (!made->blocks)
            abort();
    }
    made->threads[thread].block = ++made->header.blocks;
    struct weft_trace_block *block = made_block(made, thread);
    memset(block, 0, sizeof *block);
    block->kind = WEFT_TRACE_RECORDS;
    block->thread = MADE_FIRST + thread;
    block->sequence = ++made->threads[thread].sequence;
    const char *name = made->threads[thread].name;
    strncpy(block->name, name ? name : "thread", sizeof block->name - 1);
}

/* `size` bytes of text, in the places of the next records, if there is one. */
static inline void made_add(struct made *made, unsigned thread, uint64_t ns,
                            enum weft_trace_kind kind, uint64_t a, uint64_t b, const char *text,
                            size_t size)
{
    enum { RECORD = sizeof(struct weft_trace_record) };
    size_t places = 1 + (size + RECORD - 1) / RECORD;
    size_t room = (WEFT_TRACE_BLOCK_SIZE - sizeof(struct weft_trace_block)) / RECORD;
    if (made->threads[thread].block == 0 || made_block(made, thread)->used + places > room)
        made_new_block(made, thread);
    struct weft_trace_block *block = made_block(made, thread);
    struct weft_trace_record *record = (struct weft_trace_record *)(block + 1) + block->used;
    *record = (struct weft_trace_record){ns << 8 | kind | (text ? WEFT_TRACE_HAS_TEXT : 0), a,
                                         text ? size : b};
    if (text)
        memcpy(record + 1, text, size);
    block->used += (uint32_t)places;
}

static inline void made_record(struct made *made, unsigned thread, uint64_t ns,
                               enum weft_trace_kind kind, uint64_t a, uint64_t b)
{
    made_add(made, thread, ns, kind, a, b, NULL, 0);
}

static inline void made_text(struct made *made, unsigned thread, uint64_t ns,
                             enum weft_trace_kind kind, uint64_t a, const char *text)
{
    made_add(made, thread, ns, kind, a, 0, text, strlen(text));
}

/* Writes it, and frees what it needed. */
static inline int made_write(struct made *made, FILE *out)
{
    char page[WEFT_TRACE_HEADER_SIZE] = {0};
    memcpy(page, &made->header, sizeof made->header);
    fwrite(page, 1, sizeof page, out);
    if (made->header.blocks > 0)
        fwrite(made->blocks, WEFT_TRACE_BLOCK_SIZE, made->header.blocks, out);
    free(made->blocks);
    made->blocks = NULL;
    return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}

/* Thread 1 runs F from 1 to 11 ms and waits from 4 ms on; thread 0 runs G, stolen at 2 ms, until 10
 * ms, with a span from 3 to 5 ms; before and after it searches, and sleeps from 11 ms on. */
enum { MADE_F = 0x1000, MADE_G = 0x2000, MADE_WHOLE = 0x7000 };

static inline void made_theft(struct made *made)
{
    enum { MS = MADE_MS, THIEF = 0, OWNER = 1 };
    made_begin(made, 12 * MS);
    made->threads[THIEF].name = "thief";
    made->threads[OWNER].name = "owner";
    made_record(made, OWNER, 1 * MS, WEFT_TRACE_GUEST, 0, 0);
    made_record(made, OWNER, 1 * MS, WEFT_TRACE_JOB, MADE_F, 0);
    made_text(made, OWNER, 4 * MS, WEFT_TRACE_WAIT, MADE_WHOLE, "waits for a right side");
    made_record(made, OWNER, 4 * MS, WEFT_TRACE_SEARCH, 0, 0);
    made_record(made, OWNER, 10 * MS, WEFT_TRACE_SEARCH_END, 0, 0);
    made_record(made, OWNER, 10 * MS, WEFT_TRACE_WAIT_END, MADE_WHOLE, 0);
    made_record(made, OWNER, 11 * MS, WEFT_TRACE_JOB_END, MADE_F, 0);
    made_record(made, OWNER, 11 * MS, WEFT_TRACE_GUEST_END, 0, 0);
    made_record(made, THIEF, 0, WEFT_TRACE_SEARCH, 0, 0);
    made_record(made, THIEF, MS / 2, WEFT_TRACE_SLEEP, 0, 0);
    made_record(made, THIEF, 3 * MS / 2, WEFT_TRACE_SLEEP_END, 0, 0);
    made_record(made, THIEF, 2 * MS, WEFT_TRACE_SEARCH_END, 0, 0);
    made_record(made, THIEF, 2 * MS, WEFT_TRACE_STEAL, MADE_FIRST + OWNER, MADE_WHOLE);
    made_record(made, THIEF, 2 * MS, WEFT_TRACE_JOB, MADE_G, MADE_WHOLE);
    made_text(made, THIEF, 3 * MS, WEFT_TRACE_SPAN, 0, "part");
    made_record(made, THIEF, 5 * MS, WEFT_TRACE_SPAN_END, 0, 0);
    made_text(made, THIEF, 6 * MS, WEFT_TRACE_MARK, (uint64_t)-3, "level");
    made_text(made, THIEF, 7 * MS, WEFT_TRACE_MARK, 8, "level");
    made_record(made, THIEF, 10 * MS, WEFT_TRACE_WAKE, MADE_FIRST + OWNER, 0);
    made_record(made, THIEF, 10 * MS, WEFT_TRACE_JOB_END, MADE_G, 0);
    made_record(made, THIEF, 10 * MS, WEFT_TRACE_SEARCH, 0, 0);
    made_record(made, THIEF, 11 * MS, WEFT_TRACE_SLEEP, 0, 0);
}

/* Jobs of 20 us that have `count` spans of 20 ns each, and the last job some of 1 ms. */
static inline void made_many(struct made *made, unsigned threads, unsigned count)
{
    made_begin(made, (uint64_t)count * 4 * 30 + 40 * MADE_MS);
    for (unsigned thread = 0; thread < threads; thread++) {
        uint64_t now = 0;
        for (unsigned i = 0; i < count; i++, now += 30) {
            if (i % 1000 == 0)
                made_record(made, thread, now, WEFT_TRACE_JOB, MADE_F, 0);
            made_text(made, thread, now + 5, WEFT_TRACE_SPAN, 0, i % 3 ? "often" : "seldom");
            made_record(made, thread, now + 25, WEFT_TRACE_SPAN_END, 0, 0);
            if (i % 1000 == 999)
                made_record(made, thread, now + 26, WEFT_TRACE_JOB_END, MADE_F, 0);
        }
        made_record(made, thread, now, WEFT_TRACE_JOB, MADE_G, 0);
        for (unsigned i = 0; i < 20; i++, now += MADE_MS) {
            made_text(made, thread, now, WEFT_TRACE_SPAN, 0, "long");
            made_record(made, thread, now + MADE_MS - 10, WEFT_TRACE_SPAN_END, 0, 0);
        }
        made_record(made, thread, now, WEFT_TRACE_JOB_END, MADE_G, 0);
    }
}

#endif
