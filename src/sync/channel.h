/* SPDX-License-Identifier: MIT */
/* channel.h: a ring of items, a line of receivers while it is empty, a line of senders while it is
 * full. There are never items and waiting receivers, or free places and waiting senders: the first
 * in line is served directly. */
#ifndef WEFT_SYNC_CHANNEL_H
#define WEFT_SYNC_CHANNEL_H

#include "sync/sync.h"

struct weft__channel {
    struct weft__sync sync;
    struct weft__line senders, receivers;
    size_t item_size;    /* 0: the channel is destroyed, or was never made */
    size_t capacity;     /* WEFT_UNLIMITED: the ring grows */
    size_t room;         /* so many items fit into the ring */
    size_t first, count; /* of the items in the ring */
    bool closed;
    char *ring;
};

/* Under the lock. 0: done; *served: the waiter whose wait is over, or NULL. -EPIPE; -EAGAIN: it
 * would have to wait; -ENOMEM: there is no memory for a larger ring. */
int weft__channel_send_now(struct weft__channel *channel, const void *item,
                           struct weft__waiter **served);
int weft__channel_receive_now(struct weft__channel *channel, void *item,
                              struct weft__waiter **served);

#endif
