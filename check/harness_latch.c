/* SPDX-License-Identifier: MIT */
/* Latches and parking places by themselves: set against sleep, and who may touch what after
 * the set. */
#include "harnesses.h"
#include "sleep/latch.h"

static struct weft__spin_latch spin;
static struct weft__count_latch count;
static struct weft__latch outside;
static struct weft__park park;
static int result;

static void setup(void)
{
    park = (struct weft__park){.cpu = {-1}};
    spin = (struct weft__spin_latch){.owner = &park};
    count = (struct weft__count_latch){0};
    weft__count_latch_init(&count, &park, 2);
    outside = (struct weft__latch){0};
}

/* As weft__sleep_uncounted() does. */
static void sleep_on(struct weft__latch *latch)
{
    while (!weft__latch_probe(latch)) {
        if (!weft__latch_doze(latch))
            continue;
        weft__park_drowse(&park, false);
        if (weft__latch_sleep(latch))
            (void)weft__park_sleep(&park, NULL, weft__one_nap(0));
        else
            weft__park_get_up(&park);
        weft__latch_get_up(latch);
    }
    MODEL_ASSERT(result == 1);
}

static void wait_spin(void)
{
    sleep_on(&spin.core);
    spin.owner = NULL; /* bug 1: a setter that reads it only now races with this */
    model_gone(&spin, sizeof spin);
}

static void set_spin(void)
{
    result = 1;
    weft__spin_latch_set(&spin);
}

/* Somebody else wakes the owner, for another reason and perhaps late. */
static void wake_owner(void)
{
    weft__park_wake(&park);
}

static void let_owner_go(void)
{
    weft__park_unpin(&park);
}

static void wait_count(void)
{
    sleep_on(&count.spin.core);
    model_gone(&count, sizeof count); /* bug 3 */
}

static void count_down(void)
{
    weft__count_latch_down(&count);
}

static void set_and_count_down(void)
{
    result = 1;
    weft__count_latch_down(&count);
}

static void wait_outside(void)
{
    weft__lock_latch_wait(&outside);
    MODEL_ASSERT(result == 1);
    model_gone(&outside, sizeof outside);
}

static void set_outside(void)
{
    result = 1;
    weft__lock_latch_set(&outside);
}

/* What the setter holds until it has set the latch, and a waiter uses. */
static struct {
    uint64_t value; /* by itself in a word */
} held;
static int drops;

static void setup_held(void)
{
    setup();
    held.value = 1;
}

static void drop(void)
{
    MODEL_ASSERT(result == 1);
    MODEL_ASSERT(++drops == 1); /* a race, if two do */
    model_gone(&held, sizeof held);
}

static void borrow_and_wait(void)
{
    if (weft__lock_latch_borrow(&outside)) {
        MODEL_ASSERT(held.value == 1);
        if (!weft__lock_latch_return(&outside))
            drop();
    }
    weft__lock_latch_wait(&outside);
    MODEL_ASSERT(result == 1);
}

static void set_and_drop(void)
{
    result = 1;
    if (weft__lock_latch_set(&outside))
        drop();
}

/* Where the owner may run: one at a time changes it and puts it back, and not after its end. */
static bool elsewhere;

void thread_moves(bool begins)
{
    MODEL_ASSERT(elsewhere != begins);
    elsewhere = begins;
}

static void setup_moved(void)
{
    setup();
    park.cpu = (struct atomic_i32){1};
    park.thread = (struct atomic_i32){1}; /* lent */
    elsewhere = false;
}

static void end(void)
{
    weft__park_take_back(&park);
    MODEL_ASSERT(!park.pin.thread);
    thread_moves(true); /* it has ended: nobody else does that any more */
}

static void wait_and_end(void)
{
    sleep_on(&spin.core);
    end();
}

static void wait_and_move(void)
{
    sleep_on(&spin.core);
    weft__park_go_to(&park, 0);
    end();
}

const struct harness latch_harnesses[] = {
    {.name = "latch-spin",
     .what = "set against sleep",
     .setup = setup,
     .thread = {wait_spin, set_spin}},
    {.name = "latch-spin-woken",
     .what = "set against sleep, and another wake-up",
     .setup = setup,
     .thread = {wait_spin, set_spin, wake_owner}},
    {.name = "latch-moved",
     .what = "its waker and the look-out move a thread that ends",
     .setup = setup_moved,
     .thread = {wait_and_end, set_spin, let_owner_go}},
    {.name = "latch-moves",
     .what = "its waker and the look-out move a thread that moves itself, and ends",
     .setup = setup_moved,
     .thread = {wait_and_move, set_spin, let_owner_go}},
    {.name = "latch-count",
     .what = "the last of two counts sets it",
     .setup = setup,
     .thread = {wait_count, count_down, set_and_count_down}},
    {.name = "latch-borrow",
     .what = "a waiter uses what the setter holds, and then drops it in its place",
     .setup = setup_held,
     .thread = {borrow_and_wait, set_and_drop}},
    {.name = "latch-borrow-two",
     .what = "two waiters do",
     .setup = setup_held,
     .thread = {borrow_and_wait, borrow_and_wait, set_and_drop},
     .stale = 1},
    {.name = "latch-outside",
     .what = "a thread that is no worker waits",
     .setup = setup,
     .thread = {wait_outside, set_outside}},
    {0},
};
