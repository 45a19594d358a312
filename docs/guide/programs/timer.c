/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/sync.h>
#include <weft/timer.h>

/* [timer] */
struct clock {
    weft_event enough;
    int ticks;
};

static void tick(weft *w, void *arg)
{
    struct clock *clock = arg;
    if (++clock->ticks == 5) /* it never runs twice at once */
        weft_event_set(w, &clock->enough);
}

int main(void)
{
    struct clock clock = {.enough = WEFT_EVENT_INIT};
    weft_timer timer = WEFT_TIMER_INIT;
    uint64_t millisecond = 1000000;
    int error = weft_timer_start(NULL, &timer, weft_now() + millisecond, millisecond, tick, &clock);
    if (error)
        return fprintf(stderr, "%s\n", weft_strerror(error)), 1;
    weft_event_wait(NULL, &clock.enough);
    weft_timer_stop(&timer); /* it does not run now, and will not again */
    puts(clock.ticks >= 5 ? "five ticks" : "fewer");
}
/* [end] */
