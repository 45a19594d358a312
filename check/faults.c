/* SPDX-License-Identifier: MIT */
#include "faults.h"

#include "mutate.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct fault {
    unsigned number; /* in docs/known-bugs.md */
    const char *what;
    const char *seen; /* where, by project and number; or in which paper */
    const char *harness;
    const char *words; /* in what the failure says */
};

static const char lost[] = "a wake-up is lost";
static const char gone[] = "whose owner has returned";
static const char race[] = "data race";
static const char not_true[] = "not true";

/* The second half of bug 18 is 118. */
static const struct fault faults[] = {
    {1, "a latch's owner is read after the set", "rayon 739, 740, 768", "latch-spin-woken", race},
    {2, "a set touches the pool, here its count of sleepers, when the owner may have gone",
     "rayon 929, 934", "latch-pool-gone", gone},
    {3, "a counting latch is read after it was counted down", "rust 146799", "latch-count", gone},
    {4, "the last look before sleeping forgets the mailbox", "rayon 992", "mail-pool", lost},
    {5, "no last look: an injected job is missed when the counter comes round", "rayon 746",
     "wrap-after-events", lost},
    {6, "the event counter, of two bits here, carries into the count of sleepers", "rayon 797, 800",
     "wrap-events", lost},
    {7, "a latch is set with acq-rel where seq-cst is needed", "rayon 1297", "latch-tickle-seqcst",
     lost},
    {8, "destroy sets the workers' latches and wakes nobody", "rayon 200, 201", "pool-destroy",
     lost},
    {9, "who falls asleep overwrites a nudge", "a notify between probe and wait", "latch-spin",
     lost},
    {10, "no fence between a push and the look for sleepers", "oneTBB 2136", "inject-two-events",
     lost},
    {11, "a woken sleeper is taken off the count twice, which underflows", "tokio 8372",
     "inject-again-events", lost},
    {12, "a sleepy worker trusts in its search before, and does not search again",
     "onnxruntime 23098", "spawn-events", lost},
    {13, "a worker that wakes to stop forgets it, and lies down again", "ponyc 5037",
     "pool-destroy", lost},
    {17, "a thief reads the ring before top and bottom, and they move to another one",
     "crossbeam 726", "deque-grow-two", race},
    {18, "push goes on in the old ring after growing", "Le et al. 2013", "deque-grow", not_true},
    {118, "the larger ring is published relaxed", "Le et al. 2013", "deque-grow", race},
    {30, "a thief trusts an answer that was for another one, when the slot was used before",
     "weft itself", "fork-lazy-reused-thieves", race},
    {19, "bottom - 1 of an empty deque is a huge number", "crossbeam 33", "deque-empty", not_true},
};

/* Those that are no more than an order, or something left out. All others are patches. */
static const struct {
    unsigned number;
    struct mutant mutant;
} mutants[] = {
    {5,
     {.site = &(struct site){.file = "sleep/common.c", .what = "sleeper->last_look(sleeper->arg)"},
      .dropped = true}},
    {7,
     {.site = &(struct site){.file = "sleep/latch.h", .what = "&latch->state"},
      .from = SEQ_CST,
      .to = ACQ_REL}},
    {10, {.site = &(struct site){.file = "sleep/events.c", .what = "fence"}, .dropped = true}},
    {118,
     {.site = &(struct site){.file = "core/deque.c", .what = "&deque->ring"},
      .from = RELEASE,
      .to = RELAXED}},
};

static const struct mutant *mutant_of(unsigned number)
{
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++)
        if (mutants[i].number == number)
            return &mutants[i].mutant;
    return NULL;
}

static const struct harness *find(const struct harness *const *lists, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        for (const struct harness *h = lists[i]; h->name; h++)
            if (strcmp(h->name, name) == 0)
                return h;
    return NULL;
}

/* By this program, which has the bug in it, or is the mutant. */
static bool is_found(const struct fault *fault, const struct harness *harness,
                     const struct options *options)
{
    mutate_apply(mutant_of(fault->number));
    struct result result = explore(harness, options);
    if (options->verbose && result.verdict == VERDICT_FAILED)
        explore_show(harness, options, result.trail);
    mutate_apply(NULL);
    bool found =
        result.verdict == VERDICT_FAILED && (!fault->words || strstr(result.why, fault->words));
    printf("%3u %s (%s)\n    %s, %s after %llu executions%s%s\n", fault->number, fault->what,
           fault->seen, harness->name, found ? "found" : "NOT FOUND",
           (unsigned long long)result.executions, result.why[0] ? ": " : "", result.why);
    return found;
}

/* By the program that has the bug in it, in the folder `bugs` beside this one. It says so itself.
 */
static bool is_found_by_program(const struct fault *fault, char **argv)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    path[length < 0 ? 0 : length] = '\0';
    char *name = strrchr(path, '/');
    if (name)
        snprintf(name, 16, "/bugs/%u", fault->number);
    pid_t child;
    int error = name ? posix_spawn(&child, path, NULL, NULL, argv, environ) : ENOENT, status;
    if (error) {
        printf("%3u %s: %s (it is built with the tests)\n", fault->number, path, strerror(error));
        return false;
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

int faults_all(const struct options *options, const struct harness *const *lists, unsigned n,
               char **argv)
{
    unsigned tried = 0, found = 0;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const struct fault *fault = &faults[i];
        const struct harness *harness = find(lists, n, fault->harness);
        if (fault_inside != 0 && fault_inside != fault->number)
            continue;
        tried++;
        if (!harness)
            printf("%3u there is no harness '%s'\n", fault->number, fault->harness);
        else if (fault_inside != 0 || mutant_of(fault->number))
            found += is_found(fault, harness, options);
        else
            found += is_found_by_program(fault, argv);
    }
    if (fault_inside == 0)
        printf("%u faults, %u found\n", tried, found);
    return tried > 0 && found == tried ? EXIT_SUCCESS : EXIT_FAILURE;
}
