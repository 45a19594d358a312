/* SPDX-License-Identifier: MIT */
/* advice.h: what in a summary to look at first. */
#ifndef TRACE_ADVICE_H
#define TRACE_ADVICE_H

#include "names.h"
#include "summary.h"

#include <stdio.h>

void advice_put(FILE *out, const struct summary *summary, struct names *names);

#endif
