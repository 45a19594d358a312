/* SPDX-License-Identifier: MIT */
#include "os/roster.h"

#include "weft.h"

/* `used`: nothing reads it, and it has to be there all the same. */
__attribute__((used)) struct weft__roster weft__roster = {.version = WEFT_VERSION};

void weft__roster_add(struct weft__listed *entry)
{
    struct weft__roster *roster = &weft__roster;
    weft__lock_take(&roster->lock);
    entry->next = roster->first;
    entry->link = &roster->first;
    if (entry->next)
        entry->next->link = &entry->next;
    roster->first = entry;
    weft__lock_drop(&roster->lock);
}

void weft__roster_remove(struct weft__listed *entry)
{
    weft__lock_take(&weft__roster.lock);
    if (entry->link)
        *entry->link = entry->next;
    if (entry->link && entry->next)
        entry->next->link = entry->link;
    entry->link = NULL;
    weft__lock_drop(&weft__roster.lock);
}

void weft__roster_forked(void)
{
    weft__roster.lock = (struct weft__lock){0};
}
