/* SPDX-License-Identifier: MIT */
#include "core/config.h"

#include "core/pool.h"
#include "core/sized.h"
#include "os/topology.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_MIN = 64 << 10, SPARES_DEFAULT = 16 };

static void complain(const char *name, const char *value, const char *wanted)
{
    char shown[64]; /* one line: control characters become '?' */
    size_t n = 0;
    for (; value[n] && n < sizeof shown - 1; n++)
        shown[n] = (unsigned char)value[n] < ' ' ? '?' : value[n];
    shown[n] = '\0';
    fprintf(stderr, "weft: %s=%s is not %s; using the default\n", name, shown, wanted);
}

/* A number from the environment. -1: it is not set, or not valid, which was complained about. */
static long env_number(const char *name, long low, long high, const char *wanted)
{
    const char *value = getenv(name);
    if (!value || !*value)
        return -1;
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno == 0 && *end == '\0' && number >= low && number <= high)
        return number;
    complain(name, value, wanted);
    return -1;
}

static unsigned workers_wanted(void)
{
    long number = env_number("WEFT_WORKERS", 1, WEFT_WORKERS_MAX, "a number from 1 to 4096");
    return number > 0 ? (unsigned)number : weft__workers_auto();
}

static enum weft_fork fork_wanted(void)
{
    const char *value = getenv("WEFT_FORK");
    if (!value || !*value || strcmp(value, "lazy") == 0)
        return WEFT_FORK_LAZY;
    if (strcmp(value, "eager") == 0)
        return WEFT_FORK_EAGER;
    complain("WEFT_FORK", value, "lazy or eager");
    return WEFT_FORK_LAZY;
}

static enum weft_sleep sleep_wanted(void)
{
    const char *value = getenv("WEFT_SLEEP");
    if (!value || !*value)
        return WEFT_SLEEP_EVENTS;
    enum weft_sleep protocol = weft__sleep_named(value);
    if (protocol != WEFT_SLEEP_DEFAULT)
        return protocol;
    complain("WEFT_SLEEP", value,
             "tickle, tickle-seqcst, tickle-flag, tickle-swap, counters, counters-local, "
             "counters-blocks, counters-all, counters-two, events, events-plain or events-latch");
    return WEFT_SLEEP_EVENTS;
}

static int64_t quantum_wanted(void)
{
    long us = env_number("WEFT_QUANTUM_US", 0, 1000000, "a number of microseconds");
    if (us == 0)
        return WEFT_NONE;
    return us > 0 ? (int64_t)us * 1000 : WEFT_QUANTUM;
}

static int spin_wanted(unsigned cpus)
{
    long number = env_number("WEFT_SPIN", 0, INT_MAX, "a number of rounds");
    if (number >= 0)
        return number == 0 ? WEFT_NONE : (int)number;
    return cpus == 1 ? WEFT_NONE
                     : WEFT__ROUNDS_DEFAULT; /* on one CPU, spinning keeps others from working */
}

static int spares_wanted(void)
{
    long number = env_number("WEFT_SPARES", 0, WEFT_WORKERS_MAX, "a number from 0 to 4096");
    if (number == 0)
        return WEFT_NONE;
    return number > 0 ? (int)number : SPARES_DEFAULT;
}

static int check(const weft_config *config)
{
    if (config->workers > WEFT_WORKERS_MAX || config->quantum < WEFT_NONE ||
        config->spin_rounds < WEFT_NONE || config->spares < WEFT_NONE ||
        config->spares > WEFT_WORKERS_MAX)
        return -EINVAL;
    if (config->flags & ~(unsigned)(WEFT_USE_CALLER | WEFT_NO_GUESTS | WEFT_NO_SIGSEGV |
                                    WEFT_GUESTS_HELP | WEFT_DEADLOCK_PLAIN))
        return -EINVAL;
    if (config->stack_size && config->stack_size < STACK_MIN)
        return -EINVAL;
    if (config->sleep > WEFT_SLEEP_COUNTERS_TWO || config->fork > WEFT_FORK_EAGER ||
        config->pin > WEFT_PIN_NEVER)
        return -EINVAL;
    return 0;
}

int weft__config_complete(weft_config *full, const weft_config *given, unsigned cpus)
{
    int error = weft__sized_read(full, sizeof *full, given);
    if (!error)
        error = check(full);
    if (error)
        return error;
    if (full->workers == 0)
        full->workers = workers_wanted();
    if (full->spin_rounds == 0)
        full->spin_rounds = spin_wanted(cpus);
    if (full->pin == WEFT_PIN_DEFAULT)
        full->pin = WEFT_PIN_ASLEEP;
    if (full->spares == 0)
        full->spares = spares_wanted();
    if (!full->name)
        full->name = "weft";
    if (full->sleep == WEFT_SLEEP_DEFAULT)
        full->sleep = sleep_wanted();
    if (full->fork == WEFT_FORK_DEFAULT)
        full->fork = fork_wanted();
    if (full->quantum == 0)
        full->quantum = quantum_wanted();
    return 0;
}
