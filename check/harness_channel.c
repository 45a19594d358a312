/* SPDX-License-Identifier: MIT */
/* A channel, used by threads outside (NULL) and by workers. */
#include "blocking.h"
#include "weft/sync.h"

#include <errno.h>

static weft_channel channel;
static int data, got[4], results[4];

static void make_channel(size_t capacity)
{
    MODEL_ASSERT(weft_channel_init(&channel, "channel", sizeof(int), capacity) == 0);
    got[0] = got[1] = got[2] = 0;
}

static void setup_direct(void)
{
    make_channel(0);
}

static void setup_ring(void)
{
    make_channel(1);
}

static void setup_ring_pool(void)
{
    make_pool(2, -1, false_report);
    make_channel(1);
}

static void setup_direct_pool(void)
{
    make_pool(2, -1, false_report);
    make_channel(0);
}

static void setup_direct_pool_of_one(void)
{
    make_pool(1, -1, false_report);
    make_channel(0);
    weft_channel_from_outside(&channel);
}

static int send(weft *w, int item)
{
    int result = weft_channel_send(w, &channel, &item);
    item = -1; /* it was copied */
    return result;
}

static int receive(weft *w)
{
    int item = 0, result = weft_channel_receive(w, &channel, &item);
    if (result == 0) {
        MODEL_ASSERT(item == 1 || item == 2);
        MODEL_ASSERT(got[item]++ == 0); /* a race if it came twice */
    }
    return result == 0 ? item : result;
}

static void send_one(void)
{
    data = 1;
    results[1] = send(NULL, 1);
}

static void send_other(void)
{
    results[2] = send(NULL, 2);
}

static void send_two(void)
{
    MODEL_ASSERT(send(NULL, 1) == 0);
    MODEL_ASSERT(send(NULL, 2) == 0);
}

static void receive_one(void)
{
    results[0] = receive(NULL);
}

static void receive_another(void)
{
    results[3] = receive(NULL);
}

static void receive_and_free(void)
{
    MODEL_ASSERT(receive(NULL) == 1);
    MODEL_ASSERT(data == 1);
    weft_channel_destroy(&channel);
    model_gone(&channel, sizeof channel);
}

static void receive_two(void)
{
    MODEL_ASSERT(receive(NULL) > 0);
    MODEL_ASSERT(receive(NULL) > 0);
}

static void receive_in_order(void)
{
    MODEL_ASSERT(receive(NULL) == 1);
    MODEL_ASSERT(receive(NULL) == 2);
}

static void send_two_and_close(void)
{
    send_two();
    weft_channel_close(NULL, &channel);
}

static void receive_until_closed(void)
{
    receive_in_order();
    MODEL_ASSERT(receive(NULL) == -EPIPE);
    weft_channel_destroy(&channel);
    model_gone(&channel, sizeof channel);
}

static void close_channel(void)
{
    weft_channel_close(NULL, &channel);
}

static void receive_from_closed(void)
{
    MODEL_ASSERT(receive(NULL) == -EPIPE);
}

static void send_to_closed(void)
{
    MODEL_ASSERT(send(NULL, 1) == -EPIPE);
}

static void try_to_send(void)
{
    int item = 1;
    results[1] = weft_channel_try_send(NULL, &channel, &item);
}

static void try_to_receive(void)
{
    int item = 0;
    results[0] = weft_channel_try_receive(NULL, &channel, &item);
    if (results[0] == 0)
        MODEL_ASSERT(item == 1);
}

static void tried(void)
{
    bool received = results[0] == 0;
    MODEL_ASSERT(results[1] == 0 && (received || results[0] == -EAGAIN));
    try_to_receive();
    MODEL_ASSERT(results[0] == (received ? -EAGAIN : 0));
}

static void first_sends(void)
{
    weft *w = be_worker(0);
    MODEL_ASSERT(send(w, 1) == 0);
    MODEL_ASSERT(send(w, 2) == 0);
    leave_pool(0);
}

static void first_receives(void)
{
    MODEL_ASSERT(receive(be_worker(0)) == 1);
    leave_pool(0);
}

static void second_receives(void)
{
    weft *w = be_worker(1);
    MODEL_ASSERT(receive(w) == 1);
    MODEL_ASSERT(receive(w) == 2);
    leave_pool(1);
}

static void both_received(void)
{
    MODEL_ASSERT(got[1] == 1 && got[2] == 1);
}

/* What the sender thinks is what the receiver has. */
static void both_agree(void)
{
    MODEL_ASSERT(results[1] == (got[1] ? 0 : -EPIPE));
    MODEL_ASSERT(results[0] == (got[1] ? 1 : -EPIPE));
}

const struct harness channel_harnesses[] = {
    {.name = "channel-direct",
     .what = "without a ring; the receiver frees it",
     .setup = setup_direct,
     .thread = {send_one, receive_and_free}},
    {.name = "channel-full",
     .what = "two items through a ring of one, in order",
     .setup = setup_ring,
     .thread = {send_two, receive_in_order},
     .finish = both_received},
    {.name = "channel-senders",
     .what = "two senders, a ring of one",
     .setup = setup_ring,
     .thread = {send_one, send_other, receive_two},
     .finish = both_received,
     .stale = 1},
    {.name = "channel-receivers",
     .what = "two receivers, a ring of one",
     .setup = setup_ring,
     .thread = {receive_one, receive_another, send_two},
     .finish = both_received,
     .stale = 1},
    {.name = "channel-end",
     .what = "two items, then it is closed, received and freed",
     .setup = setup_ring,
     .thread = {send_two_and_close, receive_until_closed},
     .finish = both_received},
    {.name = "channel-close-receiver",
     .what = "closed while somebody receives",
     .setup = setup_ring,
     .thread = {receive_from_closed, close_channel}},
    {.name = "channel-close-sender",
     .what = "closed while somebody sends",
     .setup = setup_direct,
     .thread = {send_to_closed, close_channel}},
    {.name = "channel-close-both",
     .what = "closed while two pass an item: both know, or none",
     .setup = setup_direct,
     .thread = {send_one, receive_one, close_channel},
     .finish = both_agree,
     .stale = 1},
    {.name = "channel-try",
     .what = "neither waits",
     .setup = setup_ring,
     .thread = {try_to_send, try_to_receive},
     .finish = tried},
    {.name = "channel-workers",
     .what = "two workers, a ring of one",
     .setup = setup_ring_pool,
     .thread = {first_sends, second_receives},
     .finish = both_received,
     .stale = 1},
    {.name = "channel-workers-direct",
     .what = "two workers, no ring",
     .setup = setup_direct_pool,
     .thread = {first_sends, second_receives},
     .finish = both_received,
     .stale = 1},
    {.name = "channel-outside",
     .what = "a thread outside sends to a worker",
     .setup = setup_direct_pool_of_one,
     .thread = {first_receives, send_one}},
    {0},
};
