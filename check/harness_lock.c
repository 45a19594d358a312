/* SPDX-License-Identifier: MIT */
/* The library's own lock, step by step; all other harnesses have it in one step. */
#define WEFT_MODEL_LOCK
#include "core/lock.h"

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
    model_plain_write(&data, "what the lock protects");
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
    model_plain_write(&data, "what the lock protects");
    weft__lock_drop(&lock);
}

static void all_entered(void)
{
    MODEL_ASSERT(entered == 3);
}

const struct harness lock_harnesses[] = {
    {"lock", "three threads enter", setup, {enter, enter, enter}, all_entered, false, 0},
    {"lock-twice", "one comes back at once", setup, {enter_twice, enter}, all_entered, false, 0},
    {"lock-try", "one only tries", setup, {enter_twice, try_to_enter}, NULL, false, 0},
    {0},
};
