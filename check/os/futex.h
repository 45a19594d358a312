/* SPDX-License-Identifier: MIT */
/* futex.h: as in the library, but a wake-up has a place in the source, so that it can be left out.
 */
#ifndef CHECK_OS_FUTEX_H
#define CHECK_OS_FUTEX_H

#include "../../src/os/futex.h"

#define weft__futex_wake(word, n) model_wake((word), (n), CHECK_SITE(#word, OP_WAKE, RELAXED))

#endif
