/* SPDX-License-Identifier: MIT */
/* work.h: what requests compute. Each is the function of an actor: it forks as it likes, takes its
 * memory from weft_alloc(), and knows nothing of the others. */
#ifndef SERVER_WORK_H
#define SERVER_WORK_H

#include <microhttpd.h>
#include <weft/actor.h>

/* What a function gets, and what it leaves. */
struct work {
    unsigned number;               /* the argument that its kind has, or its default */
    unsigned id;                   /* of the request */
    struct MHD_Response *response; /* set last: after it nothing may fork, merge, poll or wait */
};

struct work_kind {
    const char *name; /* "/name" is its path */
    weft_actor_fn *fn;
    const char *argument; /* its name, or NULL; least, most, default */
    unsigned least, most, usual;
    bool brief; /* so many and so short that one that went well is not worth remembering */
};

/* Ends with one that has no name. */
extern const struct work_kind work_kinds[];

/* Every greedy request that runs now ends by itself, and is answered. */
void work_stop_greedy(void);

#endif
