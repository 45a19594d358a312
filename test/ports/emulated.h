/* SPDX-License-Identifier: MIT */
/* emulated.h: tests that fail for a limit of qemu-user, which runs one process of another
 * processor, and not of weft. They are left out where WEFT_TEST_EMULATED is set, and where what
 * they need is tried and does not work: another emulator may do better. README.md explains each
 * limit. */
#ifndef PORTS_EMULATED_H
#define PORTS_EMULATED_H

/* Why this test is left out; NULL: it is not. */
const char *ports_reason(const char *test);

#endif
