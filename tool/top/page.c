/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINK "/memfd:" WEFT_STATS_NAME " (deleted)"

struct page {
    int fd;
    int process;   /* its directory in /proc, or -1 */
    char link[32]; /* the descriptor there: fd/N */
    struct weft_stats_header header;
};

/* ---- Finding it ---- */

/* The descriptor of the page in the process, as fd/N. 0; or -ENOENT, -EACCES and so on. */
static int find_link(int process, char out[32])
{
    int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        int error = -errno;
        if (fd >= 0)
            close(fd);
        return error;
    }
    int result = -ENOENT;
    for (struct dirent *entry; result && (entry = readdir(directory));) {
        char text[sizeof LINK + 1];
        ssize_t size = readlinkat(dirfd(directory), entry->d_name, text, sizeof text - 1);
        text[size > 0 ? size : 0] = 0;
        if (strcmp(text, LINK) == 0 && snprintf(out, 32, "fd/%s", entry->d_name) < 32)
            result = 0;
    }
    closedir(directory);
    return result;
}

static int open_process(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool page_is_there(pid_t pid)
{
    char link[32];
    int process = open_process(pid);
    bool there = process >= 0 && find_link(process, link) == 0;
    if (process >= 0)
        close(process);
    return there;
}

/* The first line of a file of the process that begins so, or contains it; what follows that. */
static bool find_line(int process, const char *file, const char *what, char *out, size_t size)
{
    int fd = openat(process, file, O_RDONLY | O_CLOEXEC);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    char line[1024], *found = NULL;
    while (in && !found && fgets(line, sizeof line, in))
        found = strstr(line, what);
    if (found)
        snprintf(out, size, "%s", found + strlen(what));
    if (in)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    return found;
}

/* Is that one of the numbers of the process? In a container it has another one than outside. */
static bool is_pid_of(int process, uint32_t pid)
{
    char numbers[200], *at = numbers, *end;
    if (!find_line(process, "status", "NSpid:", numbers, sizeof numbers))
        return false;
    for (unsigned long number = strtoul(at, &end, 10); end != at; number = strtoul(at, &end, 10)) {
        if (number == pid)
            return true;
        at = end;
    }
    return false;
}

/* Where the process has its page in memory, as in map_files: "BEGIN-END"; a child has a private
 * copy of its parent's, which does not count. */
static bool find_mapping(int process, char range[64])
{
    char line[1024];
    int fd = openat(process, "maps", O_RDONLY | O_CLOEXEC);
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    bool found = false;
    while (in && !found && fgets(line, sizeof line, in))
        found = strstr(line, LINK) && strstr(line, " rw-s ") && sscanf(line, "%63s", range) == 1;
    if (in)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    return found;
}

/* Only root may follow these links. */
static int open_mapping(int process)
{
    char range[64], path[96];
    if (!find_mapping(process, range))
        return -1;
    snprintf(path, sizeof path, "map_files/%s", range);
    return openat(process, path, O_RDONLY | O_CLOEXEC);
}

static void explain_none(int process, pid_t pid, char why[PAGE_WHY_SIZE])
{
    char range[64], name[64] = "?";
    if (find_line(process, "comm", "", name, sizeof name))
        name[strcspn(name, "\n")] = 0;
    if (find_mapping(process, range))
        snprintf(why, PAGE_WHY_SIZE,
                 "process %d (%s) has closed the descriptor of its page: only root can look",
                 (int)pid, name);
    else
        snprintf(why, PAGE_WHY_SIZE,
                 "process %d (%s) shows nothing: it does not use weft, has made no pool yet, or "
                 "was started with WEFT_STATS=0",
                 (int)pid, name);
}

static void explain_denied(int process, pid_t pid, char why[PAGE_WHY_SIZE])
{
    struct stat about;
    if (fstat(process, &about) == 0 && about.st_uid != geteuid())
        snprintf(why, PAGE_WHY_SIZE, "process %d belongs to another user, number %u", (int)pid,
                 (unsigned)about.st_uid);
    else
        snprintf(why, PAGE_WHY_SIZE,
                 "the kernel does not let this user look into process %d: it has more rights, or "
                 "wants to be left alone",
                 (int)pid);
}

struct page *page_open(pid_t pid, char why[PAGE_WHY_SIZE])
{
    char link[32] = "";
    int process = open_process(pid);
    if (process < 0) {
        snprintf(why, PAGE_WHY_SIZE, "there is no process %d", (int)pid);
        return NULL;
    }
    int error = find_link(process, link);
    int fd = error ? -1 : openat(process, link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (error == -ENOENT)
        fd = open_mapping(process);
    struct page *page = fd < 0 ? NULL : page_open_file(fd, 0, why);
    if (fd < 0 && (error == -EACCES || error == -EPERM || error == 0))
        explain_denied(process, pid, why);
    else if (fd < 0)
        explain_none(process, pid, why);
    else if (page && !is_pid_of(process, page->header.pid)) {
        snprintf(why, PAGE_WHY_SIZE,
                 "process %d has made no pool since it was forked: the page is that of process %u",
                 (int)pid, page->header.pid);
        page_close(page);
        page = NULL;
    }
    if (!page) {
        close(process);
        return NULL;
    }
    page->process = process;
    memcpy(page->link, link, sizeof page->link);
    return page;
}

void page_close(struct page *page)
{
    close(page->fd);
    if (page->process >= 0)
        close(page->process);
    free(page);
}

/* ---- Reading it ---- */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (n <= 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
        if (n == 0)
            return false;
    }
    return true;
}

/* All tables lie inside the page, and records have at least their beginning. */
static const char *complaint(const struct weft_stats_header *header, uint64_t bytes)
{
    enum { RECORDS_MOST = 1 << 16, EACH_MOST = 1 << 16 };
    if (memcmp(header->magic, WEFT_STATS_MAGIC, sizeof header->magic) != 0)
        return "it is no statistics page of weft";
    if (header->byte_order != WEFT_STATS_BYTE_ORDER)
        return "it has the byte order of another processor";
    if (header->version != WEFT_STATS_VERSION)
        return "it was made by another release of weft, which this one does not understand";
    if (header->size > bytes || header->size > WEFT_STATS_SIZE_MOST)
        return "it is cut off, or broken";
    for (int i = 0; i < WEFT_STATS_TABLES; i++) {
        const struct weft_stats_table *table = &header->tables[i];
        if (table->each < sizeof(uint64_t) || table->each > EACH_MOST ||
            table->count > RECORDS_MOST || table->offset < sizeof *header ||
            table->offset + (uint64_t)table->count * table->each > header->size)
            return "it is broken";
    }
    return NULL;
}

struct page *page_open_file(int fd, uint32_t pid, char why[PAGE_WHY_SIZE])
{
    struct stat about;
    struct page *page = calloc(1, sizeof *page);
    const char *wrong = NULL;
    if (!page || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        wrong = "it can't be read";
    else if (!read_at(fd, &page->header, sizeof page->header, 0))
        wrong = "it is too short";
    else if (!(wrong = complaint(&page->header, (uint64_t)about.st_size)) && pid &&
             page->header.pid != pid)
        wrong = "it is the page of another process";
    if (wrong) {
        snprintf(why, PAGE_WHY_SIZE, "the statistics page is no good: %s", wrong);
        free(page);
        close(fd);
        return NULL;
    }
    page->fd = fd;
    page->process = -1;
    return page;
}

/* Ends it with a zero, and takes out what a terminal would obey. */
static void tame(char *text, size_t size)
{
    text[size - 1] = 0;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = *text == '\n' ? '\n' : '?';
}

/* Copies the records of a table, those with a number at `id` that is not 0 and not hidden. NULL: no
 * memory. */
static void *copy_table(const char *bytes, const struct weft_stats_table *table, size_t size,
                        size_t id, size_t *count)
{
    char *out = calloc(table->count + 1, size);
    *count = 0;
    for (uint32_t i = 0; out && i < table->count; i++) {
        char *to = out + *count * size;
        uint64_t number;
        memset(to, 0, size);
        memcpy(to, bytes + table->offset + (size_t)i * table->each,
               size < table->each ? size : table->each);
        memcpy(&number, to + id, sizeof number);
        *count += number != 0 && number >> 63 == 0;
    }
    return out;
}

/* Those of two readings that are the same, and even, fit each other. */
static bool fits(const struct weft_stats_worker *a, const struct weft_stats_worker *b)
{
    return a->id == b->id && memcmp(&a->phases, &b->phases, sizeof a->phases) == 0 &&
           a->phases.sequence % 2 == 0;
}

/* Reads the record again until its times fit each other, or for a while: its thread may have been
 * stopped in the middle. */
static void settle(const struct page *page, uint32_t i, struct weft_stats_worker *worker)
{
    enum { TRIES = 20 };
    const struct weft_stats_table *table = &page->header.tables[WEFT_STATS_WORKERS];
    size_t size = table->each < sizeof *worker ? table->each : sizeof *worker;
    struct weft_stats_worker again = *worker;
    for (int tries = 0; tries < TRIES; tries++) {
        memset(&again, 0, sizeof again);
        if (!read_at(page->fd, &again, size, table->offset + (uint64_t)i * table->each) ||
            fits(worker, &again))
            return;
        *worker = again;
    }
}

static void settle_workers(const struct page *page, char *bytes)
{
    const struct weft_stats_table *table = &page->header.tables[WEFT_STATS_WORKERS];
    for (uint32_t i = 0; i < table->count; i++) {
        char *record = bytes + table->offset + (size_t)i * table->each;
        struct weft_stats_worker worker = {0};
        size_t size = table->each < sizeof worker ? table->each : sizeof worker;
        memcpy(&worker, record, size);
        if (worker.id == 0)
            continue;
        settle(page, i, &worker);
        memcpy(record, &worker, size);
    }
}

static bool fill(const struct page *page, struct snap *snap, const char *bytes)
{
    const struct weft_stats_table *tables = page->header.tables;
    snap->pools = copy_table(bytes, &tables[WEFT_STATS_POOLS], sizeof *snap->pools,
                             offsetof(struct weft_stats_pool, id), &snap->pool_count);
    snap->workers = copy_table(bytes, &tables[WEFT_STATS_WORKERS], sizeof *snap->workers,
                               offsetof(struct weft_stats_worker, id), &snap->worker_count);
    snap->actors = copy_table(bytes, &tables[WEFT_STATS_ACTORS], sizeof *snap->actors,
                              offsetof(struct weft_stats_actor, id), &snap->actor_count);
    snap->words = copy_table(bytes, &tables[WEFT_STATS_WORDS], sizeof *snap->words,
                             offsetof(struct weft_stats_words, address), &snap->word_count);
    snap->holders = copy_table(bytes, &tables[WEFT_STATS_HOLDERS], sizeof *snap->holders,
                               offsetof(struct weft_stats_holder, object), &snap->holder_count);
    if (!snap->pools || !snap->workers || !snap->actors || !snap->words || !snap->holders)
        return false;
    size_t reports;
    struct weft_stats_report *report =
        copy_table(bytes, &tables[WEFT_STATS_REPORT], sizeof *report, 0, &reports);
    if (report && reports > 0)
        snap->report = report[0];
    free(report);
    return true;
}

static void tame_all(struct snap *snap)
{
    for (size_t i = 0; i < snap->pool_count; i++)
        tame(snap->pools[i].name, sizeof snap->pools[i].name);
    for (size_t i = 0; i < snap->worker_count; i++)
        tame(snap->workers[i].waits_name, sizeof snap->workers[i].waits_name);
    for (size_t i = 0; i < snap->actor_count; i++) {
        tame(snap->actors[i].waits_name, sizeof snap->actors[i].waits_name);
        tame(snap->actors[i].name, sizeof snap->actors[i].name);
    }
    for (size_t i = 0; i < snap->word_count; i++)
        tame(snap->words[i].text, sizeof snap->words[i].text);
    tame(snap->report.text, sizeof snap->report.text);
}

/* Does the process still run, and the same program? */
static bool is_alive(const struct page *page, char why[PAGE_WHY_SIZE])
{
    char text[sizeof LINK + 1], rest[64];
    if (page->process < 0)
        return true;
    if (!find_line(page->process, "stat", ") ", rest, sizeof rest) || rest[0] == 'Z' ||
        rest[0] == 'X') {
        snprintf(why, PAGE_WHY_SIZE, "the process has ended");
        return false;
    }
    if (!page->link[0])
        return true;
    ssize_t size = readlinkat(page->process, page->link, text, sizeof text - 1);
    text[size > 0 ? size : 0] = 0;
    if (strcmp(text, LINK) == 0)
        return true;
    snprintf(why, PAGE_WHY_SIZE, "the process has closed its page, or executes another program");
    return false;
}

bool page_read(struct page *page, struct snap *snap, char why[PAGE_WHY_SIZE])
{
    *snap = (struct snap){.made = page->header.made, .library = page->header.library};
    if (!is_alive(page, why))
        return false;
    char *bytes = malloc(page->header.size);
    struct weft_stats_header header;
    bool good = bytes && read_at(page->fd, bytes, page->header.size, 0);
    if (good) {
        memcpy(&header, bytes, sizeof header);
        for (int i = 0; i <= WEFT_STATS_ACTORS; i++)
            snap->left[i] = header.tables[i].left;
        settle_workers(page, bytes);
        snap->when = now();
        good = fill(page, snap, bytes);
    }
    free(bytes);
    if (!good) {
        snap_free(snap);
        snprintf(why, PAGE_WHY_SIZE, "the statistics page can't be read any more");
        return false;
    }
    tame_all(snap);
    return true;
}

void snap_free(struct snap *snap)
{
    free(snap->pools);
    free(snap->workers);
    free(snap->actors);
    free(snap->words);
    free(snap->holders);
    *snap = (struct snap){0};
}
