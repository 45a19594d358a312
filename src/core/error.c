/* SPDX-License-Identifier: MIT */
/* What the error codes of the library mean, in its own words. */
#include "weft.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static const struct {
    int error;
    const char *meaning;
} meanings[] = {
    {0, "no error"},
    {-EINVAL, "an argument is missing or out of range; a config starts as WEFT_CONFIG_INIT"},
    {-ENOMEM, "out of memory or address space"},
    {-EAGAIN, "not now: there is nothing, or no room, or there are too many threads"},
    {-EALREADY, "it was started already"},
    {-EBUSY, "in use: a task that is pending or waited for, a thread that is in a pool already, "
             "actors that are set up already, a graph that is running"},
    {-ECANCELED, "cancelled: what this was part of has failed, or it was killed"},
    {-ECHILD, "the pool belongs to the parent process, and has no threads in this one"},
    {-EDEADLK, "it would wait for itself: the caller is part of what it waits for"},
    {-ELOOP, "a graph has a cycle without a condition, or no node to begin with"},
    {-ENOTSUP, "the config sets a field that this release of the library does not know"},
    {-EOVERFLOW, "the actor overflowed its stack"},
    {-EPERM, "not by this thread: only the thread that made the pool, or the actor itself, may"},
    {-EPIPE, "the channel is closed, or the actor is over"},
    {-ESHUTDOWN, "the pool is being destroyed"},
    {-ETIMEDOUT, "the deadline passed"},
};

const char *weft_strerror(int error)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (meanings[i].error == error)
            return meanings[i].meaning;
    return strerror(error < 0 && error != INT_MIN ? -error : error);
}
