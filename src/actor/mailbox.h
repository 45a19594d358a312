/* SPDX-License-Identifier: MIT */
/* mailbox.h: messages that wait for an actor.
 *
 * What waits is limited when the actor is made, and counts from then on, full or empty: it is taken
 * off the actor's limit, as the stack is. Who sends too much waits, or is told. So what others
 * send, and when, decides nothing about what the actor can allocate. */
#ifndef WEFT_ACTOR_MAILBOX_H
#define WEFT_ACTOR_MAILBOX_H

#include "actor/actor.h"

enum { MAILBOX_USUAL = 16 }; /* messages; the memory of so many is part of WEFT_ACTOR_STACK */

/* What a mailbox for so many takes off the limit. */
static inline size_t weft__mailbox_bytes(size_t messages)
{
    return messages > MAILBOX_USUAL ? (messages - MAILBOX_USUAL) * sizeof(void *) : 0;
}

#endif
