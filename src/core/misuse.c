/* SPDX-License-Identifier: MIT */
#include "core/misuse.h"

#include "core/fiber.h"
#include "core/pool.h"
#include "os/fatal.h"
#include "weft/sync.h"
#include "weft/timer.h"

#include <dlfcn.h>

#undef weft_fork
#undef weft_merge
#undef weft_join
#undef weft_outer

#if defined __GNUC__
#define COLD __attribute__((cold, noinline))
#else
#define COLD
#endif

/* Static functions have no name at run time; addr2line finds them by file and offset. */
void weft__function_name(char *text, size_t size, weft_fn *fn)
{
    Dl_info info;
    void *address;
    *(weft_fn **)(void *)&address = fn;
    if (!dladdr(address, &info))
        snprintf(text, size, "%p", address);
    else if (info.dli_sname && info.dli_saddr == address)
        snprintf(text, size, "%s", info.dli_sname);
    else
        snprintf(text, size, "%s+%#tx", info.dli_fname, (char *)address - (char *)info.dli_fbase);
}

/* relaxed, all: this thread's own writes; a thief's mark is not NULL either. */

static bool is_used(weft *w)
{
    return w <= weft__context_of(w)->last && atomic_load_relaxed(&weft__slot_of(w)->fn);
}

/* Is the slot after w in use? None comes after the last one. */
static bool is_next_used(weft *w)
{
    return w < weft__context_of(w)->last && is_used(w + 1);
}

/* In a forked child, the job that forked the process goes on, though its thread is no worker any
 * more. */
static bool is_own(const struct weft__context *context)
{
    struct weft__context *here = weft__context_here();
    return here ? here == context : weft__pool_is_forked(context->worker->pool);
}

static _Noreturn void returned_between(weft *w, const char *function)
{
    char right[200];
    weft__function_name(right, sizeof right, weft__right_of(w));
    weft__fatal("%s: a function that was called before returned between weft_fork and weft_merge; "
                "it had forked %s",
                function, right);
}

COLD void weft__look_whose(weft *w, const char *function)
{
    if (!w)
        weft__fatal("%s needs a context; w is NULL", function);
    if (!is_own(weft__context_of(w)))
        weft__fatal("%s: w is the context of another job or thread; pass on the context that this "
                    "job was given, and never store it (weft_here() finds it)",
                    function);
}

static COLD void look_at_fork(weft *w, const char *function)
{
    weft__look_whose(w, function);
    if (is_next_used(w))
        returned_between(w + 1, function);
}

COLD void weft__look_at_context(weft *w, const char *function)
{
    weft__look_whose(w, function);
    if (is_used(w))
        weft__fatal("%s: w has forked and not merged; until weft_merge(w), use the context that "
                    "weft_fork returned",
                    function);
    look_at_fork(w, function);
}

COLD _Noreturn void weft__lacks(const char *function, const char *what, const char *name)
{
    weft__fatal("%s needs %s; %s is NULL", function, what, name);
}

void weft__expect_fork(weft *w, const char *function)
{
    if (!weft__context_is_here(w) || is_next_used(w))
        look_at_fork(w, function);
}

/* Frames that the exception has left have pending forks, and thieves run these: a thief that finds
 * such a frame overwritten may crash before the line is written. These frames lie right below this
 * one. So the line is made further down, beyond what frames of recursive forks take; at worst, if
 * they take more, a thief crashes all the same. */
COLD void weft__did_not_return(void (*explain)(void))
{
    char left[24 * 1024];
    __asm__ volatile("" : : "r"(left) : "memory"); /* it has to be there */
    explain();
}

COLD void weft__job_threw(void)
{
    const struct weft__worker *me = weft__worker_current();
    if (me && (me->kind == WORKER_THREAD || me->kind == WORKER_SPARE))
        weft__fatal("a job ended the thread of worker %u with pthread_exit or threw an exception; "
                    "jobs must return",
                    me->index);
    weft__fatal("a job ended its thread with pthread_exit or threw an exception; jobs must return");
}

COLD void weft__actor_threw(void)
{
    weft__fatal("an actor, or a part of it, threw an exception or ended its thread with "
                "pthread_exit; actors must return");
}

COLD void weft__callee_threw(void)
{
    weft__fatal("a function that a loop, a sort or the like called threw an exception or ended its "
                "thread with pthread_exit; it must return");
}

/* A merge leaves the argument in its slot, so a slot that was used since the last look has one. The
 * search clears the arguments, and ends after two slots in a row that have none. */
static weft *first_used(weft *w)
{
    enum { ENOUGH = 2 };
    weft *last = weft__context_of(w)->last;
    for (unsigned unused = 0; unused < ENOUGH && w <= last; w++) {
        struct weft__slot *slot = weft__slot_of(w);
        if (atomic_load_relaxed(&slot->fn))
            return w;
        if (!atomic_load_relaxed(&slot->arg)) {
            unused++;
            continue;
        }
        unused = 0;
        atomic_store_relaxed(&slot->arg, NULL);
    }
    return NULL;
}

void weft__expect_merged(weft *w, size_t in_place, const char *who)
{
    weft *used = first_used(w);
    if (!used && weft__context_of(w)->in_place != in_place)
        weft__fatal("%s returned without merging what it forked", who);
    if (!used)
        return;
    char right[200];
    weft__function_name(right, sizeof right, weft__right_of(used));
    if (used == w)
        weft__fatal("%s returned without merging what it forked, %s", who, right);
    weft__fatal("%s returned, and a function in it had returned between weft_fork and weft_merge; "
                "it had forked %s",
                who, right);
}

_Static_assert(WEFT_LAYOUT_ == 2 && sizeof(struct weft) == 128 &&
                   offsetof(struct weft, guard_) == 48 && offsetof(struct weft, wanted_) == 56 &&
                   WEFT_BLOCK_SIZE_ == 4 << 20 && sizeof(weft_task) == 192 &&
                   sizeof(weft_scope) == 192 && sizeof(weft_mutex) == 64 &&
                   sizeof(weft_event) == 64 && sizeof(weft_channel) == 128 &&
                   sizeof(weft_timer) == 256,
               "what programs have compiled in changes with WEFT_LAYOUT_");

COLD void weft__layout_differs(unsigned layout, const char *function)
{
    weft__fatal("%s: the program was compiled for layout %u of weft, and this library, %s, has "
                "layout %u; compile the program again, with the headers of the library",
                function, layout, weft_version(), WEFT_LAYOUT_);
}

/* ---- Programs that are compiled with checks ---- */

weft *weft_fork_checked_(weft *w, weft_fn *right, void *arg, const char *where)
{
    if (!w || !right)
        weft__fatal("%s: weft_fork needs a context and a function", where);
    weft__expect_own(w, where);
    if (atomic_load_relaxed(&weft__slot_of(w)->fn))
        weft__fatal("%s: weft_fork in a context that has forked already; run the left side in "
                    "the context that weft_fork returned: here, or where w came from",
                    where);
    return weft_fork(w, right, arg);
}

/* `where`: a line of the program, or a function. */
static void expect_pending(weft *w, const char *where, const char *merge)
{
    if (!w)
        weft__fatal("%s: %s needs a context", where, merge);
    weft__expect_own(w, where);
    struct weft__context *context = weft__context_of(w);
    if (w == context->end ? !context->in_place : !atomic_load_relaxed(&weft__slot_of(w)->fn))
        weft__fatal("%s: %s without weft_fork; merge takes the context that was given "
                    "to fork, and the left side the one that fork returned: was it given w?",
                    where, merge);
    if (is_next_used(w) || (w == context->last && context->in_place))
        weft__fatal("%s: %s in another order; what the left side forked has to be merged "
                    "first: did it return between weft_fork and weft_merge?",
                    where, merge);
}

void weft__expect_pending(weft *w, const char *function)
{
    expect_pending(w, function, "a merge");
}

bool weft_merge_checked_(weft *w, const char *where)
{
    expect_pending(w, where, "weft_merge");
    return weft_merge(w);
}

weft *weft_outer_checked_(weft *w, const char *where)
{
    if (!w)
        weft__fatal("%s: weft_outer needs a context", where);
    weft__expect_own(w, where);
    struct weft__context *context = weft__context_of(w);
    if (w == context->end && context->in_place)
        return weft_outer(w);
    if (is_used(w))
        weft__fatal("%s: weft_outer of a context that has forked and not merged; merge first",
                    where);
    if (w == context->first || !is_used(w - 1))
        weft__fatal("%s: weft_outer of a context that no pending weft_fork has returned", where);
    return weft_outer(w);
}

void weft_join_checked_(weft *w, weft_fn *left, void *l, weft_fn *right, void *r, const char *where)
{
    if (!left)
        weft__fatal("%s: weft_join needs two functions", where);
    left(weft_fork_checked_(w, right, r, where), l);
    if (!weft_merge_checked_(w, where))
        right(w, r);
}
