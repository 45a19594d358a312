/* SPDX-License-Identifier: MIT */
/* A ring of items, a line of receivers while it is empty, a line of senders while it is full.
 * There are never items and waiting receivers, or free places and waiting senders: the first in
 * line is served directly. */
#include "core/misuse.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "sync/sync.h"

#include <errno.h>
#include <string.h>

struct channel {
    struct weft__sync sync;
    struct weft__line senders, receivers;
    size_t item_size, capacity;
    size_t first, count; /* of the items in the ring */
    bool closed;
    char *ring;
};

_Static_assert(sizeof(struct channel) <= sizeof(weft_channel), "weft_channel is too small");

static struct channel *channel_of(weft_channel *channel)
{
    return (struct channel *)(void *)channel;
}

/* For functions that can't return an error. */
static struct channel *expect_channel(weft_channel *channel, const char *function)
{
    if (!channel)
        weft__lacks(function, "a channel", "channel");
    return channel_of(channel);
}

int weft_channel_init(weft_channel *public, const char *name, size_t item_size, size_t capacity)
{
    size_t bytes;
    if (!public || item_size == 0 || __builtin_mul_overflow(item_size, capacity, &bytes))
        return -EINVAL;
    char *ring = bytes ? weft__alloc(bytes) : NULL;
    if (bytes && !ring)
        return -ENOMEM;
    *channel_of(public) = (struct channel){
        .sync.name = name, .item_size = item_size, .capacity = capacity, .ring = ring};
    return 0;
}

void weft_channel_destroy(weft_channel *public)
{
    struct channel *channel = expect_channel(public, __func__);
    if (channel->senders.first || channel->receivers.first)
        weft__fatal("channel \"%s\" is destroyed while a thread waits for it",
                    channel->sync.name ? channel->sync.name : "");
    weft__free(channel->ring);
    channel->ring = NULL;
    channel->item_size = channel->capacity = 0; /* as if never made: see transfer() */
}

void weft_channel_from_outside(weft_channel *channel)
{
    struct channel *it = expect_channel(channel, __func__);
    atomic_store_relaxed(&it->sync.outside, true); /* relaxed: see sync.c */
}

static char *item_at(struct channel *channel, size_t i)
{
    return channel->ring + (channel->first + i) % channel->capacity * channel->item_size;
}

/* Both under the lock. *served: the waiter whose wait is over, or NULL. */
static int send_now(struct channel *channel, const void *item, struct weft__waiter **served)
{
    if (channel->closed)
        return -EPIPE;
    if ((*served = weft__line_pop(&channel->receivers)))
        memcpy((*served)->item, item, channel->item_size);
    else if (channel->count < channel->capacity)
        memcpy(item_at(channel, channel->count++), item, channel->item_size);
    else
        return -EAGAIN;
    return 0;
}

static int receive_now(struct channel *channel, void *item, struct weft__waiter **served)
{
    if (channel->count > 0) {
        memcpy(item, item_at(channel, 0), channel->item_size);
        channel->first = (channel->first + 1) % channel->capacity;
        channel->count--;
        if ((*served = weft__line_pop(&channel->senders))) /* there is a place now */
            memcpy(item_at(channel, channel->count++), (*served)->item, channel->item_size);
        return 0;
    }
    if ((*served = weft__line_pop(&channel->senders))) {
        memcpy(item, (*served)->item, channel->item_size);
        return 0;
    }
    return channel->closed ? -EPIPE : -EAGAIN;
}

/* How long a transfer waits. */
enum patience { NOT_AT_ALL, WITH_LIMIT, WITHOUT_LIMIT };

/* Sends or receives; *item is read or written. `when` is for WITH_LIMIT. A channel without an item
 * size is destroyed, or was never made. */
static int transfer(weft *w, struct channel *channel, void *item, bool send, enum patience patience,
                    uint64_t when)
{
    if (!channel || !item || channel->item_size == 0)
        return -EINVAL;
    struct weft__worker *me = weft__sync_caller(w);
    struct weft__waiter *served = NULL;
    weft__lock_take(&channel->sync.lock);
    weft__sync_used_by(&channel->sync, me);
    int result = send ? send_now(channel, item, &served) : receive_now(channel, item, &served);
    if (result == -EAGAIN && patience != NOT_AT_ALL) {
        struct weft__waiter waiter = {
            .worker = me,
            .blocked = {.kind = send ? BLOCKED_SEND : BLOCKED_RECEIVE, .object = &channel->sync},
            .item = item,
        };
        if (patience == WITH_LIMIT)
            weft__waiter_limit(&waiter, when);
        return weft__sync_wait(&channel->sync, send ? &channel->senders : &channel->receivers,
                               &waiter);
    }
    weft__sync_rouse(served, 0);
    weft__lock_drop(&channel->sync.lock);
    weft__sync_let_go(served);
    return result;
}

int weft_channel_send(weft *w, weft_channel *channel, const void *item)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return transfer(w, channel_of(channel), (void *)(uintptr_t)item, true, WITHOUT_LIMIT, 0);
}

int weft_channel_send_until(weft *w, weft_channel *channel, const void *item, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return transfer(w, channel_of(channel), (void *)(uintptr_t)item, true, WITH_LIMIT, when);
}

int weft_channel_try_send(weft *w, weft_channel *channel, const void *item)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return transfer(w, channel_of(channel), (void *)(uintptr_t)item, true, NOT_AT_ALL, 0);
}

int weft_channel_receive(weft *w, weft_channel *channel, void *item)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return transfer(w, channel_of(channel), item, false, WITHOUT_LIMIT, 0);
}

int weft_channel_receive_until(weft *w, weft_channel *channel, void *item, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return transfer(w, channel_of(channel), item, false, WITH_LIMIT, when);
}

int weft_channel_try_receive(weft *w, weft_channel *channel, void *item)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return transfer(w, channel_of(channel), item, false, NOT_AT_ALL, 0);
}

void weft_channel_close(weft *w, weft_channel *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct channel *channel = expect_channel(public, __func__);
    if (channel->item_size == 0)
        weft__fatal("weft_channel_close: the channel was destroyed, or never made");
    weft__lock_take(&channel->sync.lock);
    weft__sync_used_by(&channel->sync, weft__sync_caller(w));
    channel->closed = true;
    struct weft__waiter *senders = channel->senders.first, *receivers = channel->receivers.first;
    channel->senders.first = channel->receivers.first = NULL;
    weft__sync_rouse(senders, -EPIPE);
    weft__sync_rouse(receivers, -EPIPE);
    weft__lock_drop(&channel->sync.lock);
    weft__sync_let_go(senders);
    weft__sync_let_go(receivers);
}
