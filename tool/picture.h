/* SPDX-License-Identifier: MIT */
/* picture.h: pictures as PNG files. */
#ifndef TOOL_PICTURE_H
#define TOOL_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Can a file be written there? Complains on standard error if not, and leaves neither a
 * new file behind nor an old one changed. For asking before the work, not after it. */
bool picture_writable(const char *path);

/* Writes width times height pixels of three bytes: red, green, blue, in sRGB. Complains
 * on standard error and returns false on failure. */
bool picture_save(const char *path, const uint8_t *pixels, unsigned width, unsigned height);

#endif
