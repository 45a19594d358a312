/* SPDX-License-Identifier: MIT */
/* weft/all.h: all headers of weft. */
#ifndef WEFT_ALL_H
#define WEFT_ALL_H

#include "../weft.h"
#include "actor.h"
#include "graph.h"
#include "hashmap.h"
#include "lines.h"
#include "local.h"
#include "ordmap.h"
#include "parallel.h"
#include "pipeline.h"
#include "sort.h"
#include "stats_format.h"
#include "sync.h"
#include "task.h"
#include "timer.h"
#include "trace.h"
#include "trace_format.h"
#include "vector.h"

#endif
