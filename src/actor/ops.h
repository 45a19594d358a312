/* SPDX-License-Identifier: MIT */
/* ops.h: what the core does with fibers: its table (core/fiber.h), filled in. */
#ifndef WEFT_ACTOR_OPS_H
#define WEFT_ACTOR_OPS_H

#include "core/fiber.h"

extern const struct weft__fiber_ops weft__actor_ops;

#endif
