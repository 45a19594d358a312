/* SPDX-License-Identifier: MIT */
/* Orders that no harness needs, and why they are kept. */
#include "harnesses.h"
#include "mutate.h"

#include <string.h>

static const struct {
    const char *file, *what;
    enum order from, to;
    const char *reason;
} reasons[] = {
    {"", "", RELAXED, RELAXED, ""},
};

const char *reason_for(const struct mutant *mutant)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        size_t file = strlen(mutant->site->file), tail = strlen(reasons[i].file);
        if (file >= tail && strcmp(mutant->site->file + file - tail, reasons[i].file) == 0 &&
            strcmp(mutant->site->what, reasons[i].what) == 0 && mutant->from == reasons[i].from &&
            mutant->to == reasons[i].to)
            return reasons[i].reason;
    }
    return NULL;
}
