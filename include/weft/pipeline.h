/* SPDX-License-Identifier: MIT */
/* weft/pipeline.h: read, work, write.
 *
 * Items go through stages, one after the other, and each item is in one stage at a time. At most
 * so many are under way; no thread ever waits for one of them. */
#ifndef WEFT_PIPELINE_H
#define WEFT_PIPELINE_H

#include "parallel.h" /* weft_state */

#ifdef __cplusplus
extern "C" {
#endif

/* The first stage fills the item; false: there is no more. In the others, false: this item goes
 * no further. */
typedef bool weft_stage_fn(weft *w, void *item, void *arg);

typedef struct weft_stage {
    weft_stage_fn *run;
    bool parallel; /* any number of items at the same time, in any order; else one at a time, in
                      the order of the first stage, which is never parallel */
} weft_stage;

/* Runs all items through n stages and returns 0, or what it failed with: it is a computation of
 * its own, and weft_fail() in a stage ends it. `item` says what each place for an item is; it is
 * made before it is used for the first time, comes back to the first stage as the last one left
 * it, and is dropped in the end, however it ends. At most `in_flight` items are under way,
 * counted from the oldest one; 0: four for each worker.
 * -EINVAL: no stages, one without a function, no item, or the first one is parallel; -ENOMEM. */
WEFT_API WEFT_MUST_USE int weft_pipeline(weft *w, const weft_stage *stages, size_t n,
                                         const weft_state *item, size_t in_flight, void *arg);

#ifdef __cplusplus
}
#endif

#endif
