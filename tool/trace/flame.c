/* SPDX-License-Identifier: MIT */
#include "flame.h"

#include <stdlib.h>

bool flame_make(struct flame *flame)
{
    *flame = (struct flame){.count = FLAME_FULL + 1};
    flame->nodes = calloc(FLAME_FULL + 1 + TABLE_ROWS_MOST, sizeof *flame->nodes);
    return flame->nodes;
}

void flame_free(struct flame *flame)
{
    free(flame->nodes);
    free(flame->numbers.rows);
}

unsigned flame_enter(struct flame *flame, unsigned parent, unsigned label)
{
    struct row *row = table_row(&flame->numbers, (uint64_t)parent << 32 | label);
    if (row == &flame->numbers.others) {
        flame->without++;
        return parent == FLAME_ROOT ? FLAME_FULL : parent;
    }
    if (row->number == 0) {
        row->number = flame->count++;
        flame->nodes[row->number] = (struct flame_node){.parent = parent, .label = label};
    }
    flame->nodes[row->number].count++;
    return row->number;
}
