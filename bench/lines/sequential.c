/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include "../kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void plain(void *data)
{
    struct lines *lines = data;
    const char *end = lines->bytes + lines->size;
    for (const char *at = lines->bytes; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        lines_add(&lines->count, at, (size_t)(stop - at));
        at = stop + 1;
    }
}

/* ---- The data ---- */

/* Words of 1 to 8 letters, lines of 0 to 15 words. */
static void write_text(char *bytes, size_t size)
{
    uint64_t state = 1;
    size_t words = 3;
    for (size_t i = 0; i < size;) {
        size_t letters = 1 + kernel_random(&state) % 8;
        for (; words > 0 && letters > 0 && i < size; letters--)
            bytes[i++] = (char)('a' + kernel_random(&state) % 26);
        if (i < size)
            bytes[i++] = words > 1 ? ' ' : '\n';
        words = words > 1 ? words - 1 : kernel_random(&state) % 16;
    }
    bytes[size - 1] = '\n';
}

/* A file of this size without a name, mapped. */
static char *map_file(size_t size)
{
    const char *folder = getenv("TMPDIR");
    char path[4096], *bytes = MAP_FAILED;
    if (!folder || strlen(folder) > sizeof path - 100)
        folder = "/tmp";
    strcat(strcpy(path, folder), "/weft-bench-XXXXXX");
    int file = mkstemp(path);
    if (file < 0)
        return NULL;
    unlink(path);
    if (posix_fallocate(file, 0, (off_t)size) == 0) /* no memory later on would be a signal */
        bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static void *prepare(unsigned size)
{
    struct lines *lines = malloc(sizeof *lines);
    char *bytes = map_file((size_t)1 << size);
    if (!lines || !bytes) {
        free(lines);
        return NULL;
    }
    *lines = (struct lines){.bytes = bytes, .size = (size_t)1 << size};
    write_text(bytes, lines->size);
    return lines;
}

static void reset(void *data)
{
    struct lines *lines = data;
    lines->count = (struct lines_count){0, 0};
}

static uint64_t checksum(const void *data)
{
    const struct lines *lines = data;
    return lines->count.words * 10000 + lines->count.longest;
}

static double bytes_read(const void *data)
{
    const struct lines *lines = data;
    return (double)lines->size;
}

static void release(void *data)
{
    struct lines *lines = data;
    munmap((void *)(uintptr_t)lines->bytes, lines->size);
    free(lines);
}

const struct kernel lines_kernel = {
    .name = "lines",
    .prepare = prepare,
    .reset = reset,
    .sequential = plain,
    .checksum = checksum,
    .operations = bytes_read,
    .release = release,
};
