/* SPDX-License-Identifier: MIT */
#include "path.h"

void path_add(struct path *path, uint64_t function, uint64_t ns)
{
    unsigned least = 0;
    path->ns += ns;
    for (unsigned i = 0; i < PATH_PARTS; i++) {
        if (path->parts[i].function == function) {
            path->parts[i].ns += ns;
            return;
        }
        if (path->parts[i].ns < path->parts[least].ns)
            least = i;
    }
    if (path->parts[least].ns >= ns)
        return;
    path->parts[least].function = function;
    path->parts[least].ns = ns;
}
