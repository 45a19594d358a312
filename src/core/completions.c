/* SPDX-License-Identifier: MIT */
#include "core/completions.h"

#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/until.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/memory.h"
#include "sleep/sleep.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A thread, or an actor, that waits for a task. Lies in its frame. */
struct weft__consumer {
    struct weft__until until; /* first */
    struct weft_completions *queue;
    struct weft__consumer *next, *prev; /* under the queue's lock */
    bool waits;                         /* it is in the queue's list; under the queue's lock */
    struct weft__task *task;            /* what it got, or NULL. Valid once the latch is set */
};

/* ---- Under the lock ---- */

static void append(struct weft_completions *queue, struct weft__consumer *consumer)
{
    queue->calls++;
    consumer->waits = true;
    consumer->prev = queue->last_waiting;
    if (queue->last_waiting)
        queue->last_waiting->next = consumer;
    else
        queue->first_waiting = consumer;
    queue->last_waiting = consumer;
}

/* False: another thread has taken it out, and sets its latch. */
static bool take_out(struct weft__consumer *consumer)
{
    struct weft_completions *queue = consumer->queue;
    if (!consumer->waits)
        return false;
    consumer->waits = false;
    if (consumer->prev)
        consumer->prev->next = consumer->next;
    else
        queue->first_waiting = consumer->next;
    if (consumer->next)
        consumer->next->prev = consumer->prev;
    else
        queue->last_waiting = consumer->prev;
    return true;
}

/* True: the caller drops the lock and then calls tell(). Until that is over, the queue is not
 * freed. */
static bool must_tell(struct weft_completions *queue)
{
    if (queue->fd < 0 || queue->told)
        return false;
    queue->told = true;
    queue->unread++;
    if (queue->writers++ == 0)
        weft__lock_take(&queue->writing); /* it is free: only the last of them drops it */
    return true;
}

/* Does another pool end a task that the caller waits for? Or any thread, by submitting one. */
static bool ends_elsewhere(const struct weft_completions *queue)
{
    return queue->pending == 0 || queue->several || weft__is_elsewhere(queue->pool);
}

/* The oldest task, or NULL. */
static struct weft__task *take(struct weft_completions *queue)
{
    struct weft__node *node = queue->first;
    if (node) {
        queue->first = node->next;
        queue->pending--;
    } else if (queue->unread > 0) {
        eventfd_t written;
        if (eventfd_read(queue->fd, &written) == 0) /* else a writer has not come so far yet */
            queue->unread -= written;
        queue->told = false;
    }
    return (struct weft__task *)node;
}

/* ---- Without the lock ---- */

/* The write may wake a thread on this CPU, which then runs at once and takes the lock. */
static void tell(struct weft_completions *queue)
{
    eventfd_write(queue->fd, 1);
    weft__lock_take(&queue->lock);
    if (--queue->writers == 0)
        weft__lock_drop(&queue->writing);
    weft__lock_drop(&queue->lock);
}

/* No task is left, so no more writers come. */
static void wait_for_writers(struct weft_completions *queue)
{
    weft__lock_take(&queue->writing);
    weft__lock_take(&queue->lock); /* the last writer still had it */
}

/* ---- By the threads that end tasks ---- */

void weft__completions_expect(struct weft_completions *queue, const struct weft_pool *pool)
{
    weft__lock_take(&queue->lock);
    queue->several |= queue->pool && queue->pool != pool;
    queue->pool = pool;
    queue->pending++;
    weft__lock_drop(&queue->lock);
}

void weft__completions_put(struct weft_completions *queue, struct weft__task *task)
{
    struct weft__node *node = &task->node;
    bool tells = false;
    weft__lock_take(&queue->lock);
    struct weft__consumer *consumer = queue->first_waiting;
    if (consumer) {
        take_out(consumer);
        queue->pending--;
        consumer->task = task;
    } else {
        node->next = NULL;
        if (queue->first)
            queue->last->next = node;
        else
            queue->first = node;
        queue->last = node;
        tells = must_tell(queue);
    }
    weft__lock_drop(&queue->lock);
    if (consumer)
        weft__spin_latch_set(
            &consumer->until.latch); /* until then it waits, and its frame exists */
    else if (tells)
        tell(queue);
}

static bool is_forked(const struct weft_completions *queue)
{
    return queue->fork_count != weft__fork_count();
}

int weft__completions_check(const struct weft_completions *queue)
{
    return is_forked(queue) ? -ECHILD : 0;
}

/* ---- By the program ---- */

int weft_completions_create(weft_completions **out)
{
    if (!out)
        return -EINVAL;
    struct weft_completions *queue = *out = weft__alloc(sizeof *queue);
    if (!queue)
        return -ENOMEM;
    queue->fork_count = weft__fork_count();
    queue->fd = -1;
    return 0;
}

int weft_completions_destroy(weft_completions *queue)
{
    if (!queue)
        return -EINVAL;
    if (!is_forked(queue)) { /* in a forked child, its tasks are the parent's */
        weft__lock_take(&queue->lock);
        bool used = queue->pending > 0 || queue->calls > 0;
        weft__lock_drop(&queue->lock);
        if (used)
            return -EBUSY;
        wait_for_writers(queue);
    }
    if (queue->fd >= 0)
        close(queue->fd);
    weft__free(queue);
    return 0;
}

int weft_completions_fd(weft_completions *queue)
{
    if (!queue)
        return -EINVAL;
    if (is_forked(queue))
        return -ECHILD;
    weft__lock_take(&queue->lock);
    if (queue->fd < 0)
        queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int fd = queue->fd < 0 ? -errno : queue->fd;
    bool tells = queue->first && must_tell(queue);
    weft__lock_drop(&queue->lock);
    if (tells)
        tell(queue);
    return fd;
}

int weft_completions_next(weft_completions *queue, weft_task **task)
{
    if (!queue || !task)
        return -EINVAL;
    if (is_forked(queue))
        return -ECHILD;
    weft__lock_take(&queue->lock);
    struct weft__task *first = take(queue);
    weft__lock_drop(&queue->lock);
    *task = (weft_task *)(void *)first;
    return first ? 0 : -EAGAIN;
}

/* ---- Waiting ---- */

static bool give_up(struct weft__until *until)
{
    struct weft__consumer *consumer = (struct weft__consumer *)until;
    weft__lock_take(&consumer->queue->lock);
    bool was_waiting = take_out(consumer);
    weft__lock_drop(&consumer->queue->lock);
    return was_waiting;
}

static int wait_outside(struct weft__consumer *consumer, uint64_t when)
{
    struct weft__spin_latch *latch = &consumer->until.latch;
    struct weft__sleeper sleeper = {.park = latch->owner, .latch = &latch->core};
    while (!weft__latch_probe(&latch->core)) {
        uint64_t now = weft__clock_now();
        if (now >= when && give_up(&consumer->until))
            return -ETIMEDOUT;
        weft__sleep_uncounted(&sleeper, now < when ? when - now : 0); /* 0: it is about to be set */
    }
    return 0;
}

static int wait_for_task(weft_completions *queue, weft_task **task, uint64_t when)
{
    struct weft__park *park = weft__thread_park();
    if (!park)
        return -ENOMEM;
    struct weft__consumer consumer = {.until = {.latch.owner = park, .take_out = give_up},
                                      .queue = queue};
    weft__lock_take(&queue->lock);
    struct weft__task *first = take(queue); /* one has come meanwhile */
    if (!first)
        append(queue, &consumer);
    consumer.until.elsewhere = ends_elsewhere(queue);
    weft__lock_drop(&queue->lock);
    int error = 0;
    if (!first) {
        error = weft__worker_current()
                    ? weft__until_wait(&consumer.until, "waits for a completion", &when)
                    : wait_outside(&consumer, when);
        first = consumer.task;
        weft__lock_take(&queue->lock);
        if (error == -ETIMEDOUT && (first = take(queue))) /* it has come just now */
            error = 0;
        queue->calls--; /* last touch */
        weft__lock_drop(&queue->lock);
    }
    weft__thread_unpark(park);
    *task = (weft_task *)(void *)first;
    if (error)
        weft__fiber_end_here();
    return error;
}

int weft_completions_next_until(weft_completions *queue, weft_task **task, uint64_t when)
{
    weft__worker_check_abandoned(__builtin_frame_address(0));
    int error = weft_completions_next(queue, task);
    if (error != -EAGAIN)
        return error;
    if (weft__clock_now() >= when)
        return weft__limit_passed(when);
    weft__fiber_expect_room();
    return wait_for_task(queue, task, when);
}
