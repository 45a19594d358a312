/* SPDX-License-Identifier: MIT */
/* mailbox.h: messages that wait for an actor.
 *
 * The size of a mailbox is fixed when the actor is made, and is taken off the actor's limit then,
 * full or empty, as the stack is. A sender to a full mailbox waits, or gets -EAGAIN. So what the
 * actor can allocate does not depend on what senders do, and when. */
#ifndef WEFT_ACTOR_MAILBOX_H
#define WEFT_ACTOR_MAILBOX_H

#include "actor/actor.h"

enum { MAILBOX_USUAL = 16 }; /* messages; WEFT_ACTOR_STACK includes their memory */

/* What a mailbox of this size takes off the limit. */
static inline size_t weft__mailbox_bytes(size_t messages)
{
    return messages > MAILBOX_USUAL ? (messages - MAILBOX_USUAL) * sizeof(void *) : 0;
}

#endif
