/* SPDX-License-Identifier: MIT */
/* position.h: how far the executions of a harness have come, as a line for another process: which
 * locations are shared, and the trail. */
#ifndef CHECK_POSITION_H
#define CHECK_POSITION_H

#include <stdbool.h>

char *position_write(void); /* to be freed; NULL: no memory, or a location that is nowhere */
bool position_read(const char *text);

#endif
