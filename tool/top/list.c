/* SPDX-License-Identifier: MIT */
#include "list.h"

#include <stdlib.h>

static void forget(struct listed *one)
{
    if (one->good)
        sample_free(&one->sample);
    if (one->watch)
        watch_close(one->watch);
    *one = (struct listed){0};
}

static void look(struct listed *one)
{
    if (one->good)
        sample_free(&one->sample);
    one->good = false;
    if (!one->watch)
        one->watch = watch_open(one->pid, one->why);
    if (one->watch)
        one->good = watch_look(one->watch, &one->sample, one->why);
    if (one->watch && !one->good) {
        watch_close(one->watch);
        one->watch = NULL;
    }
}

bool list_look(struct list *list)
{
    pid_t *pids;
    size_t count = process_list(&pids), kept = 0;
    struct listed *all = calloc(count + 1, sizeof *all);
    if (!all) {
        free(pids);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct listed one = {.pid = pids[i]};
        for (size_t k = 0; k < list->count; k++)
            if (list->all[k].pid == pids[i]) {
                one = list->all[k];
                list->all[k] = (struct listed){0};
            }
        look(&one);
        if (one.good)
            all[kept++] = one;
        else
            forget(&one); /* it has ended; or it is a child that has no pool of its own */
    }
    free(pids);
    list_free(list);
    *list = (struct list){all, kept};
    return true;
}

void list_free(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        forget(&list->all[i]);
    free(list->all);
    *list = (struct list){0};
}
