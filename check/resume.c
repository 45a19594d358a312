/* SPDX-License-Identifier: MIT */
/* A line for each harness: its standing, executions, those cut off, name and position. The first
 * line says for which program and options this is true. */
#include "resume.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 512, TITLE_MAX = 200 };

struct entry {
    char name[64];
    struct progress progress;
    char *position;
};

static struct entry entries[ENTRIES_MAX];
static unsigned entry_count;
static const char *path;
static char title[TITLE_MAX];

static void fail(const char *what)
{
    fprintf(stderr, "weft check: ");
    perror(what);
    exit(EXIT_FAILURE);
}

static struct entry *entry_of(const char *name)
{
    for (unsigned i = 0; i < entry_count; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    if (entry_count == ENTRIES_MAX || strlen(name) >= sizeof entries[0].name)
        abort();
    struct entry *entry = &entries[entry_count++];
    memcpy(entry->name, name, strlen(name) + 1);
    return entry;
}

/* Positions are worth something in the same program only. */
static uint64_t program(void)
{
    FILE *self = fopen("/proc/self/exe", "r");
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (!self)
        fail("/proc/self/exe");
    for (int c; (c = getc(self)) != EOF;)
        hash = (hash ^ (unsigned)c) * UINT64_C(0x100000001b3);
    fclose(self);
    return hash;
}

static void make_title(const struct options *options)
{
    snprintf(title, sizeof title,
             "weft check, program %016llx, preemptions %d, stale %d, late %u, calls %d",
             (unsigned long long)program(), options->preemptions, options->stale,
             options->rules.late, options->rules.calls_are_steps);
}

static void read_line(char *line)
{
    char name[64];
    unsigned standing;
    unsigned long long executions, known;
    int length;
    if (sscanf(line, "%u %llu %llu %63s %n", &standing, &executions, &known, name, &length) != 4 ||
        standing > STANDING_WRONG)
        return;
    struct entry *entry = entry_of(name);
    entry->progress = (struct progress){(enum standing)standing, executions, known, NULL};
    entry->position = line[length] ? strdup(line + length) : NULL;
}

void resume_open(const char *file, const struct options *options)
{
    char *line = NULL;
    size_t room = 0;
    path = file;
    make_title(options);
    FILE *in = fopen(path, "r");
    if (!in)
        return;
    bool fits = false;
    for (bool first = true; getline(&line, &room, in) > 0; first = false) {
        line[strcspn(line, "\n")] = '\0';
        if (first)
            fits = strcmp(line, title) == 0;
        else if (fits)
            read_line(line);
    }
    if (!fits)
        printf("%s is of another program or other options: all begins anew\n", path);
    free(line);
    fclose(in);
}

struct progress resume_get(const struct harness *harness)
{
    const struct entry *entry = entry_of(harness->name);
    struct progress progress = entry->progress;
    progress.position = entry->position;
    return progress;
}

static void write_all(FILE *out)
{
    fprintf(out, "%s\n", title);
    for (unsigned i = 0; i < entry_count; i++) {
        const struct entry *entry = &entries[i];
        if (entry->progress.standing != STANDING_NEW)
            fprintf(out, "%u %llu %llu %s %s\n", (unsigned)entry->progress.standing,
                    (unsigned long long)entry->progress.executions,
                    (unsigned long long)entry->progress.known, entry->name,
                    entry->position ? entry->position : "");
    }
}

void resume_set(const struct harness *harness, struct progress progress)
{
    struct entry *entry = entry_of(harness->name);
    char *position = progress.position ? strdup(progress.position) : NULL;
    free(entry->position);
    entry->position = position;
    entry->progress = progress;
    if (!path)
        return;
    char new[4096];
    snprintf(new, sizeof new, "%s.new", path);
    FILE *out = fopen(new, "w");
    if (!out)
        fail(new);
    write_all(out);
    if (fclose(out) != 0 || rename(new, path) != 0)
        fail(path);
}
