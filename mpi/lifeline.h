/* SPDX-License-Identifier: MIT */
/* lifeline.h: which rank asks which for work, and when the work of all is done. A machine without
 * threads and without MPI: its owner holds a lock, passes on what it sends, and tells it what
 * comes. Messages from one rank to another must arrive in the order in which they were sent.
 *
 *                                     NONE, tries left: STEAL
 *                                         +------+
 *   BUSY -idle: LIFELINE to all, STEAL-> ASKING <-+ -NONE, no tries left-> DORMANT
 *     ^                                   |                                   |
 *     +---------------LOOT----------------+----------------LOOT---------------+
 *
 * A rank without work asks its lifelines, which are the ranks whose number differs in one bit: log2
 * of the ranks. A lifeline never says no, it gives when it has something. So work that one rank has
 * reaches all others along lifelines. At the same time it asks TRIES others at random, one after
 * the other; then it is DORMANT, and sends nothing. Ranks begin BUSY, or DORMANT with their
 * lifelines asked. A BUSY rank that has a worker without work may ask one at random, too: then it
 * is BUSY and waits for one answer.
 *
 * In the papers lifelines are asked after the tries: with more threads than CPUs an answer takes
 * milliseconds, and the sum of several was too long.
 *
 * The end is found as by Dijkstra and Scholten; README.md has the argument. Rank 0 decides it, or
 * the code of the first failure that it hears of, and END tells all ranks. */
#ifndef WEFT_MPI_LIFELINE_H
#define WEFT_MPI_LIFELINE_H

#include <stdbool.h>
#include <stdint.h>

enum weft__bag_kind {
    WEFT__BAG_STEAL,    /* a thief asks a rank that it has chosen at random: LOOT or NONE */
    WEFT__BAG_LIFELINE, /* a thief asks a lifeline: LOOT, some time */
    WEFT__BAG_LOOT,     /* code 1: for a lifeline; size: of what follows */
    WEFT__BAG_NONE,
    WEFT__BAG_ACK,  /* the work that you gave me is done, or another rank answers for it */
    WEFT__BAG_FAIL, /* to rank 0: code */
    WEFT__BAG_END,  /* from rank 0, along the tree: code, 0 if all is done */
    WEFT__BAG_QUIT, /* to itself, the last: not of this machine */
};

struct weft__bag_message {
    int32_t kind, code;
    uint64_t size;
};

enum { WEFT__BAG_NOBODY = -1, WEFT__BAG_TRIES = 4 };

struct weft__lifeline {
    int me, ranks;
    int tries_most;
    bool is_busy;    /* has work, or some is on the way here */
    unsigned coming; /* LOOT that no hand has taken yet */
    bool is_young;   /* has had work for a short time only, and may be done soon: it gives nothing.
                        Set by the owner, who knows the time */
    bool has_failed; /* its work is lost, so it never sends the ACK: the run can only end by FAIL */
    bool is_over;    /* END has come */
    int32_t code;    /* then */
    int parent;      /* who waits for this rank's ACK; NOBODY: this rank answers for nothing */
    uint64_t owed;   /* ACKs that others owe this rank */
    int victim;      /* whose answer is to come; NOBODY */
    int tries;       /* at random, that are left */
    uint32_t asked;  /* lifelines that were asked and have not given yet, by bit */
    uint32_t askers; /* those that have asked here */
    int *thieves;    /* those that have chosen this rank at random: room for all ranks */
    int n_thieves;
    void (*send)(void *context, int to, const struct weft__bag_message *message);
    void *context;
};

/* All ranks begin, with work or without. me, ranks, tries_most, thieves, send and context are set
 * by the caller. */
void weft__lifeline_begin(struct weft__lifeline *m, bool is_busy);

/* A message has come. LOOT: the rank is busy from now on. `random` is any number, here and below:
 * whom to ask. */
void weft__lifeline_receive(struct weft__lifeline *m, int from,
                            const struct weft__bag_message *message, uint64_t random);

/* A hand has taken what some LOOT brought. */
void weft__lifeline_take(struct weft__lifeline *m);

/* The rank has work, but not for all its workers: it asks one other rank, unless it waits for an
 * answer already. NONE is the end of that. */
void weft__lifeline_hungry(struct weft__lifeline *m, uint64_t random);

/* No hand has work any more. If some has come that none has taken, nothing happens: the caller has
 * to take it. */
void weft__lifeline_idle(struct weft__lifeline *m, uint64_t random);

struct weft__thief {
    int rank;
    bool by_lifeline;
};

/* The next that waits for work here; false: none. It is given something, or refused. */
bool weft__lifeline_next_thief(struct weft__lifeline *m, struct weft__thief *thief);

/* What to send to it, with `size` bytes of work behind. */
struct weft__bag_message weft__lifeline_give(struct weft__lifeline *m,
                                             const struct weft__thief *thief, uint64_t size);

/* There is too little to share. A thief that has a lifeline here goes on waiting. */
void weft__lifeline_refuse(struct weft__lifeline *m, const struct weft__thief *thief);

/* The rank can't go on. END comes in answer, from rank 0, sooner or later. */
void weft__lifeline_fail(struct weft__lifeline *m, int32_t code);

#endif
