/* SPDX-License-Identifier: MIT */
/* A mutex, used by threads outside (NULL) and by workers. */
#include "blocking.h"
#include "sync/mutex.h"

static weft_mutex mutex;
static int data, refused;

static void setup(void)
{
    weft_mutex_init(&mutex, "mutex");
}

static void setup_pool(void)
{
    setup();
    make_pool(2, -1, false_report);
}

static void setup_pool_of_one(void)
{
    setup();
    make_pool(1, -1, false_report);
}

static void use_mutex(weft *w)
{
    weft_mutex_lock(w, &mutex);
    data++;
    weft_mutex_unlock(w, &mutex);
}

static void mutex_outside(void)
{
    use_mutex(NULL);
}

static void mutex_outside_twice(void)
{
    use_mutex(NULL);
    use_mutex(NULL);
}

static void mutex_first(void)
{
    use_mutex(be_worker(0));
    leave_pool(0);
}

static void mutex_second(void)
{
    use_mutex(be_worker(1));
    leave_pool(1);
}

static void mutex_try(void)
{
    if (weft_mutex_trylock(NULL, &mutex)) {
        data++;
        weft_mutex_unlock(NULL, &mutex);
    } else {
        refused = 1;
    }
}

/* Who has it last frees it: the one before may still be on its way out. */
static void mutex_free(void)
{
    weft_mutex_lock(NULL, &mutex);
    bool last = ++data == 2;
    weft_mutex_unlock(NULL, &mutex);
    if (last)
        model_gone(&mutex, sizeof mutex);
}

/* One stands in line while another takes the mutex as often as it can. */

static void mutex_stand_in_line(void)
{
    use_mutex(NULL);
}

static void mutex_pass(void)
{
    int passes = 0;
    const struct weft__mutex *inner = (const struct weft__mutex *)(void *)&mutex;
    weft_mutex_lock(NULL, &mutex);
    while (data == 0 && !(atomic_load_relaxed(&inner->word) & MUTEX_LINE)) /* relaxed: a flag */
        model_yield();
    weft_mutex_unlock(NULL, &mutex);
    for (int i = 0; i <= WEFT__MUTEX_PASSES; i++) {
        if (!weft_mutex_trylock(NULL, &mutex))
            continue;
        passes += data == 0;
        weft_mutex_unlock(NULL, &mutex);
    }
    MODEL_ASSERT(passes <= WEFT__MUTEX_PASSES);
}

static void is_one(void)
{
    MODEL_ASSERT(data == 1);
}

static void is_two(void)
{
    MODEL_ASSERT(data == 2);
}

static void is_three(void)
{
    MODEL_ASSERT(data == 3);
}

static void two_and_one_tried(void)
{
    MODEL_ASSERT(data + refused == 3);
}

static void one_tried(void)
{
    MODEL_ASSERT(data + refused == 2);
}

const struct harness mutex_harnesses[] = {
    {.name = "mutex-two",
     .what = "two threads outside, one of them twice",
     .setup = setup,
     .thread = {mutex_outside_twice, mutex_outside},
     .finish = is_three},
    {.name = "mutex-three",
     .what = "three threads outside",
     .setup = setup,
     .thread = {mutex_outside, mutex_outside, mutex_outside},
     .finish = is_three,
     .stale = 1},
    {.name = "mutex-try",
     .what = "lock against trylock",
     .setup = setup,
     .thread = {mutex_outside, mutex_try},
     .finish = one_tried},
    {.name = "mutex-free",
     .what = "the last holder frees it",
     .setup = setup,
     .thread = {mutex_free, mutex_free}},
    {.name = "mutex-workers",
     .what = "two workers",
     .setup = setup_pool,
     .thread = {mutex_first, mutex_second},
     .finish = is_two},
    {.name = "mutex-both",
     .what = "a worker and a thread outside",
     .setup = setup_pool_of_one,
     .thread = {mutex_first, mutex_outside},
     .finish = is_two},
    {.name = "mutex-line",
     .what = "two workers and a thread outside",
     .setup = setup_pool,
     .thread = {mutex_first, mutex_second, mutex_outside},
     .finish = is_three,
     .stale = 1},
    {.name = "mutex-pass",
     .what = "a third thread takes it while the one that waited is on its way",
     .setup = setup,
     .thread = {mutex_outside, mutex_outside, mutex_try},
     .finish = two_and_one_tried,
     .stale = 1},
    {.name = "mutex-bound",
     .what = "who waits is passed no more often than it should be",
     .setup = setup,
     .thread = {mutex_stand_in_line, mutex_pass},
     .finish = is_one},
    {0},
};
