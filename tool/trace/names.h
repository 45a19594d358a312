/* SPDX-License-Identifier: MIT */
/* names.h: which function is at an address of the traced program, or of one that runs.
 *
 * The trace, or the process, says which file was mapped where. The symbols are in that file, if it
 * is still there, was not changed since and is not stripped, and if this program was built with
 * libelf. Else the name is FILE+0xOFFSET, as addr2line(1) takes it. */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include "reader.h"

struct names;

struct names *names_open(const struct trace *trace); /* NULL: there is no memory */

/* From lines as in proc_pid_maps(5). `started`: when the program was, in nanoseconds of
 * CLOCK_REALTIME. */
struct names *names_open_lines(const char *text, size_t size, uint64_t started);
void names_close(struct names *names);

/* Good until the next call. */
const char *names_find(struct names *names, uint64_t address);

#endif
