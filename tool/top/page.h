/* SPDX-License-Identifier: MIT */
/* page.h: reads the statistics page of a process (weft/stats_format.h), and believes nothing that
 * is in it.
 *
 * The page is copied with pread(2), never mapped: a page that gets shorter would end this program.
 * A reader needs as much memory as the page has, 16 MB at most. */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <weft/stats_format.h>

enum { PAGE_WHY_SIZE = 200 };

/* What was in the page at some moment. Only records in use; texts end with a zero, and have no
 * control characters. */
struct snap {
    uint64_t when; /* CLOCK_MONOTONIC, in nanoseconds */
    uint64_t made; /* the page, by the same clock */
    uint32_t library;
    struct weft_stats_pool *pools;
    struct weft_stats_worker *workers;
    struct weft_stats_actor *actors;
    struct weft_stats_words *words;
    struct weft_stats_holder *holders;
    size_t pool_count, worker_count, actor_count, word_count, holder_count;
    uint32_t left[WEFT_STATS_ACTORS + 1]; /* by kind: how many have no record */
    struct weft_stats_report report;
};

struct page;

/* NULL: and why. */
struct page *page_open(pid_t pid, char why[PAGE_WHY_SIZE]);

/* Of a file, which it closes; `pid` 0: whatever process it is of. */
struct page *page_open_file(int fd, uint32_t pid, char why[PAGE_WHY_SIZE]);
void page_close(struct page *page);

/* False: and why. The snap is to be freed after true only. */
bool page_read(struct page *page, struct snap *snap, char why[PAGE_WHY_SIZE]);
void snap_free(struct snap *snap);

/* Does the process have a page that this user can see? */
bool page_is_there(pid_t pid);

#endif
