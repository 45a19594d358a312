/* SPDX-License-Identifier: MIT */
/* recorder.c: the writing side of a trace, read back with the reader: programs that crash, full
 * files, full disks, threads that come and go, traces that begin and end while others record. */
#include "check.h"
#include "child.h"
#include "proc.h"
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/trace.h>

static char folder[] = "/tmp/weft-recorder-XXXXXX", path[64];

static int make_folder(void **state)
{
    strcpy(folder, "/tmp/weft-recorder-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/trace", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder);
}

/* ---- What is in the file ---- */

enum { THREADS_MOST = 400 };

struct seen {
    uint64_t marks, lost;
    uint64_t by_thread[THREADS_MOST]; /* marks */
    int64_t last[THREADS_MOST];       /* value of its last mark */
    unsigned threads;
    bool ended, rough, cut;
};

/* Each thread marks 0, 1, 2...: what is there must be without a hole. */
static struct seen look(void)
{
    struct seen seen = {0};
    struct trace_event event;
    char why[TRACE_WHY_SIZE];
    struct trace *trace = trace_open(path, why);
    if (!trace)
        fail_msg("%s: %s", path, why);
    const struct trace_info *info = trace_about(trace);
    assert_true(info->threads <= THREADS_MOST);
    while (trace_next(trace, &event)) {
        if (event.kind != WEFT_TRACE_MARK)
            continue;
        int64_t value = (int64_t)event.a;
        if (seen.by_thread[event.thread]++ > 0)
            assert_int_equal(value, seen.last[event.thread] + 1);
        assert_true(event.size == 4 && memcmp(event.text, "mark", 4) == 0);
        seen.last[event.thread] = value;
        seen.marks++;
    }
    assert_int_equal(info->bad, 0);
    seen.lost = info->lost;
    seen.threads = info->threads;
    seen.ended = info->ended;
    seen.rough = info->rough;
    seen.cut = info->cut;
    trace_close(trace);
    return seen;
}

static void mark(int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        weft_trace_mark("mark", i);
}

/* ---- Programs that end in the midst of it ---- */

enum { RECORDERS = 3 };

/* What a child has done, for its parent. */
struct shared {
    atomic_llong marks[RECORDERS];
};

static void *mark_for_ever(void *arg)
{
    atomic_llong *count = arg;
    for (int64_t i = 0;; i++) {
        weft_trace_mark("mark", i);
        atomic_store(count, i + 1);
    }
    return NULL;
}

static void record_until_killed(struct shared *shared, bool crashes)
{
    pthread_t thread;
    alarm(60);
    if (weft_trace_start(path, 1 << 20) != 0)
        _exit(1);
    for (int i = 0; i < RECORDERS; i++)
        pthread_create(&thread, NULL, mark_for_ever, &shared->marks[i]);
    for (int i = 0; i < RECORDERS; i++)
        WAIT_UNTIL(atomic_load(&shared->marks[i]) > 100);
    if (crashes) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's would say more */
        raise(SIGSEGV);
    }
    for (;;)
        pause();
}

/* What each thread had recorded when it counted is there, but for what was written over. */
static void ended_by(int number)
{
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    pid_t child = fork();
    if (child == 0)
        record_until_killed(shared, number == SIGSEGV);
    if (number == SIGKILL) {
        for (int i = 0; i < RECORDERS; i++)
            WAIT_UNTIL(atomic_load(&shared->marks[i]) > 20000 || waitpid(child, &status, WNOHANG));
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number);
    struct seen seen = look();
    assert_false(seen.ended);
    assert_true(seen.cut == false);
    assert_int_equal(seen.threads, RECORDERS);
    uint64_t all = 0;
    for (int i = 0; i < RECORDERS; i++)
        all += (uint64_t)atomic_load(&shared->marks[i]);
    assert_true(seen.marks + seen.lost >= all);
    assert_true(seen.marks + seen.lost <= all + RECORDERS);
    for (int i = 0; i < RECORDERS; i++) {
        bool found = false; /* threads are in the order of their numbers */
        for (int k = 0; k < RECORDERS; k++) {
            int64_t more = seen.last[k] + 1 - atomic_load(&shared->marks[i]);
            found |= more == 0 || more == 1;
        }
        assert_true(found);
    }
    munmap(shared, sizeof *shared);
}

static void crashed(void **state)
{
    for (int i = 0; i < 5; i++)
        ended_by(SIGSEGV);
}

static void killed(void **state)
{
    for (int i = 0; i < 5; i++)
        ended_by(SIGKILL);
}

/* The end of the program ends the trace. */
static void exited(void **state)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool fine = weft_trace_start(path, 0) == 0;
        mark(5);
        exit(fine ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct seen seen = look();
    assert_true(seen.ended);
    assert_int_equal(seen.marks, 5);
}

/* ---- Beginning and end, while others record ---- */

static atomic_bool is_over;
static atomic_llong recorded[RECORDERS];

static void mark_until_over(unsigned i, void *arg)
{
    void (*control)(void) = (void (*)(void))(uintptr_t)arg;
    if (i == 0) {
        control();
        atomic_store(&is_over, true);
        return;
    }
    for (int64_t n = 0; !atomic_load(&is_over); n++) {
        weft_trace_mark("mark", n);
        atomic_store(&recorded[i - 1], n);
    }
}

static void until_all_have_recorded(void)
{
    for (int i = 0; i < RECORDERS; i++) {
        long long before = atomic_load(&recorded[i]);
        WAIT_UNTIL(atomic_load(&recorded[i]) > before + 10);
    }
}

static void start_and_stop(void)
{
    for (int round = rounds_of(30); round > 0; round--) {
        CHECK(weft_trace_start(path, 0) == 0);
        until_all_have_recorded();
        CHECK(weft_trace_stop() == 0);
        until_all_have_recorded(); /* nowhere */
        struct seen seen = look();
        CHECK(seen.ended && seen.threads == RECORDERS && seen.marks >= RECORDERS);
        CHECK(seen.lost > 0 || seen.marks > 0);
    }
}

static void stopped_meanwhile(void **state)
{
    atomic_store(&is_over, false);
    in_threads(RECORDERS + 1, mark_until_over, (void *)(uintptr_t)start_and_stop);
}

/* A full file, in which all threads use blocks again when it is stopped: nothing of what is in it
 * changes afterwards. */
static void start_small_and_stop(void)
{
    for (int round = rounds_of(30); round > 0; round--) {
        CHECK(weft_trace_start(path, 8 << 16) == 0);
        struct stat about;
        do { /* the file is as long as it becomes */
            until_all_have_recorded();
            CHECK(stat(path, &about) == 0);
        } while (about.st_size < WEFT_TRACE_HEADER_SIZE + (8 << 16));
        CHECK(weft_trace_stop() == 0);
        struct seen first = look();
        until_all_have_recorded();
        struct seen second = look();
        CHECK(first.ended && first.lost == second.lost && first.marks <= second.marks &&
              second.marks <= first.marks + RECORDERS);
    }
}

static void stopped_when_full(void **state)
{
    atomic_store(&is_over, false);
    in_threads(RECORDERS + 1, mark_until_over, (void *)(uintptr_t)start_small_and_stop);
}

static bool maps_have(const char *words)
{
    char line[1024];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, words) != NULL;
    return !maps || fclose(maps) || found;
}

/* The files that were removed are gone from the disk, too: nobody has them mapped. */
static void thousand_times(void **state)
{
    for (int i = 0; i < SCALED(1000, 5); i++) {
        assert_int_equal(weft_trace_start(path, 4 << 16), 0);
        mark(3);
        assert_int_equal(weft_trace_stop(), 0);
        mark(3);
    }
    struct seen seen = look();
    assert_int_equal(seen.marks, 3);
    assert_int_equal(seen.threads, 1);
    assert_true(seen.ended);
    assert_false(seen.rough);
    assert_false(maps_have(folder));
}

static atomic_uint begun, busy;

static void start(unsigned i, void *arg)
{
    int error = weft_trace_start(path, 0);
    atomic_fetch_add(error ? &busy : &begun, 1);
    CHECK(error == 0 || error == -EBUSY);
}

static void two_at_once(void **state)
{
    enum { MANY = 8 };
    for (int i = 0; i < 20; i++) {
        atomic_store(&begun, 0);
        atomic_store(&busy, 0);
        in_threads(MANY, start, NULL);
        assert_int_equal(atomic_load(&begun), 1);
        assert_int_equal(atomic_load(&busy), MANY - 1);
        mark(5);
        assert_int_equal(weft_trace_stop(), 0);
        assert_int_equal(look().marks, 5);
    }
}

/* ---- Full files ---- */

/* A text of 4 bytes takes a place of its own. */
enum { MARKS_IN_BLOCK = (WEFT_TRACE_BLOCK_SIZE - 64) / 24 / 2 };

/* How many of so many marks fit into so many blocks, of which the oldest is used again. */
static int64_t kept_of(int64_t marks, int64_t blocks)
{
    int64_t used = (marks + MARKS_IN_BLOCK - 1) / MARKS_IN_BLOCK;
    return marks - (used > blocks ? used - blocks : 0) * MARKS_IN_BLOCK;
}

static void wraps_around(void **state)
{
    _Static_assert(sizeof(struct weft_trace_block) == 64, "the head of a block");
    static const int64_t counts[] = {MARKS_IN_BLOCK * 3, MARKS_IN_BLOCK * 3 + 1,
                                     MARKS_IN_BLOCK * 7 + 5, 100000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_int_equal(weft_trace_start(path, 4 << 16), 0);
        mark(counts[i]);
        assert_int_equal(weft_trace_stop(), 0);
        struct seen seen = look();
        /* One block has where the program's code is. */
        assert_int_equal(seen.marks, kept_of(counts[i], 3));
        assert_int_equal(seen.marks + seen.lost, counts[i]);
        assert_int_equal(seen.last[0], counts[i] - 1);
    }
}

/* A record and its text do not fit into the last place of a block. */
static void last_place(void **state)
{
    assert_int_equal(weft_trace_start(path, 0), 0);
    weft_span_end();
    mark(5000);
    assert_int_equal(weft_trace_stop(), 0);
    struct seen seen = look();
    assert_int_equal(seen.marks, 5000);
    assert_int_equal(seen.lost, 0);
}

static void *mark_some(void *arg)
{
    mark(*(int64_t *)arg);
    return NULL;
}

/* One after the other, more than there are blocks: the last ones are there. */
static void threads_that_end(void **state)
{
    enum { THREADS = 40 };
    int64_t each = 10;
    assert_int_equal(weft_trace_start(path, 8 << 16), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, mark_some, &each), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_int_equal(weft_trace_stop(), 0);
    struct seen seen = look();
    assert_int_equal(seen.marks, 7 * each); /* as many blocks as there are for records */
    assert_int_equal(seen.marks + seen.lost, THREADS * each);
}

/* A thread whose blocks are all taken gets those of others that have ended, before it loses its
 * own. */
static void blocks_of_the_dead(void **state)
{
    int64_t two_blocks = 2 * MARKS_IN_BLOCK;
    pthread_t thread;
    assert_int_equal(weft_trace_start(path, 6 << 16), 0);
    assert_int_equal(pthread_create(&thread, NULL, mark_some, &two_blocks), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    mark(5 * MARKS_IN_BLOCK);
    assert_int_equal(weft_trace_stop(), 0);
    struct seen seen = look();
    assert_int_equal(seen.threads, 1);
    assert_int_equal(seen.marks, 5 * MARKS_IN_BLOCK);
    assert_int_equal(seen.lost, two_blocks);
}

static pthread_barrier_t all_are_there;

static void mark_together(unsigned i, void *arg)
{
    mark(1);
    pthread_barrier_wait(&all_are_there);
    for (int64_t n = 1; n < 10; n++)
        weft_trace_mark("mark", n);
}

static void many_threads(void **state)
{
    enum { MANY = 300 };
    pthread_barrier_init(&all_are_there, NULL, MANY);
    assert_int_equal(weft_trace_start(path, 0), 0);
    in_threads(MANY, mark_together, NULL);
    assert_int_equal(weft_trace_stop(), 0);
    struct seen seen = look();
    assert_int_equal(seen.threads, MANY);
    assert_int_equal(seen.marks, 10 * MANY);
    assert_int_equal(seen.lost, 0);
    /* Most have no place: that is counted, and the others are there. */
    assert_int_equal(weft_trace_start(path, 8 << 16), 0);
    in_threads(MANY, mark_together, NULL);
    assert_int_equal(weft_trace_stop(), 0);
    seen = look();
    assert_true(seen.threads >= 7 && seen.threads < MANY);
    assert_int_equal(seen.marks + seen.lost, 10 * MANY);
    pthread_barrier_destroy(&all_are_there);
}

/* ---- Full disks ---- */

/* The process may not write longer files. */
static void with_limit(void *arg)
{
    struct rlimit limit = {.rlim_cur = 4096 + (4 << 16) - 1, .rlim_max = RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(weft_trace_start(path, 0) == -EFBIG);
    limit.rlim_cur = 4096 + (6 << 16) + 100;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(weft_trace_start(path, 0) == 0);
    mark(100000);
    CHECK(weft_trace_stop() == 0);
}

static void limited(void **state)
{
    struct stat about;
    expect_fine(with_limit, NULL);
    struct seen seen = look();
    assert_int_equal(seen.marks, kept_of(100000, 5));
    assert_int_equal(seen.marks + seen.lost, 100000);
    assert_int_equal(stat(path, &about), 0);
    assert_true(about.st_size <= 4096 + (6 << 16));
}

/* A disk of its own, which is small. Nobody else sees it. */
static void on_small_disk(void *arg)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", 0, "size=1500k") != 0)
        _exit(77);
    CHECK(weft_trace_start(path, 64 << 20) == 0);
    mark(100000);
    CHECK(weft_trace_stop() == 0);
    struct seen seen = look();
    CHECK(seen.ended && !seen.cut && seen.lost > 0 && seen.marks > MARKS_IN_BLOCK);
    CHECK(seen.marks + seen.lost == 100000 && seen.last[0] == 99999);
    /* No room for the header. */
    struct stat about;
    CHECK(stat(path, &about) == 0);
    char other[80];
    snprintf(other, sizeof other, "%s/filler", folder);
    int fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, other, sizeof other) > 0)
        continue;
    snprintf(other, sizeof other, "%s/other", folder);
    CHECK(weft_trace_start(other, 0) == -ENOSPC);
    CHECK(weft_trace_stop() == -EINVAL);
}

static void full_disk(void **state)
{
    struct child child;
    child_run(&child, on_small_disk, NULL);
    if (WIFEXITED(child.status) && WEXITSTATUS(child.status) == 77)
        skip();
    if (child.status != 0)
        fail_msg("%s", child.said);
    assert_false(child.hung);
}

/* ---- Names ---- */

static void names(void **state)
{
    char wanted[5000];
    struct stat about;
    snprintf(wanted, sizeof wanted, "%s/%%p-%%p", folder);
    assert_int_equal(weft_trace_start(wanted, 0), 0);
    assert_int_equal(weft_trace_stop(), 0);
    snprintf(wanted, sizeof wanted, "%s/%d-%%p", folder, (int)getpid());
    assert_int_equal(unlink(wanted), 0);

    /* What is not a file is left alone; what a link leads to, too. */
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "mine", 4), 4);
    close(fd);
    snprintf(wanted, sizeof wanted, "%s/link", folder);
    assert_int_equal(symlink(path, wanted), 0);
    assert_int_equal(weft_trace_start(wanted, 0), -EEXIST);
    assert_int_equal(unlink(wanted), 0);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 4);

    snprintf(wanted, sizeof wanted, "%s/below", path);
    assert_int_equal(weft_trace_start(wanted, 0), -ENOTDIR);
    assert_int_equal(weft_trace_start("/proc/weft-trace", 0), -ENOENT);
    memset(wanted, 'x', sizeof wanted - 1);
    wanted[sizeof wanted - 1] = 0;
    assert_int_equal(weft_trace_start(wanted, 0), -ENAMETOOLONG);
    assert_int_equal(weft_trace_start(path, SIZE_MAX), -EINVAL);
    assert_int_equal(weft_trace_stop(), -EINVAL);

    /* Nobody else may read what a program does; and one that was there is replaced. */
    assert_int_equal(weft_trace_start(path, 0), 0);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(weft_trace_stop(), 0);
    struct seen seen = look();
    assert_int_equal(seen.marks, 0);
    assert_false(seen.rough);
}

/* ---- fork() ---- */

/* While other threads record: the child has no trace, and neither has it a locked lock. */
static void fork_often(void)
{
    char other[80];
    snprintf(other, sizeof other, "%s/child", folder);
    CHECK(weft_trace_start(path, 8 << 16) == 0);
    for (int i = rounds_of(30); i > 0; i--) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            weft_trace_mark("of the child", 0);
            bool fine = weft_trace_stop() == -EINVAL && weft_trace_start(other, 0) == 0;
            mark(3);
            _exit(!fine || weft_trace_stop() != 0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    CHECK(weft_trace_stop() == 0);
    look(); /* no mark of a child */
    CHECK(rename(other, path) == 0);
    struct seen seen = look();
    CHECK(seen.ended && seen.threads == 1 && seen.marks == 3 && seen.lost == 0);
}

static void forked(void **state)
{
    if (SANITIZED)
        skip(); /* a child of many threads may do little there */
    atomic_store(&is_over, false);
    in_threads(RECORDERS + 1, mark_until_over, (void *)(uintptr_t)fork_often);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(crashed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(killed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(exited, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(stopped_meanwhile, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(stopped_when_full, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(thousand_times, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(two_at_once, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(wraps_around, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(last_place, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(threads_that_end, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(blocks_of_the_dead, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(many_threads, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(limited, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(full_disk, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(names, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(forked, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
