/* SPDX-License-Identifier: MIT */
/* weft-check: runs the harnesses, or the library's mutants against them. */
#include "harnesses.h"
#include "mutate.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct harness *const lists[] = {litmus_harnesses, deque_harnesses, lock_harnesses,
                                              latch_harnesses,  sleep_harnesses, pool_harnesses};
enum { LISTS = sizeof lists / sizeof lists[0], MUTANTS_MAX = 500 };

static const char help[] =
    "Usage: weft check [OPTION]... [NAME]...\n"
    "Runs the library's own sources on a machine that does everything C11 allows, until all\n"
    "executions of a harness are exhausted. NAMEs are parts of harnesses' names; default: all.\n"
    "\n"
    "  -p, --preemptions N  at most so many switches away from a thread that could go on;\n"
    "                       default 2, 'none' for any number\n"
    "  -s, --stale N        at most so many old values read, or stores that land early; default 2\n"
    "  -m, --mutate         weaken one memory order at a time, and see that a harness fails\n"
    "  -r, --replay TRAIL   show one execution, as a failure names it\n"
    "  -d, --diagram        show failing executions, the expected ones as well\n"
    "  -l, --list           show what there is\n"
    "  -h, --help           show this\n";

static const struct harness *find(const char *name, size_t length)
{
    for (unsigned i = 0; i < LISTS; i++)
        for (const struct harness *h = lists[i]; h->name; h++)
            if (strlen(h->name) == length && memcmp(h->name, name, length) == 0)
                return h;
    return NULL;
}

static bool wanted(const struct harness *harness, char **names)
{
    if (!*names)
        return true;
    for (; *names; names++)
        if (strstr(harness->name, *names))
            return true;
    return false;
}

/* ---- Checking ---- */

static bool check(const struct harness *harness, const struct options *options)
{
    struct outcome outcome = explore(harness, options);
    bool failed = outcome.verdict == VERDICT_FAILED;
    bool good = harness->fails ? failed && strstr(outcome.why, harness->fails)
                               : outcome.verdict == VERDICT_FINE;
    printf("%-26s %9llu executions, %9llu cut off, %s%s\n", harness->name,
           (unsigned long long)outcome.executions, (unsigned long long)outcome.known,
           outcome.verdict == VERDICT_GAVE_UP ? "gave up"
           : failed                           ? "fails"
                                              : "never fails",
           good ? (failed ? " as it should" : "") : ": WRONG");
    if (failed && !good)
        printf("  %s\n  weft check --replay %s:%s\n", outcome.why, harness->name, outcome.trail);
    if (failed && options->verbose)
        explore_show(harness, options, outcome.trail);
    return good;
}

static int check_all(const struct options *options, char **names)
{
    unsigned bad = 0, count = 0;
    for (unsigned i = 0; i < LISTS; i++)
        for (const struct harness *h = lists[i]; h->name; h++)
            if (wanted(h, names)) {
                count++;
                bad += !check(h, options);
            }
    printf("%u harnesses, %u wrong\n", count, bad);
    return count > 0 && bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- Mutants ---- */

/* The first harness that fails; NULL: none does. Those that are known to don't count, and the
 * checker's own have nothing of the library's. */
static const struct harness *killer_of(const struct options *options, char **names)
{
    for (unsigned i = 1; i < LISTS; i++)
        for (const struct harness *h = lists[i]; h->name; h++)
            if (!h->fails && wanted(h, names) && explore(h, options).verdict == VERDICT_FAILED)
                return h;
    return NULL;
}

static int mutate_all(struct options options, char **names)
{
    static struct mutant mutants[MUTANTS_MAX];
    options.executions = 5000; /* those that take longer are made of what smaller ones have */
    if (killer_of(&options, names)) {
        puts("weft check: a harness fails already");
        return EXIT_FAILURE;
    }
    unsigned n = mutate_list(mutants, MUTANTS_MAX), unexplained = 0, killed = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct mutant *m = &mutants[i];
        mutate_apply(m);
        const struct harness *killer = killer_of(&options, names);
        mutate_apply(NULL);
        const char *reason = killer ? NULL : reason_for(m);
        printf("%s:%d %s %s %s: %s %s\n", m->site->file, m->site->line, m->site->what,
               mutate_order_name(m->from), m->dropped ? "left out" : mutate_order_name(m->to),
               killer   ? "killed by"
               : reason ? "kept:"
                        : "SURVIVES",
               killer   ? killer->name
               : reason ? reason
                        : "");
        killed += killer != NULL;
        unexplained += !killer && !reason;
    }
    printf("%u mutants, %u killed, %u kept for a reason, %u unexplained\n", n, killed,
           n - killed - unexplained, unexplained);
    return unexplained == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- Options ---- */

static int replay(const struct options *options, const char *trail)
{
    const char *colon = strchr(trail, ':');
    const struct harness *harness = colon ? find(trail, (size_t)(colon - trail)) : NULL;
    if (!harness) {
        fprintf(stderr, "weft check: a trail is NAME:CHOICES, and NAME a harness ('--list')\n");
        return EXIT_FAILURE;
    }
    explore_show(harness, options, colon + 1);
    return EXIT_SUCCESS;
}

static int list_all(void)
{
    for (unsigned i = 0; i < LISTS; i++)
        for (const struct harness *h = lists[i]; h->name; h++)
            printf("%-26s %s%s\n", h->name, h->what, h->fails ? " (fails)" : "");
    return EXIT_SUCCESS;
}

static int number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (strcmp(text, "none") == 0)
        return -1;
    if (*text && !*end && value >= 0 && value <= 1000)
        return (int)value;
    fprintf(stderr, "weft check: '%s' is no number, nor 'none'\n", text);
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"preemptions", required_argument, NULL, 'p'},
                                          {"stale", required_argument, NULL, 's'},
                                          {"mutate", no_argument, NULL, 'm'},
                                          {"replay", required_argument, NULL, 'r'},
                                          {"diagram", no_argument, NULL, 'd'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    struct options options = {.preemptions = 2, .stale = 2, .spurious = 1};
    bool mutate = false;
    setvbuf(stdout, NULL, _IOLBF, 0); /* progress: a line for each */
    for (int option; (option = getopt_long(argc, argv, "p:s:mr:dlh", names, NULL)) != -1;)
        switch (option) {
        case 'p':
            options.preemptions = number(optarg);
            break;
        case 's':
            options.stale = number(optarg);
            break;
        case 'm':
            mutate = true;
            break;
        case 'r':
            return replay(&options, optarg);
        case 'd':
            options.verbose = true;
            break;
        case 'l':
            return list_all();
        case 'h':
            fputs(help, stdout);
            return EXIT_SUCCESS;
        default:
            return EXIT_FAILURE;
        }
    return mutate ? mutate_all(options, argv + optind) : check_all(&options, argv + optind);
}
