/* SPDX-License-Identifier: MIT */
#include "os/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void weft__futex_wait(struct atomic_u32 *word, uint32_t value)
{
    int saved = errno; /* EAGAIN and EINTR are ordinary here; the caller's errno is not ours */
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    errno = saved;
}

void weft__futex_wake(struct atomic_u32 *word, unsigned n)
{
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
    errno = saved;
}
