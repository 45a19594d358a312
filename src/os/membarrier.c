/* SPDX-License-Identifier: MIT */
#include "os/membarrier.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's numbers (linux/membarrier.h), whose headers don't come with every libc. */
enum { PRIVATE_EXPEDITED = 1 << 3, REGISTER_PRIVATE_EXPEDITED = 1 << 4 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool works;
struct atomic_bool weft__membarrier_lost;

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

/* Tries the barrier instead of asking for it: a sandbox may allow the query and refuse the barrier.
 */
static void init(void)
{
    int saved = errno;
    works = membarrier(REGISTER_PRIVATE_EXPEDITED) == 0 && membarrier(PRIVATE_EXPEDITED) == 0;
    errno = saved;
}

bool weft__membarrier_init(void)
{
    pthread_once(&once, init);
    return works && !weft__membarrier_is_gone();
}

bool weft__membarrier(void)
{
    int saved = errno;
    bool done = membarrier(PRIVATE_EXPEDITED) == 0;
    if (!done)
        atomic_store_relaxed(&weft__membarrier_lost, true); /* relaxed: a fact, not a message */
    errno = saved;
    return done;
}
