/* SPDX-License-Identifier: MIT */
/* svg.h: a picture of a trace: a row for each thread, with what it did over time. */
#ifndef TRACE_SVG_H
#define TRACE_SVG_H

#include "names.h"

#include <stdio.h>

bool svg_put(FILE *out, struct trace *trace, struct names *names); /* false: no memory */

#endif
