/* SPDX-License-Identifier: MIT */
/* The lines that come from a descriptor. It is a pipeline: the first stage, one item at a time,
 * reads what there is, up to the end of its last line; the second stage is a loop over these lines,
 * for many items at once. What follows the last line is kept for the next item. */
#include "core/fiber.h"
#include "core/misuse.h"
#include "os/file.h"
#include "os/memory.h"
#include "weft/lines.h"
#include "weft/pipeline.h"

#include <errno.h>
#include <string.h>

enum { CHUNK = 1 << 17 }; /* bytes that a read asks for */

struct chunk {
    char *bytes;
    size_t room, size;
};

struct stream {
    struct weft__cleanup cleanup;
    int fd;
    bool is_over;
    struct chunk rest; /* the beginning of the next item */
    weft_lines_fn *body;
    void *arg;
};

static bool make_room(weft *w, struct chunk *chunk, size_t room)
{
    if (room <= chunk->room)
        return true;
    char *larger = weft__pages_resize(chunk->bytes, chunk->room, room);
    if (!larger) {
        weft_fail(w, -ENOMEM);
        return false;
    }
    chunk->bytes = larger;
    chunk->room = room;
    return true;
}

static void chunk_free(struct chunk *chunk)
{
    weft__pages_resize(chunk->bytes, chunk->room, 0);
}

static bool append(weft *w, struct chunk *chunk, const char *bytes, size_t size)
{
    size_t room = chunk->room ? chunk->room : CHUNK;
    while (room - chunk->size < size)
        room *= 2;
    if (!make_room(w, chunk, room))
        return false;
    if (size > 0)
        memcpy(chunk->bytes + chunk->size, bytes, size);
    chunk->size += size;
    return true;
}

/* Reads behind what is there. While there is nothing to read, the thread counts as blocked. */
static ptrdiff_t read_on(weft *w, int fd, struct chunk *chunk)
{
    bool waits = !weft__fd_is_ready(fd);
    if (waits)
        weft_block_begin(w);
    ptrdiff_t got = weft__fd_read(fd, chunk->bytes + chunk->size, chunk->room - chunk->size);
    if (waits)
        weft_block_end(w);
    return got;
}

/* Whole lines, or the last line of all. A line that is longer than the room makes it larger. */
static bool read_lines(weft *w, struct stream *stream, struct chunk *chunk)
{
    while (!stream->is_over) {
        if (chunk->room - chunk->size < CHUNK / 2 && !make_room(w, chunk, 2 * chunk->room))
            return false;
        ptrdiff_t got = read_on(w, stream->fd, chunk);
        if (got < 0)
            weft_fail(w, (int)got);
        if (weft_cancelled(w))
            return false;
        const char *newline = memrchr(chunk->bytes + chunk->size, '\n', (size_t)got);
        chunk->size += (size_t)got;
        stream->is_over = got == 0;
        if (!newline)
            continue;
        size_t whole = (size_t)(newline + 1 - chunk->bytes), rest = chunk->size - whole;
        chunk->size = whole;
        stream->rest.size = 0;
        return append(w, &stream->rest, newline + 1, rest);
    }
    return chunk->size > 0;
}

static bool fill(weft *w, void *item, void *arg)
{
    struct stream *stream = arg;
    struct chunk *chunk = item;
    if (stream->is_over)
        return false;
    chunk->size = 0;
    return append(w, chunk, stream->rest.bytes, stream->rest.size) && read_lines(w, stream, chunk);
}

static bool run(weft *w, void *item, void *arg)
{
    const struct stream *stream = arg;
    const struct chunk *chunk = item;
    const weft_text text = {chunk->bytes, chunk->size};
    weft_for_lines(w, &text, stream->body, stream->arg);
    return true;
}

static void drop(weft *w, void *item, void *arg)
{
    (void)w;
    (void)arg;
    chunk_free(item);
}

static void free_rest(struct weft__cleanup *of, weft *w)
{
    (void)w;
    chunk_free(&((struct stream *)of)->rest);
}

int weft_for_lines_fd(weft *w, int fd, weft_lines_fn *body, void *arg)
{
    static const weft_stage stages[] = {{.run = fill}, {.run = run, .parallel = true}};
    static const weft_state chunk = {.size = sizeof(struct chunk), .drop = drop};
    WEFT__EXPECT_CONTEXT(w);
    if (!body)
        return -EINVAL;
    struct stream stream = {.fd = fd, .body = body, .arg = arg};
    weft__cleanup_push(w, &stream.cleanup, free_rest);
    int error = weft_pipeline(w, stages, 2, &chunk, 0, &stream);
    weft__cleanup_pop(w, &stream.cleanup);
    free_rest(&stream.cleanup, w);
    return error;
}
