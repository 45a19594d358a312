/* SPDX-License-Identifier: MIT */
/* perfetto.h: a trace in the Trace Event Format (JSON), which https://ui.perfetto.dev and
 * chrome://tracing show:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU */
#ifndef TRACE_PERFETTO_H
#define TRACE_PERFETTO_H

#include "names.h"

#include <stdio.h>

bool perfetto_put(FILE *out, struct trace *trace, struct names *names); /* false: no memory */

#endif
