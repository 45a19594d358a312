/* SPDX-License-Identifier: MIT */
/* clock.h: the monotonic clock, the only one the library looks at. */
#ifndef WEFT_OS_CLOCK_H
#define WEFT_OS_CLOCK_H

#include <stdint.h>

uint64_t weft__clock_now(void); /* nanoseconds */
void weft__clock_sleep(uint64_t ns);

#endif
