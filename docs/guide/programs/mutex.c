/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/parallel.h>
#include <weft/sync.h>

/* [mutex] */
struct log {
    weft_mutex mutex; /* zeros are a mutex; a name helps in reports */
    size_t lines;
};

static void note(weft *w, struct log *log)
{
    weft_mutex_lock(w, &log->mutex);
    log->lines++;
    weft_mutex_unlock(w, &log->mutex);
}
/* [end] */

static void body(weft *w, size_t begin, size_t end, void *arg)
{
    for (size_t i = begin; i < end; i++)
        note(w, arg);
}

static void run(weft *w, void *arg)
{
    weft_for(w, 0, 10000, body, arg);
}

int main(void)
{
    struct log log = {.lines = 0};
    weft_mutex_init(&log.mutex, "log");
    if (weft_run(NULL, run, &log))
        return 1;
    printf("%zu\n", log.lines);
}
