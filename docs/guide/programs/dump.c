/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/sync.h>

/* [dump] */
struct story {
    weft_event never;
    weft_pool *pool;
};

/* A job that waits for something that does not happen. */
static void wait_for_it(weft *w, void *arg)
{
    struct story *story = arg;
    weft_event_wait(w, &story->never);
}

int main(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.spares = WEFT_NONE; /* so that there is little to print */
    config.name = "story";
    struct story story = {.never = WEFT_EVENT_INIT};
    weft_event_init(&story.never, "never");
    weft_event_from_outside(&story.never); /* or it would be reported as a deadlock */
    weft_task task;
    if (weft_pool_create(&story.pool, &config) ||
        weft_submit(story.pool, &task, wait_for_it, &story))
        return 1;
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    do
        weft_pool_get_info(story.pool, &info);
    while (info.blocked == 0);

    weft_pool_dump(story.pool, stdout); /* what is everybody doing? */

    weft_event_set(NULL, &story.never);
    int error = weft_task_wait(&task);
    return error || weft_pool_destroy(story.pool);
}
/* [end] */
