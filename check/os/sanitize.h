/* SPDX-License-Identifier: MIT */
/* sanitize.h: there are no sanitizers; what ThreadSanitizer's compilers add is for watch.c. */
#ifndef CHECK_OS_SANITIZE_H
#define CHECK_OS_SANITIZE_H

#define weft__tsan_is_outside() false
#define weft__place_of_frame(p) ((void *)(p))

#endif
