/* SPDX-License-Identifier: MIT */
/* inbox.h: how any thread sends a letter to an executor, how the driver stops without missing a
 * letter, and how a fiber is woken by a letter that can be under way only once.
 *
 * A letter is a field of the object that it is about, so sending neither allocates nor fails. The
 * low bits of the link that leads to it have its kind.
 *
 *   sender  links its letter; posted = true: if it was false, the sender finds a driver
 *   driver  takes all letters; if there is nothing to do: posted = false, and looks once more */
#ifndef WEFT_ACTOR_INBOX_H
#define WEFT_ACTOR_INBOX_H

#include "os/atomic.h"

struct weft__letter {
    void *next; /* tagged */
};

enum { LETTER_KINDS = 4 };

/* The object that a letter is a field of. */
#define WEFT__LETTER_OWNER(letter, type, member) ((type *)((char *)(letter)-offsetof(type, member)))

struct weft__inbox {
    struct atomic_ptr newest; /* tagged */
    struct atomic_bool posted;
    void *driver; /* struct weft__worker; written and read by the driver */
};

/* True: the executor has no driver; the caller has to find one. */
static inline bool weft__inbox_post(struct weft__inbox *inbox)
{
    /* acq_rel A3: a driver that stops sees the letter that was sent before this; or the sender sees
     * that the driver has stopped. */
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

/* By the thread that drives the executor from now on. */
static inline void weft__inbox_drive(struct weft__inbox *inbox, void *driver)
{
    inbox->driver = driver;
}

/* The driver has nothing to do. False: a letter has come, and the driver goes on. */
static inline bool weft__inbox_stop(struct weft__inbox *inbox, void *driver)
{
    /* acq_rel A3: acquire: the letters of senders that found it true. */
    (void)atomic_exchange_acq_rel(&inbox->posted, false);
    if (!WEFT__RECHECK(weft__inbox_has_letters(inbox)))
        return true;
    if (!weft__inbox_post(inbox))
        return true;                  /* another sender has found a driver */
    weft__inbox_drive(inbox, driver); /* another driver may have come and gone in between */
    return false;
}

/* ---- Waking ---- */

/* True: the caller sends the fiber's letter. False: the letter is under way; the driver that reads
 * it will see what the caller did before. */
static inline bool weft__bell_ring(struct atomic_bool *bell)
{
    return !atomic_exchange_acq_rel(bell, true); /* acq_rel A6 with itself, and the next */
}

/* The letter has come. */
static inline void weft__bell_answer(struct atomic_bool *bell)
{
    /* acq_rel A6: what wakers did that rang since, and sent nothing. */
    (void)atomic_exchange_acq_rel(bell, false);
}

#endif
