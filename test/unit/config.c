/* SPDX-License-Identifier: MIT */
/* config.c: wishes, the environment, defaults, and programs of another release. */
#include "core/config.h"
#include "check.h"
#include "core/pool.h"
#include "os/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS = 4, STACK_MIN = 64 << 10 };

static const char *const variables[] = {"WEFT_WORKERS", "WEFT_SPIN",       "WEFT_SLEEP",
                                        "WEFT_FORK",    "WEFT_QUANTUM_US", "WEFT_SPARES"};

static const char *const protocols[] = {
    [WEFT_SLEEP_TICKLE] = "tickle",
    [WEFT_SLEEP_TICKLE_SEQCST] = "tickle-seqcst",
    [WEFT_SLEEP_COUNTERS] = "counters",
    [WEFT_SLEEP_EVENTS] = "events",
    [WEFT_SLEEP_TICKLE_FLAG] = "tickle-flag",
    [WEFT_SLEEP_TICKLE_SWAP] = "tickle-swap",
    [WEFT_SLEEP_COUNTERS_LOCAL] = "counters-local",
    [WEFT_SLEEP_COUNTERS_BLOCKS] = "counters-blocks",
    [WEFT_SLEEP_COUNTERS_ALL] = "counters-all",
    [WEFT_SLEEP_EVENTS_PLAIN] = "events-plain",
    [WEFT_SLEEP_EVENTS_LATCH] = "events-latch",
    [WEFT_SLEEP_COUNTERS_TWO] = "counters-two",
};

static int forget_environment(void **state)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    return 0;
}

static weft_config complete(const weft_config *given)
{
    weft_config full;
    assert_int_equal(weft__config_complete(&full, given, CPUS), 0);
    return full;
}

/* ---- Defaults and wishes ---- */

static void expect_defaults(const weft_config *config)
{
    assert_int_equal(config->size, sizeof *config);
    assert_int_equal(config->workers, weft__workers_auto());
    assert_int_equal(config->flags, 0);
    assert_int_equal(config->sleep, WEFT_SLEEP_EVENTS);
    assert_int_equal(config->fork, WEFT_FORK_LAZY);
    assert_int_equal(config->quantum, WEFT_QUANTUM);
    assert_int_equal(config->pin, WEFT_PIN_ASLEEP);
    assert_int_equal(config->spin_rounds, WEFT__ROUNDS_DEFAULT);
    assert_int_equal(config->spares, 16);
    assert_int_equal(config->stack_size, 0); /* for os/thread.c to choose */
    assert_string_equal(config->name, "weft");
    assert_true(!config->on_start && !config->on_exit && !config->spawn_thread && !config->data);
}

static void defaults(void **state)
{
    weft_config given = WEFT_CONFIG_INIT, full = complete(&given);
    expect_defaults(&full);
    full = complete(NULL);
    expect_defaults(&full);
}

static void no_spinning_on_one_cpu(void **state)
{
    weft_config full;
    assert_int_equal(weft__config_complete(&full, NULL, 1), 0);
    assert_int_equal(full.spin_rounds, -1);
}

static void on_thread(weft_pool *pool, unsigned worker, void *data)
{
}

static int spawner(void (*run)(void *), void *arg, unsigned worker, void *data)
{
    return -EAGAIN;
}

static void wishes(void **state)
{
    setenv("WEFT_WORKERS", "3", 1); /* the program knows better than the environment */
    setenv("WEFT_SPIN", "3", 1);
    setenv("WEFT_SLEEP", "tickle", 1);
    setenv("WEFT_FORK", "lazy", 1);
    setenv("WEFT_QUANTUM_US", "3", 1);
    setenv("WEFT_SPARES", "3", 1);
    weft_config given = {
        .size = sizeof given,
        .workers = WEFT_WORKERS_MAX,
        .flags = WEFT_USE_CALLER | WEFT_NO_GUESTS | WEFT_NO_SIGSEGV | WEFT_DEADLOCK_PLAIN,
        .sleep = WEFT_SLEEP_EVENTS,
        .fork = WEFT_FORK_EAGER,
        .quantum = 17,
        .pin = WEFT_PIN_NEVER,
        .spin_rounds = WEFT_NONE,
        .stack_size = STACK_MIN,
        .name = "name",
        .on_start = on_thread,
        .on_exit = on_thread,
        .spawn_thread = spawner,
        .data = &given,
        .spares = 4,
    };
    weft_config full = complete(&given);
    assert_int_equal(full.workers, given.workers);
    assert_int_equal(full.flags, given.flags);
    assert_int_equal(full.sleep, given.sleep);
    assert_int_equal(full.fork, given.fork);
    assert_int_equal(full.quantum, given.quantum);
    assert_int_equal(full.pin, given.pin);
    assert_int_equal(full.spin_rounds, given.spin_rounds);
    assert_int_equal(full.spares, given.spares);
    assert_int_equal(full.stack_size, given.stack_size);
    assert_string_equal(full.name, given.name);
    assert_true(full.on_start == given.on_start && full.on_exit == given.on_exit);
    assert_true(full.spawn_thread == given.spawn_thread && full.data == given.data);
}

static void no_quantum(void **state)
{
    weft_config given = {.size = sizeof given, .quantum = WEFT_NONE};
    setenv("WEFT_QUANTUM_US", "3", 1);
    assert_int_equal(complete(&given).quantum, WEFT_NONE);
}

struct bad {
    weft_config config;
    int error;
};

static void out_of_range(void **state)
{
    const struct bad bad[] = {
        {{.workers = WEFT_WORKERS_MAX + 1}, -EINVAL},
        {{.workers = UINT32_MAX}, -EINVAL},
        {{.flags = 1u << 5}, -EINVAL},
        {{.flags = 1u << 31}, -EINVAL},
        {{.sleep = WEFT_SLEEP_COUNTERS_TWO + 1}, -EINVAL},
        {{.fork = WEFT_FORK_EAGER + 1}, -EINVAL},
        {{.pin = WEFT_PIN_NEVER + 1}, -EINVAL},
        {{.spin_rounds = -2}, -EINVAL},
        {{.quantum = -2}, -EINVAL},
        {{.stack_size = STACK_MIN - 1}, -EINVAL},
        {{.stack_size = 1}, -EINVAL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        weft_config given = bad[i].config, full;
        given.size = sizeof given;
        assert_int_equal(weft__config_complete(&full, &given, CPUS), bad[i].error);
    }
}

/* ---- Other releases ---- */

static void smaller_than_this_release(void **state)
{
    weft_config given = {.workers = 7, .stack_size = 1, .name = "not there", .spin_rounds = 9};
    given.size = offsetof(weft_config, workers) + sizeof given.workers; /* the rest is not ours */
    weft_config full = complete(&given);
    assert_int_equal(full.workers, 7);
    full.workers = weft__workers_auto();
    expect_defaults(&full);
}

static void too_small(void **state)
{
    weft_config given = {.workers = 7}, full;
    for (size_t size = 0; size < offsetof(weft_config, workers) + sizeof given.workers; size++) {
        given.size = size;
        assert_int_equal(weft__config_complete(&full, &given, CPUS), -EINVAL);
    }
}

static void not_a_size(void **state)
{
    weft_config given = {.size = SIZE_MAX}, full;
    assert_int_equal(weft__config_complete(&full, &given, CPUS), -EINVAL);
}

static void larger_than_this_release(void **state)
{
    struct {
        weft_config config;
        char more[24];
    } given = {.config = {.size = sizeof given, .workers = 7}};
    weft_config full = complete(&given.config); /* what is new is not asked for */
    assert_int_equal(full.workers, 7);
    assert_int_equal(full.size, sizeof full);
    for (size_t i = 0; i < sizeof given.more; i++) {
        given.more[i] = 1;
        assert_int_equal(weft__config_complete(&full, &given.config, CPUS), -ENOTSUP);
        given.more[i] = 0;
    }
}

/* ---- The environment ---- */

/* What `complete` prints on standard error with one variable set; static memory. */
static const char *complaint(const char *name, const char *value, weft_config *full)
{
    static char text[1000];
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    assert_true(file && saved >= 0);
    setenv(name, value, 1);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    *full = complete(NULL);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    unsetenv(name);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void readable_values(void **state)
{
    weft_config full;
    assert_string_equal(complaint("WEFT_WORKERS", "1", &full), "");
    assert_int_equal(full.workers, 1);
    assert_string_equal(complaint("WEFT_WORKERS", "4096", &full), "");
    assert_int_equal(full.workers, 4096);
    assert_string_equal(complaint("WEFT_SPIN", "0", &full), "");
    assert_int_equal(full.spin_rounds, -1);
    assert_string_equal(complaint("WEFT_SPIN", "5", &full), "");
    assert_int_equal(full.spin_rounds, 5);
    assert_string_equal(complaint("WEFT_SPARES", "0", &full), "");
    assert_int_equal(full.spares, WEFT_NONE);
    assert_string_equal(complaint("WEFT_SPARES", "4096", &full), "");
    assert_int_equal(full.spares, 4096);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        assert_string_equal(complaint(variables[i], "", &full), ""); /* as if not there */
        expect_defaults(&full);
    }
    for (enum weft_sleep i = WEFT_SLEEP_TICKLE; i <= WEFT_SLEEP_COUNTERS_TWO; i++) {
        assert_string_equal(complaint("WEFT_SLEEP", protocols[i], &full), "");
        assert_int_equal(full.sleep, i);
        assert_string_equal(weft__sleep_name(i), protocols[i]);
    }
    assert_string_equal(complaint("WEFT_FORK", "eager", &full), "");
    assert_int_equal(full.fork, WEFT_FORK_EAGER);
    assert_string_equal(complaint("WEFT_FORK", "lazy", &full), "");
    assert_int_equal(full.fork, WEFT_FORK_LAZY);
    assert_string_equal(complaint("WEFT_QUANTUM_US", "7", &full), "");
    assert_int_equal(full.quantum, 7000);
    assert_string_equal(complaint("WEFT_QUANTUM_US", "0", &full), "");
    assert_int_equal(full.quantum, WEFT_NONE);
}

static void expect_complaint(const char *name, const char *value)
{
    weft_config full;
    const char *text = complaint(name, value, &full);
    char start[200];
    snprintf(start, sizeof start, "weft: %s=%s is not ", name, value);
    assert_memory_equal(text, start, strlen(start));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
    expect_defaults(&full);
}

static void unreadable_values(void **state)
{
    static const char *const numbers[] = {
        "many", "4x", "-1", "0x", "1.5", " ", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        expect_complaint("WEFT_WORKERS", numbers[i]);
        expect_complaint("WEFT_SPIN", numbers[i]);
        expect_complaint("WEFT_SPARES", numbers[i]);
        expect_complaint("WEFT_QUANTUM_US", numbers[i]);
    }
    expect_complaint("WEFT_WORKERS", "0");
    expect_complaint("WEFT_WORKERS", "4097");
    expect_complaint("WEFT_SLEEP", "soundly");
    expect_complaint("WEFT_SLEEP", "Events");
    expect_complaint("WEFT_SLEEP", "counters-");
    expect_complaint("WEFT_FORK", "sometimes");
}

#define TEST(name) cmocka_unit_test_setup(name, forget_environment)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults),
        TEST(no_spinning_on_one_cpu),
        TEST(wishes),
        TEST(no_quantum),
        TEST(out_of_range),
        TEST(smaller_than_this_release),
        TEST(too_small),
        TEST(larger_than_this_release),
        TEST(not_a_size),
        TEST(readable_values),
        TEST(unreadable_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
