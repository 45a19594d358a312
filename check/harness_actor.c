/* SPDX-License-Identifier: MIT */
/* Executors: letters, drivers that come and go, and fibers that are woken. Whoever has to see to
 * it that an executor is driven drives it itself here. */
#include "actor/inbox.h"
#include "harnesses.h"

enum { WAKERS = 2, LETTERS = 3 };

static struct weft__inbox inbox;
static struct weft__letter letters[LETTERS], wake;
static struct atomic_bool bell;
static struct atomic_bool condition[WAKERS];
static int message[LETTERS];

/* The driver's: two at once would race. */
static int delivered[LETTERS];
static bool seen[WAKERS];

static void setup(void)
{
    inbox = (struct weft__inbox){0};
    bell = (struct atomic_bool){0};
    for (int i = 0; i < LETTERS; i++) {
        letters[i] = (struct weft__letter){0};
        message[i] = delivered[i] = 0;
    }
    for (int i = 0; i < WAKERS; i++) {
        condition[i] = (struct atomic_bool){0};
        seen[i] = false;
    }
}

/* ---- Letters ---- */

static void drive_letters(void *me)
{
    weft__inbox_drive(&inbox, me);
    do {
        MODEL_ASSERT(inbox.driver == me);
        void *link = weft__inbox_take(&inbox);
        while (link) {
            unsigned kind;
            struct weft__letter *letter = weft__letter_at(link, &kind);
            link = letter->next;
            MODEL_ASSERT(letter == &letters[kind] && message[kind] == 1);
            delivered[kind]++;
        }
    } while (!weft__inbox_stop(&inbox, me));
}

static void send(unsigned i)
{
    message[i] = 1;
    if (weft__inbox_send(&inbox, &letters[i], i))
        drive_letters(&letters[i]);
}

static void send_one(void)
{
    send(0);
}

static void send_two(void)
{
    send(1);
    send(2);
}

static void all_delivered(void)
{
    for (int i = 0; i < LETTERS; i++)
        MODEL_ASSERT(delivered[i] == 1);
}

/* ---- Waking: the fiber looks at what it waits for whenever its letter comes ---- */

static void fiber_looks(void)
{
    for (int i = 0; i < WAKERS; i++) {
        if (!atomic_load_relaxed(&condition[i]))
            continue;
        seen[i] = true;
    }
}

static void drive_fiber(void)
{
    do {
        void *link = weft__inbox_take(&inbox);
        while (link) {
            unsigned kind;
            struct weft__letter *letter = weft__letter_at(link, &kind);
            link = letter->next;
            weft__bell_answer(&bell);
            fiber_looks();
        }
    } while (!weft__inbox_stop(&inbox, NULL));
}

static void wake_fiber(unsigned i)
{
    atomic_store_relaxed(&condition[i], true); /* relaxed: the bell publishes it */
    if (weft__bell_ring(&bell) && weft__inbox_send(&inbox, &wake, 1))
        drive_fiber();
}

static void wake_first(void)
{
    wake_fiber(0);
}

static void wake_second(void)
{
    wake_fiber(1);
}

static void all_seen(void)
{
    for (int i = 0; i < WAKERS; i++)
        MODEL_ASSERT(seen[i]);
}

const struct harness actor_harnesses[] = {
    {.name = "actor-letters",
     .what = "three letters, and a driver that may stop in between",
     .setup = setup,
     .thread = {send_one, send_two},
     .finish = all_delivered},
    {.name = "actor-wake",
     .what = "a fiber is woken twice, by one letter or two",
     .setup = setup,
     .thread = {wake_first, wake_second},
     .finish = all_seen},
    {0},
};
