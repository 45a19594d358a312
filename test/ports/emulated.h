/* SPDX-License-Identifier: MIT */
/* emulated.h: tests that no emulator of one process can pass, by name, and why. Left out where
 * WEFT_TEST_EMULATED is set. */
#ifndef PORTS_EMULATED_H
#define PORTS_EMULATED_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FORKS "qemu 7.2 can't fork a process that has threads, and start threads in the child"
#define CALLS "/proc has the numbers of the host's system calls"
#define FRAMES "qemu does not tell the signal handler where the fault was as the kernel does"

static const struct {
    const char *test, *reason;
} ports_emulated[] = {
    {"a_report_without_a_handler_is_written", FORKS},
    {"empty_ranges_are_no_calls", FORKS},
    {"forked_beside_a_waker", FORKS},
    {"declared_read", CALLS},
    {"undeclared_read", CALLS},
    {"overflow_inside_libc", FRAMES},
};

#undef FORKS
#undef CALLS
#undef FRAMES

/* Why this test is left out; NULL: it is not. */
__attribute__((unused)) static const char *ports_reason(const char *test)
{
    if (!getenv("WEFT_TEST_EMULATED"))
        return NULL;
    for (size_t i = 0; i < sizeof ports_emulated / sizeof ports_emulated[0]; i++)
        if (strcmp(ports_emulated[i].test, test) == 0)
            return ports_emulated[i].reason;
    return NULL;
}

#endif
