/* SPDX-License-Identifier: MIT */
#include "os/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct atomic_u32 weft__alloc_fail_at;

static bool fails_now(void)
{
    /* relaxed: a test's counter; one load where no test is running. */
    if (atomic_load_relaxed(&weft__alloc_fail_at) == 0)
        return false;
    return atomic_fetch_sub_relaxed(&weft__alloc_fail_at, 1) == 1;
}

void *weft__scratch(size_t size)
{
    if (fails_now() || size > SIZE_MAX - WEFT__CACHE_LINE)
        return NULL;
    size = (size + WEFT__CACHE_LINE - 1) & ~(size_t)(WEFT__CACHE_LINE - 1);
    return aligned_alloc(WEFT__CACHE_LINE, size);
}

void *weft__alloc(size_t size)
{
    void *p = weft__scratch(size);
    return p ? memset(p, 0, size) : NULL;
}

void *weft__small(size_t size)
{
    return fails_now() ? NULL : malloc(size);
}

void weft__free(void *p)
{
    free(p);
}

void *weft__map(size_t size, size_t alignment)
{
    if (fails_now())
        return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size = (size + page - 1) & ~(page - 1);
    char *p = mmap(NULL, size + alignment, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    char *aligned = (char *)(((uintptr_t)p + alignment - 1) & ~(uintptr_t)(alignment - 1));
    size_t before = (size_t)(aligned - p);
    if (before)
        munmap(p, before);
    if (alignment - before)
        munmap(aligned + size, alignment - before);
    return aligned;
}

void weft__unmap(void *p, size_t size)
{
    munmap(p, size);
}

void *weft__pages_resize(void *p, size_t old_size, size_t size)
{
    if (size == 0) {
        if (p)
            munmap(p, old_size);
        return NULL;
    }
    if (size > old_size && fails_now())
        return NULL;
    void *pages = p ? mremap(p, old_size, size, MREMAP_MAYMOVE)
                    : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}
