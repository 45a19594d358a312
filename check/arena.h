/* SPDX-License-Identifier: MIT */
/* arena.h: the memory of an execution, at addresses that are the same in the next one: what
 * model_alloc() and model_block() give out, and the threads' stacks. What is gone is noted. */
#ifndef CHECK_ARENA_H
#define CHECK_ARENA_H

#include "fiber.h"
#include "model.h"

bool arena_make(void);                      /* false: it was there */
void arena_reset(void);                     /* before each execution */
struct fiber *arena_fiber(unsigned thread); /* from 1 */

/* Fails if some of it is gone. */
void arena_touch(const void *at, size_t size);

/* An address as another process of this program understands it: static data, blocks, or what is
 * behind them. False, NULL: it is nowhere. */
bool arena_name(const char *at, char *letter, size_t *offset);
const void *arena_address(char letter, size_t offset);

#endif
