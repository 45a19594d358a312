/* SPDX-License-Identifier: MIT */
/* create.c: pools that can't be made, or not as wished: no threads, too many, one CPU, and
 * an environment that makes no sense. */
#include "child.h"
#include "core/pool.h"
#include "os/cgroup.h"
#include "os/topology.h"
#include "proc.h"
#include "weft/actor.h"
#include "weft/sort.h"
#include "weft/sync.h"
#include "weft/task.h"
#include "weft/timer.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Threads ---- */

enum { WORKERS = 4 };

/* A thread starter that fails at one worker, so many times. */
struct starter {
    unsigned fails_at;
    int error, times;
    int tries[WORKERS];
    pthread_t threads[WORKERS];
    unsigned started;
    atomic_int starts, exits;
};

struct start {
    void (*run)(void *);
    void *arg;
};

static void *run_start(void *p)
{
    struct start start = *(struct start *)p;
    free(p);
    start.run(start.arg);
    return NULL;
}

static int start_thread(void (*run)(void *), void *arg, unsigned worker, void *data)
{
    struct starter *s = data;
    CHECK(worker < WORKERS);
    if (worker == s->fails_at && s->tries[worker]++ < s->times)
        return s->error;
    struct start *start = malloc(sizeof *start);
    *start = (struct start){run, arg};
    child_thread(run_start, start, &s->threads[s->started++]);
    return 0;
}

static void on_start(weft_pool *pool, unsigned worker, void *data)
{
    atomic_fetch_add(&((struct starter *)data)->starts, 1);
}

static void on_exit_(weft_pool *pool, unsigned worker, void *data)
{
    atomic_fetch_add(&((struct starter *)data)->exits, 1);
}

static weft_config starter_config(struct starter *s, unsigned flags)
{
    weft_config config = child_config(WORKERS, flags, WAY_SPIN);
    config.spawn_thread = start_thread;
    config.on_start = on_start;
    config.on_exit = on_exit_;
    config.data = s;
    return config;
}

/* All that were started have ended, each of them whole. */
static void starter_end(struct starter *s)
{
    CHECK_EQUAL(atomic_load(&s->starts), s->started);
    CHECK_EQUAL(atomic_load(&s->exits), s->started);
    for (unsigned i = 0; i < s->started; i++)
        child_thread_join(s->threads[i]);
}

static void fail_at_each(int error, unsigned flags)
{
    for (unsigned k = flags & WEFT_USE_CALLER ? 1 : 0; k < WORKERS; k++) {
        struct starter s = {.fails_at = k, .error = error, .times = INT_MAX};
        weft_config config = starter_config(&s, flags);
        weft_pool *pool = (weft_pool *)&s;
        CHECK_EQUAL(weft_pool_create(&pool, &config), error);
        CHECK(pool == NULL);
        CHECK(error == -EAGAIN ? s.tries[k] > 2 : s.tries[k] == 1); /* only that may pass */
        CHECK_EQUAL(s.started, flags & WEFT_USE_CALLER ? k - 1 : k);
        starter_end(&s);
        CHECK(weft_here() == NULL);
    }
}

static void bug_20_thread_creation_fails_at_each_worker(void)
{
    fail_at_each(-EAGAIN, 0);
    fail_at_each(-EAGAIN, WEFT_USE_CALLER);
    fail_at_each(-EPERM, 0);
    fail_at_each(-EPERM, WEFT_USE_CALLER);
    /* The thread that failed to become a worker can become one. */
    child_pool_end(child_pool(2, WEFT_USE_CALLER, WAY_SPIN));
}

static void thread_creation_fails_twice_then_works(void)
{
    for (unsigned flags = 0; flags <= WEFT_USE_CALLER; flags += WEFT_USE_CALLER) {
        for (unsigned k = flags & WEFT_USE_CALLER ? 1 : 0; k < WORKERS; k++) {
            struct starter s = {.fails_at = k, .error = -EAGAIN, .times = 2};
            weft_config config = starter_config(&s, flags);
            weft_pool *pool = child_pool_of(&config);
            atomic_int ran = 0;
            CHECK_EQUAL(s.tries[k], 3);
            CHECK_EQUAL(weft_broadcast(pool, count_up, &ran), 0);
            CHECK_EQUAL(atomic_load(&ran), WORKERS);
            child_pool_end(pool);
            starter_end(&s);
        }
    }
}

/* The same with the library's own threads, for which there is no room. */
static pthread_key_t at_thread_end;
static atomic_int over, begun;

static void thread_is_over(void *value)
{
    atomic_fetch_add(&over, 1);
}

static void note_begin(weft_pool *pool, unsigned worker, void *data)
{
    pthread_setspecific(at_thread_end, &over);
    atomic_fetch_add(&begun, 1);
}

static void bug_20_no_room_for_the_third_thread(void)
{
    enum { STACK = 256 << 20 };
    if (SANITIZED)
        return; /* they need much address space themselves */
    weft_config config = child_config(WORKERS, 0, WAY_SPIN);
    weft_pool *pool;
    config.on_start = note_begin;
    config.stack_size = STACK;
    CHECK_EQUAL(pthread_key_create(&at_thread_end, thread_is_over), 0);
    mallopt(M_ARENA_MAX, 1); /* or each thread's first allocation maps much */
    struct rlimit all, some;
    CHECK_EQUAL(getrlimit(RLIMIT_AS, &all), 0);
    some = all;
    some.rlim_cur = mapped_bytes() + 2 * (size_t)STACK + STACK / 2;
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &some), 0);
    CHECK_EQUAL(weft_pool_create(&pool, &config), -EAGAIN);
    CHECK(pool == NULL);
    CHECK_EQUAL(atomic_load(&begun), 2);
    CHECK_EQUAL(atomic_load(&over), 2); /* joined */
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &all), 0);
    child_pool_end(child_pool_of(&config));
    CHECK_EQUAL(atomic_load(&over), 2 + WORKERS);
}

/* ---- The default pool makes do ---- */

/* From now on the calling thread can start no thread. */
static bool forbid_threads(int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS), /* so that clone() is tried */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static weft_pool_info default_info(void)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    CHECK_EQUAL(weft_pool_get_info(NULL, &info), 0);
    return info;
}

static void detach(weft *w, void *arg)
{
    CHECK_EQUAL(weft_spawn_detached(w, count_up, arg), -EAGAIN);
}

static void never(weft *w, void *arg)
{
    check_failed(__FILE__, __LINE__, "no thread runs this");
}

static int never_actor(weft *w, void *arg)
{
    check_failed(__FILE__, __LINE__, "no thread runs this");
    return 0;
}

/* What no thread could do is refused at once. */
static void refuses_what_needs_a_thread(weft_pool *pool)
{
    weft_task task = {{0}};
    weft_timer timer = {{0}};
    weft_actor *actor;
    weft_completions *completions;
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    CHECK_EQUAL(weft_completions_create(&completions), 0);
    CHECK_EQUAL(weft_submit(pool, &task, never, NULL), -EAGAIN);
    CHECK_EQUAL(weft_submit_detached(pool, never, NULL, NULL), -EAGAIN);
    options.completions = completions;
    CHECK_EQUAL(weft_submit_with(pool, &task, never, NULL, &options), -EAGAIN);
    CHECK_EQUAL(weft_task_wait(&task), -EINVAL); /* it was not submitted */
    CHECK_EQUAL(weft_broadcast(pool, never, NULL), -EAGAIN);
    CHECK_EQUAL(weft_broadcast_detached(pool, never, NULL), -EAGAIN);
    CHECK_EQUAL(weft_timer_start(pool, &timer, weft_now(), 0, never, NULL), -EAGAIN);
    CHECK_EQUAL(weft_actor_create(&actor, pool, never_actor, NULL, NULL), -EAGAIN);
    weft_actors_config actors = WEFT_ACTORS_CONFIG_INIT;
    CHECK_EQUAL(weft_actors_setup(pool, &actors), -EAGAIN);
    CHECK_EQUAL(weft_run(pool, detach, NULL), 0);
    CHECK_EQUAL(weft_completions_destroy(completions), 0);
}

enum { CHILDREN = 1000, NUMBERS = 100000 };

static int compare_longs(const void *a, const void *b, void *arg)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

struct family {
    weft_scope outer;
    weft_mutex mutex;
    atomic_int count;
};

static void count_child(weft *w, void *family)
{
    atomic_fetch_add(&((struct family *)family)->count, 1);
}

/* A child of an inner scope spawns into the outer one. */
static void spawn_outside(weft *w, void *arg)
{
    struct family *family = arg;
    CHECK_EQUAL(weft_spawn(w, &family->outer, count_child, family), 0);
    count_child(w, family);
}

static void spawn_inner(weft *w, void *arg)
{
    struct family *family = arg;
    weft_scope inner;
    weft_scope_open(w, &inner);
    for (int i = 0; i < CHILDREN; i++)
        CHECK_EQUAL(weft_spawn(w, &inner, spawn_outside, family), 0);
    CHECK_EQUAL(weft_scope_close(w, &inner), 0);
}

/* Forks, loops, sorts, scopes, also of one that holds a mutex; waits that are over in time. */
static void do_all(weft *w, void *arg)
{
    static long numbers[NUMBERS];
    struct family family = {.count = 0};
    long n = 16;
    fib(w, &n);
    CHECK_EQUAL(n, 987);
    for (long i = 0; i < NUMBERS; i++)
        numbers[i] = i * 7919 % NUMBERS;
    weft_sort(w, numbers, NUMBERS, sizeof numbers[0], compare_longs, NULL);
    for (long i = 0; i < NUMBERS; i++)
        CHECK(numbers[i] == i);
    for (int holds = 0; holds < 2; holds++) {
        weft_scope_open(w, &family.outer);
        if (holds)
            weft_mutex_lock(w, &family.mutex);
        spawn_inner(w, &family);
        if (holds)
            weft_mutex_unlock(w, &family.mutex);
        CHECK_EQUAL(weft_scope_close(w, &family.outer), 0);
    }
    CHECK_EQUAL(atomic_load(&family.count), 4 * CHILDREN);
    weft_event event = WEFT_EVENT_INIT;
    CHECK_EQUAL(weft_event_wait_until(w, &event, weft_now() + 1000000), -ETIMEDOUT);
    weft_block_begin(w);
    weft_block_end(w);
}

static void run_in_default(weft *w, void *arg)
{
    CHECK_EQUAL(weft_run(NULL, do_all, NULL), 0);
}

static int actor_runs_in_default(weft *w, void *arg)
{
    return weft_run(NULL, do_all, NULL);
}

struct lonely {
    weft_pool *other; /* it has a thread */
    weft_actor *actor;
    int error;
};

static void *live_alone(void *arg)
{
    struct lonely *lonely = arg;
    if (!forbid_threads(lonely->error))
        return NULL; /* no seccomp here */
    weft_pool *pool = weft_pool_default(), *none;
    CHECK(pool);
    CHECK_EQUAL(default_info().threads, 0);
    CHECK_EQUAL(weft_pool_workers(NULL), 1);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(weft_run(NULL, do_all, NULL), 0);
    refuses_what_needs_a_thread(NULL);
    refuses_what_needs_a_thread(pool);
    CHECK_EQUAL(weft_run(lonely->other, run_in_default, NULL), 0);
    CHECK_EQUAL(weft_actor_run(lonely->actor), 0);
    CHECK_EQUAL(weft_actor_wait(NULL, lonely->actor), 0);
    FILE *dump = tmpfile();
    weft_pool_dump(pool, dump);
    fclose(dump);
    CHECK_EQUAL(weft_pool_create(&none, NULL), -lonely->error); /* only the default pool makes do */
    return pool;
}

static void default_pool_without_threads(void)
{
    static const int errors[] = {EAGAIN, EPERM};
    for (int i = 0; i < 2; i++) {
        struct lonely lonely = {.other = child_pool(1, 0, WAY_SPIN), .error = errors[i]};
        pthread_t thread;
        void *pool;
        CHECK_EQUAL(
            weft_actor_create(&lonely.actor, lonely.other, actor_runs_in_default, NULL, NULL), 0);
        child_thread(live_alone, &lonely, &thread);
        CHECK_EQUAL(pthread_join(thread, &pool), 0);
        if (pool) { /* this thread may start threads, but the pool stays as it is */
            CHECK_EQUAL(default_info().threads, 0);
            CHECK_EQUAL(weft_run(NULL, do_all, NULL), 0);
            CHECK_EQUAL(weft_pool_destroy(pool), 0);
        }
        CHECK(default_info().threads > 0); /* the next one */
        CHECK_EQUAL(weft_pool_destroy(weft_pool_default()), 0);
        weft_actor_release(lonely.actor);
        child_pool_end(lonely.other);
    }
}

#if !SANITIZED
/* Stands before the C library's, for the library, too. */
static atomic_int threads_most = INT_MAX, threads_now;

struct counted {
    void *(*run)(void *);
    void *arg;
};

static void *run_counted(void *arg)
{
    struct counted counted = *(struct counted *)arg;
    free(arg);
    void *result = counted.run(counted.arg);
    atomic_fetch_sub(&threads_now, 1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create_fn *create;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    if (atomic_load(&threads_now) >= atomic_load(&threads_most))
        return EPERM;
    struct counted *counted = malloc(sizeof *counted);
    *counted = (struct counted){run, arg};
    atomic_fetch_add(&threads_now, 1);
    return create(thread, attr, run_counted, counted);
}

static void default_pool_with_fewer_threads(void)
{
    CHECK_EQUAL(setenv("WEFT_WORKERS", "4", 1), 0);
    for (unsigned most = 0; most <= 5; most++) {
        atomic_store(&threads_most, (int)most);
        weft_pool_info info = default_info();
        CHECK_EQUAL(info.threads, most < 4 ? most : 4);
        CHECK_EQUAL(info.workers, info.threads ? info.threads : 1);
        CHECK_EQUAL(weft_run(NULL, do_all, NULL), 0);
        CHECK_EQUAL(weft_pool_destroy(weft_pool_default()), 0);
    }
    atomic_store(&threads_most, INT_MAX);
}
#else
static void default_pool_with_fewer_threads(void)
{
}
#endif

/* ---- Numbers ---- */

static void zero_workers_is_automatic(void)
{
    unsetenv("WEFT_WORKERS");
    weft_pool *pool = child_pool(0, 0, WAY_SPIN);
    CHECK(weft_pool_workers(pool) >= 1);
    CHECK_EQUAL(weft_pool_workers(pool), weft__workers_auto());
    child_pool_end(pool);
    CHECK_EQUAL(weft_pool_create(&pool, NULL), 0);
    CHECK_EQUAL(weft_pool_workers(pool), weft__workers_auto());
    child_pool_end(pool);
}

static void expect_refused(weft_config config, int error)
{
    struct starter s = {.fails_at = WORKERS};
    weft_pool *pool = (weft_pool *)&s;
    config.spawn_thread = start_thread;
    config.data = &s;
    CHECK_EQUAL(weft_pool_create(&pool, &config), error);
    CHECK(pool == NULL);
    CHECK_EQUAL(s.started, 0); /* before anything is started */
}

#define REFUSED(member, value, error)                         \
    do {                                                      \
        weft_config config_ = child_config(2, 0, WAY_SPIN);   \
        config_.member = (__typeof__(config_.member))(value); \
        expect_refused(config_, error);                       \
    } while (0)

static void values_out_of_range_are_refused(void)
{
    REFUSED(workers, WEFT_WORKERS_MAX + 1, -EINVAL);
    REFUSED(workers, UINT_MAX, -EINVAL);
    REFUSED(flags, 1 << 30, -EINVAL);
    REFUSED(sleep, 99, -EINVAL);
    REFUSED(fork, 99, -EINVAL);
    REFUSED(pin, 99, -EINVAL);
    REFUSED(spin_rounds, -2, -EINVAL);
    REFUSED(spin_rounds, INT_MIN, -EINVAL);
    REFUSED(stack_size, 1, -EINVAL);
    REFUSED(size, 0, -EINVAL);
    REFUSED(size, 1, -EINVAL);
    REFUSED(size, SIZE_MAX, -EINVAL);
    REFUSED(sleep, WEFT_SLEEP_COUNTERS_TWO + 1, -EINVAL);
}

/* A stack so large that there is none. */
static void stack_that_large_there_is_not(void)
{
    size_t sizes[] = {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2, (size_t)1 << 60};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        weft_config config = child_config(2, 0, WAY_SPIN);
        weft_pool *pool;
        config.stack_size = sizes[i];
        CHECK(weft_pool_create(&pool, &config) < 0);
        CHECK(pool == NULL);
    }
}

/* By default a job may use a lot; where address space is limited, less is reserved. */
static void use_bytes(void *arg)
{
}

static void use_stack(weft *w, void *bytes)
{
    deep_down(*(size_t *)bytes, use_bytes, NULL);
}

static void default_stack(size_t bytes)
{
    weft_pool *pool = child_pool(2, WEFT_NO_GUESTS, WAY_NO_SPIN);
    CHECK_EQUAL(weft_broadcast(pool, use_stack, &bytes), 0);
    child_pool_end(pool);
}

static void default_stack_is_large(void)
{
    default_stack((size_t)50 << 20);
}

static void default_stack_fits_into_little_space(void)
{
    if (SANITIZED)
        return; /* which reserves terabytes */
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &(struct rlimit){100 << 20, 100 << 20}), 0);
    default_stack((size_t)6 << 20);
}

static void smallest_stack_works(void)
{
    FOR_EACH_WAY(way)
    {
        weft_config config = child_config(2, WEFT_NO_GUESTS, way);
        atomic_int ran = 0;
        config.stack_size = 64 << 10;
        weft_pool *pool = child_pool_of(&config);
        for (int i = 0; i < 100; i++)
            CHECK_EQUAL(weft_run(pool, count_up, &ran), 0);
        child_pool_end(pool);
        CHECK_EQUAL(atomic_load(&ran), 100);
    }
}

/* A newer program's configuration: fine as long as it wants nothing new. */
static void newer_configuration(void)
{
    struct {
        weft_config config;
        uint64_t more;
    } newer = {.config = child_config(1, 0, WAY_SPIN)};
    newer.config.size = sizeof newer;
    child_pool_end(child_pool_of(&newer.config));
    newer.more = 1;
    weft_pool *pool;
    CHECK_EQUAL(weft_pool_create(&pool, &newer.config), -ENOTSUP);
    CHECK(pool == NULL);
}

/* ---- CPUs ---- */

static void use_pool(weft_pool *pool)
{
    for (int i = 0; i < 20; i++) {
        long n = 12;
        CHECK_EQUAL(weft_run(pool, fib, &n), 0);
        CHECK_EQUAL(n, 144);
        weft_task task;
        n = 12;
        CHECK_EQUAL(weft_submit(pool, &task, fib, &n), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
        CHECK_EQUAL(n, 144);
    }
}

static void affinity_of_one_cpu(void)
{
    cpu_set_t all, one;
    CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
        unsetenv("WEFT_WORKERS");
        unsetenv("WEFT_SPIN");
        for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags++) {
            weft_pool *pool = child_pool(0, flags, WAY_SPIN);
            weft_pool_info info = WEFT_POOL_INFO_INIT;
            weft_pool_get_info(pool, &info);
            CHECK_EQUAL(info.workers, 1);
            CHECK_EQUAL(info.cpus, 1);
            CHECK_EQUAL(pool->config.spin_rounds, -1);
            use_pool(pool);
            child_pool_end(pool);
        }
    }
}

/* Workers are pinned while they sleep, and moved by those who wake them. At work they have the CPUs
 * that the pool's maker had, or that on_start chose. */
static cpu_set_t wanted_cpus;

static void check_cpus(weft *w, void *arg)
{
    cpu_set_t mine;
    CHECK_EQUAL(sched_getaffinity(0, sizeof mine, &mine), 0);
    CHECK(CPU_EQUAL(&mine, &wanted_cpus));
}

static void keep_to_first_cpu(weft_pool *pool, unsigned worker, void *data)
{
    CHECK_EQUAL(sched_setaffinity(0, sizeof wanted_cpus, &wanted_cpus), 0);
}

static cpu_set_t first_of(const cpu_set_t *cpus)
{
    cpu_set_t first;
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, cpus))
        cpu++;
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    return first;
}

static void wake_often(weft_pool *pool)
{
    for (int i = 0; i < SCALED(200, 10); i++) {
        weft_task task;
        CHECK_EQUAL(weft_submit(pool, &task, check_cpus, NULL), 0);
        WAIT_UNTIL(weft_task_done(&task)); /* without help */
        CHECK_EQUAL(weft_task_wait(&task), 0);
    }
}

static void workers_keep_their_cpus(void)
{
    cpu_set_t all, first;
    CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
    first = first_of(&all);
    for (int i = 0; i < 8; i++) { /* pools begin at different CPUs */
        weft_config config = WEFT_CONFIG_INIT;
        config.workers = 1;
        config.spin_rounds = WEFT_NONE; /* asleep at once */
        if (i % 4 >= 2)
            config.on_start = keep_to_first_cpu;
        wanted_cpus = config.on_start ? first : all;
        weft_pool *pool = child_pool_of(&config);
        CHECK_EQUAL(sched_setaffinity(0, sizeof first, &first), 0); /* who wakes it is there */
        wake_often(pool);
        CHECK_EQUAL(sched_setaffinity(0, sizeof all, &all), 0);
        child_pool_end(pool);
    }
}

/* More workers than CPUs get along on the one. */
static void many_workers_on_one_cpu(void)
{
    cpu_set_t all, one;
    CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(4, 0, way);
        use_pool(pool);
        child_pool_end(pool);
    }
}

/* A quota of one CPU, or of less. */
static void put(const char *root, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void bug_26_quota_of_one_cpu(void)
{
    static const char *const quotas[] = {"100000 100000\n", "50000 100000\n", "1 100000\n"};
    char root[] = "/tmp/weft-fault-XXXXXX";
    CHECK(mkdtemp(root) != NULL);
    put(root, "/proc/self/cgroup", "0::/job\n");
    put(root, "/proc/self/mountinfo", "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 none rw\n");
    for (size_t i = 0; i < sizeof quotas / sizeof quotas[0]; i++) {
        put(root, "/sys/fs/cgroup/job/cpu.max", quotas[i]);
        CHECK_EQUAL(weft__cgroup_cpus(root), 1);
    }
    char command[sizeof root + 16];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_EQUAL(system(command), 0);
}

/* The pool that comes of it does everything with its one worker. */
static void bug_26_one_worker_is_enough(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned flags = 0; flags < 4; flags++) {
            if ((flags & WEFT_USE_CALLER) && (flags & WEFT_NO_GUESTS))
                continue;
            weft_pool *pool = child_pool(1, flags, way);
            atomic_int ran = 0;
            use_pool(pool);
            CHECK_EQUAL(weft_broadcast(pool, count_up, &ran), 0);
            CHECK_EQUAL(atomic_load(&ran), 1);
            child_pool_end(pool);
        }
    }
}

/* ---- The environment ---- */

static const char *const variables[] = {"WEFT_WORKERS",    "WEFT_SPIN",
                                        "WEFT_SLEEP",      "WEFT_FORK",
                                        "WEFT_QUANTUM_US", "WEFT_TEST_NO_MEMBARRIER"};

struct setting {
    const char *name, *value;
};

static weft_pool *pool_with(const struct setting *setting)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    if (setting)
        setenv(setting->name, setting->value, 1);
    weft_pool *pool;
    CHECK_EQUAL(weft_pool_create(&pool, NULL), 0);
    return pool;
}

/* As if the variable was not there. */
static void default_is_used(void *arg)
{
    weft_pool *plain = pool_with(NULL), *pool = pool_with(arg);
    CHECK_EQUAL(weft_pool_workers(pool), weft_pool_workers(plain));
    CHECK_EQUAL(pool->config.spin_rounds, plain->config.spin_rounds);
    CHECK_EQUAL(pool->config.sleep, plain->config.sleep);
    CHECK_EQUAL(pool->config.fork, plain->config.fork);
    CHECK_EQUAL(pool->config.quantum, plain->config.quantum);
    child_pool_end(pool);
    child_pool_end(plain);
}

static void expect_complaint(const char *name, const char *value)
{
    static struct child child;
    struct setting setting = {name, value};
    child_run(&child, default_is_used, &setting);
    const char *newline = strchr(child.said, '\n');
    if (child.hung || child.status != 0 || !newline || newline[1] != '\0' ||
        strncmp(child.said, "weft: ", 6) != 0 || !strstr(child.said, name)) {
        print_error("%s=%s: status %d, said: %s\n", name, value, child.status, child.said);
        fail();
    }
}

static void unreadable_environment(void **state)
{
    static const struct setting settings[] = {
        {"WEFT_WORKERS", "many"},
        {"WEFT_WORKERS", "-1"},
        {"WEFT_WORKERS", "0"},
        {"WEFT_WORKERS", "4097"},
        {"WEFT_WORKERS", "3x"},
        {"WEFT_WORKERS", "3 4"},
        {"WEFT_WORKERS", " "},
        {"WEFT_WORKERS", "0x10"},
        {"WEFT_WORKERS", "99999999999999999999"},
        {"WEFT_SPIN", "fast"},
        {"WEFT_SPIN", "-1"},
        {"WEFT_SPIN", "2147483648"},
        {"WEFT_SPIN", "1e3"},
        {"WEFT_SLEEP", "never"},
        {"WEFT_SLEEP", "EVENTS"},
        {"WEFT_FORK", "sometimes"},
        {"WEFT_FORK", "lazy "},
        {"WEFT_QUANTUM_US", "long"},
        {"WEFT_QUANTUM_US", "-5"},
        {"WEFT_QUANTUM_US", "99999999999"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        expect_complaint(settings[i].name, settings[i].value);
}

/* One line, whatever the value looks like. */
static void unreadable_environment_of_several_lines(void **state)
{
    expect_complaint("WEFT_WORKERS", "two\nlines");
    expect_complaint("WEFT_FORK", "two\nlines");
}

static void readable(void *arg)
{
    weft_pool *pool = pool_with(&(struct setting){"WEFT_WORKERS", "3"});
    CHECK_EQUAL(weft_pool_workers(pool), 3);
    child_pool_end(pool);
    pool = pool_with(&(struct setting){"WEFT_SPIN", "0"});
    CHECK_EQUAL(pool->config.spin_rounds, -1);
    child_pool_end(pool);
    pool = pool_with(&(struct setting){"WEFT_SPIN", "7"});
    CHECK_EQUAL(pool->config.spin_rounds, 7);
    child_pool_end(pool);
    pool = pool_with(&(struct setting){"WEFT_SLEEP", "counters-local"});
    CHECK_EQUAL(pool->config.sleep, WEFT_SLEEP_COUNTERS_LOCAL);
    child_pool_end(pool);
    pool = pool_with(&(struct setting){"WEFT_FORK", "eager"});
    CHECK_EQUAL(pool->config.fork, WEFT_FORK_EAGER);
    child_pool_end(pool);
    pool = pool_with(&(struct setting){"WEFT_QUANTUM_US", "7"});
    CHECK_EQUAL(pool->config.quantum, 7000);
    child_pool_end(pool);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] - 1; i++)
        child_pool_end(pool_with(&(struct setting){variables[i], ""})); /* as if not there */
}

static void readable_environment(void **state)
{
    static struct child child;
    child_run(&child, readable, NULL);
    if (child.status != 0 || child.said[0])
        print_error("status %d, said: %s\n", child.status, child.said);
    assert_int_equal(child.status, 0);
    assert_string_equal(child.said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(bug_20_thread_creation_fails_at_each_worker),
        IN_CHILD(thread_creation_fails_twice_then_works),
        IN_CHILD(bug_20_no_room_for_the_third_thread),
        IN_CHILD(default_pool_without_threads),
        IN_CHILD(default_pool_with_fewer_threads),
        IN_CHILD(zero_workers_is_automatic),
        IN_CHILD(values_out_of_range_are_refused),
        IN_CHILD(stack_that_large_there_is_not),
        IN_CHILD(default_stack_is_large),
        IN_CHILD(default_stack_fits_into_little_space),
        IN_CHILD(smallest_stack_works),
        IN_CHILD(newer_configuration),
        IN_CHILD(affinity_of_one_cpu),
        IN_CHILD(workers_keep_their_cpus),
        IN_CHILD(many_workers_on_one_cpu),
        IN_CHILD(bug_26_quota_of_one_cpu),
        IN_CHILD(bug_26_one_worker_is_enough),
        cmocka_unit_test(unreadable_environment),
        cmocka_unit_test(unreadable_environment_of_several_lines),
        cmocka_unit_test(readable_environment),
    };
    return cmocka_run_group_tests_name("create", tests, NULL, NULL);
}
