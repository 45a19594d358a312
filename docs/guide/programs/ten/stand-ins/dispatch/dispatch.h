/* SPDX-License-Identifier: MIT */
/* The few functions of libdispatch that the programs use, done at once and one after the other. So
 * the programs can be compiled and tried where there is no libdispatch. */
#include <stddef.h>

typedef struct dispatch_queue *dispatch_queue_t;
typedef struct dispatch_group *dispatch_group_t;
typedef void (*dispatch_function_t)(void *);
#define DISPATCH_TIME_FOREVER 0
#define DISPATCH_UNUSED __attribute__((unused))

DISPATCH_UNUSED static dispatch_queue_t dispatch_get_global_queue(long class, unsigned long flags)
{
    (void)class, (void)flags;
    return NULL;
}

DISPATCH_UNUSED static dispatch_group_t dispatch_group_create(void)
{
    return NULL;
}

DISPATCH_UNUSED static void dispatch_release(dispatch_group_t group)
{
    (void)group;
}

DISPATCH_UNUSED static void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue,
                                                   void *context, dispatch_function_t work)
{
    (void)group, (void)queue;
    work(context);
}

DISPATCH_UNUSED static long dispatch_group_wait(dispatch_group_t group, int timeout)
{
    (void)group, (void)timeout;
    return 0;
}

DISPATCH_UNUSED static void dispatch_apply_f(size_t n, dispatch_queue_t queue, void *context,
                                             void (*work)(void *, size_t))
{
    (void)queue;
    for (size_t i = 0; i < n; i++)
        work(context, i);
}
