/* SPDX-License-Identifier: MIT */
/* inbox.h: how anybody hands something to an executor, how its driver stops without missing it,
 * and how a fiber is woken by a letter that can be under way only once.
 *
 * A letter stands inside what it is about, so that sending neither allocates nor fails. Which kind
 * it is, is in the low bits of the link that leads to it.
 *
 *   sender  links its letter; posted = true: if it was false, somebody has to drive the executor
 *   driver  takes all letters; if nothing is left to do: posted = false, and looks once more */
#ifndef WEFT_ACTOR_INBOX_H
#define WEFT_ACTOR_INBOX_H

#include "os/atomic.h"

struct weft__letter {
    void *next; /* tagged */
};

enum { LETTER_KINDS = 4 };

/* What a letter stands in. */
#define WEFT__LETTER_OWNER(letter, type, member) ((type *)((char *)(letter)-offsetof(type, member)))

struct weft__inbox {
    struct atomic_ptr newest; /* tagged */
    struct atomic_bool posted;
    void *driver; /* its own note */
};

/* True: nobody drives it; the caller has to see to that. */
static inline bool weft__inbox_post(struct weft__inbox *inbox)
{
    /* acq_rel A3: the driver that stops sees the letter that was sent before this, or this sees
     * that it has stopped. */
    return !atomic_exchange_acq_rel(&inbox->posted, true);
}

static inline bool weft__inbox_send(struct weft__inbox *inbox, struct weft__letter *letter,
                                    unsigned kind)
{
    void *newest = atomic_load_relaxed(&inbox->newest); /* relaxed: the exchange decides */
    do
        letter->next = newest;
    while (!atomic_cas_release(&inbox->newest, &newest, /* release A2: the letter, and all before */
                               (char *)letter + kind));
    return weft__inbox_post(inbox);
}

/* A hint. */
static inline bool weft__inbox_has_letters(const struct weft__inbox *inbox)
{
    return atomic_load_relaxed(&inbox->newest); /* relaxed: a hint */
}

static inline struct weft__letter *weft__letter_at(void *link, unsigned *kind)
{
    *kind = (unsigned)((uintptr_t)link % LETTER_KINDS);
    return (struct weft__letter *)(void *)((char *)link - *kind);
}

/* All letters, the oldest first, linked; NULL: none. */
static inline void *weft__inbox_take(struct weft__inbox *inbox)
{
    void *oldest = NULL;
    if (!weft__inbox_has_letters(inbox))
        return NULL;
    void *newest = atomic_exchange_acquire(&inbox->newest, NULL); /* acquire A2 */
    while (newest) {                                              /* turns the list round */
        unsigned kind;
        struct weft__letter *letter = weft__letter_at(newest, &kind);
        void *next = letter->next;
        letter->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

/* By who has got the executor. */
static inline void weft__inbox_drive(struct weft__inbox *inbox, void *driver)
{
    inbox->driver = driver;
}

/* The driver has nothing left to do. False: it has, and goes on. */
static inline bool weft__inbox_stop(struct weft__inbox *inbox, void *driver)
{
    /* acq_rel A3: acquire: letters of those who found it true. */
    (void)atomic_exchange_acq_rel(&inbox->posted, false);
    if (!WEFT__RECHECK(weft__inbox_has_letters(inbox)))
        return true;
    if (!weft__inbox_post(inbox))
        return true;                  /* somebody else drives it */
    weft__inbox_drive(inbox, driver); /* as somebody else may have done in between */
    return false;
}

/* ---- Waking ---- */

/* True: the fiber's letter is to be sent. False: it is on its way; who reads it will see what the
 * caller did before. */
static inline bool weft__bell_ring(struct atomic_bool *bell)
{
    return !atomic_exchange_acq_rel(bell, true); /* acq_rel A6 with itself, and the next */
}

/* The letter has come. */
static inline void weft__bell_answer(struct atomic_bool *bell)
{
    (void)atomic_exchange_acq_rel(bell, false); /* acq_rel A6: who rang since, and sent nothing */
}

#endif
