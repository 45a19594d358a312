/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <weft/sync.h>

/* [until] */
static void run(weft *w, void *arg)
{
    weft_event *answer = arg;
    uint64_t when = weft_now() + 2000000; /* two milliseconds from now */
    int error = weft_event_wait_until(w, answer, when);
    if (error == -ETIMEDOUT)
        puts("no answer; going on without");
}
/* [end] */

int main(void)
{
    weft_event answer = WEFT_EVENT_INIT;
    return weft_run(NULL, run, &answer) != 0;
}
