/* SPDX-License-Identifier: MIT */
#include "execution.h"

#include "arena.h"
#include "schedule.h"
#include "trail.h"
#include "watch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

struct execution now;
static bool finishing;
static jmp_buf end_of_finish;

void execution_of(const struct harness *harness, const struct options *options)
{
    now = (struct execution){.harness = harness, .options = options};
}

struct rules execution_rules(void)
{
    return now.harness->rules ? *now.harness->rules : now.options->rules;
}

/* ---- How it ends ---- */

void model_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(now.why, sizeof now.why, format, args);
    va_end(args);
    if (!now.running && finishing) {
        now.ending = FAILED;
        longjmp(end_of_finish, 1);
    }
    if (!now.running) {
        fprintf(stderr, "weft-check: %s: %s\n", now.harness->name, now.why);
        exit(EXIT_FAILURE);
    }
    schedule_end(FAILED);
}

void model_done(void)
{
    schedule_end(OVER);
}

/* A mutant, or a bug, that follows a wild pointer. The signal's stack is left for good. */
static void crashed(int signal)
{
    (void)signal;
    if (now.running)
        model_fail("touches memory that is not there");
    abort();
}

static void catch_crashes(void)
{
    static char stack[64 << 10];
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* ---- From setup to finish ---- */

void execution_prepare(void)
{
    if (arena_make())
        catch_crashes();
}

static void thread_main(void *arg)
{
    now.harness->thread[(uintptr_t)arg]();
}

static void finish(void)
{
    finishing = true;
    if (setjmp(end_of_finish) == 0)
        now.harness->finish();
    finishing = false;
}

void execution_run(void)
{
    execution_prepare();
    execution_of(now.harness, now.options);
    arena_reset();
    trail_rewind();
    schedule_reset();
    watch_reset();
    memory_reset(execution_rules());
    now.harness->setup();
    for (uintptr_t i = 0; i < HARNESS_THREADS && now.harness->thread[i]; i++)
        schedule_start(thread_main, (void *)i);
    schedule_run();
    if (now.ending == GOES_ON && now.harness->finish)
        finish();
    if (now.ending == STUCK)
        snprintf(now.why, sizeof now.why, "nobody can go on: a wake-up is lost");
    if (now.ending == ENDLESS)
        snprintf(now.why, sizeof now.why, "it goes on for ever");
}
