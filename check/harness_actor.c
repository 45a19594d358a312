/* SPDX-License-Identifier: MIT */
/* Executors: letters, drivers that come and go, fibers that are woken, and victims that wait for
 * their delegates. Whoever has to see to it that an executor is driven drives it itself here. */
#include "actor/answer.h"
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

/* ---- Answers: what a victim does is a list of steps, and it goes back to its driver wherever it
 * has to wait. Its fiber is never gone; the rest is, as soon as it may be ---- */

enum { DELEGATES = 2 };

enum step {
    MERGE_0, /* the slot of this number */
    MERGE_1,
    USE_AGAIN, /* slot 0: it is forked and stolen once more */
    RUN_1,     /* slot 1, stolen by its own fiber, on top */
    AWAIT_ALL,
    END,
};

static struct weft__inbox elsewhere; /* of the executor that gets what is stolen again */
static struct weft__fiber fiber;
static struct weft_actor actor; /* the victim is its root */
static struct weft__actor_slot slots[DELEGATES];
static int frame[DELEGATES];                 /* the victim's: what right sides write to */
static struct weft__chunk chunks[DELEGATES]; /* what they allocate */

/* The driver's. */
static const enum step *step;
static bool is_used_again;   /* slot 0; slots are gone otherwise once they are merged */
static unsigned blocks_free; /* so many times the fiber's */

static void right_side(weft *w, void *arg)
{
    (void)w;
    ++*(int *)arg;
}

static void steal(unsigned i)
{
    slots[i].right = right_side;
    slots[i].lineage = 0;
    atomic_store_relaxed(&slots[i].arg, &frame[i]);
    weft__answer_expect(&slots[i], &actor.root, STOLEN_PENDING);
}

static void setup_victim(const enum step *steps, unsigned stolen)
{
    setup();
    inbox.posted.value = true; /* its first driver is a thread from the beginning */
    elsewhere = (struct weft__inbox){.posted.value = true};
    actor = (struct weft_actor){.root.fiber = &fiber};
    fiber = (struct weft__fiber){.actor = &actor, .top = &actor.root, .state = FIBER_RUNNING};
    for (unsigned i = 0; i < DELEGATES; i++) {
        slots[i] = (struct weft__actor_slot){0};
        frame[i] = 0;
        if (i < stolen)
            steal(i);
    }
    step = steps;
    is_used_again = false;
    blocks_free = 0;
}

/* ---- Delegates ---- */

static void drive_victim(void);

static void answer(struct weft__actor_slot *slot, enum stolen_state state, struct weft__fiber *here)
{
    struct weft__fiber *whose = weft__answer_count(weft__answer_give(slot, state));
    if (whose != here && weft__bell_ring(&whose->woken) &&
        weft__inbox_send(&inbox, &whose->wake, LETTER_WAKE))
        drive_victim();
}

/* What it leaves is in the slot. */
static void run_stolen(struct weft__actor_slot *slot, struct weft__fiber *here)
{
    slot->letter.next = NULL; /* it was an arrival */
    slot->right(NULL, atomic_load_relaxed(&slot->arg));
    slot->chunks = &chunks[slot - slots];
    slot->deferred = NULL;
    answer(slot, STOLEN_DONE, here);
}

static void delegate_0(void)
{
    run_stolen(&slots[0], NULL);
}

static void delegate_1(void)
{
    run_stolen(&slots[1], NULL);
}

static void refuse_1(void)
{
    slots[1].letter.next = NULL;
    answer(&slots[1], STOLEN_REFUSED, NULL);
}

/* ---- The executor that gets what is stolen again ---- */

static void drive_elsewhere(void)
{
    do {
        void *link = weft__inbox_take(&elsewhere);
        while (link) {
            unsigned kind;
            struct weft__letter *letter = weft__letter_at(link, &kind);
            link = letter->next;
            MODEL_ASSERT(letter == &slots[0].letter);
            run_stolen(&slots[0], NULL);
        }
    } while (!weft__inbox_stop(&elsewhere, NULL));
}

/* ---- The victim ---- */

static void merge(unsigned i)
{
    struct weft__actor_slot *slot = &slots[i];
    bool done = weft__answer_is(slot) == STOLEN_DONE;
    MODEL_ASSERT(!done || slot->chunks == &chunks[i]);
    if (!is_used_again)
        model_gone(slot, sizeof *slot);
    MODEL_ASSERT(frame[i] == done);
    if (!done) /* it has not begun */
        right_side(NULL, &frame[i]);
}

/* Before the other delegate has counted its answer, perhaps. */
static void use_again(void)
{
    frame[0] = 0;
    steal(0);
    if (weft__inbox_send(&elsewhere, &slots[0].letter, LETTER_DELEGATION))
        drive_elsewhere();
}

/* Nothing is left of it; see retire() of executor.c. */
static void end(void)
{
    model_gone(slots, sizeof slots);
    model_gone(frame, sizeof frame);
    model_gone(&actor, sizeof actor);
    fiber.actor = NULL;
    if (weft__bell_ring(&fiber.woken))
        blocks_free++;
}

/* False: it has to wait. */
static bool do_step(void)
{
    switch (*step) {
    case MERGE_0:
    case MERGE_1:
        if (!weft__answer_has_come(&slots[*step - MERGE_0]))
            return false;
        merge(*step - MERGE_0);
        return true;
    case USE_AGAIN:
        use_again();
        return true;
    case RUN_1:
        run_stolen(&slots[1], &fiber);
        return true;
    case AWAIT_ALL:
        return weft__answer_all_have_come(fiber.top);
    default:
        end();
        return true;
    }
}

static void run_victim(void)
{
    fiber.state = FIBER_RUNNING;
    while (fiber.actor && do_step())
        step++;
    fiber.state = FIBER_WAITING;
}

static void drive_victim(void)
{
    do {
        void *link = weft__inbox_take(&inbox);
        while (link) {
            unsigned kind;
            struct weft__letter *letter = weft__letter_at(link, &kind);
            link = letter->next;
            MODEL_ASSERT(letter == &fiber.wake);
            if (!fiber.actor) { /* as in fiber_is_awake() */
                blocks_free++;
                continue;
            }
            weft__bell_answer(&fiber.woken);
            if (fiber.state == FIBER_WAITING)
                run_victim();
        }
    } while (!weft__inbox_stop(&inbox, NULL));
}

static void be_victim(void)
{
    run_victim();
    drive_victim();
}

/* All right sides have had their effect once, and the fiber's memory can be used again. */
static void is_over(void)
{
    MODEL_ASSERT(!fiber.actor && blocks_free == 1);
}

static void one_is_done(void)
{
    is_over();
    MODEL_ASSERT(frame[0] == 1);
}

static void both_are_done(void)
{
    one_is_done();
    MODEL_ASSERT(frame[1] == 1);
}

static void setup_answer(void)
{
    static const enum step steps[] = {MERGE_0, AWAIT_ALL, END};
    setup_victim(steps, 1);
}

static void setup_answers(void)
{
    static const enum step steps[] = {MERGE_1, MERGE_0, AWAIT_ALL, END};
    setup_victim(steps, 2);
}

static void setup_unwind(void)
{
    static const enum step steps[] = {AWAIT_ALL, END};
    setup_victim(steps, 2);
}

static void setup_strict(void)
{
    static const enum step steps[] = {RUN_1, AWAIT_ALL, MERGE_1, MERGE_0, AWAIT_ALL, END};
    setup_victim(steps, 2);
}

static void setup_again(void)
{
    static const enum step steps[] = {MERGE_0, USE_AGAIN, MERGE_0, AWAIT_ALL, END};
    setup_victim(steps, 1);
    is_used_again = true;
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
    {.name = "actor-answer",
     .what = "a victim waits for what was stolen, and ends",
     .setup = setup_answer,
     .thread = {be_victim, delegate_0},
     .finish = one_is_done},
    {.name = "actor-answers",
     .what = "a victim waits for one, for the other, for the last count, and ends",
     .setup = setup_answers,
     .thread = {be_victim, delegate_0, delegate_1},
     .finish = both_are_done},
    {.name = "actor-refuse",
     .what = "a victim runs itself what was refused, and merges another",
     .setup = setup_answers,
     .thread = {be_victim, delegate_0, refuse_1},
     .finish = both_are_done},
    {.name = "actor-answer-strict",
     .what = "a victim's fiber runs one of two itself, and waits for all before it merges",
     .setup = setup_strict,
     .thread = {be_victim, delegate_0},
     .finish = both_are_done},
    {.name = "actor-answer-again",
     .what = "a slot is stolen again before its first answer is counted",
     .setup = setup_again,
     .thread = {be_victim, delegate_0, drive_elsewhere},
     .finish = one_is_done},
    {.name = "actor-unwind",
     .what = "a victim merges nothing: it waits for all, and is gone",
     .setup = setup_unwind,
     .thread = {be_victim, delegate_0, delegate_1},
     .finish = both_are_done},
    {0},
};
