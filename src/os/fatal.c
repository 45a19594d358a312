/* SPDX-License-Identifier: MIT */
#include "os/fatal.h"

#include "os/atomic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void weft__fatal(const char *format, ...)
{
    static struct atomic_bool told;
    char text[400];
    /* One line, by the first of several threads. */
    while (atomic_exchange_acquire(&told, true))
        pause();
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "weft: %s\n", text);
    abort();
}
