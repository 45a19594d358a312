/* SPDX-License-Identifier: MIT */
/* trace_format.h: what is in the file of a trace, for programs that read it; weft/trace.h is for
 * programs that make one.
 *
 *     header, a page | block | block | block | ...          blocks of `block_size` bytes
 *
 * A block belongs to one thread, which fills it with records, in the order of time. When there are
 * as many blocks as the file may have, a thread uses an old block again: of a thread that has
 * ended, of one that has more blocks, or its own oldest. What was in it is counted as lost. So a
 * file has the newest records of each thread.
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
    uint64_t ticks_per_second;            /* as the processor says; 0: it does not */
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
    uint32_t records;  /* of those: the others are text */
    uint64_t sequence; /* of the thread's blocks, from 1 on: the order of time */
    char name[40];     /* of the thread */
};

struct weft_trace_record {
    uint64_t head; /* ticks since `first`, times 256, plus the kind, plus WEFT_TRACE_HAS_TEXT */
    uint64_t a, b;
};

/* In a head: b is a length, at most WEFT_TRACE_TEXT_MOST, and as many bytes follow, in the place of
 * the next records. So readers can skip kinds that they do not know. */
enum { WEFT_TRACE_HAS_TEXT = 128, WEFT_TRACE_TEXT_MOST = 240 };

/* What is in a and b; `text` instead of b. Threads are the kernel's numbers. Records that begin
 * something end with one of the next kind, innermost first. All of this is the program's memory as
 * it was: an address that comes again may be something else.
 *
 * What a job is a part of has an address, too: the *whole*. Of a right side it is the latch in the
 * fork's slot; of a spawned job its scope; of a task and of a call of weft_run() a group of their
 * own. A wait names the whole that it is for. So what follows a WAIT_END or a JOIN comes after all
 * jobs of that whole that have ended before. */
enum weft_trace_kind {
    WEFT_TRACE_NOTHING,
    WEFT_TRACE_JOB,      /* a: its function; b: its whole. It begins */
    WEFT_TRACE_JOB_END,  /* a: the same */
    WEFT_TRACE_STEAL,    /* a: the thread that had it; b: its whole. What was stolen comes next */
    WEFT_TRACE_PUBLISH,  /* b: the whole of a fork or a spawned job that other threads can find from
                            now on */
    WEFT_TRACE_WAIT,     /* a: a whole, or another address; text: in words. A job waits, and may run
                            others meanwhile */
    WEFT_TRACE_WAIT_END, /* a: the same */
    WEFT_TRACE_JOIN,     /* a: a whole of which other threads may have had jobs. All have ended, and
                            there was no need to wait; or it is a task, whose wait does not name it */
    WEFT_TRACE_SEARCH,   /* the thread has nothing to run, and looks for work */
    WEFT_TRACE_SEARCH_END,
    WEFT_TRACE_SLEEP, /* a search that sleeps */
    WEFT_TRACE_SLEEP_END,
    WEFT_TRACE_WAKE, /* a: the thread that is woken; 0: several are; b: how many */
    WEFT_TRACE_SPIN, /* a: the object. The thread hopes to get it soon, and keeps its processor */
    WEFT_TRACE_SPIN_END, /* b: 1: it has got the object; 0: it is going to block */
    WEFT_TRACE_BLOCK,    /* a: the object, or 0; text: in words. The thread is blocked */
    WEFT_TRACE_BLOCK_END,
    WEFT_TRACE_GUEST, /* the thread is a guest, in weft_run() */
    WEFT_TRACE_GUEST_END,
    WEFT_TRACE_SUBMIT,    /* a: its function; b: the task */
    WEFT_TRACE_TASK,      /* b: the task; it is about to begin */
    WEFT_TRACE_CANCEL,    /* a: the group; b: the code, as a signed number */
    WEFT_TRACE_SPARE,     /* a spare is called, because a thread is blocked */
    WEFT_TRACE_TURN,      /* a: an actor, whose turn begins on this thread. Ends the turn before,
                             if that has not ended */
    WEFT_TRACE_TURN_END,  /* b: 1: the actor waits */
    WEFT_TRACE_ACTOR,     /* a: an actor that was made; text: its name */
    WEFT_TRACE_MOVE,      /* a: an actor; b: to which executor it goes */
    WEFT_TRACE_DELEGATE,  /* a: an actor, of which a right side leaves its place; b: the executor
                             that gets it, which may be the same one */
    WEFT_TRACE_GIVE_BACK, /* a: an actor; b: an executor that can't run the right side that it got
                           */
    WEFT_TRACE_LIMIT, /* a: an actor that has to end; b: why, a negative errno: -ENOMEM, past its
                         memory, -EOVERFLOW, past its stack, -ECANCELED, killed */
    WEFT_TRACE_SPAN,  /* of the program; text: its name */
    WEFT_TRACE_SPAN_END,
    WEFT_TRACE_MARK, /* a: a value, as a signed number; text: its name */
    WEFT_TRACE_KINDS
};

#endif
