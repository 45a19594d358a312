/* SPDX-License-Identifier: MIT */
/* view.h: `weft top` on a terminal, with ncurses. */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include <sys/types.h>

/* `pid` 0: begins with the list of processes. Returns the program's exit status. */
int view_run(pid_t pid, unsigned interval_ms);

#endif
