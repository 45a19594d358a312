/* SPDX-License-Identifier: MIT */
#include "sync/channel.h"

#include "core/misuse.h"
#include "os/fatal.h"
#include "os/memory.h"

#include <errno.h>
#include <string.h>

enum { ROOM_AT_FIRST = 16 }; /* of a ring that grows */

_Static_assert(sizeof(struct weft__channel) <= sizeof(weft_channel), "weft_channel is too small");

static struct weft__channel *channel_of(weft_channel *channel)
{
    return (struct weft__channel *)(void *)channel;
}

/* For functions that can't return an error. */
static struct weft__channel *expect_channel(weft_channel *channel, const char *function)
{
    if (!channel)
        weft__lacks(function, "a channel", "channel");
    return channel_of(channel);
}

int weft_channel_init(weft_channel *public, const char *name, size_t item_size, size_t capacity)
{
    size_t bytes, room = capacity == WEFT_UNLIMITED ? 0 : capacity;
    if (!public || item_size == 0 || __builtin_mul_overflow(item_size, room, &bytes))
        return -EINVAL;
    char *ring = bytes ? weft__alloc(bytes) : NULL;
    if (bytes && !ring)
        return -ENOMEM;
    *channel_of(public) = (struct weft__channel){.sync.name = name,
                                                 .item_size = item_size,
                                                 .capacity = capacity,
                                                 .room = room,
                                                 .ring = ring};
    return 0;
}

void weft_channel_destroy(weft_channel *public)
{
    struct weft__channel *channel = expect_channel(public, __func__);
    if (channel->senders.first || channel->receivers.first)
        weft__fatal("channel \"%s\" is destroyed while a thread waits for it",
                    channel->sync.name ? channel->sync.name : "");
    weft__free(channel->ring);
    channel->ring = NULL;
    channel->item_size = channel->capacity = channel->room = 0; /* as if never made */
}

void weft_channel_from_outside(weft_channel *channel)
{
    struct weft__channel *it = expect_channel(channel, __func__);
    atomic_store_relaxed(&it->sync.outside, true); /* relaxed: see sync.c */
}

static char *item_at(struct weft__channel *channel, size_t i)
{
    return channel->ring + (channel->first + i) % channel->room * channel->item_size;
}

/* The ring is full, and may have more items. */
static bool grow(struct weft__channel *channel)
{
    size_t room = channel->room ? 2 * channel->room : ROOM_AT_FIRST, bytes;
    if (__builtin_mul_overflow(room, channel->item_size, &bytes))
        return false;
    char *ring = weft__alloc(bytes);
    if (!ring)
        return false;
    for (size_t i = 0; i < channel->count; i++)
        memcpy(ring + i * channel->item_size, item_at(channel, i), channel->item_size);
    weft__free(channel->ring);
    channel->ring = ring;
    channel->room = room;
    channel->first = 0;
    return true;
}

int weft__channel_send_now(struct weft__channel *channel, const void *item,
                           struct weft__waiter **served)
{
    if (channel->closed)
        return -EPIPE;
    if ((*served = weft__line_pop(&channel->receivers))) {
        memcpy((*served)->item, item, channel->item_size);
        return 0;
    }
    if (channel->count == channel->capacity)
        return -EAGAIN;
    if (channel->count == channel->room && !grow(channel))
        return -ENOMEM;
    memcpy(item_at(channel, channel->count++), item, channel->item_size);
    return 0;
}

int weft__channel_receive_now(struct weft__channel *channel, void *item,
                              struct weft__waiter **served)
{
    if (channel->count > 0) {
        memcpy(item, item_at(channel, 0), channel->item_size);
        channel->first = (channel->first + 1) % channel->room;
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

/* Sends or receives; *item is read or written. `when` is for WITH_LIMIT. */
static int transfer(weft *w, struct weft__channel *channel, void *item, bool send,
                    enum patience patience, uint64_t when)
{
    if (!channel || !item || channel->item_size == 0)
        return -EINVAL;
    struct weft__worker *me = weft__sync_caller(w);
    struct weft__waiter *served = NULL;
    weft__lock_take(&channel->sync.lock);
    weft__sync_used_by(&channel->sync, me);
    int result = send ? weft__channel_send_now(channel, item, &served)
                      : weft__channel_receive_now(channel, item, &served);
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
    struct weft__channel *channel = expect_channel(public, __func__);
    if (channel->item_size == 0)
        weft__fatal("weft_channel_close: the channel was destroyed, or never made");
    weft__lock_take(&channel->sync.lock);
    weft__sync_used_by(&channel->sync, weft__sync_caller(w));
    channel->closed = true;
    struct weft__waiter *senders = weft__line_take(&channel->senders);
    struct weft__waiter *receivers = weft__line_take(&channel->receivers);
    weft__sync_rouse(senders, -EPIPE);
    weft__sync_rouse(receivers, -EPIPE);
    weft__lock_drop(&channel->sync.lock);
    weft__sync_let_go(senders);
    weft__sync_let_go(receivers);
}
