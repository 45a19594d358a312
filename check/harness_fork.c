/* SPDX-License-Identifier: MIT */
/* Forks and merges against thieves: every right side runs once, the owner goes on after it has,
 * and what either side wrote is there. Owner and thieves are guests of a pool without workers,
 * and are in it from the beginning: coming and going is harness_pool.c's. */
#include "core/cancel.h"
#include "core/deque.h"
#include "core/execute.h"
#include "core/guest.h"
#include "core/loopfork.h"
#include "core/pool.h"
#include "core/steal.h"
#include "harnesses.h"

enum { FORKS = 2, GUESTS = 3 };

bool model_forbids_barriers;

static weft_pool *pool;
static struct weft__worker *guests[GUESTS];
static int sides[FORKS + 1]; /* how many times each ran; plain, so that a race is found */
static int before;           /* written by the owner before it forks */

static void prepare(enum weft_fork fork, int64_t quantum)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.flags = WEFT_USE_CALLER | WEFT_NO_SIGSEGV; /* who is not there */
    config.spin_rounds = config.spares = WEFT_NONE;
    config.fork = fork;
    config.quantum = quantum;
    MODEL_ASSERT(weft_pool_create(&pool, &config) == 0);
    for (unsigned i = 0; i < GUESTS; i++) {
        guests[i] = weft__worker_make(pool, 1 + i, WORKER_GUEST);
        guests[i]->park->census = NULL;
    }
}

static void lazy(void)
{
    prepare(WEFT_FORK_LAZY, WEFT_NONE);
}

/* The process has entered a sandbox. */
static void forbidden(void)
{
    lazy();
    model_forbids_barriers = true;
}

static void eager(void)
{
    prepare(WEFT_FORK_EAGER, WEFT_NONE);
}

/* Right sides are marked, and taken when they are old; time passes with every look. */
static void aging(void)
{
    model_time_passes();
    prepare(WEFT_FORK_LAZY, 1);
}

static void side(weft *w, void *ran)
{
    MODEL_ASSERT(before == 1);
    *(int *)ran += 1;
}

static void fork_once(weft *w, void *arg)
{
    before = 1;
    weft_join(w, side, &sides[0], side, &sides[1]);
    MODEL_ASSERT(sides[0] == 1 && sides[1] == 1);
}

/* The left side of the first fork forks in its turn: the older one is taken first. */
static void fork_again(weft *w, void *arg)
{
    weft_join(w, side, &sides[0], side, &sides[1]);
}

static void fork_twice(weft *w, void *arg)
{
    before = 1;
    weft_join(w, fork_again, NULL, side, &sides[2]);
    MODEL_ASSERT(sides[0] == 1 && sides[1] == 1 && sides[2] == 1);
}

/* A slot is used again at once, for another right side. */
static void fork_and_fork(weft *w, void *arg)
{
    before = 1;
    weft_join(w, side, &sides[0], side, &sides[1]);
    MODEL_ASSERT(sides[1] == 1);
    weft_join(w, side, &sides[0], side, &sides[2]);
    MODEL_ASSERT(sides[0] == 2 && sides[1] == 1 && sides[2] == 1);
}

/* As loops do, for what takes long, and for what does not. */
static void fork_openly(weft *w, void *arg)
{
    before = 1;
    side(weft__fork_openly(w, side, &sides[1]), &sides[0]);
    if (!weft_merge(w))
        side(w, &sides[1]);
    MODEL_ASSERT(sides[0] == 1 && sides[1] == 1);
}

static void fork_quietly(weft *w, void *arg)
{
    before = 1;
    side(weft__fork_quietly(w, side, &sides[1]), &sides[0]);
    if (!weft_merge(w))
        side(w, &sides[1]);
    MODEL_ASSERT(sides[0] == 1 && sides[1] == 1);
}

/* The left side blocks for a while. Before that it has forked, merged, and forked again. */
static void blocked_side(weft *w, void *ran)
{
    weft_join(w, side, ran, side, ran);
    weft_block_begin(w);
    weft_block_end(w);
}

static void fork_and_block(weft *w, void *arg)
{
    before = 1;
    weft_join(w, blocked_side, &sides[0], side, &sides[1]);
    MODEL_ASSERT(sides[0] == 2 && sides[1] == 1);
}

static void execute(weft *w, struct weft__job *job)
{
    weft__call(w, job->fn, job->arg, job->group);
}

/* As weft_run() does, for a guest that is in the pool already. */
static int run(unsigned guest, weft_fn *fn)
{
    struct weft__worker *me = guests[guest];
    struct weft__group group;
    struct weft__job job = {fn, NULL, &group, execute};
    weft__worker_push(me, __builtin_frame_address(0));
    weft__group_begin(&group, NULL);
    weft__execute(me->context->first, &job);
    return weft__group_end(&group);
}

static void own_once(void)
{
    MODEL_ASSERT(run(0, fork_once) == 0);
}

static void own_twice(void)
{
    MODEL_ASSERT(run(0, fork_twice) == 0);
}

static void own_openly(void)
{
    MODEL_ASSERT(run(0, fork_openly) == 0);
}

static void own_quietly(void)
{
    MODEL_ASSERT(run(0, fork_quietly) == 0);
}

static void own_and_block(void)
{
    MODEL_ASSERT(run(0, fork_and_block) == 0);
}

static void own_and_own(void)
{
    MODEL_ASSERT(run(0, fork_and_fork) == 0);
}

/* ---- Thieves ---- */

static void steal(unsigned guest, int times)
{
    struct weft__worker *me = guests[guest];
    weft__worker_push(me, __builtin_frame_address(0));
    while (times-- > 0) {
        struct weft__found found = {0};
        if (weft__deque_steal(&guests[0]->deque, &found.job) == STEAL_GOT ||
            (!guests[0]->context->eager &&
             weft__steal_slot(me, guests[0]->context, NULL, &found) == STEAL_GOT))
            weft__execute_found(me->context->first, &found);
    }
}

static void thief(void)
{
    steal(1, 1);
}

static void other_thief(void)
{
    steal(2, 1);
}

/* A guest that is new in the pool. */
static void new_thief(void)
{
    guests[1] = weft__worker_make(pool, 2, WORKER_GUEST);
    guests[1]->park->census = NULL;
    steal(1, 1);
}

static void thief_of_two(void)
{
    steal(1, 2);
}

/* ---- Failure: who forks has to learn of it ---- */

static void fail(weft *w, void *arg)
{
    weft_fail(w, 7);
}

static void fork_failing(weft *w, void *arg)
{
    before = 1;
    weft_join(w, side, &sides[0], fail, NULL);
}

static void own_failing(void)
{
    MODEL_ASSERT(run(0, fork_failing) == 7);
}

/* A failure elsewhere: a fork that its caller does not know of sees the guard. */
static struct weft__group failing;
static struct atomic_bool has_failed;

static void merge_after_failure(weft *w, void *arg)
{
    weft *in = weft_fork(w, side, &sides[1]);
    if (atomic_load_acquire(&has_failed))
        MODEL_ASSERT(weft_merge(w)); /* skipped */
    else if (!weft_merge(w))
        sides[1]++;
    (void)in;
}

/* The same while a job of another computation runs on top of it. */
static void merge_after_another(weft *w, void *arg)
{
    struct weft__group other;
    before = 1;
    weft *in = weft_fork(w, side, &sides[1]);
    weft__group_begin(&other, NULL);
    weft__call(in, side, &sides[0], &other);
    MODEL_ASSERT(weft__group_end(&other) == 0);
    if (atomic_load_acquire(&has_failed))
        MODEL_ASSERT(weft_merge(w)); /* skipped */
    else if (!weft_merge(w))
        sides[1]++;
}

static void own_failing_job(weft_fn *fn)
{
    struct weft__worker *me = guests[0];
    struct weft__job job = {fn, NULL, &failing, execute};
    weft__worker_push(me, __builtin_frame_address(0));
    weft__execute(me->context->first, &job);
}

static void own_while_failing(void)
{
    own_failing_job(merge_after_failure);
}

static void own_below_another(void)
{
    own_failing_job(merge_after_another);
}

static void fail_elsewhere(void)
{
    if (weft__group_fail(&failing, 7))
        weft__alert_others(pool, &failing, NULL);
    atomic_store_release(&has_failed, true);
}

static void failing_setup(void)
{
    lazy();
    weft__group_begin(&failing, NULL);
    atomic_store_relaxed(&guests[0]->next_guest, NULL);
    atomic_store_relaxed(&pool->guests.present, guests[0]);
}

/* ---- A right side that fails alone: the left side has to learn of it, and nothing else ---- */

static void fail_alone(weft *w, void *arg)
{
    weft_right_failed_(w);
    atomic_store_release(&has_failed, true);
}

static void merge_on_the_left(weft *w)
{
    (void)weft_fork(w, side, &sides[1]);
    if (atomic_load_acquire(&has_failed))
        MODEL_ASSERT(weft_merge(w) && weft_cancelled(w)); /* skipped */
    else if (!weft_merge(w))
        sides[1]++;
    MODEL_ASSERT(sides[1] < 2);
}

static void fork_failing_alone(weft *w, void *arg)
{
    before = 1;
    merge_on_the_left(weft_fork(w, fail_alone, NULL));
    if (!weft_merge(w))
        weft_right_failed_(w);
    MODEL_ASSERT(!weft_cancelled(w));
    weft_join(w, side, &sides[0], side, &sides[2]);
    MODEL_ASSERT(sides[0] == 1 && sides[2] == 1);
}

static void own_failing_alone(void)
{
    struct weft__worker *me = guests[0];
    struct weft__job job = {fork_failing_alone, NULL, &failing, execute};
    weft__worker_push(me, __builtin_frame_address(0));
    weft__execute(me->context->first, &job);
    MODEL_ASSERT(weft__group_end(&failing) == 0 && !weft__group_alarm(&failing));
}

/* A guest is made while somebody goes through all of them. */
static void come_as_guest(void)
{
    MODEL_ASSERT(weft__guest_get(pool, WORKER_GUEST) != NULL);
}

static void call_all(void)
{
    weft__alert_all(pool);
}

/* Two guests have come in; the second one leaves, and is freed, while a thief looks through all. */
static struct weft__worker *leaving;

static void two_guests(void)
{
    lazy();
    MODEL_ASSERT(weft__guest_get(pool, WORKER_GUEST) != NULL);
    leaving = weft__guest_get(pool, WORKER_GUEST);
    MODEL_ASSERT(leaving != NULL);
    pool->guests.peak = 1; /* nobody has used more in the last second */
}

static void walk(void)
{
    struct weft__worker *me = pool->workers[0];
    weft__walk_begin(me);
    struct weft__worker *guest = weft__guests_first(pool);
    for (; guest; guest = weft__guests_next(guest))
        MODEL_ASSERT(weft__deque_size(&guest->deque) == 0 && guest->index > 0);
    weft__walk_end(me);
}

static void leave_and_trim(void)
{
    weft__guest_put(leaving);
    weft__guests_trim(pool);
}

/* A thief that stands on one goes on from there, even if that one has left and come again, and
 * another one behind it has come and gone. */
static void come_again(void)
{
    MODEL_ASSERT(weft__guest_get(pool, WORKER_GUEST) != NULL);
    struct weft__worker *other = weft__guest_get(pool, WORKER_GUEST);
    weft__guest_put(leaving);
    MODEL_ASSERT(other && weft__guest_get(pool, WORKER_GUEST) == leaving);
    weft__guest_put(other);
}

#define FORK(id, text, how, few, ...)                                                 \
    {                                                                                 \
        .name = id, .what = text, .setup = how, .thread = {__VA_ARGS__}, .stale = few \
    }

const struct harness fork_harnesses[] = {
    FORK("fork-lazy", "a fork, and a thief that stops its owner", lazy, 0, own_once, thief),
    FORK("fork-lazy-nested", "two forks, and a thief", lazy, 1, own_twice, thief_of_two),
    FORK("fork-lazy-reused", "a slot that is used again, and a thief", lazy, 1, own_and_own, thief),
    FORK("fork-lazy-reused-thieves", "a slot that is used again, and two thieves", lazy, 1,
         own_and_own, thief, other_thief),
    FORK("fork-lazy-thieves", "a fork, and two thieves", lazy, 1, own_once, thief, other_thief),
    FORK("fork-lazy-aging", "a fork that is marked before it is taken", aging, 1, own_once,
         thief_of_two),
    FORK("fork-lazy-failing", "the right side fails, wherever it runs", lazy, 1, own_failing,
         thief),
    FORK("fork-openly", "a fork that goes on the deque after all, and two thieves", lazy, 1,
         own_openly, thief, other_thief),
    FORK("fork-quietly", "a fork that does not look up, and a thief", lazy, 0, own_quietly, thief),
    FORK("fork-lazy-new-thief", "a fork, and a thief that has just come", lazy, 1, own_once,
         new_thief),
    FORK("fork-lazy-called", "a fork while its computation fails elsewhere", failing_setup, 1,
         own_while_failing, fail_elsewhere),
    FORK("fork-lazy-mixed", "the same while another computation runs on top of it", failing_setup,
         1, own_below_another, fail_elsewhere),
    FORK("fork-lazy-alone", "the right side fails alone, and the left side forks", failing_setup, 1,
         own_failing_alone, thief),
    FORK("fork-lazy-forbidden", "a fork whose owner blocks, and a thief without a barrier",
         forbidden, 1, own_and_block, thief_of_two),
    FORK("guest-called", "a guest comes while all are called", lazy, 1, come_as_guest, call_all),
    FORK("guest-freed", "a guest leaves and is freed while a thief walks by", two_guests, 0, walk,
         leave_and_trim),
    FORK("guest-again", "a guest leaves and comes again while a thief walks by", two_guests, 0,
         walk, come_again),
    FORK("fork-eager", "a fork on the eager road, and a thief", eager, 0, own_once, thief),
    FORK("fork-eager-new-thief", "the eager road, and a thief that has just come", eager, 1,
         own_once, new_thief),
    FORK("fork-eager-nested", "two forks on the eager road", eager, 1, own_twice, thief_of_two),
    FORK("fork-eager-thieves", "the eager road, and two thieves", eager, 1, own_once, thief,
         other_thief),
    {0},
};
