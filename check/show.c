/* SPDX-License-Identifier: MIT */
/* One execution, for a person: a column for each thread, a row for each step; the arrow says
 * in which row the store is that was read, 0 for what was there before. */
#include "explore.h"

#include <string.h>

enum { COLUMN = 38 };

static const char *file_of(const struct site *site)
{
    const char *slash = strrchr(site->file, '/');
    return slash ? slash + 1 : site->file;
}

static void describe(const struct event *e, char *text, size_t size)
{
    static const char *const marks[] = {"rlx", "acq", "rel", "acq_rel", "sc"};
    const char *what = e->site ? e->site->what : "";
    while (*what == '&')
        what++;
    switch (e->kind) {
    case EVENT_LOAD:
        snprintf(text, size, "read_%s(%s) = %llx", marks[e->order], what,
                 (unsigned long long)e->value);
        break;
    case EVENT_STORE:
        snprintf(text, size, "write_%s(%s, %llx)", marks[e->order], what,
                 (unsigned long long)e->value);
        break;
    case EVENT_RMW:
        snprintf(text, size, "rmw_%s(%s) %llx -> %llx", marks[e->order], what,
                 (unsigned long long)e->value, (unsigned long long)e->new_value);
        break;
    case EVENT_FENCE:
        snprintf(text, size, "fence_%s", marks[e->order]);
        break;
    case EVENT_SLEEP:
        snprintf(text, size, "sleeps");
        break;
    case EVENT_WOKEN:
        snprintf(text, size, "wakes");
        break;
    case EVENT_WAKE:
        snprintf(text, size, "wakes who sleeps there");
        break;
    case EVENT_SPIN:
        snprintf(text, size, "spins");
        break;
    }
}

/* Which row shows the store that was read. */
static unsigned row_of_store(const struct event *load)
{
    for (unsigned i = 0; i < machine.events; i++)
        if (machine.event[i].thread == load->from && machine.event[i].number == load->from_number)
            return i + 1;
    return 0;
}

static bool reads(const struct event *e)
{
    return e->kind == EVENT_LOAD || e->kind == EVENT_RMW;
}

static void show_row(unsigned i)
{
    const struct event *e = &machine.event[i];
    char text[200], source[60] = "";
    describe(e, text, sizeof text);
    if (reads(e) && e->from)
        snprintf(text + strlen(text), sizeof text - strlen(text), " <-%u", row_of_store(e));
    else if (reads(e))
        snprintf(text + strlen(text), sizeof text - strlen(text), " <-0");
    if (e->site && e->site->line)
        snprintf(source, sizeof source, "%s:%d", file_of(e->site), e->site->line);
    printf("%4u %*s%-*s %s\n", i + 1, (int)(e->thread - 1) * COLUMN, "", COLUMN, text, source);
}

void explore_show(const struct harness *h, const struct options *o, const char *trail)
{
    const char *why = explore_again(h, o, trail);
    unsigned threads = 1;
    for (unsigned i = 0; i < machine.events; i++)
        if (machine.event[i].thread > threads)
            threads = machine.event[i].thread;
    printf("%s: %s\n     ", h->name, h->what);
    for (unsigned t = 1; t <= threads; t++)
        printf("thread %-*u", COLUMN - 7, t);
    printf("\n");
    for (unsigned i = 0; i < machine.events; i++)
        show_row(i);
    printf("%s\n", why[0] ? why : "it does not fail");
}
