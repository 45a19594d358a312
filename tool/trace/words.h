/* SPDX-License-Identifier: MIT */
/* words.h: times, shares, threads and texts, as reports have them. */
#ifndef TRACE_WORDS_H
#define TRACE_WORDS_H

#include "names.h"

#include <stdio.h>

enum { WORDS_SIZE = 320 };

struct words {
    char text[WORDS_SIZE];
};

struct words words_count(uint64_t count, const char *one);        /* "1 thread", "2 threads" */
struct words words_time(uint64_t ns);                             /* "1.23 ms" */
double words_share(uint64_t part, uint64_t whole);                /* in percent */
struct words words_thread(const struct trace *trace, int thread); /* its name; -1: "outside" */
struct words words_function(struct names *names, uint64_t function);

/* A text from the trace, without what a terminal would obey. */
struct words words_text(const char *text, uint32_t size);

#endif
