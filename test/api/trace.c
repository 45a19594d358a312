/* SPDX-License-Identifier: MIT */
/* trace.c: what is in the file of a trace. */
#include "weft/trace.h"

#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/task.h"
#include "weft/trace_format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A file ---- */

static char path[] = "/tmp/weft-trace-XXXXXX";

static int make_path(void **state)
{
    strcpy(path, "/tmp/weft-trace-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
    return unlink(path);
}

struct file {
    const struct weft_trace_header *header;
    size_t size;
};

static struct file file_open(void)
{
    struct stat stat;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && fstat(fd, &stat) == 0);
    struct file file = {.size = (size_t)stat.st_size};
    file.header = mmap(NULL, file.size, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(file.header != MAP_FAILED);
    close(fd);
    assert_memory_equal(file.header->magic, WEFT_TRACE_MAGIC, 8);
    assert_int_equal(file.header->version, WEFT_TRACE_VERSION);
    assert_true(file.size >=
                WEFT_TRACE_HEADER_SIZE + file.header->blocks * (size_t)WEFT_TRACE_BLOCK_SIZE);
    return file;
}

static void file_close(struct file *file)
{
    CHECK(munmap((void *)(uintptr_t)file->header, file->size) == 0);
}

/* ---- What is counted in it ---- */

struct seen {
    unsigned kinds[WEFT_TRACE_KINDS];
    unsigned threads, modules;
    char names[3][32]; /* of the last span, the last mark and the last actor */
    int64_t value;     /* the greatest of all marks */
    bool in_order;
};

static void note_name(struct seen *seen, enum weft_trace_kind kind,
                      const struct weft_trace_record *record)
{
    int which = kind == WEFT_TRACE_SPAN    ? 0
                : kind == WEFT_TRACE_MARK  ? 1
                : kind == WEFT_TRACE_ACTOR ? 2
                                           : -1;
    if (which < 0)
        return;
    size_t size = record->b < 31 ? (size_t)record->b : 31;
    memcpy(seen->names[which], record + 1, size);
    seen->names[which][size] = 0;
    if (kind == WEFT_TRACE_MARK && (int64_t)record->a > seen->value)
        seen->value = (int64_t)record->a;
}

static void look_at_block(struct seen *seen, const struct weft_trace_block *block)
{
    const struct weft_trace_record *records = (const struct weft_trace_record *)(block + 1);
    uint64_t before = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->used; i++) {
        uint64_t head = records[i].head;
        enum weft_trace_kind kind = (enum weft_trace_kind)(head & (WEFT_TRACE_HAS_TEXT - 1));
        uint64_t ticks = head >> 8;
        CHECK(kind > WEFT_TRACE_NOTHING && kind < WEFT_TRACE_KINDS);
        seen->in_order &= ticks >= before;
        before = ticks;
        seen->kinds[kind]++;
        count++;
        if (!(head & WEFT_TRACE_HAS_TEXT))
            continue;
        CHECK(records[i].b <= WEFT_TRACE_TEXT_MOST);
        note_name(seen, kind, &records[i]);
        i += (uint32_t)((records[i].b + sizeof records[i] - 1) / sizeof records[i]);
    }
    CHECK(block->records == count);
}

static struct seen look(struct file *file)
{
    struct seen seen = {.in_order = true, .value = INT64_MIN};
    for (uint64_t i = 0; i < file->header->blocks; i++) {
        const struct weft_trace_block *block =
            (const struct weft_trace_block *)((const char *)file->header + WEFT_TRACE_HEADER_SIZE +
                                              i * WEFT_TRACE_BLOCK_SIZE);
        seen.modules += block->kind == WEFT_TRACE_MODULES;
        seen.threads += block->kind == WEFT_TRACE_RECORDS && block->sequence == 1;
        if (block->kind == WEFT_TRACE_RECORDS)
            look_at_block(&seen, block);
    }
    return seen;
}

static struct seen look_once(uint64_t *lost)
{
    struct file file = file_open();
    assert_int_equal(file.header->state, WEFT_TRACE_STOPPED);
    assert_true(file.header->last.ns > file.header->first.ns);
    struct seen seen = look(&file);
    assert_true(seen.in_order);
    *lost = file.header->lost;
    file_close(&file);
    return seen;
}

/* ---- Work of all kinds ---- */

static void work(weft *w, void *arg)
{
    weft_scope scope;
    atomic_ulong count = 0;
    weft_span_begin("a span");
    weft_scope_open(w, &scope);
    for (int i = 0; i < 10; i++)
        CHECK(weft_spawn(w, &scope, count_job, &count) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
    weft_block_begin(w);
    weft_block_end(w);
    weft_trace_mark("a mark", -5);
    weft_span_end();
}

static int act(weft *w, void *arg)
{
    weft_yield(w);
    return 0;
}

static void work_of_all_kinds(weft_pool *pool)
{
    weft_task task;
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.name = "an actor";
    CHECK(weft_run(pool, work, NULL) == 0);
    CHECK(weft_submit(pool, &task, work, NULL) == 0);
    CHECK(weft_task_wait(&task) == 0);
    CHECK(end(start(pool, act, NULL, &config)) == 0);
}

static void do_nothing(weft *w, void *arg)
{
}

static void everything_is_there(void **state)
{
    uint64_t lost;
    assert_int_equal(weft_trace_start(path, 0), 0);
    assert_int_equal(weft_trace_start(path, 0), -EBUSY);
    weft_pool *pool = pool_make(2, 0);
    work_of_all_kinds(pool);
    CHECK(weft_broadcast(pool, do_nothing, NULL) == 0); /* so each worker records something */
    pool_drop(pool);
    assert_int_equal(weft_trace_stop(), 0);
    assert_int_equal(weft_trace_stop(), -EINVAL);
    struct seen seen = look_once(&lost);
    assert_int_equal(lost, 0);
    assert_int_equal(seen.modules, 2);
    assert_true(seen.threads >= 3);
    assert_int_equal(seen.kinds[WEFT_TRACE_SPAN], 2);
    assert_int_equal(seen.kinds[WEFT_TRACE_SPAN_END], 2);
    assert_int_equal(seen.kinds[WEFT_TRACE_MARK], 2);
    assert_int_equal(seen.kinds[WEFT_TRACE_BLOCK], 2);
    assert_int_equal(seen.kinds[WEFT_TRACE_BLOCK_END], 2);
    assert_int_equal(seen.kinds[WEFT_TRACE_SUBMIT], 1);
    assert_int_equal(seen.kinds[WEFT_TRACE_TASK], 1);
    assert_int_equal(seen.kinds[WEFT_TRACE_ACTOR], 1);
    assert_true(seen.kinds[WEFT_TRACE_GUEST] >= 1);
    assert_int_equal(seen.kinds[WEFT_TRACE_GUEST], seen.kinds[WEFT_TRACE_GUEST_END]);
    assert_true(seen.kinds[WEFT_TRACE_TURN] >= 1);
    assert_true(seen.kinds[WEFT_TRACE_JOB] >= 2);
    assert_int_equal(seen.kinds[WEFT_TRACE_JOB], seen.kinds[WEFT_TRACE_JOB_END]);
    assert_int_equal(seen.kinds[WEFT_TRACE_WAIT], seen.kinds[WEFT_TRACE_WAIT_END]);
    assert_string_equal(seen.names[0], "a span");
    assert_string_equal(seen.names[1], "a mark");
    assert_string_equal(seen.names[2], "an actor");
    assert_int_equal(seen.value, -5);
}

/* Without a trace, nothing happens; and one can be started again and again. */
static void started_again(void **state)
{
    uint64_t lost;
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < 20; i++) {
        work_of_all_kinds(pool);
        assert_int_equal(weft_trace_start(path, 0), 0);
        work_of_all_kinds(pool);
        assert_int_equal(weft_trace_stop(), 0);
        struct seen seen = look_once(&lost);
        assert_int_equal(seen.kinds[WEFT_TRACE_SUBMIT], 1);
        assert_int_equal(seen.kinds[WEFT_TRACE_SPAN], 2);
    }
    pool_drop(pool);
}

static void mark_often(unsigned i, void *arg)
{
    char name[32];
    for (int n = 0; n < 30000; n++) {
        snprintf(name, sizeof name, "%d of thread %u", n, i);
        weft_trace_mark(name, n);
    }
}

/* The newest are kept, what is lost is counted. */
static void little_room(void **state)
{
    enum { THREADS = 3, MARKS = 30000 };
    struct stat stat_of;
    uint64_t lost;
    assert_int_equal(weft_trace_start(path, 8 * WEFT_TRACE_BLOCK_SIZE), 0);
    in_threads(THREADS, mark_often, NULL);
    assert_int_equal(weft_trace_stop(), 0);
    struct seen seen = look_once(&lost);
    assert_true(lost > 0);
    assert_true(seen.kinds[WEFT_TRACE_MARK] > 0);
    assert_true(seen.kinds[WEFT_TRACE_MARK] + lost >= (uint64_t)THREADS * MARKS);
    assert_int_equal(seen.value, MARKS - 1);
    assert_int_equal(stat(path, &stat_of), 0);
    assert_true(stat_of.st_size <= WEFT_TRACE_HEADER_SIZE + 8 * WEFT_TRACE_BLOCK_SIZE);
}

/* A child after fork() writes nothing into the file; it may have a trace of its own. */
static void forked(void **state)
{
    uint64_t lost;
    char other[sizeof path + 24];
    assert_int_equal(weft_trace_start(path, 0), 0);
    weft_trace_mark("parent", 1);
    pid_t child = fork();
    if (child == 0) {
        weft_trace_mark("child", 2);
        snprintf(other, sizeof other, "%s.%%p", path);
        bool fine = weft_trace_stop() == -EINVAL && weft_trace_start(other, 0) == 0;
        weft_trace_mark("child", 3);
        _exit(fine && weft_trace_stop() == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    snprintf(other, sizeof other, "%s.%d", path, (int)child);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(weft_trace_stop(), 0);
    struct seen seen = look_once(&lost);
    assert_int_equal(seen.kinds[WEFT_TRACE_MARK], 1);
    assert_int_equal(seen.value, 1);
}

/* The thread that forked may end in the child, although it has recorded in the parent. */

static pthread_key_t last;

/* Not in the first round: then all others have had their turn. */
static void leave(void *round)
{
    if (round == &last)
        _exit(0);
    CHECK(pthread_setspecific(last, &last) == 0);
}

static void *fork_and_end(void *unused)
{
    weft_trace_mark("parent", 1);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* no test goes on in the child */
        CHECK(pthread_key_create(&last, leave) == 0 && pthread_setspecific(last, path) == 0);
        return NULL;
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return (void *)(intptr_t)status;
}

static void forked_thread_ends(void **state)
{
    pthread_t thread;
    void *status;
    assert_int_equal(weft_trace_start(path, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, fork_and_end, NULL), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((intptr_t)status, 0);
    assert_int_equal(weft_trace_stop(), 0);
}

/* There are so many keys for a process. The first one is that of somebody else. */
static void no_key_is_left(void **state)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "trace", "keys", path, (char *)NULL);
        _exit(2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int trace_without_key(const char *file)
{
    pthread_key_t keys[PTHREAD_KEYS_MAX];
    int count = 0;
    for (; count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], NULL) == 0; count++)
        CHECK(pthread_setspecific(keys[count], &keys[count]) == 0);
    int error = weft_trace_start(file, 0);
    weft_trace_mark("without a key", 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_getspecific(keys[i]) == &keys[i]);
    return error == -EAGAIN ? 0 : 1;
}

/* A program that is killed leaves what it has recorded. */
static void killed(void **state)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        CHECK(weft_trace_start(path, 0) == 0);
        for (int i = 0; i < 5000; i++)
            weft_trace_mark("alive", i);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    struct file file = file_open();
    assert_int_equal(file.header->state, WEFT_TRACE_RUNNING);
    struct seen seen = look(&file);
    assert_int_equal(seen.kinds[WEFT_TRACE_MARK], 5000);
    assert_int_equal(seen.value, 4999);
    assert_int_equal(seen.modules, 1);
    file_close(&file);
}

static void bad_arguments(void **state)
{
    assert_int_equal(weft_trace_start(NULL, 0), -EINVAL);
    assert_int_equal(weft_trace_start("", 0), -EINVAL);
    assert_int_equal(weft_trace_start(path, 1), -EINVAL);
    assert_int_equal(weft_trace_start("/nowhere/at/all", 0), -ENOENT);
    assert_int_equal(weft_trace_start("/tmp", 0), -EEXIST);
    assert_int_equal(weft_trace_start("/dev/null", 0), -EEXIST);
    weft_span_begin(NULL);
    weft_span_end();
    weft_trace_mark(NULL, 0);
    assert_int_equal(weft_trace_start(path, 0), 0);
    weft_span_begin(NULL);
    weft_span_end();
    weft_trace_mark("", 0);
    char longer[1000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    weft_trace_mark(longer, 0);
    assert_int_equal(weft_trace_stop(), 0);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "keys") == 0)
        return trace_without_key(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_is_there, make_path, remove_path),
        cmocka_unit_test_setup_teardown(started_again, make_path, remove_path),
        cmocka_unit_test_setup_teardown(little_room, make_path, remove_path),
        cmocka_unit_test_setup_teardown(forked, make_path, remove_path),
        cmocka_unit_test_setup_teardown(forked_thread_ends, make_path, remove_path),
        cmocka_unit_test_setup_teardown(no_key_is_left, make_path, remove_path),
        cmocka_unit_test_setup_teardown(killed, make_path, remove_path),
        cmocka_unit_test_setup_teardown(bad_arguments, make_path, remove_path),
    };
    return RUN_ON_ALL_ROADS(tests);
}
