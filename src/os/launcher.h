/* SPDX-License-Identifier: MIT */
/* launcher.h: processes of one program that a launcher, such as mpirun, has started side by side on
 * this machine, and how they share its CPUs. Known from the environment only. */
#ifndef WEFT_OS_LAUNCHER_H
#define WEFT_OS_LAUNCHER_H

#include <stdbool.h>

struct weft__launcher {
    unsigned rank, size; /* on this machine */
    bool bound;          /* it says that it has chosen CPUs for each of them */
};

/* False: no launcher, or it does not tell. */
bool weft__launcher_get(struct weft__launcher *launcher);

/* How many of `cpus` CPUs this process should use. `all` are those of its parent, which is the
 * launcher or a script between: if these are more, the process was given a part of them. Then, too,
 * several processes may have the same part, and no process uses more than an equal share of all.
 * The first ones get one more where it does not come out even.
 *
 * Worst case: a script between, and processes that share the CPUs that they are bound to. Then each
 * uses all of them. */
unsigned weft__launcher_share(const struct weft__launcher *launcher, unsigned cpus, unsigned all);

#endif
