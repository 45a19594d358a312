/* SPDX-License-Identifier: MIT */
#include "os/file.h"

#include "os/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Descriptors ---- */

static int wait_for(int fd, int timeout)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, timeout);
}

bool weft__fd_is_ready(int fd)
{
    return wait_for(fd, 0) != 0;
}

ptrdiff_t weft__fd_read(int fd, void *to, size_t size)
{
    for (;;) {
        ssize_t got = read(fd, to, size);
        if (got >= 0)
            return got;
        if (errno == EAGAIN)
            wait_for(fd, -1); /* whatever comes of it, read() will say */
        else if (errno != EINTR)
            return -errno;
    }
}

/* The memory is a whole number of pages, as that of a mapping is: so it is given back in the same
 * way. */
int weft__fd_read_all(int fd, const char **bytes, size_t *size)
{
    enum { FIRST = 1 << 16 };
    char *pages = NULL;
    size_t room = 0, n = 0;
    ptrdiff_t got;
    *bytes = NULL;
    *size = 0;
    do {
        if (n == room) {
            size_t more = room ? 2 * room : FIRST;
            char *larger = weft__pages_resize(pages, room, more);
            if (!larger) {
                weft__pages_resize(pages, room, 0);
                return -ENOMEM;
            }
            pages = larger;
            room = more;
        }
        got = weft__fd_read(fd, pages + n, room - n);
        n += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    *bytes = weft__pages_resize(pages, room, got < 0 ? 0 : n);
    *size = *bytes ? n : 0;
    return (int)got;
}

/* ---- Files ---- */

static int map_regular(int fd, off_t length, const char **bytes, size_t *size)
{
    if ((uintmax_t)length > SIZE_MAX)
        return -EFBIG;
    size_t all = (size_t)length;
    void *p = all ? mmap(NULL, all, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (p == MAP_FAILED) /* in /proc and /sys, files say that they are empty, or can't be mapped */
        return all && errno == ENOMEM ? -ENOMEM : weft__fd_read_all(fd, bytes, size);
    (void)madvise(p, all, MADV_WILLNEED); /* all of it is about to be read */
    *size = all;
    *bytes = p;
    return 0;
}

/* `fd` was opened without waiting for a writer, and a read before the first one would find the end.
 * poll() waits for it: Linux tells of the end only after a writer has come and gone. To open the
 * pipe once more and wait there would be wrong: a writer that is done by then never comes again. */
static int read_pipe(int fd, const char **bytes, size_t *size)
{
    while (wait_for(fd, -1) < 0 && errno == EINTR)
        ;
    return weft__fd_read_all(fd, bytes, size);
}

static int map_open(int fd, const char **bytes, size_t *size)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    if (S_ISFIFO(status.st_mode))
        return read_pipe(fd, bytes, size);
    if (!S_ISREG(status.st_mode))
        return -ENODEV; /* as mmap() says of most */
    return map_regular(fd, status.st_size, bytes, size);
}

int weft__file_map(const char *path, const char **bytes, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a device is not waited for */
    *bytes = NULL;
    *size = 0;
    if (fd < 0)
        return -errno;
    int error = map_open(fd, bytes, size);
    close(fd);
    return error;
}

void weft__file_unmap(const char *bytes, size_t size)
{
    if (size)
        munmap((void *)(uintptr_t)bytes, size);
}
