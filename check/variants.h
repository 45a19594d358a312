/* SPDX-License-Identifier: MIT */
/* variants.h: protocols that the documents name and that lose wake-ups, as the documents have them.
 * The library does not have these: they are here so that harness_variants.c can show what is
 * missing in each. */
#ifndef CHECK_VARIANTS_H
#define CHECK_VARIANTS_H

#include "sleep/sleep.h"

/* `counters` exactly as the RFC has it: a lock and a condition variable for each worker, latches as
 * in its Appendix A, no last look, no fences; a worker that is woken takes itself off the count of
 * sleepers when it runs. */
extern const struct weft__protocol variant_rfc;
void variant_rfc_set(struct weft__latch *latch, const struct weft__park *owner);

/* The scheme that the document on tickle-seqcst rejects: a flag says whether anybody sleeps. Who
 * finds nothing raises it and sleeps; who has news looks at it, and wakes all if it is up. */
extern const struct weft__protocol variant_flag;
void variant_flag_set(struct weft__latch *latch, const struct weft__park *owner);

/* How often somebody was woken for a new job so far. Of use after the threads have ended. */
unsigned variant_wakes(void);

#endif
