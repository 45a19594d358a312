/* SPDX-License-Identifier: MIT */
/* weft_select(): one of several cases is done, and one only. */
#include "blocking.h"
#include "weft/sync.h"

#include <errno.h>

enum { SOON = 3 }; /* a waiter looks twice before it sleeps */

static weft_channel channels[2];
static int got[2], results[3];

static void make(size_t capacity)
{
    for (int i = 0; i < 2; i++)
        MODEL_ASSERT(weft_channel_init(&channels[i], "channel", sizeof(int), capacity) == 0);
    model_time_passes();
}

static void setup_direct(void)
{
    make(0);
}

static void setup_ring(void)
{
    make(1);
}

static void setup_ring_pool(void)
{
    make_pool(2, -1, false_report);
    make(1);
}

/* From either; the items are the numbers of the channels. */
static int receive_any(weft *w, uint64_t when)
{
    int items[2] = {-1, -1};
    weft_case cases[2] = {{.channel = &channels[0], .item = &items[0]},
                          {.channel = &channels[1], .item = &items[1]}};
    int chosen = weft_select(w, cases, 2, when);
    if (chosen >= 0) {
        MODEL_ASSERT(cases[chosen].result == 0);
        MODEL_ASSERT(items[chosen] == chosen && items[!chosen] == -1);
        MODEL_ASSERT(got[chosen]++ == 0);
    }
    return chosen;
}

static void receive_one(void)
{
    MODEL_ASSERT(receive_any(NULL, WEFT_FOREVER) >= 0);
}

static void receive_two(void)
{
    receive_one();
    receive_one();
}

static void receive_soon(void)
{
    results[0] = receive_any(NULL, SOON);
    MODEL_ASSERT(results[0] >= 0 || results[0] == -ETIMEDOUT);
}

static void send(weft *w, int i)
{
    MODEL_ASSERT(weft_channel_send(w, &channels[i], &i) == 0);
}

static void send_zero(void)
{
    send(NULL, 0);
}

static void send_one(void)
{
    send(NULL, 1);
}

static void first_receives(void)
{
    weft *w = be_worker(0);
    MODEL_ASSERT(receive_any(w, WEFT_FOREVER) >= 0);
    MODEL_ASSERT(receive_any(w, WEFT_FOREVER) >= 0);
    leave_pool(0);
}

static void second_sends(void)
{
    weft *w = be_worker(1);
    send(w, 0);
    send(w, 1);
    leave_pool(1);
}

/* What was not received is still there, once. */
static void nothing_is_lost(void)
{
    for (int i = 0; i < 2; i++) {
        int item;
        while (weft_channel_try_receive(NULL, &channels[i], &item) == 0)
            got[i]++;
        MODEL_ASSERT(got[i] == 1);
    }
}

static void zero_is_not_lost(void)
{
    int item;
    while (weft_channel_try_receive(NULL, &channels[0], &item) == 0)
        got[0]++;
    MODEL_ASSERT(got[0] == 1 && got[1] == 0);
}

static void both_came(void)
{
    MODEL_ASSERT(got[0] == 1 && got[1] == 1);
}

/* Each would send in one channel and receive from the other. */
static void cross(int mine)
{
    int item = mine, other = -1;
    weft_case cases[2] = {{.channel = &channels[mine], .send = true, .item = &item},
                          {.channel = &channels[!mine], .item = &other}};
    results[mine] = weft_select(NULL, cases, 2, WEFT_FOREVER);
    MODEL_ASSERT(results[mine] == 0 || (results[mine] == 1 && other == !mine));
}

static void cross_zero(void)
{
    cross(0);
}

static void cross_one(void)
{
    cross(1);
}

static void one_sent_one_received(void)
{
    MODEL_ASSERT(results[0] != results[1]);
}

static void close_one(void)
{
    weft_channel_close(NULL, &channels[1]);
}

static void receive_or_find_closed(void)
{
    int item;
    weft_case cases[2] = {{.channel = &channels[0], .item = &item},
                          {.channel = &channels[1], .item = &item}};
    int chosen = weft_select(NULL, cases, 2, WEFT_FOREVER);
    MODEL_ASSERT(chosen == 1 ? cases[1].result == -EPIPE : cases[0].result == 0 && item == 0);
    got[0] += chosen == 0;
}

const struct harness select_harnesses[] = {
    {.name = "select-one",
     .what = "two send, and one is received",
     .setup = setup_ring,
     .thread = {receive_one, send_zero, send_one},
     .finish = nothing_is_lost,
     .stale = 1},
    {.name = "select-two",
     .what = "two send without a ring, and both are received",
     .setup = setup_direct,
     .thread = {receive_two, send_zero, send_one},
     .finish = both_came,
     .stale = 1},
    {.name = "select-cross",
     .what = "two selects with each other: one sends, the other receives",
     .setup = setup_direct,
     .thread = {cross_zero, cross_one},
     .finish = one_sent_one_received},
    {.name = "select-workers",
     .what = "two workers",
     .setup = setup_ring_pool,
     .thread = {first_receives, second_sends},
     .finish = both_came,
     .stale = 1},
    {.name = "select-limit",
     .what = "the time comes while an item is sent",
     .setup = setup_ring,
     .thread = {receive_soon, send_zero},
     .finish = zero_is_not_lost,
     .times_out = true},
    {.name = "select-close",
     .what = "one channel is closed while an item is sent in the other",
     .setup = setup_ring,
     .thread = {receive_or_find_closed, send_zero, close_one},
     .finish = zero_is_not_lost,
     .stale = 1},
    {0},
};
