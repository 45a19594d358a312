/* SPDX-License-Identifier: MIT */
#include "core/fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void weft__fatal(const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "weft: %s\n", text);
    abort();
}
