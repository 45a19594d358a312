/* SPDX-License-Identifier: MIT */
/* Spares, which take the place of a blocked worker. */
#include "core/search.h"
#include "deadlock.h"

static void setup_spare(void)
{
    prepare(1, 1, false_report);
}

static void setup_spare_no_handler(void)
{
    prepare(1, 1, NULL);
}

static void wait_for_spare(void)
{
    weft *w = be_worker(0);
    post(0);
    weft_event_wait(w, &event);
    weft__spares_stop(pool);
}

static void block_again_with_spare(void)
{
    weft *w = be_worker(0);
    weft_block_begin(w);
    weft_block_end(w);
    weft_block_begin(w);
    weft_block_end(w);
    weft__spares_stop(pool);
}

static void block_with_spare(void)
{
    weft *w = be_worker(0);
    weft_block_begin(w);
    weft_block_end(w);
    weft__spares_stop(pool);
}

const struct harness spare_harnesses[] = {
    {.name = "spare-job",
     .what = "a spare runs what a blocked worker has left",
     .setup = setup_spare,
     .thread = {wait_for_spare}},
    {.name = "spare-again",
     .what = "a spare is called again while it leaves",
     .setup = setup_spare_no_handler,
     .thread = {block_again_with_spare},
     .stale = 1},
    {.name = "spare-dismissed",
     .what = "a spare is called and dismissed",
     .setup = setup_spare_no_handler,
     .thread = {block_with_spare}},
    {0},
};
