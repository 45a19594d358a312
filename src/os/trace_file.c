/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "os/trace_file.h"

#include "os/atomic.h"
#include "os/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    BLOCK = WEFT_TRACE_BLOCK_SIZE,
    AT_ONCE = 16, /* blocks that get disk space together */
    BLOCKS_LEAST = 4,
    NS_PER_S = 1000000000,
    MEASURED_NS = 1000000, /* the length of a tick is measured over so much time at least */
};

/* ---- Time ---- */

/* The thread may lose its processor between two looks: the closest pair counts. */
static struct weft_trace_moment moment(void)
{
    struct weft_trace_moment best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 4; i++) {
        uint64_t before = weft__ticks(), ns = weft__clock_now(), took = weft__ticks() - before;
        if (took >= least)
            continue;
        least = took;
        best = (struct weft_trace_moment){before + took / 2, ns};
    }
    return best;
}

/* The processor says how long a tick is; or it is measured, from the first trace of the process
 * on. */
static uint64_t ticks_per_second;
static struct weft_trace_moment first;

static void begin_measure(void)
{
    if (first.ns != 0)
        return;
    first = moment();
    ticks_per_second = weft__ticks_per_second();
}

/* May take a millisecond, once. */
static uint64_t end_measure(void)
{
    uint64_t passed = weft__clock_now() - first.ns;
    if (ticks_per_second != 0)
        return ticks_per_second;
    if (passed < MEASURED_NS)
        weft__clock_sleep(MEASURED_NS - passed);
    struct weft_trace_moment last = moment();
    double seconds = (double)(last.ns - first.ns) / NS_PER_S;
    return ticks_per_second = (uint64_t)((double)(last.ticks - first.ticks) / seconds);
}

/* ---- Blocks ---- */

void weft__trace_block_used(struct weft_trace_block *block, uint32_t used)
{
    atomic_fence_compiler(); /* first the records */
    *(volatile uint32_t *)&block->used = used;
}

static int reserve(int fd, off_t from, off_t size)
{
    int error;
    while ((error = posix_fallocate(fd, from, size)) == EINTR)
        ;
    return error;
}

static bool make_ready(struct weft__trace_file *file, uint64_t i)
{
    uint64_t more = file->most - i < AT_ONCE ? file->most - i : AT_ONCE;
    off_t from = (off_t)(WEFT_TRACE_HEADER_SIZE + i * BLOCK);
    if (reserve(file->fd, from, (off_t)(more * BLOCK)) != 0)
        return false;
#ifdef MADV_POPULATE_WRITE /* at once takes less time than page by page; an error is harmless */
    (void)madvise((char *)file->header + from, more * BLOCK, MADV_POPULATE_WRITE);
#endif
    file->ready = i + more;
    return true;
}

struct weft_trace_block *weft__trace_file_take(struct weft__trace_file *file)
{
    uint64_t i = file->header->blocks;
    if (i >= file->most)
        return NULL;
    if (i >= file->ready && !make_ready(file, i)) {
        file->most = i;
        return NULL;
    }
    file->header->blocks = i + 1;
    weft__trace_file_touch(file);
    return (struct weft_trace_block *)((char *)file->header + WEFT_TRACE_HEADER_SIZE + i * BLOCK);
}

void weft__trace_file_touch(struct weft__trace_file *file)
{
    file->header->last = moment();
}

/* Where the program's code lies, so that readers can find names. */
static void write_modules(struct weft__trace_file *file)
{
    struct weft_trace_block *block = weft__trace_file_take(file);
    FILE *maps = block ? fopen("/proc/self/maps", "re") : NULL;
    char *text, line[1024];
    uint32_t used = 0;
    if (!maps)
        return;
    text = (char *)(block + 1);
    block->kind = WEFT_TRACE_MODULES;
    while (fgets(line, sizeof line, maps)) {
        size_t size = strlen(line);
        if (!strstr(line, " r-xp ") || !strchr(line, '/') || used + size > BLOCK - sizeof *block)
            continue;
        memcpy(text + used, line, size);
        used += (uint32_t)size;
    }
    fclose(maps);
    weft__trace_block_used(block, used);
}

/* ---- Beginning and end ---- */

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
    header->started = (uint64_t)real.tv_sec * NS_PER_S + (uint64_t)real.tv_nsec;
    header->ticks_per_second = ticks_per_second;
    header->first = header->last = moment();
    if (readlink("/proc/self/exe", header->program, sizeof header->program - 1) < 0)
        header->program[0] = 0;
}

/* A file of that name is removed, not shortened: another process may have it in its memory. */
static int make(const char *path)
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

/* A file that becomes longer than the process may write would end it by a signal. */
static uint64_t blocks_allowed(size_t bytes)
{
    struct rlimit limit;
    uint64_t most = bytes;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        uint64_t all = limit.rlim_cur;
        uint64_t allowed = all > WEFT_TRACE_HEADER_SIZE ? all - WEFT_TRACE_HEADER_SIZE : 0;
        most = allowed < most ? allowed : most;
    }
    return most / BLOCK;
}

static size_t size_of(const struct weft__trace_file *file)
{
    return WEFT_TRACE_HEADER_SIZE + file->most * BLOCK;
}

int weft__trace_file_open(struct weft__trace_file *file, const char *path, size_t bytes)
{
    if (bytes / BLOCK < BLOCKS_LEAST || bytes > SSIZE_MAX - WEFT_TRACE_HEADER_SIZE)
        return -EINVAL;
    *file = (struct weft__trace_file){.most = blocks_allowed(bytes)};
    if (file->most < BLOCKS_LEAST)
        return -EFBIG;
    int fd = make(path);
    if (fd < 0)
        return fd;
    int error = reserve(fd, 0, WEFT_TRACE_HEADER_SIZE);
    void *all = MAP_FAILED;
    if (!error)
        all = mmap(NULL, size_of(file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (all == MAP_FAILED) {
        error = error ? error : errno;
        close(fd);
        return -error;
    }
    file->header = all;
    file->mapped = size_of(file);
    file->fd = fd;
    begin_measure();
    begin_header(file->header);
    write_modules(file);
    return 0;
}

void weft__trace_file_forget(struct weft__trace_file *file)
{
    close(file->fd);
}

void weft__trace_file_close(struct weft__trace_file *file)
{
    struct weft_trace_header *header = file->header;
    write_modules(file);
    weft__trace_file_touch(file);
    header->ticks_per_second = end_measure();
    header->state = WEFT_TRACE_STOPPED;
    /* Without the blocks that were made ready for nothing; none will be taken any more. */
    (void)!ftruncate(file->fd, (off_t)(WEFT_TRACE_HEADER_SIZE + header->blocks * BLOCK));
    close(file->fd);
    (void)!mmap(header, file->mapped, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}
