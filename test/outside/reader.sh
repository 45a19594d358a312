#!/bin/sh
# SPDX-License-Identifier: MIT
# reader.sh: the reader of traces, as installed, is a library of one file: it needs the header beside
# it, weft/trace_format.h and libc.
set -eu
cat >own.c <<'END'
#include "reader.h"
#include <stdio.h>

int main(int argc, char **argv)
{
    char why[TRACE_WHY_SIZE];
    struct trace *trace = argc == 2 ? trace_open(argv[1], why) : NULL;
    struct trace_event event;
    unsigned long events = 0;
    if (!trace)
        return 1;
    while (trace_next(trace, &event))
        events++;
    printf("%lu events\n", events);
    trace_close(trace);
    return 0;
}
END
cat >traced.c <<'END'
#include <weft/trace.h>

int main(void)
{
    if (weft_trace_start("trace", 0))
        return 1;
    for (int i = 0; i < 5; i++)
        weft_trace_mark("mark", i);
    return 0;
}
END
rm -rf copy
mkdir copy
cp "$DATADIR/weft/trace/reader.c" "$DATADIR/weft/trace/reader.h" copy
$CC -std=c11 -pedantic -Wall -Wextra -Werror -Icopy -I"$INCLUDEDIR" -o own own.c copy/reader.c
$CC -I"$INCLUDEDIR" -o traced traced.c -L"$LIBDIR" -lweft -Wl,-rpath,"$LIBDIR"
./traced
[ "$(./own trace)" = "5 events" ]
! ./own traced.c
