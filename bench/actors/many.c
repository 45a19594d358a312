/* SPDX-License-Identifier: MIT */
/* Very many actors: waiting for their first message; suspended on their stacks; and more than the
 * kernel has room for. */
#include "../../tool/progress.h"
#include "../clock.h"
#include "actors.h"

#include <err.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weft/sync.h>

enum {
    ALIVE = 1000000,
    ALIVE_QUICK = 2000,
    SUSPENDED = 30000,
    SUSPENDED_QUICK = 200,
    TOUCHED = 2000, /* bytes of each stack */
    ROOM = 65530,   /* mappings that are left for the last part, */
    ROOM_QUICK = 3000,
};

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED true
#elif defined __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED false
#endif

static const char part[] = "actors/many";

/* ---- What the kernel says ---- */

static double resident(void)
{
    unsigned long whole = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &whole, &pages) != 2)
        warn("/proc/self/statm");
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static unsigned mappings(void)
{
    unsigned lines = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    if (!file)
        return 0;
    for (int c; (c = getc_unlocked(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static unsigned mappings_max(void)
{
    unsigned most = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    if (!file || fscanf(file, "%u", &most) != 1)
        warn("/proc/sys/vm/max_map_count");
    if (file)
        fclose(file);
    return most;
}

/* ---- A crowd ---- */

struct crowd {
    unsigned count;
    weft_actor **actors;
    atomic_uint waiting, refused, failed; /* failed: otherwise */
    atomic_ullong sum;
    weft_event event;
};

static bool crowd_init(struct crowd *crowd, unsigned count)
{
    *crowd = (struct crowd){.count = count, .actors = calloc(count, sizeof(weft_actor *))};
    if (!crowd->actors)
        warn("actors");
    return crowd->actors != NULL;
}

static void over(weft_actor *actor, int reason, void *data)
{
    struct crowd *crowd = data;
    (void)actor;
    if (reason == -ENOMEM)
        atomic_fetch_add(&crowd->refused, 1);
    else if (reason != 0)
        atomic_fetch_add(&crowd->failed, 1);
}

static bool crowd_make(struct crowd *crowd, weft_pool *pool, weft_actor_fn *fn, bool run)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.supervisor = over;
    config.data = crowd;
    for (unsigned i = 0; i < crowd->count; i++) {
        int error = weft_actor_create(&crowd->actors[i], pool, fn, crowd, &config);
        if (error) {
            warnx("actor %u: %s", i, strerror(-error));
            return false;
        }
        if (run)
            weft_actor_run(crowd->actors[i]);
    }
    return true;
}

/* Those that were made. */
static void crowd_reap(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->count && crowd->actors[i]; i++)
        actors_reap(NULL, crowd->actors[i]);
    free(crowd->actors);
    crowd->actors = NULL;
}

static bool same(const char *what, unsigned long long is, unsigned long long should)
{
    if (is != should)
        warnx("actors: %s: %llu, not %llu", what, is, should);
    return is == should;
}

/* ---- Waiting for their first message ---- */

static int receive_one(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    void *message;
    int error = weft_receive(w, &message);
    if (!error)
        atomic_fetch_add(&crowd->sum, (unsigned long long)(uintptr_t)message);
    return error;
}

static bool send_each(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->count; i++) {
        int error = weft_actor_send(NULL, crowd->actors[i], (void *)(uintptr_t)(i + 1));
        if (error) {
            warnx("message %u: %s", i, strerror(-error));
            return false;
        }
    }
    return true;
}

static bool alive(const struct bench_run *run, weft_pool *pool, unsigned count)
{
    struct crowd crowd;
    double before = resident(), start = clock_now();
    if (!crowd_init(&crowd, count))
        return false;
    bool good = crowd_make(&crowd, pool, receive_one, false);
    double made = clock_now(), used = resident() - before;
    good = good && send_each(&crowd);
    double most = resident() - before;
    crowd_reap(&crowd);
    double answered = clock_now();
    unsigned long long n = count;
    if (!good || !same("sum of the messages", atomic_load(&crowd.sum), n * (n + 1) / 2) ||
        !same("failed", atomic_load(&crowd.failed) + atomic_load(&crowd.refused), 0))
        return false;
    report_title(run->report, "actors: %u alive at once, which wait for their first message\n",
                 count);
    actors_claim(run, part, "resident, GiB", used / (1 << 30), REPORT_AT_MOST, 2);
    actors_claim(run, part, "  bytes each", used / count, REPORT_AT_MOST, 0);
    actors_claim(run, part, "  us to make one", (made - start) * 1e6 / count, REPORT_AT_MOST, 0);
    actors_claim(run, part, "  us to send to one, wait for it and free it",
                 (answered - made) * 1e6 / count, REPORT_AT_MOST, 0);
    actors_claim(run, part, "resident when all messages were sent, GiB", most / (1 << 30),
                 REPORT_AT_MOST, 2);
    return true;
}

/* ---- Suspended ---- */

static int wait_inside(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    volatile char frame[TOUCHED];
    for (int i = 0; i < TOUCHED; i += 64)
        frame[i] = 1;
    atomic_fetch_add(&crowd->waiting, 1);
    weft_event_wait(w, &crowd->event);
    unsigned sum = 0;
    for (int i = 0; i < TOUCHED; i += 64)
        sum += (unsigned)frame[i];
    atomic_fetch_add(&crowd->sum, sum);
    return 0;
}

enum { FRAME_SUM = (TOUCHED + 63) / 64 };

static void until_settled(struct crowd *crowd)
{
    while (atomic_load(&crowd->waiting) + atomic_load(&crowd->refused) +
               atomic_load(&crowd->failed) <
           crowd->count)
        clock_rest(1e-3);
}

struct suspended {
    double made, resumed; /* seconds */
    double bytes, mappings;
    unsigned waiting, refused, failed;
};

static bool suspend(struct suspended *s, weft_pool *pool, unsigned count)
{
    struct crowd crowd;
    double before = resident(), mapped = mappings(), start = clock_now();
    if (!crowd_init(&crowd, count))
        return false;
    weft_event_init(&crowd.event, "crowd");
    weft_event_from_outside(&crowd.event);
    bool good = crowd_make(&crowd, pool, wait_inside, true);
    if (good)
        until_settled(&crowd);
    s->made = clock_now() - start;
    s->bytes = resident() - before;
    s->mappings = mappings() - mapped;
    start = clock_now();
    weft_event_set(NULL, &crowd.event);
    crowd_reap(&crowd);
    s->resumed = clock_now() - start;
    s->waiting = atomic_load(&crowd.waiting);
    s->refused = atomic_load(&crowd.refused);
    s->failed = atomic_load(&crowd.failed);
    return good &&
           same("sum over the stacks", atomic_load(&crowd.sum),
                (unsigned long long)FRAME_SUM * s->waiting) &&
           same("all that were made", s->waiting + s->refused, count);
}

static bool suspended(const struct bench_run *run, weft_pool *pool, unsigned count)
{
    struct suspended s;
    if (!suspend(&s, pool, count) || !same("without a stack", s.refused, 0))
        return false;
    report_title(run->report, "actors: %u suspended on their stacks, which then go on\n", count);
    actors_claim(run, part, "KiB each", s.bytes / count / 1024, REPORT_AT_MOST, 0);
    actors_claim(run, part, "mappings each", s.mappings / count, REPORT_AT_MOST, 0);
    actors_claim(run, part, "us to make one and suspend it", s.made * 1e6 / count, REPORT_AT_MOST,
                 0);
    actors_claim(run, part, "us to resume one and free it", s.resumed * 1e6 / count, REPORT_AT_MOST,
                 0);
    return true;
}

/* ---- More than there is room for ---- */

/* Leaves room for so many mappings and no more: every other page of it is one. */
static void *ballast(unsigned room, size_t *size)
{
    unsigned most = mappings_max(), now = mappings();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *size = 0;
    if (most <= now + room)
        return NULL;
    unsigned pages = most - now - room;
    char *p =
        mmap(NULL, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < pages; i += 2)
        if (mprotect(p + i * page, page, PROT_READ))
            break;
    *size = pages * page;
    return p;
}

static bool beyond(const struct bench_run *run, weft_pool *pool)
{
    if (SANITIZED)
        return true; /* sanitizers need mappings of their own */
    unsigned room = run->quick ? ROOM_QUICK : ROOM;
    size_t size;
    void *weight = ballast(room, &size);
    struct suspended s, again;
    unsigned count = room / 2 + room / 4; /* two mappings each */
    bool good = suspend(&s, pool, count);
    if (weight)
        munmap(weight, size);
    /* Those who come later find what the others left. */
    good = good && suspend(&again, pool, s.waiting) && same("refused later", again.refused, 0);
    if (!good)
        return false;
    report_title(run->report,
                 "actors: %u started where there are mappings for %u: %u waited and went on, %u "
                 "ended with -ENOMEM, %u were lost\n",
                 count, room, s.waiting, s.refused, count - s.waiting - s.refused);
    if (s.refused == 0)
        report_title(run->report, "  the limit was not reached\n");
    actors_claim(run, part, "ended with -ENOMEM", s.refused, REPORT_AT_LEAST, 1);
    actors_claim(run, part, "neither that nor 0", s.failed, REPORT_BELOW, 1);
    return true;
}

/* ---- Together ---- */

bool actors_many(const struct bench_run *run)
{
    enum { PARTS = 3 };
    struct progress progress;
    progress_begin(&progress, part, PARTS);
    bool good = true;
    for (int i = 0; i < PARTS && good; i++) {
        weft_pool *pool = bench_pool(&(weft_config){.workers = run->workers});
        good = pool && (i == 0   ? alive(run, pool, run->quick ? ALIVE_QUICK : ALIVE)
                        : i == 1 ? suspended(run, pool, run->quick ? SUSPENDED_QUICK : SUSPENDED)
                                 : beyond(run, pool));
        if (pool)
            weft_pool_destroy(pool);
        malloc_trim(0);
        progress_step(&progress, 1);
    }
    progress_end(&progress);
    report_title(run->report, "\n");
    return good;
}
