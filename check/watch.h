/* SPDX-License-Identifier: MIT */
/* watch.h: ordinary data. The library and the harnesses are compiled with the hooks that
 * ThreadSanitizer's compilers put before each load and store; here they find data races, and
 * remember static data, so that each execution begins with it as the first one did. */
#ifndef CHECK_WATCH_H
#define CHECK_WATCH_H

#include "model.h"

void watch_reset(void); /* before each execution */

/* Static data is about to change. */
void watch_remember(const void *at, size_t size);

/* An atomic access: only plain stores conflict with it. */
void watch_atomic(unsigned thread, const void *at, unsigned size);

/* It is gone from now on: what others did there has to have happened before. */
void watch_gone(unsigned thread, const void *at, size_t size);

/* What threads call `_Thread_local`: saved for `from`, brought back for `to`. */
void watch_locals(unsigned from, unsigned to);

#endif
