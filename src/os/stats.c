/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "os/stats.h"

#include "os/clock.h"
#include "os/lock.h"
#include "weft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    POOLS = 32,
    WORKERS_LEAST = 64, /* and two for each CPU */
    ACTORS = 64,
    WORDS = 64,
    HOLDERS = 64,
    FIRST_DESCRIPTOR = 100, /* programs use small numbers as they like */
};

/* Under the lock: all but what is constant while there is a page. */
static struct weft__lock lock;
static struct weft_stats_header *page; /* or NULL */
static bool tried;                     /* to make one; not again, whatever came of it */
static int descriptor;                 /* of the page, unless the program has closed it */
static struct stat identity;           /* of the page */
static uint64_t last_id;
/* How many records of each kind are in use, and where to look for the next. */
static uint32_t used[WEFT_STATS_ACTORS], next[WEFT_STATS_ACTORS];
/* Tables in the page, or NULL; read without the lock. */
static struct atomic_ptr pools, actors, holders;
static struct atomic_u64 actors_free, last_actor; /* a bit for each record; and the last id */
struct atomic_ptr weft__words_known[WEFT__WORDS_KNOWN];

/* ---- Making it ---- */

/* Where the tables are. Returns the size of the page. */
static size_t lay_out(struct weft_stats_table tables[WEFT_STATS_TABLES])
{
    static const uint32_t sizes[] = {
        sizeof(struct weft_stats_pool),   sizeof(struct weft_stats_worker),
        sizeof(struct weft_stats_actor),  sizeof(struct weft_stats_words),
        sizeof(struct weft_stats_holder), sizeof(struct weft_stats_report),
    };
    enum { CPUS_MOST = 4096 };
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    uint32_t more = cpus < 1 ? 1 : cpus > CPUS_MOST ? CPUS_MOST : (uint32_t)cpus;
    const uint32_t counts[] = {POOLS, WORKERS_LEAST + 2 * more, ACTORS, WORDS, HOLDERS, 1};
    enum { AT = 256 };
    uint32_t end = (sizeof(struct weft_stats_header) + AT - 1) / AT * AT;
    for (int i = 0; i < WEFT_STATS_TABLES; i++) {
        tables[i] = (struct weft_stats_table){end, counts[i], sizes[i], 0};
        end += (counts[i] * sizes[i] + AT - 1) / AT * AT;
    }
    return end;
}

/* By number: C libraries have had the function for a few years only. */
static int make_file(void)
{
    enum { CLOSE_ON_EXEC = 1, ALLOW_SEALING = 2 };
    int fd = (int)syscall(SYS_memfd_create, WEFT_STATS_NAME, CLOSE_ON_EXEC | ALLOW_SEALING);
    int higher = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (higher >= 0) {
        close(fd);
        fd = higher;
    }
    if (fd >= 0 && fd <= STDERR_FILENO) { /* what the program writes there must not get here */
        close(fd);
        fd = -1;
    }
    return fd;
}

/* All its memory is there from now on: a thread that writes there must not find that there is none.
 * And it stays there. */
static bool give_memory(int fd, size_t size)
{
    enum { SEAL_SHRINK = 2, SEAL_GROW = 4, ADD_SEALS = 1033 };
    if (fchmod(fd, S_IRUSR | S_IWUSR) != 0 || posix_fallocate(fd, 0, (off_t)size) != 0)
        return false;
    (void)fcntl(fd, ADD_SEALS, SEAL_SHRINK | SEAL_GROW);
    return fstat(fd, &identity) == 0;
}

static void make(void)
{
    struct weft_stats_header header = {
        .magic = WEFT_STATS_MAGIC,
        .byte_order = WEFT_STATS_BYTE_ORDER,
        .version = WEFT_STATS_VERSION,
        .pid = (uint32_t)getpid(),
        .library = WEFT_VERSION,
        .made = weft__clock_now(),
    };
    header.size = lay_out(header.tables);
    int fd = make_file();
    void *memory = MAP_FAILED;
    if (fd >= 0 && give_memory(fd, header.size))
        memory = mmap(NULL, header.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return;
    }
    memcpy(memory, &header, sizeof header);
    descriptor = fd;
    page = memory;
    /* relaxed: its memory is zeros, for any thread that sees the address. */
    atomic_store_relaxed(&pools, (char *)page + page->tables[WEFT_STATS_POOLS].offset);
    atomic_store_relaxed(&actors, (char *)page + page->tables[WEFT_STATS_ACTORS].offset);
    atomic_store_relaxed(&holders, (char *)page + page->tables[WEFT_STATS_HOLDERS].offset);
    atomic_store_relaxed(&actors_free, UINT64_MAX);
}

void weft__stats_prepare(void)
{
    weft__lock_take(&lock);
    if (!tried) {
        int saved = errno;
        const char *wanted = getenv("WEFT_STATS");
        tried = true;
        if (!getauxval(AT_SECURE) && !(wanted && strcmp(wanted, "0") == 0))
            make();
        errno = saved;
    }
    weft__lock_drop(&lock);
}

/* ---- In a forked child ---- */

static bool still_has_descriptor(void)
{
    struct stat there;
    return fstat(descriptor, &there) == 0 && there.st_dev == identity.st_dev &&
           there.st_ino == identity.st_ino;
}

/* The same contents, at the same place, in memory of this process. */
static bool make_private(void *memory, size_t size)
{
    const int mine = PROT_READ | PROT_WRITE;
    if (still_has_descriptor()) {
        bool done = mmap(memory, size, mine, MAP_PRIVATE | MAP_FIXED, descriptor, 0) != MAP_FAILED;
        close(descriptor);
        return done;
    }
    void *copy = mmap(NULL, size, mine, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, memory, size);
    return mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, memory) != MAP_FAILED;
}

/* The pools of the parent are here, too, and what counts for them goes on counting in their
 * records; but the page is the parent's. If there is no memory for a copy, two processes write the
 * same hints. */
void weft__stats_forked(void)
{
    int saved = errno;
    lock = (struct weft__lock){0};
    if (page)
        (void)make_private(page, page->size);
    page = NULL;
    tried = false;
    memset(used, 0, sizeof used);
    atomic_store_relaxed(&pools, NULL); /* relaxed, all: one thread */
    atomic_store_relaxed(&actors, NULL);
    atomic_store_relaxed(&actors_free, 0);
    atomic_store_relaxed(&holders, NULL);
    for (int i = 0; i < WEFT__WORDS_KNOWN; i++)
        atomic_store_relaxed(&weft__words_known[i], NULL);
    errno = saved;
}

/* ---- Records ---- */

/* Under the lock. */
static char *record_at(enum weft_stats_kind kind, uint32_t i)
{
    const struct weft_stats_table *table = &page->tables[kind];
    return (char *)page + table->offset + (size_t)i * table->each;
}

static size_t id_in(enum weft_stats_kind kind)
{
    return kind == WEFT_STATS_POOLS     ? offsetof(struct weft_stats_pool, id)
           : kind == WEFT_STATS_WORKERS ? offsetof(struct weft_stats_worker, id)
                                        : offsetof(struct weft_stats_actor, id);
}

static struct atomic_u64 *id_of(enum weft_stats_kind kind, void *record)
{
    return (struct atomic_u64 *)((char *)record + id_in(kind));
}

/* A record that is taken and not shown yet has this id, with the highest bit: readers pass over
 * it. */
#define HIDDEN (UINT64_C(1) << 63)

static void *take(enum weft_stats_kind kind)
{
    uint32_t count = page->tables[kind].count;
    for (uint32_t n = 0; used[kind] < count && n < count; n++) {
        uint32_t i = (next[kind] + n) % count;
        void *record = record_at(kind, i);
        if (atomic_load_relaxed(id_of(kind, record)) != 0) /* relaxed: the lock */
            continue;
        atomic_store_relaxed(id_of(kind, record), ++last_id | HIDDEN);
        used[kind]++;
        next[kind] = i + 1;
        return record;
    }
    page->tables[kind].left++;
    return NULL;
}

void *weft__stats_take(enum weft_stats_kind kind)
{
    weft__lock_take(&lock);
    void *record = page ? take(kind) : NULL;
    weft__lock_drop(&lock);
    return record;
}

static bool is_in_page(enum weft_stats_kind kind, const char *record)
{
    if (!page)
        return false;
    const struct weft_stats_table *table = &page->tables[kind];
    const char *first = (const char *)page + table->offset;
    return record >= first && record < first + (size_t)table->count * table->each;
}

static void give(enum weft_stats_kind kind, void *record)
{
    size_t id = id_in(kind), each = page->tables[kind].each;
    /* release, both: a reader that sees zeros sees another id, or none, when it looks again. */
    atomic_store_release(id_of(kind, record), HIDDEN);
    memset(record, 0, id);
    memset((char *)record + id + sizeof(uint64_t), 0, each - id - sizeof(uint64_t));
    atomic_store_release(id_of(kind, record), 0);
    used[kind]--;
}

void weft__stats_give(enum weft_stats_kind kind, void *record)
{
    weft__lock_take(&lock);
    if (record && is_in_page(kind, record))
        give(kind, record);
    else if (!record && page && page->tables[kind].left > 0)
        page->tables[kind].left--; /* a guess, if the page came later */
    weft__lock_drop(&lock);
}

void weft__stats_show(struct atomic_u64 *id)
{
    /* release: to readers, which are other processes; the contents come first. */
    atomic_store_release(id, atomic_load_relaxed(id) & ~HIDDEN);
}

/* ---- Records of actors: there may be millions, so without a lock ---- */

_Static_assert(ACTORS == 64, "a bit for each");

static void *no_actor(struct weft_stats_actor *all, uint32_t change)
{
    /* relaxed: statistics. The page is there, and stays. */
    if (all)
        atomic_fetch_add_relaxed((struct atomic_u32 *)&page->tables[WEFT_STATS_ACTORS].left,
                                 change);
    return NULL;
}

void *weft__stats_take_actor(void)
{
    struct weft_stats_actor *all = atomic_load_relaxed(&actors); /* relaxed: as holders */
    uint64_t free = atomic_load_relaxed(&actors_free);
    do {
        if (free == 0)
            return no_actor(all, 1);
        /* acquire Q1: the actor that had the record writes it no more. */
    } while (!atomic_cas_acquire(&actors_free, &free, free & (free - 1)));
    struct weft_stats_actor *record = &all[__builtin_ctzll(free)];
    memset(record, 0, offsetof(struct weft_stats_actor, id));
    /* relaxed, both: the id is hidden, and any will do that no other actor has. */
    atomic_store_relaxed(id_of(WEFT_STATS_ACTORS, record),
                         (atomic_fetch_add_relaxed(&last_actor, 1) + 1) | HIDDEN);
    return record;
}

void weft__stats_give_actor(void *record)
{
    struct weft_stats_actor *all = atomic_load_relaxed(&actors), *mine = record;
    if (!mine) {
        no_actor(all, -1u);
        return;
    }
    if (!all || mine < all || mine >= all + ACTORS)
        return;                                              /* of the parent of this process */
    atomic_store_relaxed(id_of(WEFT_STATS_ACTORS, mine), 0); /* relaxed: to readers */
    atomic_fetch_or_acq_rel(&actors_free, UINT64_C(1) << (mine - all)); /* release Q1 */
}

uint16_t weft__stats_number(const void *pool)
{
    const struct weft_stats_pool *all = atomic_load_relaxed(&pools); /* relaxed: as holders */
    return all ? (uint16_t)((const struct weft_stats_pool *)pool - all + 1) : 0;
}

/* Under the lock of the queue; relaxed, both: a hint. */
void weft__stats_queued(uint16_t number, size_t length)
{
    struct weft_stats_pool *all = atomic_load_relaxed(&pools);
    if (all)
        atomic_store_relaxed((struct atomic_u64 *)&all[number - 1].queued, length);
}

/* ---- Phases ---- */

/* release, all: a reader that finds one of these numbers finds the odd sequence, too. */
void weft__stats_phase(struct weft__phases *phases, enum weft_stats_phase phase, uint64_t now)
{
    uint32_t sequence = atomic_load_relaxed(&phases->sequence); /* relaxed, these: own */
    uint32_t before = atomic_load_relaxed(&phases->phase);
    uint64_t since = atomic_load_relaxed(&phases->since);
    atomic_store_relaxed(&phases->sequence, sequence + 1);
    if (before != WEFT_STATS_WORKS && now > since) {
        struct atomic_u64 *time = &phases->times[before - 1];
        atomic_store_release(time, atomic_load_relaxed(time) + (now - since));
    }
    atomic_store_release(&phases->phase, phase);
    atomic_store_release(&phases->since, now);
    atomic_store_release(&phases->sequence, sequence + 2);
}

void weft__stats_phase_now(struct weft__phases *phases, enum weft_stats_phase phase)
{
    weft__stats_phase(phases, phase, weft__clock_now());
}

/* Takes a quarter of the time: guests come and go often. */
static uint64_t tick(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* relaxed, all: hints, with one writer. */
void weft__stats_out(struct weft__phases *phases)
{
    if (atomic_load_relaxed(&phases->left) == 0)
        atomic_store_relaxed(&phases->left, tick());
}

void weft__stats_in(struct weft__phases *phases)
{
    uint64_t left = atomic_load_relaxed(&phases->left);
    if (left == 0)
        return;
    atomic_store_relaxed(&phases->outside, atomic_load_relaxed(&phases->outside) + (tick() - left));
    atomic_store_relaxed(&phases->left, 0);
}

/* ---- Waits ---- */

void weft__stats_waits(struct weft__waits *waits, const char *words, uint64_t object,
                       const char *name)
{
    uint64_t text[sizeof waits->name / sizeof(uint64_t)] = {0};
    if (name)
        memcpy(text, name, strnlen(name, sizeof text - 1));
    if (words)
        weft__stats_words(words);
    /* relaxed, all: hints. */
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        atomic_store_relaxed(&waits->name[i], text[i]);
    atomic_store_relaxed(&waits->object, object);
    atomic_store_relaxed(&waits->words, (uintptr_t)words);
}

/* ---- Words, holders, reports ---- */

static void add_words(const char *words)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        struct weft_stats_words *entry =
            (struct weft_stats_words *)(void *)record_at(WEFT_STATS_WORDS, i);
        if (entry->address == (uintptr_t)words)
            return;
        if (entry->address != 0)
            continue;
        snprintf(entry->text, sizeof entry->text, "%s", words);
        /* release: to readers. */
        atomic_store_release((struct atomic_u64 *)&entry->address, (uintptr_t)words);
        return;
    }
}

void weft__stats_add_words(const char *words)
{
    weft__lock_take(&lock);
    if (page)
        add_words(words);
    weft__lock_drop(&lock);
    /* relaxed: a hint. */
    atomic_store_relaxed(&weft__words_known[((uintptr_t)words >> 3) % WEFT__WORDS_KNOWN],
                         (void *)(uintptr_t)words);
}

/* Without the lock: the page stays where it is. Of two threads that write the same record, one may
 * leave its object, and the other its holder: objects that are contended at the same time, and have
 * the same number here, are shown with the wrong holder at worst. */
void weft__stats_holder(const void *object, uintptr_t holder)
{
    struct holder {
        struct atomic_u64 object, holder;
    };
    size_t i = ((uintptr_t)object >> 4 ^ (uintptr_t)object >> 12) % HOLDERS;
    struct holder *all = atomic_load_relaxed(&holders); /* relaxed, all: hints */
    if (!all)
        return;
    if (atomic_load_relaxed(&all[i].object) != (uintptr_t)object)
        atomic_store_relaxed(&all[i].object, (uintptr_t)object);
    atomic_store_relaxed(&all[i].holder, holder);
}

void weft__stats_report(const void *pool, const char *text)
{
    weft__lock_take(&lock);
    if (page) {
        struct weft_stats_report *report =
            (struct weft_stats_report *)(void *)record_at(WEFT_STATS_REPORT, 0);
        struct atomic_u64 *when = (struct atomic_u64 *)&report->when;
        atomic_store_release(when, 0); /* release, both: to readers, which look twice */
        report->pool = (uintptr_t)pool;
        snprintf(report->text, sizeof report->text, "%s", text);
        atomic_store_release(when, weft__clock_now());
    }
    weft__lock_drop(&lock);
}
