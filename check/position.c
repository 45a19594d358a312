/* SPDX-License-Identifier: MIT */
#include "position.h"

#include "arena.h"
#include "schedule.h"
#include "trail.h"

#include <stdlib.h>

static bool write_address(FILE *out, const char *at)
{
    char letter;
    size_t offset;
    if (!arena_name(at, &letter, &offset))
        return false;
    fprintf(out, " %c%zu", letter, offset);
    return true;
}

char *position_write(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    bool complete = true;
    fprintf(out, "%u", shared.count);
    for (unsigned i = 0; i < shared.count; i++)
        complete &= write_address(out, shared.at[i]);
    fprintf(out, " %u", trail.length);
    for (const struct choice *c = trail.choice; c < trail.choice + trail.length; c++)
        fprintf(out, " %u%c%u/%u/%u", c->step, c->kind, c->chosen, c->count, c->asleep);
    if (fclose(out) != 0 || !complete) {
        free(text);
        return NULL;
    }
    return text;
}

static const void *read_address(const char **text)
{
    char letter;
    size_t offset;
    int length;
    if (sscanf(*text, " %c%zu%n", &letter, &offset, &length) != 2)
        return NULL;
    *text += length;
    return arena_address(letter, offset);
}

static bool read_choice(const char **text, struct choice *choice)
{
    int length;
    *choice = (struct choice){0};
    if (sscanf(*text, " %u%c%u/%u/%u%n", &choice->step, &choice->kind, &choice->chosen,
               &choice->count, &choice->asleep, &length) != 5)
        return false;
    *text += length;
    return choice->chosen < choice->count;
}

static bool read_count(const char **text, unsigned most, unsigned *count)
{
    int length;
    if (sscanf(*text, " %u%n", count, &length) != 1 || *count > most)
        return false;
    *text += length;
    return true;
}

bool position_read(const char *text)
{
    if (!read_count(&text, SHARED_MAX, &shared.count))
        return false;
    for (unsigned i = 0; i < shared.count; i++)
        if (!(shared.at[i] = read_address(&text)))
            return false;
    if (!read_count(&text, CHOICES_MAX, &trail.length))
        return false;
    for (unsigned i = 0; i < trail.length; i++)
        if (!read_choice(&text, &trail.choice[i]))
            return false;
    trail.resumed = trail.length;
    return true;
}
