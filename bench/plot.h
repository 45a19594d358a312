/* SPDX-License-Identifier: MIT */
/* plot.h: all that was measured beside something else in one picture, drawn by gnuplot. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include "report.h"

#include <stdbool.h>

/* Before anything is measured: is there a gnuplot, and can the file be written? Else false,
 * with a message. */
bool plot_possible(const char *path);

/* False, with a message. */
bool plot_draw(const struct report *report, const char *path);

#endif
