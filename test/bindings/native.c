/* SPDX-License-Identifier: MIT */
/* native.c: bodies in C for the tests of the Python binding, and an actor that calls Python. */
#include <weft/actor.h>
#include <weft/parallel.h>

#include <errno.h>

WEFT_API void fill(weft *w, size_t begin, size_t end, void *arg);
WEFT_API void fail_with_epipe(weft *w, size_t begin, size_t end, void *arg);
WEFT_API int call_in_actor(void (*callback)(void));

void fill(weft *w, size_t begin, size_t end, void *arg)
{
    uint64_t *numbers = arg;
    (void)w;
    for (size_t i = begin; i < end; i++)
        numbers[i] = i;
}

void fail_with_epipe(weft *w, size_t begin, size_t end, void *arg)
{
    (void)begin, (void)end, (void)arg;
    weft_fail(w, -EPIPE);
}

struct call {
    void (*callback)(void);
};

static int call(weft *w, void *arg)
{
    (void)w;
    ((struct call *)arg)->callback();
    return 0;
}

int call_in_actor(void (*callback)(void))
{
    struct call whom = {callback};
    weft_actor *actor;
    int error = weft_actor_create(&actor, NULL, call, &whom, NULL);
    if (error)
        return error;
    weft_actor_run(actor);
    error = weft_actor_wait(NULL, actor);
    weft_actor_release(actor);
    return error;
}
