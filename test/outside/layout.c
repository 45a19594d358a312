/* SPDX-License-Identifier: MIT */
/* layout FUNCTION: enters the default pool by it; 0: it was let in. */
#include <string.h>
#include <weft.h>
#include <weft/actor.h>

static void nothing(weft *w, void *arg)
{
    (void)w;
    (void)arg;
}

static int act(weft *w, void *arg)
{
    (void)w;
    (void)arg;
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "";
    weft_task task;
    weft_actor *actor;
    if (strcmp(name, "weft_run") == 0)
        return weft_run(NULL, nothing, NULL);
    if (strcmp(name, "weft_submit") == 0)
        return weft_submit(NULL, &task, nothing, NULL) || weft_task_wait(&task);
    if (strcmp(name, "weft_broadcast") == 0)
        return weft_broadcast(NULL, nothing, NULL);
    if (strcmp(name, "weft_broadcast_detached") == 0)
        return weft_broadcast_detached(NULL, nothing, NULL);
    if (strcmp(name, "weft_actor_create") == 0 &&
        weft_actor_create(&actor, NULL, act, NULL, NULL) == 0) {
        weft_actor_release(actor);
        return 0;
    }
    return 2;
}
