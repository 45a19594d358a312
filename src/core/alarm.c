/* SPDX-License-Identifier: MIT */
#include "core/alarm.h"

#include "core/pool.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/lock.h"

static struct weft__lock lock;

enum { LINGER_NS = 1000000000 };     /* how long the thread stays without an alarm */
#define FOR_EVER_NS (UINT64_MAX / 4) /* a time that the kernel takes */

void weft__alarms_lock(void)
{
    weft__lock_take(&lock);
}

void weft__alarms_unlock(void)
{
    weft__lock_drop(&lock);
}

void weft__alarms_forked(void)
{
    lock = (struct weft__lock){0};
}

static void take_out(struct weft__alarm *alarm)
{
    weft__heap_take(&alarm->pool->alarms.heap, &alarm->moment);
    alarm->pool = NULL;
}

static void ring_all(struct weft__alarms *alarms, uint64_t now)
{
    struct weft__moment *first;
    while ((first = alarms->heap.first) && first->when <= now) {
        struct weft__alarm *alarm = (struct weft__alarm *)first;
        take_out(alarm);
        alarm->ring(alarm);
    }
}

/* Has the lock, except while it sleeps. */
static void serve(struct weft__alarms *alarms)
{
    uint64_t idle = 0; /* since when there has been no alarm; 0: there is one, or will be */
    for (;;) {
        uint64_t now = weft__clock_now();
        ring_all(alarms, now);
        const struct weft__moment *first = alarms->heap.first;
        bool needed = first || alarms->expected > 0;
        idle = needed ? 0 : idle ? idle : now;
        if (!needed && (alarms->stop || now - idle >= LINGER_NS))
            break;
        uint64_t wait = first ? first->when - now : needed ? FOR_EVER_NS : idle + LINGER_NS - now;
        uint32_t word = atomic_load_relaxed(&alarms->word); /* relaxed: written under the lock */
        weft__alarms_unlock();
        weft__futex_wait_for(&alarms->word, word, wait);
        weft__alarms_lock();
    }
}

static void *run(void *arg)
{
    struct weft_pool *pool = arg;
    pthread_setname_np(pthread_self(), "weft-alarms");
    weft__thread_be_punctual();
    weft__alarms_lock();
    serve(&pool->alarms);
    pool->alarms.state = ALARMS_LEFT;
    weft__alarms_unlock();
    return NULL;
}

/* Under the lock. */
static int start(struct weft_pool *pool)
{
    struct weft__alarms *alarms = &pool->alarms;
    if (alarms->state == ALARMS_SERVED)
        return 0;
    if (alarms->state == ALARMS_LEFT)
        pthread_join(alarms->thread, NULL); /* it waits for nothing */
    int error = weft__thread_start(&alarms->thread, pool->config.stack_size, -1, run, pool);
    alarms->state = error ? ALARMS_NONE : ALARMS_SERVED;
    alarms->used |= !error;
    return error;
}

static void look_again(struct weft__alarms *alarms)
{
    atomic_fetch_add_relaxed(&alarms->word, 1); /* relaxed: the lock orders it */
    weft__futex_wake(&alarms->word, 1);
}

int weft__alarm_set_locked(struct weft_pool *pool, struct weft__alarm *alarm, uint64_t when,
                           void (*ring)(struct weft__alarm *alarm))
{
    int error = start(pool);
    if (error)
        return error;
    *alarm = (struct weft__alarm){.moment.when = when, .ring = ring, .pool = pool};
    weft__heap_put(&pool->alarms.heap, &alarm->moment);
    if (pool->alarms.heap.first == &alarm->moment)
        look_again(&pool->alarms);
    return 0;
}

void weft__alarm_take_back_locked(struct weft__alarm *alarm)
{
    if (alarm->pool)
        take_out(alarm);
}

int weft__alarm_set(struct weft_pool *pool, struct weft__alarm *alarm, uint64_t when,
                    void (*ring)(struct weft__alarm *alarm))
{
    weft__alarms_lock();
    int error = weft__alarm_set_locked(pool, alarm, when, ring);
    weft__alarms_unlock();
    return error;
}

void weft__alarm_take_back(struct weft__alarm *alarm)
{
    weft__alarms_lock();
    weft__alarm_take_back_locked(alarm);
    weft__alarms_unlock();
}

void weft__alarm_expect(struct weft_pool *pool, bool comes)
{
    struct weft__alarms *alarms = &pool->alarms;
    alarms->expected += comes ? 1u : -1u;
    if (alarms->expected == 0 && !alarms->heap.first)
        look_again(alarms);
}

void weft__alarms_stop(struct weft_pool *pool)
{
    struct weft__alarms *alarms = &pool->alarms;
    if (!alarms->used)
        return;
    weft__alarms_lock();
    bool served = alarms->state != ALARMS_NONE;
    alarms->stop = true;
    look_again(alarms);
    weft__alarms_unlock();
    if (served)
        pthread_join(alarms->thread, NULL);
}
