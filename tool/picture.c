/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "picture.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <png.h>
#include <stdio.h>
#include <unistd.h>

bool picture_writable(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool created = fd >= 0;
    if (!created && errno == EEXIST)
        fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        warn("cannot write '%s'", path);
        return false;
    }
    close(fd);
    if (created)
        unlink(path);
    return true;
}

bool picture_save(const char *path, const uint8_t *pixels, unsigned width, unsigned height)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = width,
        .height = height,
        .format = PNG_FORMAT_RGB,
    };
    FILE *file = fopen(path, "wbe");
    if (!file) {
        warn("cannot write '%s'", path);
        return false;
    }
    bool written = png_image_write_to_stdio(&image, file, 0, pixels, 0, NULL) != 0;
    if (!written)
        warnx("cannot write '%s': %s", path, image.message);
    if (fclose(file) != 0 && written) {
        warn("cannot write '%s'", path);
        written = false;
    }
    return written;
}
