/* SPDX-License-Identifier: MIT */
/* weft-check: runs the harnesses, or the library's mutants against them. */
#include "faults.h"
#include "harnesses.h"
#include "mutate.h"
#include "reasons.h"
#include "resume.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct harness *const lists[] = {
    litmus_harnesses,   litmus_data_harnesses, litmus_wait_harnesses, deque_harnesses,
    lock_harnesses,     latch_harnesses,       sleep_harnesses,       fork_harnesses,
    spawn_harnesses,    mutex_harnesses,       event_harnesses,       channel_harnesses,
    limit_harnesses,    alarm_harnesses,       rwlock_harnesses,      select_harnesses,
    overtake_harnesses, block_harnesses,       dead_harnesses,        spare_harnesses,
    pool_harnesses,     actor_harnesses,       places_harnesses,      graph_harnesses,
    fault_harnesses,    variant_harnesses};
enum {
    LISTS = sizeof lists / sizeof lists[0],
    LITMUS = 3, /* of these: no mutant is for them */
    HARNESSES_MAX = 512,
    LINE_LENGTH = 100
};

static const char help[] =
    "Usage: weft check [OPTION]... [NAME]...\n"
    "Runs the library's own sources on a machine that does everything C11 allows, until all\n"
    "executions of a harness are exhausted. NAMEs are parts of harnesses' names; default: all.\n"
    "\n"
    "  -p, --preemptions N  at most so many switches away from a thread that could go on;\n"
    "                       default 2, 'none' for any number\n"
    "  -s, --stale N        at most so many old values read, or stores that land early; default 2\n"
    "  -t, --late N         who spins has to see what was new N spins ago; default 0: now;\n"
    "                       at most 3\n"
    "      --calls-order    who spins, sleeps or wakes somebody has done a step that counts for\n"
    "                       sequential consistency, which RC11 does not say\n"
    "  -m, --mutate         weaken or leave out one thing at a time, and see that a harness fails\n"
    "      --at TEXT        only mutants whose description has this, such as core/pool.c:387\n"
    "  -f, --faults         put in known bugs of others, and see that they are found; most are in\n"
    "                       programs of their own, which are built with the tests\n"
    "      --reasons        see that each reason to keep what survives is true of one place\n"
    "      --seconds N      give up a harness after so many seconds of CPU time\n"
    "      --executions N   or after so many; of mutants that survive a first look, 60000\n"
    "      --resume FILE    note in FILE what was exhausted, and where the others gave up; go on\n"
    "                       there the next time\n"
    "  -r, --replay TRAIL   show one execution, as a failure names it\n"
    "  -d, --diagram        show failing executions, the expected ones as well\n"
    "  -o, --others         all but those that are named\n"
    "      --part K/N       only every Nth harness, or mutant, from the Kth on: N processes\n"
    "                       share the work\n"
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

bool wanted(const struct harness *harness, char **names)
{
    if (!*names)
        return true;
    for (; *names; names++)
        if (strstr(harness->name, *names))
            return true;
    return false;
}

/* ---- Checking ---- */

/* Goes on where it gave up before, if it did; `before`: all that is known of it. */
static struct result explore_more(const struct harness *harness, const struct options *options,
                                  struct progress before)
{
    if (before.standing == STANDING_WRONG)
        return explore(harness, options); /* again */
    struct result result =
        before.position ? explore_on(harness, options, before.position) : explore(harness, options);
    result.executions += before.executions;
    result.known += before.known;
    return result;
}

static void note(const struct harness *harness, const struct result *result, bool good)
{
    resume_set(harness, (struct progress){.standing = result->verdict == VERDICT_GAVE_UP
                                                          ? STANDING_UNFINISHED
                                                      : good ? STANDING_EXHAUSTED
                                                             : STANDING_WRONG,
                                          .executions = result->executions,
                                          .known = result->known,
                                          .position = result->position});
}

static bool check(const struct harness *harness, const struct options *options)
{
    struct progress before = resume_get(harness);
    if (before.standing == STANDING_EXHAUSTED)
        return true;
    struct result result = explore_more(harness, options, before);
    bool failed = result.verdict == VERDICT_FAILED;
    bool good = result.verdict == VERDICT_GAVE_UP ? true
                : harness->fails                  ? failed && strstr(result.why, harness->fails)
                                                  : !failed;
    printf("%-26s %9llu executions, %9llu cut off, %s%s\n", harness->name,
           (unsigned long long)result.executions, (unsigned long long)result.known,
           result.verdict == VERDICT_GAVE_UP ? "gave up"
           : failed                          ? "fails"
                                             : "never fails",
           good ? (failed ? " as it should" : "") : ": WRONG");
    note(harness, &result, good);
    free(result.position);
    if (failed && !good)
        printf("  %s\n  weft check --replay %s:%s\n", result.why, harness->name, result.trail);
    if (failed && options->verbose)
        explore_show(harness, options, result.trail);
    return good;
}

static unsigned count_standing(const struct harness *const *list, unsigned n,
                               enum standing standing)
{
    unsigned found = 0;
    for (unsigned i = 0; i < n; i++)
        found += resume_get(list[i]).standing == standing;
    return found;
}

static void print_standing(const struct harness *const *list, unsigned n, enum standing standing,
                           const char *title)
{
    unsigned column = LINE_LENGTH;
    printf("%s: %u", title, count_standing(list, n, standing));
    for (unsigned i = 0; i < n; i++) {
        if (resume_get(list[i]).standing != standing)
            continue;
        unsigned length = (unsigned)strlen(list[i]->name) + 1;
        if (column + length > LINE_LENGTH) {
            printf("\n ");
            column = 1;
        }
        printf(" %s", list[i]->name);
        column += length;
    }
    putchar('\n');
}

static int check_all(const struct options *options, struct share share, char **names)
{
    static const struct harness *ours[HARNESSES_MAX];
    unsigned bad = 0, count = 0, turn = 0;
    for (unsigned i = 0; i < LISTS; i++)
        for (const struct harness *h = lists[i]; h->name; h++)
            if (wanted(h, names) != share.others && turn++ % share.parts == share.part - 1 &&
                count < HARNESSES_MAX)
                ours[count++] = h;
    for (unsigned i = 0; i < count; i++)
        bad += !check(ours[i], options);
    unsigned unfinished = count_standing(ours, count, STANDING_UNFINISHED);
    if (unfinished > 0 || options->resumable) {
        print_standing(ours, count, STANDING_EXHAUSTED, "exhausted");
        print_standing(ours, count, STANDING_UNFINISHED, "not exhausted");
    }
    printf("%u harnesses, %u wrong", count, bad);
    printf(unfinished > 0 ? ", %u not exhausted\n" : "\n", unfinished);
    return count > 0 && bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
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

static double amount(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (*text && !*end && value > 0)
        return value;
    fprintf(stderr, "weft check: '%s' is no amount\n", text);
    exit(EXIT_FAILURE);
}

static unsigned late(const char *text)
{
    int value = number(text);
    if (value >= 0 && value <= LATE_MAX)
        return (unsigned)value;
    fprintf(stderr, "weft check: '%s' spins are too many\n", text);
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"preemptions", required_argument, NULL, 'p'},
                                          {"stale", required_argument, NULL, 's'},
                                          {"late", required_argument, NULL, 't'},
                                          {"calls-order", no_argument, NULL, 'C'},
                                          {"mutate", no_argument, NULL, 'm'},
                                          {"faults", no_argument, NULL, 'f'},
                                          {"reasons", no_argument, NULL, 'W'},
                                          {"seconds", required_argument, NULL, 'S'},
                                          {"executions", required_argument, NULL, 'E'},
                                          {"resume", required_argument, NULL, 'R'},
                                          {"replay", required_argument, NULL, 'r'},
                                          {"diagram", no_argument, NULL, 'd'},
                                          {"others", no_argument, NULL, 'o'},
                                          {"part", required_argument, NULL, 'P'},
                                          {"at", required_argument, NULL, 'A'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    struct options options = {.preemptions = 2, .stale = 2, .spurious = 1};
    struct share share = {1, 1, false, NULL};
    bool mutate = false;
    const char *resume = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0); /* progress: a line for each */
    for (int option; (option = getopt_long(argc, argv, "p:s:t:mfr:dolh", names, NULL)) != -1;)
        switch (option) {
        case 'p':
            options.preemptions = number(optarg);
            break;
        case 's':
            options.stale = number(optarg);
            break;
        case 't':
            options.rules.late = late(optarg);
            break;
        case 'C':
            options.rules.calls_are_steps = true;
            break;
        case 'm':
            mutate = true;
            break;
        case 'f':
            return faults_all(&options, lists, LISTS, argv);
        case 'r':
            return replay(&options, optarg);
        case 'W':
            return reasons_check();
        case 'S':
            options.seconds = amount(optarg);
            break;
        case 'E':
            options.executions = (uint64_t)amount(optarg);
            break;
        case 'R':
            resume = optarg;
            options.resumable = true;
            break;
        case 'd':
            options.verbose = true;
            break;
        case 'o':
            share.others = true;
            break;
        case 'P':
            if (sscanf(optarg, "%u/%u", &share.part, &share.parts) != 2 || share.part < 1 ||
                share.part > share.parts) {
                fprintf(stderr, "weft check: '%s' is no part, such as 1/2\n", optarg);
                return EXIT_FAILURE;
            }
            break;
        case 'A':
            share.at = optarg;
            break;
        case 'l':
            return list_all();
        case 'h':
            fputs(help, stdout);
            return EXIT_SUCCESS;
        default:
            return EXIT_FAILURE;
        }
    if (resume)
        resume_open(resume, &options);
    return mutate ? mutate_all(options, lists + LITMUS, LISTS - LITMUS, share, argv + optind)
                  : check_all(&options, share, argv + optind);
}
