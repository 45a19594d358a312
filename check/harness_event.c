/* SPDX-License-Identifier: MIT */
/* An event, used by threads outside (NULL) and by workers. */
#include "blocking.h"
#include "weft/sync.h"

static weft_event event, other_event;
static int data;

static void setup(void)
{
    weft_event_init(&event, "event");
    weft_event_init(&other_event, "other event");
}

static void setup_pool(void)
{
    setup();
    make_pool(2, -1, false_report);
}

static void setup_pool_of_one(void)
{
    setup();
    make_pool(1, -1, false_report);
    weft_event_from_outside(&event);
}

static void event_wait(void)
{
    weft_event_wait(NULL, &event);
    MODEL_ASSERT(data == 1);
}

static void event_wait_and_free(void)
{
    event_wait();
    model_gone(&event, sizeof event);
}

static void event_set(void)
{
    data = 1;
    weft_event_set(NULL, &event);
}

static void event_poll(void)
{
    if (weft_event_is_set(&event))
        MODEL_ASSERT(data == 1);
}

/* Who waits sees one of the two, and if it is the second, only that. */
static void event_set_reset_set(void)
{
    event_set();
    weft_event_reset(NULL, &event);
    weft_event_set(NULL, &event);
}

/* Each lets the other go on, twice with the same event. */
static void event_ping(void)
{
    event_set();
    weft_event_wait(NULL, &other_event);
    MODEL_ASSERT(data == 2);
    MODEL_ASSERT(!weft_event_is_set(&event));
}

static void event_pong(void)
{
    event_wait();
    weft_event_reset(NULL, &event);
    data = 2;
    weft_event_set(NULL, &other_event);
}

static void event_first_waits(void)
{
    weft_event_wait(be_worker(0), &event);
    MODEL_ASSERT(data == 1);
    leave_pool(0);
}

static void event_second_sets(void)
{
    weft *w = be_worker(1);
    data = 1;
    weft_event_set(w, &event);
    leave_pool(1);
}

const struct harness event_harnesses[] = {
    {.name = "event-set",
     .what = "set against wait; who waited frees it",
     .setup = setup,
     .thread = {event_wait_and_free, event_set}},
    {.name = "event-two",
     .what = "set ends two waits",
     .setup = setup,
     .thread = {event_wait, event_wait, event_set},
     .stale = 1},
    {.name = "event-poll",
     .what = "who finds it set sees what was done before",
     .setup = setup,
     .thread = {event_poll, event_set}},
    {.name = "event-reset",
     .what = "set, reset and set against wait",
     .setup = setup,
     .thread = {event_wait, event_set_reset_set}},
    {.name = "event-ping",
     .what = "the one that waited resets it",
     .setup = setup,
     .thread = {event_ping, event_pong}},
    {.name = "event-workers",
     .what = "one worker waits for another",
     .setup = setup_pool,
     .thread = {event_first_waits, event_second_sets}},
    {.name = "event-outside",
     .what = "a worker waits for a thread outside",
     .setup = setup_pool_of_one,
     .thread = {event_first_waits, event_set}},
    {0},
};
