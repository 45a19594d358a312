/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/local.h>
#include <weft/parallel.h>

enum { N = 100000, LENGTH = 64 };

/* [state] */
struct scratch {
    char *line; /* a buffer for each thread that takes part, not one for each element */
};

static void make(weft *w, void *state, void *arg)
{
    struct scratch *scratch = state;
    (void)arg;
    scratch->line = malloc(LENGTH);
    if (!scratch->line)
        weft_fail(w, -ENOMEM);
}

static void drop(weft *w, void *state, void *arg)
{
    (void)w, (void)arg;
    free(((struct scratch *)state)->line);
}

static void format(weft *w, size_t begin, size_t end, void *state, void *arg)
{
    struct scratch *scratch = state;
    unsigned char *lengths = arg;
    for (size_t i = begin; i < end && !weft_cancelled(w); i++)
        lengths[i] = (unsigned char)snprintf(scratch->line, LENGTH, "%zu", i);
}
/* [end] */

/* [local] */
static weft_local counts;

static void count(weft *w, size_t begin, size_t end, void *arg)
{
    const unsigned char *lengths = arg;
    size_t *mine = weft_local_get(w, &counts); /* of this thread; no lock, no atomic */
    if (!mine)
        return;
    for (size_t i = begin; i < end; i++)
        *mine += lengths[i];
}

static void add_up(weft *w, void *value, void *arg)
{
    (void)w;
    *(size_t *)arg += *(size_t *)value;
}
/* [end] */

static unsigned char lengths[N];

static void run(weft *w, void *arg)
{
    (void)arg;
    /* [call] */
    static const weft_state scratch = {sizeof(struct scratch), make, drop};
    weft_for_with(w, 0, N, &scratch, format, lengths);
    /* [end] */
    weft_for(w, 0, N, count, lengths);
}

int main(void)
{
    size_t digits = 0;
    /* [use] */
    static const weft_state number = {sizeof(size_t), NULL, NULL};
    weft_local_init(&counts, &number, NULL);
    int error = weft_run(NULL, run, NULL);
    weft_local_visit(NULL, &counts, add_up, &digits); /* no job uses them any more */
    weft_local_destroy(NULL, &counts);
    /* [end] */
    printf("%zu digits\n", digits);
    return error != 0;
}
