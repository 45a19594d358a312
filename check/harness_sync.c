/* SPDX-License-Identifier: MIT */
/* Mutex, event and channel, used by threads outside (NULL) and by workers. */
#include "blocking.h"
#include "sync/mutex.h"

#include <errno.h>

static weft_mutex mutex;
static weft_event event, other_event;
static weft_channel channel;
static int data, got[4], results[4];

static void setup(void)
{
    weft_mutex_init(&mutex, "mutex");
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

/* ---- Mutex ---- */

static void use_mutex(weft *w)
{
    weft_mutex_lock(w, &mutex);
    data++;
    weft_mutex_unlock(w, &mutex);
}

static void mutex_outside(void)
{
    use_mutex(NULL);
}

static void mutex_outside_twice(void)
{
    use_mutex(NULL);
    use_mutex(NULL);
}

static void mutex_first(void)
{
    use_mutex(be_worker(0));
    leave_pool(0);
}

static void mutex_second(void)
{
    use_mutex(be_worker(1));
    leave_pool(1);
}

static void mutex_try(void)
{
    if (weft_mutex_trylock(NULL, &mutex)) {
        data++;
        weft_mutex_unlock(NULL, &mutex);
    } else {
        results[0] = 1;
    }
}

/* Who has it last frees it: the one before may still be on its way out. */
static void mutex_free(void)
{
    weft_mutex_lock(NULL, &mutex);
    bool last = ++data == 2;
    weft_mutex_unlock(NULL, &mutex);
    if (last)
        model_gone(&mutex, sizeof mutex);
}

/* One stands in line while another takes the mutex as often as it can. */

static void mutex_stand_in_line(void)
{
    use_mutex(NULL);
}

static void mutex_pass(void)
{
    const struct weft__mutex *inner = (const struct weft__mutex *)(void *)&mutex;
    weft_mutex_lock(NULL, &mutex);
    while (data == 0 && !(atomic_load_relaxed(&inner->word) & MUTEX_LINE)) /* relaxed: a flag */
        model_yield();
    weft_mutex_unlock(NULL, &mutex);
    for (int i = 0; i <= WEFT__MUTEX_PASSES; i++) {
        if (!weft_mutex_trylock(NULL, &mutex))
            continue;
        results[0] += data == 0;
        weft_mutex_unlock(NULL, &mutex);
    }
    MODEL_ASSERT(results[0] <= WEFT__MUTEX_PASSES);
}

static void is_one(void)
{
    MODEL_ASSERT(data == 1);
}

static void is_two(void)
{
    MODEL_ASSERT(data == 2);
}

static void is_three(void)
{
    MODEL_ASSERT(data == 3);
}

static void two_and_one_tried(void)
{
    MODEL_ASSERT(data + results[0] == 3);
}

static void one_tried(void)
{
    MODEL_ASSERT(data + results[0] == 2);
}

/* ---- Event ---- */

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

/* ---- Channel ---- */

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
    setup_pool();
    make_channel(1);
}

static void setup_direct_pool(void)
{
    setup_pool();
    make_channel(0);
}

static void setup_direct_pool_of_one(void)
{
    setup_pool_of_one();
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

const struct harness sync_harnesses[] = {
    {.name = "mutex-two",
     .what = "two threads outside, one of them twice",
     .setup = setup,
     .thread = {mutex_outside_twice, mutex_outside},
     .finish = is_three},
    {.name = "mutex-three",
     .what = "three threads outside",
     .setup = setup,
     .thread = {mutex_outside, mutex_outside, mutex_outside},
     .finish = is_three,
     .stale = 1},
    {.name = "mutex-try",
     .what = "lock against trylock",
     .setup = setup,
     .thread = {mutex_outside, mutex_try},
     .finish = one_tried},
    {.name = "mutex-free",
     .what = "the last holder frees it",
     .setup = setup,
     .thread = {mutex_free, mutex_free}},
    {.name = "mutex-workers",
     .what = "two workers",
     .setup = setup_pool,
     .thread = {mutex_first, mutex_second},
     .finish = is_two},
    {.name = "mutex-both",
     .what = "a worker and a thread outside",
     .setup = setup_pool_of_one,
     .thread = {mutex_first, mutex_outside},
     .finish = is_two},
    {.name = "mutex-line",
     .what = "two workers and a thread outside",
     .setup = setup_pool,
     .thread = {mutex_first, mutex_second, mutex_outside},
     .finish = is_three,
     .stale = 1},
    {.name = "mutex-pass",
     .what = "a third thread takes it while the one that waited is on its way",
     .setup = setup,
     .thread = {mutex_outside, mutex_outside, mutex_try},
     .finish = two_and_one_tried,
     .stale = 1},
    {.name = "mutex-bound",
     .what = "who waits is passed no more often than it should be",
     .setup = setup,
     .thread = {mutex_stand_in_line, mutex_pass},
     .finish = is_one},
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
