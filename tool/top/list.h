/* SPDX-License-Identifier: MIT */
/* list.h: all processes that use weft and that this user can look into. */
#ifndef TOP_LIST_H
#define TOP_LIST_H

#include "lines.h"

struct list {
    struct listed *all;
    size_t count;
};

/* Looks at each once more; those that have ended go, and new ones come. False: no memory, and the
 * list is as it was. */
bool list_look(struct list *list);
void list_free(struct list *list);

#endif
