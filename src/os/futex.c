/* SPDX-License-Identifier: MIT */
#include "os/futex.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The kernel's numbers (linux/futex.h), whose headers don't come with every libc. */
enum { WAIT_PRIVATE = 0 | 128, WAKE_PRIVATE = 1 | 128 };

static void wait_until(struct atomic_u32 *word, uint32_t value, const struct timespec *timeout)
{
    int saved = errno; /* EAGAIN and EINTR are ordinary here; the caller's errno is not ours */
    syscall(SYS_futex, word, WAIT_PRIVATE, value, timeout, NULL, 0);
    errno = saved;
}

void weft__futex_wait(struct atomic_u32 *word, uint32_t value)
{
    wait_until(word, value, NULL);
}

void weft__futex_wait_for(struct atomic_u32 *word, uint32_t value, uint64_t ns)
{
    struct timespec timeout = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    wait_until(word, value, &timeout);
}

void weft__futex_wake(struct atomic_u32 *word, unsigned n)
{
    int saved = errno;
    syscall(SYS_futex, word, WAKE_PRIVATE, n, NULL, NULL, 0);
    errno = saved;
}
