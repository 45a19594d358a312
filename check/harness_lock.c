/* SPDX-License-Identifier: MIT */
/* The library's own lock, step by step; all other harnesses have it in one step. */
#include "../src/os/lock.h"

#include "harnesses.h"

static struct weft__lock lock;
static int data;
static unsigned entered;

static void setup(void)
{
    lock = (struct weft__lock){0};
    entered = 0;
}

static void enter(void)
{
    weft__lock_take(&lock);
    data = 1;
    entered++;
    weft__lock_drop(&lock);
}

static void enter_twice(void)
{
    enter();
    enter();
}

static void try_to_enter(void)
{
    if (!weft__lock_try(&lock))
        return;
    data = 1;
    weft__lock_drop(&lock);
}

static void all_entered(void)
{
    MODEL_ASSERT(entered == 3);
}

const struct harness lock_harnesses[] = {
    {.name = "lock",
     .what = "three threads enter",
     .setup = setup,
     .thread = {enter, enter, enter},
     .finish = all_entered},
    {.name = "lock-twice",
     .what = "one comes back at once",
     .setup = setup,
     .thread = {enter_twice, enter},
     .finish = all_entered},
    {.name = "lock-try",
     .what = "one only tries",
     .setup = setup,
     .thread = {enter_twice, try_to_enter}},
    {0},
};
