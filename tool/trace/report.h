/* SPDX-License-Identifier: MIT */
/* report.h: a summary in words and numbers. */
#ifndef TRACE_REPORT_H
#define TRACE_REPORT_H

#include "names.h"
#include "summary.h"

#include <stdio.h>

/* `blocks`: the terminal has block characters. Sorts the summary's tables. */
void report_put(FILE *out, struct summary *summary, struct names *names, bool blocks);

#endif
