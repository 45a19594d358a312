/* SPDX-License-Identifier: MIT */
/* Compiled once for each program: CHECK_BUG is the number of the bug that is in it. */
#include "faults.h"

#ifndef CHECK_BUG
#define CHECK_BUG 0
#endif

const unsigned fault_inside = CHECK_BUG;
