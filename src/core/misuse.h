/* SPDX-License-Identifier: MIT */
/* misuse.h: is `w` the context that the caller should have passed, and was the program compiled for
 * this library?
 *
 * The fast paths of fork and merge can't afford to ask. Their mistakes are found later: on the next
 * slow road, by the next function of the library that gets the context, or when the job returns at
 * the latest. Then one line says what is wrong, and the process aborts. */
#ifndef WEFT_CORE_MISUSE_H
#define WEFT_CORE_MISUSE_H

#include "core/worker.h"

/* The test for correct callers is inlined. If it fails, a function asks again, and has a message
 * for each mistake. */
static inline bool weft__context_is_here(weft *w)
{
    return w && weft__context_of(w) == weft__context_here();
}

/* For functions that run something in w: w belongs to this thread's job, is free, and nothing is
 * pending above it. */
void weft__look_at_context(weft *w, const char *function);
static inline bool weft__context_is_right(weft *w)
{
    /* After the last slot there is none to look at. relaxed, both: this thread's own writes; a
     * thief's mark is not NULL either. */
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

/* For functions that only ask something: any context of this thread's job will do. */
void weft__look_whose(weft *w, const char *function);
static inline void weft__expect_own(weft *w, const char *function)
{
    if (!weft__context_is_here(w))
        weft__look_whose(w, function);
}
#define WEFT__EXPECT_OWN(w) weft__expect_own((w), __func__)

/* The same, where NULL stands for a thread outside. */
#define WEFT__EXPECT_OWN_OR_NULL(w) ((w) ? weft__expect_own((w), __func__) : (void)0)

/* For other arguments that must not be NULL: "weft_for needs a function; body is NULL". Functions
 * that return an int return -EINVAL instead. An array may be NULL if it has no elements, or they
 * have no size. */
_Noreturn void weft__lacks(const char *function, const char *what, const char *name);
#define WEFT__NEEDS(given, what) ((given) ? (void)0 : weft__lacks(__func__, (what), #given))
#define WEFT__NEEDS_ARRAY(array, n, size) \
    ((array) || (n) == 0 || (size) == 0 ? (void)0 : weft__lacks(__func__, "an array", #array))

/* On the slow roads of fork and merge: w belongs to this thread's job, and nothing is pending above
 * it. */
void weft__expect_fork(weft *w, const char *function);

/* The same, and something is pending in w. */
void weft__expect_pending(weft *w, const char *function);

/* When the program enters a pool: was it compiled for the same WEFT_LAYOUT_? */
_Noreturn void weft__layout_differs(unsigned layout, const char *function);
static inline void weft__expect_layout(unsigned layout, const char *function)
{
    if (layout != WEFT_LAYOUT_)
        weft__layout_differs(layout, function);
}

/* A job, or an actor, that ran in w has returned: it must have merged all that it forked.
 * `in_place`: the context's, when it began; `who`: for the message. */
void weft__expect_merged(weft *w, size_t in_place, const char *who);

/* A call into the program's code, which may be C++: it has to return. If it ends by an exception
 * that is caught further down, or by pthread_exit, the library's own frames would be gone, with
 * forks of theirs pending. Then `explain` is called, which does not return. This costs nothing,
 * since the compiler knows whether the call has returned. */
#if defined __GNUC__
struct weft__calling {
    void (*explain)(void); /* NULL: it has returned */
};
void weft__did_not_return(void (*explain)(void));
static inline void weft__expect_returned(const struct weft__calling *calling)
{
    if (calling->explain)
        weft__did_not_return(calling->explain);
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

/* Explain that for a job, an actor, and a function that a loop or a sort has called. */
void weft__job_threw(void);
void weft__actor_threw(void);
void weft__callee_threw(void);

/* For messages: the name of the function, or its file and the offset in it. */
void weft__function_name(char *text, size_t size, weft_fn *fn);

#endif
