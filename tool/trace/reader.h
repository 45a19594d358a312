/* SPDX-License-Identifier: MIT */
/* reader.h: reads the file of a trace (weft/trace_format.h), and believes nothing that is in it.
 *
 * A library of one file: reader.c needs this header, weft/trace_format.h and libc, so other
 * programs can take both files along.
 *
 * The file is mapped, and only what is being read of it stays in memory. Beside that, a reader
 * needs 24 bytes for each block of 64 KiB that is there, and some for each thread, whatever the
 * file says. A file that is cut off, or in part noise, gives what can be read; `trace_info` tells
 * what could not. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/trace_format.h>

struct trace;

struct trace_info {
    const char *program; /* its path, or "" */
    uint32_t pid;
    bool ended;       /* false: the program runs yet, or was killed */
    bool cut;         /* there are blocks that the file should have and has not */
    bool rough;       /* how long a tick is was not known, and measured over less than a
                         millisecond */
    uint64_t lost;    /* records that were written over, or had no place */
    uint64_t bad;     /* records that make no sense, so far */
    uint64_t unknown; /* records of kinds that this reader does not know, so far */
    uint64_t ns;      /* how long it is */
    uint64_t started; /* CLOCK_REALTIME, in nanoseconds */
    uint64_t size;    /* of the file */
    unsigned threads;
};

struct trace_thread {
    uint32_t number; /* the kernel's */
    char name[41];   /* without control characters */
};

struct trace_event {
    uint64_t ns; /* since the trace was begun; no less than that of the event before */
    uint64_t a, b;
    const char *text; /* not ended by a zero; "" if the kind has none */
    uint32_t size;    /* of the text */
    unsigned thread;  /* index */
    enum weft_trace_kind kind;
};

enum { TRACE_WHY_SIZE = 128 };

/* NULL: `why` says in words what is wrong. */
struct trace *trace_open(const char *path, char why[TRACE_WHY_SIZE]);
void trace_close(struct trace *trace);

const struct trace_info *trace_about(const struct trace *trace);
const struct trace_thread *trace_thread(const struct trace *trace, unsigned index);
/* The index of the thread that has this number; -1: it has no records. */
int trace_find_thread(const struct trace *trace, uint64_t number);

/* The next record of all threads, in the order of time. False: there are no more. */
bool trace_next(struct trace *trace, struct trace_event *event);
void trace_rewind(struct trace *trace);

/* Lines as in proc_pid_maps(5), of the newest block that has some (0), or an older one; NULL: there
 * are no more. Not ended by a zero. */
const char *trace_modules(const struct trace *trace, unsigned age, size_t *size);

#endif
