/* SPDX-License-Identifier: MIT */
/* weft/pipeline.h: read, work, write.
 *
 * Items go through stages, one after the other, and each item is in one stage at a time. The number
 * of items under way is limited; no thread ever waits for an item. */
#ifndef WEFT_PIPELINE_H
#define WEFT_PIPELINE_H

#include "parallel.h" /* weft_state */

#ifdef __cplusplus
extern "C" {
#endif

/* The first stage fills the item; false: there are no more items. In the other stages, false: this
 * item goes no further. */
typedef bool weft_stage_fn(weft *w, void *item, void *arg);

typedef struct weft_stage {
    weft_stage_fn *run;
    bool parallel; /* any number of items at the same time, in any order; else one at a time, in
                      the order of the first stage, which is never parallel */
} weft_stage;

/* Runs all items through n stages and returns 0, or what it failed with: it is a computation of
 * its own, and weft_fail() in a stage ends it. `item` describes the memory of an item: it is made
 * before its first use, is used again by the first stage without being cleared, and is dropped when
 * the pipeline ends, in any way. At most `in_flight` items are under way, counted from the oldest;
 * 0: four for each worker.
 * -EINVAL: no stages, a stage without a function, no item, or the first stage is parallel; -ENOMEM.
 */
WEFT_API WEFT_MUST_USE int weft_pipeline(weft *w, const weft_stage *stages, size_t n,
                                         const weft_state *item, size_t in_flight, void *arg);

#ifdef __cplusplus
}
#endif

#endif
