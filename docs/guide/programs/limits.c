/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/actor.h>

/* [limits] */
static int greedy(weft *w, void *arg)
{
    (void)arg;
    for (;;)
        *(char *)weft_alloc(w, 1 << 20) = 1; /* ends the actor, once it is past its limit */
    return 0;
}

static void say_bye(weft *w, void *arg)
{
    (void)w;
    printf("%s: cleaning up\n", (const char *)arg);
}

static int patient(weft *w, void *arg)
{
    void *message;
    int error = weft_defer(w, say_bye, arg); /* done however the actor ends */
    return error ? error : weft_receive(w, &message);
}

static int run(const char *name, weft_actor_fn *fn, bool kill)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.name = name;
    config.memory = (size_t)16 << 20;
    weft_actor *actor;
    int error = weft_actor_create(&actor, NULL, fn, (void *)name, &config);
    if (error)
        return error;
    weft_actor_run(actor);
    if (kill) {
        weft_actor_info info = WEFT_ACTOR_INFO_INIT;
        do
            weft_actor_get_info(actor, &info);
        while (info.state != WEFT_ACTOR_WAITING);
        weft_actor_kill(actor);
    }
    int reason = weft_actor_wait(NULL, actor);
    printf("%s: %s\n", name, weft_strerror(reason));
    weft_actor_release(actor);
    return 0;
}
/* [end] */

int main(void)
{
    return run("greedy", greedy, false) || run("patient", patient, true);
}
