/* SPDX-License-Identifier: MIT */
/* map.c: weft_mpi_map() over a text: what comes out is in order, whatever the blocks and the ranks.
 */
#include "ranks.h"

#include <ctype.h>
#include <errno.h>
#include <weft/actor.h>

static char *text, *expected, *written;
static size_t length, position;

/* Lines of very different lengths; every third is doubled, and some vanish. */
static void make_text(void)
{
    text = malloc(400000);
    expected = malloc(800000);
    written = malloc(800000);
    CHECK(text && expected && written);
    size_t out = 0;
    for (unsigned i = 0; length < 300000; i++) {
        size_t begin = length;
        length += (size_t)sprintf(text + length, "line %u", i);
        for (unsigned j = i % 50 == 7 ? 3000 : i % 17; j > 0; j--)
            text[length++] = (char)('a' + j % 26);
        text[length++] = '\n';
        for (int copy = 0; copy < (i % 5 == 4 ? 0 : i % 3 == 0 ? 2 : 1); copy++)
            for (size_t k = begin; k < length; k++)
                expected[out++] = (char)toupper(text[k]);
    }
    text[length++] = 'x'; /* and a last one without an end, which vanishes */
    expected[out] = '\0';
}

static void shout(weft *w, const void *in, size_t n, weft_mpi_out *out, void *arg)
{
    (void)w;
    CHECK(arg == text);
    const char *at = in, *end = at + n;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            return;
        unsigned i = 0;
        CHECK(sscanf(at, "line %u", &i) == 1);
        for (int copy = 0; copy < (i % 5 == 4 ? 0 : i % 3 == 0 ? 2 : 1); copy++)
            for (const char *c = at; c <= stop; c++) {
                char upper = (char)toupper(*c);
                CHECK(weft_mpi_put(out, &upper, 1) == 0);
            }
        at = stop + 1;
    }
}

static void append(weft *w, const void *bytes, size_t n, void *arg)
{
    (void)w, (void)arg;
    CHECK(rank == 0 && n > 0);
    memcpy(written + position, bytes, n);
    position += n;
}

static void copy(weft *w, const void *in, size_t n, weft_mpi_out *out, void *arg)
{
    (void)w, (void)arg;
    CHECK(weft_mpi_put(out, in, n) == 0);
}

/* 256 MB, and not a byte more, however they come. */
static void put_too_much(weft *w, const void *in, size_t n, weft_mpi_out *out, void *arg)
{
    (void)w, (void)in, (void)n, (void)arg;
    enum { PIECE = 1 << 26 };
    char *piece = calloc(1, PIECE);
    CHECK(piece);
    for (int i = 0; i < 4; i++)
        CHECK(weft_mpi_put(out, piece, PIECE) == 0);
    CHECK(weft_mpi_put(out, piece, 1) == -ENOMEM);
    free(piece);
}

/* The call is not over yet. */
static void write_and_loop(weft *w, const void *bytes, size_t n, void *arg)
{
    append(w, bytes, n, arg);
    CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, 1, 1, -1, copy, append, arg) == -EBUSY);
}

/* Only one rank calls it: an actor is refused before other ranks are needed. */
static int in_actor(weft *w, void *comm)
{
    return weft_mpi_map(w, *(MPI_Comm *)comm, text, length, 100, -1, copy, append, text);
}

static void refused_in_actor(void)
{
    MPI_Comm fresh;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    weft_actor *actor;
    CHECK(rank > 0 || weft_actor_create(&actor, NULL, in_actor, &fresh, NULL) == 0);
    CHECK(rank > 0 || (weft_actor_run(actor) == 0 && weft_actor_wait(NULL, actor) == -EPERM));
    if (rank == 0)
        weft_actor_release(actor);
    MPI_Comm_free(&fresh);
}

static void fails(weft *w, const void *in, size_t n, weft_mpi_out *out, void *arg)
{
    (void)in, (void)n, (void)out, (void)arg;
    weft_fail(w, -EDOM);
}

static void maps(weft *w, void *arg)
{
    (void)arg;
    for (size_t block = 100; block < 1000000; block *= 7) {
        position = 0;
        CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, length, block, '\n', shout, append, text) == 0);
        written[position] = '\0';
        CHECK(rank > 0 || strcmp(written, expected) == 0);
        position = 0;
        CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, length, block, -1, copy, append, text) == 0);
        CHECK(rank > 0 || (position == length && memcmp(written, text, length) == 0));
    }
    /* Lines that are longer than blocks, and one that is as long as many. */
    position = 0;
    CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, 1000, 3, '\n', copy, append, text) == 0);
    CHECK(rank > 0 || (position == 1000 && memcmp(written, text, 1000) == 0));
    position = 0;
    CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, length, 64, '#', copy, append, text) == 0);
    CHECK(rank > 0 || (position == length && memcmp(written, text, length) == 0));
    position = 0;
    CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, 100, 30, -1, copy, write_and_loop, text) == 0);
    CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, 1, 1, -1, put_too_much, append, text) == -ENOMEM);
    CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, length, 100, -1, fails, append, text) == -EDOM);
    CHECK(weft_mpi_map(w, MPI_COMM_WORLD, NULL, 0, 100, -1, fails, append, text) == 0);
    CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, 1, 0, -1, fails, append, text) == -EINVAL);
    size_t many = (size_t)1 << 62;
    CHECK(weft_mpi_map(w, MPI_COMM_WORLD, text, many, 1, -1, fails, append, text) == -EINVAL);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    make_text();
    run(maps, NULL);
    refused_in_actor();
    free(text);
    free(expected);
    free(written);
    MPI_Finalize();
    return 0;
}
