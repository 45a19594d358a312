/* SPDX-License-Identifier: MIT */
#include "bag.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITEMS_FIRST = 16,
    ITEMS_MOST = 1 << 20,
    CALL_SHORT = 50000, /* ns: more items in the next call */
    CALL_LONG = 200000, /* fewer */
    PATIENCE = 500000,  /* ns: for so long the last hand looks for an answer */
};

/* ---- Parts ---- */

static struct weft__part *make_part(struct weft__bag_run *run)
{
    size_t align = _Alignof(max_align_t), head = sizeof(struct weft__part);
    size_t bag = (head + align - 1) / align * align;
    size_t result = bag + (run->kind->size + align - 1) / align * align;
    struct weft__part *part = calloc(1, result + run->kind->result_size);
    if (!part)
        return NULL;
    part->run = run;
    part->items = run->kind->items ? run->kind->items : ITEMS_FIRST;
    part->bag = (char *)part + bag;
    part->result = (char *)part + result;
    return part;
}

/* An empty bag, and a result that may have something from earlier. NULL: no memory. */
static struct weft__part *get_part(struct weft__bag_run *run)
{
    pthread_mutex_lock(&run->lock);
    struct weft__part *part = run->spare;
    if (part)
        run->spare = part->next;
    pthread_mutex_unlock(&run->lock);
    if (part)
        return part;
    part = make_part(run);
    if (!part)
        return NULL;
    pthread_mutex_lock(&run->lock);
    part->older = run->parts;
    run->parts = part;
    pthread_mutex_unlock(&run->lock);
    return part;
}

static void put_part(struct weft__part *part)
{
    struct weft__bag_run *run = part->run;
    pthread_mutex_lock(&run->lock);
    part->next = run->spare;
    run->spare = part;
    pthread_mutex_unlock(&run->lock);
}

static void clear(weft *w, struct weft__part *part)
{
    const weft_mpi_bag *kind = part->run->kind;
    if (kind->clear)
        kind->clear(w, part->bag, part->run->arg);
    memset(part->bag, 0, kind->size);
}

void weft__bag_drop_parts(weft *w, struct weft__bag_run *run, void *result)
{
    struct weft__part *part = run->parts;
    while (part) {
        struct weft__part *older = part->older;
        if (result)
            run->kind->combine(w, result, part->result, run->arg);
        clear(w, part);
        free(part);
        part = older;
    }
    run->parts = run->spare = NULL;
}

/* Half of it, if there is enough, and memory. */
static struct weft__part *split(weft *w, struct weft__part *part)
{
    struct weft__bag_run *run = part->run;
    struct weft__part *half = get_part(run);
    if (!half)
        return NULL;
    half->items = part->items;
    int result = run->kind->split(w, part->bag, half->bag, run->arg);
    if (result > 0)
        return half;
    if (result < 0) {
        clear(w, half);
        weft_fail(w, result);
    }
    put_part(half);
    return NULL;
}

/* ---- Work for other ranks ---- */

static int pack(weft *w, struct weft__part *half, int rank, struct weft__parcel **parcel)
{
    struct weft__bag_run *run = half->run;
    int64_t size = run->kind->pack(w, half->bag, NULL, 0, run->arg);
    if (size < 0)
        return (int)size;
    *parcel = weft__bag_parcel(run, rank, (uint64_t)size);
    if (!*parcel)
        return -ENOMEM;
    int64_t packed = run->kind->pack(w, half->bag, (*parcel)->bytes, (size_t)size, run->arg);
    if (packed == size)
        return 0;
    free(*parcel);
    return packed < 0 ? (int)packed : -EINVAL;
}

/* A failure ends the whole run, so that the thief does not wait for its answer. */
static void give(weft *w, struct weft__part *half, const struct weft__thief *thief)
{
    struct weft__bag_run *run = half->run;
    struct weft__parcel *parcel = NULL;
    int error = pack(w, half, thief->rank, &parcel);
    clear(w, half);
    put_part(half);
    if (error) {
        weft_fail(w, error);
        return;
    }
    pthread_mutex_lock(&run->lock);
    parcel->message = weft__lifeline_give(&run->lifeline, thief, parcel->message.size);
    weft__bag_post_parcel(run, parcel);
    pthread_mutex_unlock(&run->lock);
}

static bool next_thief(struct weft__bag_run *run, struct weft__thief *thief)
{
    pthread_mutex_lock(&run->lock);
    weft__bag_tell_age(run);
    bool is_there = weft__lifeline_next_thief(&run->lifeline, thief);
    pthread_mutex_unlock(&run->lock);
    return is_there;
}

static void serve_thieves(weft *w, struct weft__part *part)
{
    struct weft__bag_run *run = part->run;
    struct weft__thief thief;
    while (!weft_cancelled(w) && next_thief(run, &thief)) {
        struct weft__part *half = split(w, part);
        if (half) {
            give(w, half, &thief);
            continue;
        }
        pthread_mutex_lock(&run->lock);
        weft__lifeline_refuse(&run->lifeline, &thief);
        pthread_mutex_unlock(&run->lock);
        if (thief.by_lifeline)
            break;
    }
    weft__bag_flush(w, run);
}

/* ---- Work from other ranks ---- */

static struct weft__parcel *next_arrived(struct weft__bag_run *run)
{
    pthread_mutex_lock(&run->lock);
    struct weft__parcel *parcel = run->arrived;
    if (parcel) {
        run->arrived = parcel->next;
        weft__lifeline_take(&run->lifeline);
    }
    pthread_mutex_unlock(&run->lock);
    return parcel;
}

/* NULL: there is none, or the job has failed. */
static struct weft__part *unpack_next(weft *w, struct weft__bag_run *run)
{
    struct weft__parcel *parcel = next_arrived(run);
    if (!parcel)
        return NULL;
    struct weft__part *part = get_part(run);
    int error = -ENOMEM;
    if (part)
        error = run->kind->unpack(w, part->bag, parcel->bytes, parcel->message.size, run->arg);
    free(parcel);
    if (error >= 0)
        return part;
    if (part)
        clear(w, part), put_part(part);
    weft_fail(w, error);
    return NULL;
}

/* True: the bag has more now. */
static bool take_arrived(weft *w, struct weft__part *part)
{
    struct weft__bag_run *run = part->run;
    struct weft__part *other = unpack_next(w, run);
    if (!other)
        return false;
    int error = run->kind->merge(w, part->bag, other->bag, run->arg);
    if (error < 0) {
        clear(w, other);
        weft_fail(w, error);
    }
    put_part(other);
    return error >= 0;
}

/* ---- Hands ---- */

static void tune(struct weft__part *part, uint64_t ns)
{
    if (part->run->kind->items)
        return;
    if (ns < CALL_SHORT && part->items < ITEMS_MOST)
        part->items *= 2;
    else if (ns > CALL_LONG && part->items > 1)
        part->items /= 2;
}

static void hand(weft *w, void *arg);

/* Something for workers of this rank that have nothing to do: what this one had for them was taken,
 * so there may be some. */
static void share(weft *w, struct weft__part *part)
{
    struct weft__bag_run *run = part->run;
    if (weft_pool_workers(weft_pool_of(w)) < 2 || weft_has_pending(w))
        return;
    struct weft__part *half = split(w, part);
    if (!half)
        return;
    pthread_mutex_lock(&run->lock);
    run->hands++;
    pthread_mutex_unlock(&run->lock);
    int error = weft_spawn(w, run->scope, hand, half);
    if (error)
        weft_fail(w, error);
}

static bool step(weft *w, struct weft__part *part)
{
    struct weft__bag_run *run = part->run;
    uint64_t begin = weft_now();
    bool has_more = run->kind->process(w, part->bag, part->items, part->result, run->arg);
    tune(part, weft_now() - begin);
    weft__bag_look(run);
    has_more |= take_arrived(w, part);
    if (has_more) {
        share(w, part);
        serve_thieves(w, part);
    }
    return has_more;
}

/* A worker has nothing to do now. Hands that go on may have little, too: to ask before they are
 * done hides the time that the answer takes. Worst case: what comes is moved for nothing. */
static void hand_ends(weft *w, struct weft__bag_run *run)
{
    unsigned workers = weft_pool_workers(weft_pool_of(w));
    pthread_mutex_lock(&run->lock);
    if (--run->hands < workers)
        weft__lifeline_hungry(&run->lifeline, weft__bag_random(run));
    pthread_mutex_unlock(&run->lock);
    weft__bag_flush(w, run);
}

/* Its bag is empty in the end, or the run has failed. */
static void hand(weft *w, void *arg)
{
    struct weft__part *part = arg;
    struct weft__bag_run *run = part->run;
    while (!weft_cancelled(w) && step(w, part))
        ;
    if (weft_cancelled(w))
        return;
    put_part(part);
    hand_ends(w, run);
}

/* ---- The task ---- */

/* NULL: there is none any more, or the job has failed. */
static struct weft__part *first_part(weft *w, struct weft__bag_run *run)
{
    if (!run->mine)
        return unpack_next(w, run);
    struct weft__part *part = get_part(run);
    int error = part ? run->kind->merge(w, part->bag, run->mine, run->arg) : -ENOMEM;
    run->mine = NULL;
    if (error < 0)
        weft_fail(w, error);
    return error < 0 ? NULL : part;
}

/* All that this rank has. */
static void do_all(weft *w, struct weft__bag_run *run)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    run->scope = &scope;
    run->hands = 1; /* there is no other */
    struct weft__part *part = first_part(w, run);
    if (part)
        hand(w, part);
    run->error = weft_scope_close(w, &scope);
}

static void ask_for_more(weft *w, struct weft__bag_run *run)
{
    pthread_mutex_lock(&run->lock);
    weft__lifeline_idle(&run->lifeline, weft__bag_random(run));
    pthread_mutex_unlock(&run->lock);
    weft__bag_flush(w, run);
}

/* The answer mostly comes at once. To end the task, to wake the caller, and to begin another task
 * would take longer. Worst case: PATIENCE of CPU time each time that the rank runs out of work. */
static bool gets_more(weft *w, struct weft__bag_run *run)
{
    uint64_t until = weft_now() + PATIENCE;
    bool has_more = false, is_over = false;
    while (!has_more && !is_over && weft__mpi_is_multiple() && weft_now() < until) {
        sched_yield();
        weft__bag_look(run);
        pthread_mutex_lock(&run->lock);
        has_more = run->arrived;
        is_over = run->lifeline.is_over;
        pthread_mutex_unlock(&run->lock);
    }
    return has_more && !is_over && !weft_cancelled(w);
}

void weft__bag_work(weft *w, void *arg)
{
    struct weft__bag_run *run = arg;
    do {
        do_all(w, run);
        if (run->error || weft_cancelled(w))
            return;
        ask_for_more(w, run);
    } while (gets_more(w, run));
}
