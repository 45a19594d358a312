/* SPDX-License-Identifier: MIT */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_open(int fd, const char **bytes, size_t *size)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -ENODEV; /* as mmap() says of most */
    if (status.st_size == 0)
        return 0;
    if ((uintmax_t)status.st_size > SIZE_MAX)
        return -EFBIG;
    size_t all = (size_t)status.st_size;
    void *p = mmap(NULL, all, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    (void)madvise(p, all, MADV_WILLNEED); /* all of it is about to be read */
    *size = all;
    *bytes = p;
    return 0;
}

int weft__file_map(const char *path, const char **bytes, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
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
