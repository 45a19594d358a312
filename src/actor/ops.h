/* SPDX-License-Identifier: MIT */
/* ops.h: the table of functions that the core calls for fibers (core/fiber.h). */
#ifndef WEFT_ACTOR_OPS_H
#define WEFT_ACTOR_OPS_H

#include "core/fiber.h"

extern const struct weft__fiber_ops weft__actor_ops;

#endif
