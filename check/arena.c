/* SPDX-License-Identifier: MIT */
#include "arena.h"

#include "memory.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    GONE_MAX = 64,
    LINE = 64,
    ARENA = 1 << 20,
    BLOCKS = 8,
    BLOCK = 4 << 20,
    BLOCK_USED = 16 << 10, /* what a harness can fill */
    REGIONS = 3,
};

static char *arena, *blocks;
static size_t arena_used;
static unsigned blocks_used;
static struct {
    const char *at;
    size_t size;
} gone[GONE_MAX];
static unsigned gone_count;

bool arena_make(void)
{
    if (arena)
        return false;
    size_t fibers = (THREADS_MAX - 1) * sizeof(struct fiber);
    size_t all = (2 * BLOCKS + 1) * (size_t)BLOCK;
    char *p = mmap(NULL, all + ARENA + fibers, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("weft-check: mmap");
        exit(EXIT_FAILURE);
    }
    blocks = (char *)(((uintptr_t)p + BLOCK - 1) & ~(uintptr_t)(BLOCK - 1));
    arena = p + all;
    return true;
}

void arena_reset(void)
{
    arena_used = blocks_used = gone_count = 0;
}

struct fiber *arena_fiber(unsigned thread)
{
    return (struct fiber *)(void *)(arena + ARENA) + (thread - 1);
}

/* ---- Memory that comes and goes ---- */

void *model_alloc(size_t size)
{
    size = LINE + ((size + LINE - 1) & ~(size_t)(LINE - 1)); /* the first one says how much */
    if (arena_used + size > ARENA)
        model_fail("out of memory");
    size_t *p = (size_t *)(void *)(arena + arena_used);
    arena_used += size;
    p[0] = size;
    return memset(p + LINE / sizeof *p, 0, size - LINE);
}

void model_free(void *p)
{
    size_t size = *(size_t *)(void *)((char *)p - LINE);
    model_gone(p, size - LINE);
}

/* Between two blocks is room for what lies just behind the first. */
void *model_block(size_t size, size_t alignment)
{
    if (alignment != BLOCK || size < BLOCK || size > BLOCK + 2 * LINE || blocks_used == BLOCKS)
        model_fail("no block of %zu bytes is left", size);
    char *block = blocks + 2 * (size_t)BLOCK * blocks_used++;
    memset(block + BLOCK, 0, 2 * LINE);
    return memset(block, 0, BLOCK_USED);
}

void model_gone(const void *at, size_t size)
{
    if (gone_count == GONE_MAX)
        model_fail("more than %d pieces of memory are gone", GONE_MAX);
    if (model_thread())
        watch_gone(model_thread(), at, size);
    gone[gone_count].at = at;
    gone[gone_count++].size = size;
}

void arena_touch(const void *p, size_t size)
{
    const char *at = p;
    for (unsigned i = 0; i < gone_count; i++)
        if (at < gone[i].at + gone[i].size && gone[i].at < at + size)
            model_fail("touches memory whose owner has returned, or that was freed");
}

/* ---- Addresses for another process ---- */

extern char __data_start[], _end[];

struct region {
    char letter;
    const char *from;
    size_t size;
};

static struct region region(unsigned i)
{
    size_t behind = ARENA + (THREADS_MAX - 1) * sizeof(struct fiber);
    return i == 0   ? (struct region){'s', __data_start, (size_t)(_end - __data_start)}
           : i == 1 ? (struct region){'b', blocks, (size_t)BLOCKS * BLOCK}
                    : (struct region){'a', arena, behind};
}

bool arena_name(const char *at, char *letter, size_t *offset)
{
    for (unsigned i = 0; i < REGIONS; i++) {
        struct region r = region(i);
        if (at < r.from || at >= r.from + r.size)
            continue;
        *letter = r.letter;
        *offset = (size_t)(at - r.from);
        return true;
    }
    return false;
}

const void *arena_address(char letter, size_t offset)
{
    for (unsigned i = 0; i < REGIONS; i++)
        if (region(i).letter == letter && offset < region(i).size)
            return region(i).from + offset;
    return NULL;
}
