/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include "arena.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Data races ---- */

enum { WORD = 8, CELLS = 1 << 15, LOCALS_MAX = 64 };

/* A word of memory, byte by byte: who wrote it last, and who has read it since. Numbers are
 * those of events; 0: nobody. */
struct cell {
    uintptr_t word;
    uint64_t execution;
    unsigned users; /* threads, as bits */
    uint8_t writer[WORD];
    uint16_t written[WORD];
    uint16_t read[WORD][THREADS_MAX];
    uint16_t atomic[WORD][THREADS_MAX];
    const void *writer_pc[WORD], *reader_pc[WORD][THREADS_MAX];
};

enum access { READS, WRITES, ATOMIC };

static struct cell cells[CELLS];
static struct cell *used[CELLS]; /* in this execution */
static unsigned used_count;
static uint64_t execution = 1;

static struct cell *cell_of(uintptr_t word)
{
    for (size_t i = word * UINT64_C(0x9e3779b97f4a7c15) >> 49;; i++) {
        struct cell *cell = &cells[i % CELLS];
        if (cell->execution != execution) {
            if (used_count == CELLS / 2)
                model_fail("more than %d words of plain data", CELLS / 2);
            memset(cell, 0, sizeof *cell);
            cell->execution = execution;
            cell->word = word;
            used[used_count++] = cell;
        }
        if (cell->word == word)
            return cell;
    }
}

/* The name and place of a code address, if the system has a program that knows. */
static void explain(const void *pc, char *text, size_t size)
{
    extern const char __executable_start[] __attribute__((weak));
    char command[120], function[80] = "", place[120] = "";
    snprintf(command, sizeof command, "addr2line -f -e /proc/%ld/exe 0x%lx 2>/dev/null",
             (long)getpid(), (unsigned long)((const char *)pc - 1 - __executable_start));
    FILE *pipe = popen(command, "r");
    if (pipe) {
        if (!fgets(function, sizeof function, pipe) || !fgets(place, sizeof place, pipe))
            function[0] = '\0';
        pclose(pipe);
    }
    function[strcspn(function, "\n")] = place[strcspn(place, "\n ")] = '\0';
    const char *slash = strrchr(place, '/');
    snprintf(text, size, "%s (%s)", function[0] ? function : "?", slash ? slash + 1 : place);
}

static void race(const char *here, const void *pc, const char *there, unsigned thread,
                 const void *other_pc)
{
    char text[160], other[160] = "an atomic operation";
    explain(pc, text, sizeof text);
    if (other_pc)
        explain(other_pc, other, sizeof other);
    model_fail("data race: %s in %s, and at the same time %s by thread %u in %s", here, text, there,
               thread, other);
}

static void check_byte(const struct cell *cell, unsigned byte, unsigned thread, enum access access,
                       const uint16_t clock[static THREADS_MAX], const void *pc)
{
    static const char *const names[] = {"a load", "a store", "an atomic operation"};
    unsigned writer = cell->writer[byte];
    if (writer != thread && cell->written[byte] > clock[writer])
        race(names[access], pc, "a store", writer, cell->writer_pc[byte]);
    for (unsigned t = 1; access == WRITES && t < THREADS_MAX; t++) {
        if (t != thread && cell->read[byte][t] > clock[t])
            race(names[access], pc, "a load", t, cell->reader_pc[byte][t]);
        if (t != thread && cell->atomic[byte][t] > clock[t])
            race(names[access], pc, "one", t, NULL);
    }
}

static void touch(struct cell *cell, unsigned byte, unsigned thread, enum access access,
                  uint16_t number, const void *pc)
{
    if (access == WRITES) {
        cell->writer[byte] = (uint8_t)thread;
        cell->written[byte] = number;
        cell->writer_pc[byte] = pc;
    } else if (access == READS) {
        cell->read[byte][thread] = number;
        cell->reader_pc[byte][thread] = pc;
    } else {
        cell->atomic[byte][thread] = number;
    }
}

static void touch_all(unsigned thread, const void *at, size_t size, enum access access,
                      const void *pc)
{
    const uint16_t *clock = memory_clock(thread);
    uint16_t number = (uint16_t)(clock[thread] + 1);
    uintptr_t byte = (uintptr_t)at, end = byte + size;
    while (byte < end) {
        struct cell *cell = cell_of(byte / WORD);
        bool alone = (cell->users |= 1u << thread) == 1u << thread;
        do {
            if (!alone)
                check_byte(cell, byte % WORD, thread, access, clock, pc);
            touch(cell, byte % WORD, thread, access, number, pc);
        } while (++byte < end && byte % WORD);
    }
}

void watch_atomic(unsigned thread, const void *at, unsigned size)
{
    touch_all(thread, at, size, ATOMIC, NULL);
}

static bool is_in_use(const struct cell *cell, unsigned byte, unsigned thread)
{
    const uint16_t *clock = memory_clock(thread);
    unsigned writer = cell->writer[byte];
    bool is = writer != thread && cell->written[byte] > clock[writer];
    for (unsigned t = 1; t < THREADS_MAX; t++)
        is |= t != thread && (cell->read[byte][t] > clock[t] || cell->atomic[byte][t] > clock[t]);
    return is;
}

void watch_gone(unsigned thread, const void *at, size_t size)
{
    for (unsigned i = 0; i < used_count; i++)
        for (unsigned byte = 0; byte < WORD; byte++)
            if (used[i]->word * WORD + byte - (uintptr_t)at < size &&
                is_in_use(used[i], byte, thread))
                model_fail("memory whose owner has returned, or that was freed, is in use");
}

/* ---- Static data ---- */

struct remembered {
    char *at;
    unsigned char size;
    char bytes[WORD];
};

static struct remembered *log_;
static size_t log_length, log_room;

extern char __data_start[], _end[];
extern char __start_weft_locals[] __attribute__((weak)), __stop_weft_locals[] __attribute__((weak));

static bool is_local(const char *at)
{
    return at >= __start_weft_locals && at < __stop_weft_locals;
}

static bool is_static(const char *at)
{
    return at >= __data_start && at < _end && !is_local(at);
}

void watch_remember(const void *at, size_t size)
{
    char *byte = (char *)(uintptr_t)at;
    if (!is_static(byte))
        return;
    while (size > 0) {
        size_t part = size < WORD ? size : WORD;
        if (log_length == log_room) {
            log_room = log_room ? 2 * log_room : 1024;
            log_ = realloc(log_, log_room * sizeof *log_);
            if (!log_)
                abort();
        }
        struct remembered *entry = &log_[log_length++];
        entry->at = byte;
        entry->size = (unsigned char)part;
        memcpy(entry->bytes, byte, part);
        byte += part;
        size -= part;
    }
}

/* ---- Data of each thread ---- */

static char locals[THREADS_MAX][LOCALS_MAX];

void watch_locals(unsigned from, unsigned to)
{
    size_t size = (size_t)(__stop_weft_locals - __start_weft_locals);
    if (size > LOCALS_MAX)
        abort();
    memcpy(locals[from], __start_weft_locals, size);
    memcpy(__start_weft_locals, locals[to], size);
}

void watch_reset(void)
{
    while (log_length > 0) {
        struct remembered *entry = &log_[--log_length];
        memcpy(entry->at, entry->bytes, entry->size);
    }
    memset(locals, 0, sizeof locals);
    memset(__start_weft_locals, 0, (size_t)(__stop_weft_locals - __start_weft_locals));
    execution++;
    used_count = 0;
}

/* ---- The hooks ---- */

static void load(const void *at, size_t size, const void *pc)
{
    if (!model_thread() || is_local(at))
        return;
    arena_touch(at, size);
    touch_all(model_thread(), at, size, READS, pc);
}

static void store(const void *at, size_t size, const void *pc)
{
    watch_remember(at, size);
    if (!model_thread() || is_local(at))
        return;
    arena_touch(at, size);
    memory_overwritten(at, size);
    touch_all(model_thread(), at, size, WRITES, pc);
}

#define PC __builtin_return_address(0)

#define HOOKS(n)                                    \
    void __tsan_read##n(const void *at);            \
    void __tsan_write##n(const void *at);           \
    void __tsan_unaligned_read##n(const void *at);  \
    void __tsan_unaligned_write##n(const void *at); \
    void __tsan_read##n(const void *at)             \
    {                                               \
        load(at, n, PC);                            \
    }                                               \
    void __tsan_write##n(const void *at)            \
    {                                               \
        store(at, n, PC);                           \
    }                                               \
    void __tsan_unaligned_read##n(const void *at)   \
    {                                               \
        load(at, n, PC);                            \
    }                                               \
    void __tsan_unaligned_write##n(const void *at)  \
    {                                               \
        store(at, n, PC);                           \
    }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(const void *at, size_t size);
void __tsan_write_range(const void *at, size_t size);
void __tsan_func_entry(const void *pc);
void __tsan_func_exit(void);
void __tsan_init(void);
void __tsan_atomic_signal_fence(int order); /* for the compiler alone */

void __tsan_read_range(const void *at, size_t size)
{
    load(at, size, PC);
}

void __tsan_write_range(const void *at, size_t size)
{
    store(at, size, PC);
}

void *__tsan_memset(void *at, int value, size_t size)
{
    store(at, size, PC);
    return memset(at, value, size);
}

void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    load(from, size, PC);
    store(to, size, PC);
    return memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size)
{
    load(from, size, PC);
    store(to, size, PC);
    return memmove(to, from, size);
}

void __tsan_func_entry(const void *pc)
{
    (void)pc;
}

void __tsan_func_exit(void)
{
}

void __tsan_init(void)
{
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
