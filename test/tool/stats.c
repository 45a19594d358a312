/* SPDX-License-Identifier: MIT */
/* The reader of `weft top`: on the page of this process, and on pages that are cut off, changed
 * here and there, or noise. Whatever it reads, it stays in its memory, ends, and shows lines that a
 * terminal can have. */
#include "check.h"
#include "json.h"
#include "lines.h"
#include "page.h"
#include "property.h"
#include "sample.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft.h>
#include <weft/actor.h>

/* ---- The page of this process ---- */

static struct page *open_own(void)
{
    char why[PAGE_WHY_SIZE] = "";
    struct page *page = page_open(getpid(), why);
    if (!page)
        print_message("%s\n", why);
    return page;
}

static void nothing(weft *w, void *arg)
{
}

static const struct weft_stats_pool *find_pool(const struct snap *snap, const char *name)
{
    for (size_t i = 0; i < snap->pool_count; i++)
        if (strcmp(snap->pools[i].name, name) == 0)
            return &snap->pools[i];
    return NULL;
}

static weft_pool *make_pool(const char *name)
{
    weft_config config = WEFT_CONFIG_INIT;
    weft_pool *pool;
    config.name = name;
    config.workers = 2;
    assert_int_equal(weft_pool_create(&pool, &config), 0);
    return pool;
}

/* Records come with a pool, and go with it. */
static void test_own(void **state)
{
    char why[PAGE_WHY_SIZE];
    struct snap snap;
    weft_pool *pool = make_pool("mine");
    struct page *page = open_own();
    assert_non_null(page);
    assert_int_equal(weft_run(pool, nothing, NULL), 0);
    assert_true(page_read(page, &snap, why));
    const struct weft_stats_pool *found = find_pool(&snap, "mine");
    assert_non_null(found);
    assert_int_equal(found->workers, 2);
    uint64_t jobs = 0, guests = 0;
    for (size_t i = 0; i < snap.worker_count; i++)
        if (snap.workers[i].pool == found->address) {
            jobs += snap.workers[i].jobs;
            guests += snap.workers[i].kind == WEFT_STATS_GUEST;
        }
    assert_int_equal(jobs, 1);
    assert_int_equal(guests, 1);
    uint64_t id = found->id;
    snap_free(&snap);
    weft_pool_destroy(pool);
    pool = make_pool("mine");
    assert_true(page_read(page, &snap, why));
    found = find_pool(&snap, "mine");
    assert_non_null(found);
    assert_int_not_equal(found->id, id);
    assert_int_equal(snap.pool_count, 1);
    snap_free(&snap);
    weft_pool_destroy(pool);
    assert_true(page_read(page, &snap, why));
    assert_int_equal(snap.pool_count, 0);
    assert_int_equal(snap.worker_count, 0);
    snap_free(&snap);
    page_close(page);
}

/* Nobody else may open it, and it keeps its size. */
static void test_rights(void **state)
{
    char path[64], link[64];
    weft_pool *pool = make_pool("mine");
    int found = 0;
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t size = readlink(path, link, sizeof link - 1);
        link[size > 0 ? size : 0] = 0;
        if (!strstr(link, WEFT_STATS_NAME))
            continue;
        struct stat about;
        assert_int_equal(fstat(fd, &about), 0);
        assert_int_equal(about.st_mode & 0777, 0600);
        assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        assert_true(fd > STDERR_FILENO);
        assert_int_equal(ftruncate(fd, 0), -1);
        found++;
    }
    assert_int_equal(found, 1);
    weft_pool_destroy(pool);
}

/* More pools than there are records: those that come later count in their own memory, and are
 * counted as left out; when all are gone, nothing is left out. */
static void test_too_many(void **state)
{
    enum { MANY = 60 };
    char why[PAGE_WHY_SIZE];
    weft_pool *pools[MANY];
    struct snap snap;
    for (int i = 0; i < MANY; i++)
        pools[i] = make_pool("many");
    struct page *page = open_own();
    assert_non_null(page);
    assert_true(page_read(page, &snap, why));
    assert_true(snap.pool_count < MANY);
    assert_int_equal(snap.pool_count + snap.left[WEFT_STATS_POOLS], MANY);
    assert_int_equal(snap.worker_count + snap.left[WEFT_STATS_WORKERS], 2 * MANY);
    snap_free(&snap);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(weft_run(pools[i], nothing, NULL), 0);
        weft_worker_info info = WEFT_WORKER_INFO_INIT;
        assert_int_equal(weft_worker_get_info(pools[i], 1, &info), 0);
    }
    for (int i = 0; i < MANY; i++)
        weft_pool_destroy(pools[i]);
    assert_true(page_read(page, &snap, why));
    assert_int_equal(snap.pool_count + snap.left[WEFT_STATS_POOLS], 0);
    assert_int_equal(snap.worker_count + snap.left[WEFT_STATS_WORKERS], 0);
    snap_free(&snap);
    page_close(page);
}

/* ---- Noise ---- */

static char *bytes_of_own(size_t *size)
{
    char path[64], link[64];
    for (int fd = 3; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, link, sizeof link - 1);
        link[length > 0 ? length : 0] = 0;
        struct stat about;
        if (!strstr(link, WEFT_STATS_NAME) || fstat(fd, &about) != 0)
            continue;
        *size = (size_t)about.st_size;
        char *bytes = malloc(*size);
        assert_int_equal(pread(fd, bytes, *size, 0), (ssize_t)*size);
        return bytes;
    }
    return NULL;
}

static void expect_fine(const struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        const char *text = lines->all[i].text;
        HOLDS(strlen(text) <= lines->width);
        for (; *text; text++)
            HOLDS((unsigned char)*text >= ' ' && (unsigned char)*text < 127);
    }
}

static void show(const struct sample *sample, struct dice *dice)
{
    struct lines lines = {.width = 20 + (unsigned)dice_below(dice, 300)};
    struct choice choice = {(enum order)dice_below(dice, ORDERS), (int)dice_below(dice, 3) - 1};
    FILE *out = fopen("/dev/null", "w");
    if (choice.pool >= (int)sample->pool_count)
        choice.pool = -1;
    lines_put_sample(&lines, sample, choice);
    expect_fine(&lines);
    lines_free(&lines);
    json_put(out, sample);
    fclose(out);
}

/* Every file is read three times, as a process would be that goes on changing. */
static void read_file(const char *bytes, size_t size, struct dice *dice)
{
    char why[PAGE_WHY_SIZE];
    int fd = memfd_create("noise", 0);
    HOLDS(write(fd, bytes, size) == (ssize_t)size);
    int writes = dup(fd);
    struct page *page = page_open_file(fd, 0, why);
    struct watch *watch = page ? watch_open_page(page, getpid()) : NULL;
    for (int i = 0; watch && i < 3; i++) {
        struct sample sample;
        if (!watch_look(watch, &sample, why))
            break;
        show(&sample, dice);
        sample_free(&sample);
        for (int k = 0; k < 100; k++) {
            uint64_t word =
                dice_below(dice, 2) ? dice_below(dice, 10) : dice_below(dice, UINT32_MAX);
            (void)!pwrite(writes, &word, sizeof word, (off_t)dice_below(dice, size));
        }
        if (dice_below(dice, 4) == 0)
            (void)!ftruncate(writes, (off_t)dice_below(dice, size));
    }
    if (watch)
        watch_close(watch);
    close(writes);
}

static void noise(weft *w, struct dice *dice)
{
    size_t size;
    char *bytes = bytes_of_own(&size);
    HOLDS(bytes);
    size_t from = dice_below(dice, 3) == 0 ? 0 : sizeof(struct weft_stats_header);
    unsigned changes = 1u << dice_below(dice, 16);
    for (unsigned i = 0; i < changes; i++) {
        size_t at = from + dice_below(dice, size - from);
        bytes[at] = (char)dice_below(dice, dice_below(dice, 2) ? 256 : 4);
    }
    if (dice_below(dice, 4) == 0)
        size = dice_below(dice, size) + 1;
    read_file(bytes, size, dice);
    free(bytes);
}

static void test_noise(void **state)
{
    weft_pool *pool = make_pool("source");
    property_holds(noise, SCALED(300, 60));
    weft_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_rights),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
