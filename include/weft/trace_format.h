/* SPDX-License-Identifier: MIT */
/* trace_format.h: what is in the file of a trace, for programs that read it; weft/trace.h is for
 * programs that make one.
 *
 *     header, a page | block | block | block | ...          blocks of `block_size` bytes
 *
 * A block belongs to one thread, which fills it with records, in the order of time. When there are
 * as many blocks as the file may have, a thread uses its own oldest block again: what was in it is
 * counted as lost. So a file has the newest records of each thread.
 *
 * The file is written through a mapping while the program runs. A program that is killed leaves
 * what it has recorded; `state` tells. Numbers have the byte order of the machine that wrote them,
 * which `byte_order` tells. A reader must believe nothing: the file may be cut off, or be noise. */
#ifndef WEFT_TRACE_FORMAT_H
#define WEFT_TRACE_FORMAT_H

#include <stdint.h>

#define WEFT_TRACE_MAGIC "weft trc" /* 8 bytes, without a zero */
enum {
    WEFT_TRACE_VERSION = 1, /* changes if older readers would misunderstand the file */
    WEFT_TRACE_HEADER_SIZE = 4096,
    WEFT_TRACE_BLOCK_SIZE = 65536,
    WEFT_TRACE_PATH_SIZE = 512,
};
#define WEFT_TRACE_BYTE_ORDER UINT32_C(0x01020304)

/* Two moments in ticks and in nanoseconds of CLOCK_MONOTONIC give the length of a tick. */
struct weft_trace_moment {
    uint64_t ticks, ns;
};

enum { WEFT_TRACE_RUNNING = 1, WEFT_TRACE_STOPPED = 2 };

struct weft_trace_header {
    char magic[8];
    uint32_t byte_order, version;
    uint32_t block_size, state;
    uint32_t pid, unused;
    uint64_t blocks;                      /* in use, from the first on */
    uint64_t lost;                        /* records that are not in the file */
    struct weft_trace_moment first, last; /* `last` grows with the file */
    uint64_t started;                     /* CLOCK_REALTIME, in nanoseconds */
    char program[WEFT_TRACE_PATH_SIZE];   /* ends with a zero */
};

enum { WEFT_TRACE_RECORDS = 1, WEFT_TRACE_MODULES = 2 }; /* kinds of blocks; 0: not used yet */

/* Then, to the end of the block: `used` records; or `used` bytes of text: a line for each part of
 * the program's memory that has code, as in proc_pid_maps(5). Readers look functions up there. If
 * there are several such blocks, the last one counts, as far as it goes; then those before it. */
struct weft_trace_block {
    uint32_t kind;
    uint32_t used;     /* written after what it counts */
    uint32_t thread;   /* the kernel's number */
    uint32_t unused;   /* 0 */
    uint64_t sequence; /* of the thread's blocks, from 1 on: the order of time */
    char name[40];     /* of the thread */
};

struct weft_trace_record {
    uint64_t head; /* ticks since `first`, times 256, plus the kind */
    uint64_t a, b;
};

/* What is in a and b. Threads are the kernel's numbers. `text`: b is a length, at most
 * WEFT_TRACE_TEXT_MOST, and as many bytes follow, in the place of the next records. Records that
 * begin something end with one of the next kind, innermost first. Readers skip kinds that they do
 * not know. */
enum weft_trace_kind {
    WEFT_TRACE_NOTHING,
    WEFT_TRACE_JOB,     /* a: its function; b: what it is, as in STEAL. It begins */
    WEFT_TRACE_JOB_END, /* a: the same */
    WEFT_TRACE_STEAL,   /* a: the thread that had it; b: the job or the fork's slot. JOB comes
                           next */
    WEFT_TRACE_PUBLISH, /* b: a fork or a spawned job that other threads can find from now on */
    WEFT_TRACE_WAIT,    /* a: what for, an address; text: in words. A job waits, and may run
                           others meanwhile */
    WEFT_TRACE_WAIT_END,
    WEFT_TRACE_SEARCH, /* the thread has nothing to run, and looks for work */
    WEFT_TRACE_SEARCH_END,
    WEFT_TRACE_SLEEP, /* a search that sleeps */
    WEFT_TRACE_SLEEP_END,
    WEFT_TRACE_WAKE,  /* a: the thread that is woken */
    WEFT_TRACE_BLOCK, /* a: the object, or 0; text: in words. The thread is blocked */
    WEFT_TRACE_BLOCK_END,
    WEFT_TRACE_GUEST, /* the thread is a guest, in weft_run() */
    WEFT_TRACE_GUEST_END,
    WEFT_TRACE_SUBMIT,   /* a: its function; b: the task */
    WEFT_TRACE_TASK,     /* b: the task; it is about to begin */
    WEFT_TRACE_CANCEL,   /* a: the group; b: the code, as a signed number */
    WEFT_TRACE_SPARE,    /* a spare is called, because a thread is blocked */
    WEFT_TRACE_TURN,     /* a: an actor, whose turn begins on this thread. Ends the turn before,
                            if that has not ended */
    WEFT_TRACE_TURN_END, /* b: 1: the actor waits */
    WEFT_TRACE_ACTOR,    /* a: an actor that was made; text: its name */
    WEFT_TRACE_MOVE,     /* a: an actor; b: to which executor it goes */
    WEFT_TRACE_SPAN,     /* of the program; text: its name */
    WEFT_TRACE_SPAN_END,
    WEFT_TRACE_MARK, /* a: a value, as a signed number; text: its name */
    WEFT_TRACE_KINDS
};
enum { WEFT_TRACE_TEXT_MOST = 240 };

#endif
