/* SPDX-License-Identifier: MIT */
/* misuse.h: is `w` the context that the caller should have passed, and is the program one of this
 * library's?
 *
 * Forks and merges that nobody interferes with can't afford to ask: what they would find is found
 * later, on the next slow road, by the next function of the library that gets the context, and at
 * the latest when the job returns. Who is wrong is told in one line, and the process aborts. */
#ifndef WEFT_CORE_MISUSE_H
#define WEFT_CORE_MISUSE_H

#include "core/worker.h"

/* In place is what those who are right come by; the rest asks once more, and has an answer for each
 * mistake. */
static inline bool weft__context_is_here(weft *w)
{
    return w && weft__context_of(w) == weft__context_here();
}

/* For functions that run something in w: it is this thread's, and nothing above it is pending. */
void weft__look_at_context(weft *w, const char *function);
static inline bool weft__context_is_right(weft *w)
{
    /* Of the last slot and beyond the next one must not be looked at. relaxed, both: what this
     * thread wrote itself; a thief's mark in place of it is no NULL either. */
    return weft__context_is_here(w) && w < weft__context_of(w)->last &&
           !atomic_load_relaxed(&weft__slot_of(w)->fn) &&
           !atomic_load_relaxed(&weft__slot_of(w + 1)->fn);
}

static inline void weft__expect_context(weft *w, const char *function)
{
    if (!weft__context_is_right(w))
        weft__look_at_context(w, function);
}
#define WEFT__EXPECT_CONTEXT(w) weft__expect_context((w), __func__)

/* For functions that only ask something: the context of an outer fork is as good. */
void weft__look_whose(weft *w, const char *function);
static inline void weft__expect_own(weft *w, const char *function)
{
    if (!weft__context_is_here(w))
        weft__look_whose(w, function);
}
#define WEFT__EXPECT_OWN(w) weft__expect_own((w), __func__)

/* The same, where NULL means a thread outside. */
#define WEFT__EXPECT_OWN_OR_NULL(w) ((w) ? weft__expect_own((w), __func__) : (void)0)

/* For what else a function can't do without: "weft_for needs a function; body is NULL". Functions
 * that return an int say -EINVAL instead. An array may be NULL where it has no elements, or they
 * have no size. */
_Noreturn void weft__lacks(const char *function, const char *what, const char *name);
#define WEFT__NEEDS(given, what) ((given) ? (void)0 : weft__lacks(__func__, (what), #given))
#define WEFT__NEEDS_ARRAY(array, n, size) \
    ((array) || (n) == 0 || (size) == 0 ? (void)0 : weft__lacks(__func__, "an array", #array))

/* On the slow roads of fork and merge: w is in use, or was just now. */
void weft__expect_fork(weft *w, const char *function);

/* The program enters a pool: it was compiled for the same WEFT_LAYOUT_. */
_Noreturn void weft__layout_differs(unsigned layout, const char *function);
static inline void weft__expect_layout(unsigned layout, const char *function)
{
    if (layout != WEFT_LAYOUT_)
        weft__layout_differs(layout, function);
}

/* A job, or an actor, that ran in w has returned: all that was forked in it has been merged. `who`:
 * for the message. */
void weft__expect_merged(weft *w, const char *who);

/* A call into the program's code, which may be C++: it has to come back by returning. If an
 * exception that is caught further down leaves it, or pthread_exit does, the library's own frames
 * would be gone, with what they have forked: then `explain` is called, and does not return. Costs
 * nothing, since the compiler knows whether the call has returned. */
#if defined __GNUC__
struct weft__calling {
    void (*explain)(void); /* NULL: it has returned */
};
static inline void weft__expect_returned(const struct weft__calling *calling)
{
    if (calling->explain)
        calling->explain();
}
#define WEFT__MUST_RETURN(explained, ...)                                    \
    do {                                                                     \
        struct weft__calling calling_                                        \
            __attribute__((cleanup(weft__expect_returned))) = {(explained)}; \
        __VA_ARGS__;                                                         \
        calling_.explain = NULL;                                             \
    } while (0)
#else
#define WEFT__MUST_RETURN(explained, ...) \
    do {                                  \
        __VA_ARGS__;                      \
    } while (0)
#endif

/* Explain that of a job, of an actor, and of what loops, sorts and so on call. */
void weft__job_threw(void);
void weft__actor_threw(void);
void weft__callee_threw(void);

/* For messages: its name, or in which file it is, and where. */
void weft__function_name(char *text, size_t size, weft_fn *fn);

#endif
