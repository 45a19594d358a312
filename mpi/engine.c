/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include "killed.h"
#include "look.h"
#include "moves.h"
#include "naps.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <weft/actor.h>

enum {
    CHUNK = 1024, /* requests in one call of MPI, under the lock */
    WATCH_SECONDS = 8,
    WATCH_MOST = 1000000000,
};

struct call {
    weft_mpi_fn *fn;
    void *arg;
    int result;
    bool is_over;
    weft_event done;
    struct call *next;
};

/* Requests that are waited for one by one lie in an array, so that one call of MPI looks at many;
 * sets are looked at where they are. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool started, refused, multiple;
    bool is_over; /* MPI_Finalize() was called */
    pthread_t thread;
    int rank, ranks;
    size_t ones, ones_size;
    MPI_Request *requests; /* ones_size of both */
    struct weft__mpi_wait **waits;
    size_t sets, sets_size;
    struct weft__mpi_wait **set;
    struct call *first_call;
    pthread_cond_t ran;          /* a call is over, or a count of quiet waits is 0 */
    size_t loud;                 /* waits that are not quiet */
    struct weft__mpi_uses quiet; /* of all communicators: the others, and functions that run */
    uint64_t moved;              /* when a loud wait came first, or the last one ended */
    uint64_t watch, said; /* ns without an end until a line is due; and after the last line */
    int64_t nap;          /* the nap that the thread takes now; 0: it is awake; -1: it sleeps */
    struct weft__naps naps;
    struct weft__moves moves;
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER, .ran = PTHREAD_COND_INITIALIZER};

/* ---- Waits ---- */

static void *grown(void *array, size_t size, size_t item)
{
    return size > SIZE_MAX / item ? NULL : realloc(array, size * item);
}

/* Makes room for one more. */
static bool grow_ones(void)
{
    if (engine.ones < engine.ones_size)
        return true;
    size_t size = engine.ones_size ? 2 * engine.ones_size : 64;
    void *requests = grown(engine.requests, size, sizeof *engine.requests);
    if (!requests)
        return false;
    engine.requests = requests;
    void *waits = grown(engine.waits, size, sizeof *engine.waits);
    if (!waits)
        return false;
    engine.waits = waits;
    engine.ones_size = size;
    return true;
}

static bool grow_sets(void)
{
    if (engine.sets < engine.sets_size)
        return true;
    size_t size = engine.sets_size ? 2 * engine.sets_size : 64;
    void *set = grown(engine.set, size, sizeof *engine.set);
    if (!set)
        return false;
    engine.set = set;
    engine.sets_size = size;
    return true;
}

static void add(struct weft__mpi_wait *wait)
{
    if (wait->kind == WEFT__MPI_ONE) {
        wait->place = engine.ones++;
        engine.requests[wait->place] = *wait->requests;
        engine.waits[wait->place] = wait;
    } else {
        wait->place = engine.sets++;
        engine.set[wait->place] = wait;
    }
    wait->out = true;
}

/* The last one of its kind takes its place. */
static void take_out(struct weft__mpi_wait *wait)
{
    size_t place = wait->place;
    if (wait->kind == WEFT__MPI_ONE) {
        size_t last = --engine.ones;
        engine.requests[place] = engine.requests[last];
        engine.waits[place] = engine.waits[last];
        engine.waits[place]->place = place;
    } else {
        size_t last = --engine.sets;
        engine.set[place] = engine.set[last];
        engine.set[place]->place = place;
    }
    wait->out = false;
    engine.loud -= !wait->quiet;
}

/* The thread is awake, or will be soon. */
static void rouse(void)
{
    if (engine.nap < 0 || engine.nap >= WEFT__NAPS_LONG)
        pthread_cond_signal(&engine.changed);
}

_Noreturn void weft__mpi_die(const char *what)
{
    fprintf(stderr, "weft-mpi: rank %d of %d: %s\n", engine.rank, engine.ranks, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* Something that is waited for has ended, or the first wait begins: no line is due for a while. */
static void note_end(uint64_t now)
{
    engine.moved = now;
    engine.said = 0;
}

int weft__mpi_submit(struct weft__mpi_wait *wait)
{
    int error = 0;
    pthread_mutex_lock(&engine.lock);
    if (wait->kind == WEFT__MPI_ONE ? grow_ones() : grow_sets()) {
        uint64_t now = weft_now();
        weft__naps_begin_anew(&engine.naps, now);
        weft__naps_expect(&engine.naps, now, wait->bytes);
        if (!wait->quiet && engine.loud++ == 0)
            note_end(now);
        engine.quiet.n += wait->quiet;
        if (wait->uses)
            wait->uses->n++;
        add(wait);
        rouse();
    } else if (wait->own || wait->quiet) {
        weft__mpi_die("no memory");
    } else {
        error = -ENOMEM;
    }
    pthread_mutex_unlock(&engine.lock);
    return error;
}

bool weft__mpi_withdraw(struct weft__mpi_wait *wait)
{
    pthread_mutex_lock(&engine.lock);
    bool was_out = wait->out;
    if (was_out)
        take_out(wait);
    pthread_mutex_unlock(&engine.lock);
    return was_out;
}

/* If the lock is taken, the next one will tell. */
void weft__mpi_ended_alone(void)
{
    if (pthread_mutex_trylock(&engine.lock))
        return;
    if (engine.loud > 0)
        note_end(weft_now());
    pthread_mutex_unlock(&engine.lock);
}

static void hurry(uint64_t now)
{
    weft__naps_begin_anew(&engine.naps, now);
    rouse();
}

void weft__mpi_hurry(void)
{
    pthread_mutex_lock(&engine.lock);
    hurry(weft_now());
    pthread_mutex_unlock(&engine.lock);
}

static void wait_begins(void)
{
    uint64_t now = weft_now();
    hurry(now);
    engine.loud++;
    note_end(now);
}

static void wait_ends(void)
{
    engine.loud--;
    note_end(weft_now());
}

void weft__mpi_wait_begins(void)
{
    pthread_mutex_lock(&engine.lock);
    wait_begins();
    pthread_mutex_unlock(&engine.lock);
}

void weft__mpi_wait_ends(void)
{
    pthread_mutex_lock(&engine.lock);
    wait_ends();
    pthread_mutex_unlock(&engine.lock);
}

/* A quiet wait is over, and its function was called. */
static void count_quiet(struct weft__mpi_uses *uses)
{
    engine.quiet.n--;
    if (uses && --uses->n == 0 && uses->none) {
        weft_event_set(NULL, uses->none);
        uses->none = NULL;
    }
    if (engine.quiet.n == 0 || (uses && uses->n == 0))
        pthread_cond_broadcast(&engine.ran);
}

/* If the lock is taken, a thread looks right now, or will soon. */
bool weft__mpi_help(struct weft__mpi_wait *wait)
{
    if (pthread_mutex_trylock(&engine.lock))
        return false;
    bool is_over = engine.multiple && wait->out && weft__mpi_look(wait);
    if (is_over) {
        take_out(wait);
        count_quiet(wait->uses); /* the caller, who uses it, calls its function */
    } else if (!engine.multiple) {
        rouse();
    }
    pthread_mutex_unlock(&engine.lock);
    return is_over;
}

/* ---- A look at all of them ---- */

static void note_over(struct weft__mpi_wait *wait, struct weft__mpi_wait **over)
{
    if (!wait->quiet)
        note_end(weft_now());
    if (wait->bytes > 0)
        weft__naps_arrived(&engine.naps);
    take_out(wait);
    wait->next = *over;
    *over = wait;
}

/* MPI does not say which of them is wrong. */
static void look_one_by_one(size_t first, int n, struct weft__mpi_wait **over)
{
    for (size_t i = first + (size_t)n; i-- > first;)
        if (weft__mpi_look(engine.waits[i]))
            note_over(engine.waits[i], over);
}

/* Looks at up to CHUNK requests from `first` on. */
static void look_at_ones(size_t first, struct weft__mpi_wait **over)
{
    static int indices[CHUNK]; /* the lock is held */
    static MPI_Status statuses[CHUNK];
    static struct weft__mpi_wait *ended[CHUNK];
    int n = engine.ones - first < CHUNK ? (int)(engine.ones - first) : CHUNK, count = 0;
    int result = MPI_Testsome(n, engine.requests + first, &count, indices, statuses);
    if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) {
        look_one_by_one(first, n, over);
        return;
    }
    for (int i = 0; i < count; i++) { /* MPI_UNDEFINED is negative */
        struct weft__mpi_wait *wait = engine.waits[first + (size_t)indices[i]];
        *wait->requests = engine.requests[first + (size_t)indices[i]];
        wait->result = result == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : result;
        if (wait->statuses != MPI_STATUS_IGNORE)
            *wait->statuses = statuses[i];
        ended[i] = wait;
    }
    for (int i = 0; i < count; i++)
        note_over(ended[i], over);
}

/* Events are set under the lock: once an actor that is killed has withdrawn its wait, or could not,
 * the engine has done with it. Functions are called without. */
static bool tell(struct weft__mpi_wait *over)
{
    bool any = over;
    struct weft__mpi_wait *functions = NULL;
    while (over) {
        struct weft__mpi_wait *wait = over;
        over = wait->next;
        if (wait->then) {
            wait->next = functions;
            functions = wait;
        } else {
            weft_event_set(NULL, &wait->done); /* the last touch */
        }
    }
    pthread_mutex_unlock(&engine.lock); /* also so that other threads get it */
    while (functions) {
        struct weft__mpi_wait *wait = functions;
        struct weft__mpi_uses *uses = wait->uses;
        functions = wait->next;
        wait->then(wait); /* the last touch */
        pthread_mutex_lock(&engine.lock);
        count_quiet(uses);
        pthread_mutex_unlock(&engine.lock);
    }
    pthread_mutex_lock(&engine.lock);
    return any;
}

/* Has a part of the set ended? */
static bool note_part(struct weft__mpi_wait *wait)
{
    if (wait->moves) {
        uint64_t now = weft_now();
        weft__naps_begin_anew(&engine.naps, now);
        note_end(now);
    }
    return wait->moves;
}

/* Other threads get the lock between two chunks. What they add is looked at now or next time. */
static bool look_at_all(void)
{
    bool any = false;
    for (size_t first = 0; first < engine.ones; first += CHUNK) {
        struct weft__mpi_wait *over = NULL;
        look_at_ones(first, &over);
        any |= tell(over);
    }
    for (size_t i = 0; i < engine.sets; i++) {
        struct weft__mpi_wait *over = NULL;
        if (weft__mpi_look(engine.set[i]))
            note_over(engine.set[i], &over);
        else
            any |= note_part(engine.set[i]);
        any |= tell(over);
    }
    return any;
}

static bool run_calls(void)
{
    bool any = engine.first_call;
    while (engine.first_call) {
        struct call *call = engine.first_call;
        engine.first_call = call->next;
        pthread_mutex_unlock(&engine.lock);
        int result = call->fn(call->arg); /* in weft__mpi_settle() another one may run inside it */
        pthread_mutex_lock(&engine.lock);
        call->result = result;
        call->is_over = true;
        weft_event_set(NULL, &call->done); /* the last touch; under the lock, see tell() */
        pthread_cond_broadcast(&engine.ran);
    }
    return any;
}

/* ---- The thread ---- */

static void note_move(uint64_t now)
{
    weft__naps_begin_anew(&engine.naps, now);
    if (weft__moves_surely(&engine.moves))
        note_end(now);
}

static int64_t cpu_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

static void nap(uint64_t now)
{
    int64_t before = cpu_time(), ns = weft__naps_next(&engine.naps, now);
    uint64_t end = now + (uint64_t)ns; /* weft_now() is CLOCK_MONOTONIC, as `changed` */
    struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    engine.nap = ns;
    pthread_cond_timedwait(&engine.changed, &engine.lock, &until);
    engine.nap = 0;
    static int64_t last;
    if (last)
        weft__naps_learn(&engine.naps, before - last);
    last = before;
}

/* A program may wait long for good reasons, so this is a line, and no more. */
static void watch(uint64_t now)
{
    if (!engine.watch || !engine.loud || now - engine.moved < engine.watch + engine.said)
        return;
    engine.said = 2 * (now - engine.moved) - engine.watch;
    fprintf(stderr,
            "weft-mpi: rank %d of %d: %zu wait%s for messages, and none has ended for %llu s "
            "(WEFT_MPI_WATCH=0 turns this line off)\n",
            engine.rank, engine.ranks, engine.loud, engine.loud == 1 ? "" : "s",
            (unsigned long long)((now - engine.moved) / 1000000000));
}

/* In a call that the engine's thread makes, it goes on with its work: no other thread would. */
void weft__mpi_settle(const struct weft__mpi_uses *uses)
{
    pthread_mutex_lock(&engine.lock);
    bool waits = uses->n > 0;
    if (waits)
        wait_begins();
    while (uses->n > 0) {
        if (!weft__mpi_is_engine()) {
            pthread_cond_wait(&engine.ran, &engine.lock);
        } else if (!run_calls() && !look_at_all()) {
            uint64_t now = weft_now();
            watch(now);
            nap(now);
        }
    }
    if (waits)
        wait_ends();
    pthread_mutex_unlock(&engine.lock);
}

void weft__mpi_await(weft *w, struct weft__mpi_uses *uses)
{
    weft_event none;
    weft_event_init(&none, "weft_mpi_for");
    weft_event_from_outside(&none);
    pthread_mutex_lock(&engine.lock);
    bool waits = uses->n > 0;
    uses->none = waits ? &none : NULL;
    pthread_mutex_unlock(&engine.lock);
    if (!waits)
        return;
    weft__mpi_wait_begins();
    weft_event_wait(w, &none);
    weft__mpi_wait_ends();
}

static void *run(void *unused)
{
    (void)unused;
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    prctl(PR_SET_NAME, "weft-mpi");
    pthread_mutex_lock(&engine.lock);
    weft__moves_begin(&engine.moves);
    for (uint64_t last = weft_now();;) {
        bool any = run_calls();
        uint64_t begin = weft_now();
        int64_t before = cpu_time();
        any |= look_at_all();
        uint64_t now = weft_now();
        if (any)
            weft__moves_end(&engine.moves);
        else if (weft__moves_judge(&engine.moves, begin - last, cpu_time() - before, now))
            note_move(now);
        last = now;
        if (any || engine.first_call) /* it may have come while the lock was free */
            continue;
        if (engine.ones + engine.sets == 0) {
            engine.nap = -1;
            pthread_cond_wait(&engine.changed, &engine.lock);
            engine.nap = 0;
            continue;
        }
        watch(now);
        nap(now);
    }
    return NULL;
}

#define FINALIZED "MPI is finalized"

static int refuse(const char *what)
{
    if (!engine.refused)
        fprintf(stderr,
                "weft-mpi: %s; ask MPI_Init_thread() for MPI_THREAD_MULTIPLE, or "
                "MPI_THREAD_SERIALIZED at least, and look at what it provides\n",
                what);
    engine.refused = true;
    return -ENOTSUP;
}

/* MPI_Finalize() frees the attributes of this communicator first. */
static int settle(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)comm, (void)key, (void)value, (void)unused;
    weft__mpi_settle(&engine.quiet);
    pthread_mutex_lock(&engine.lock);
    engine.is_over = true;
    pthread_mutex_unlock(&engine.lock);
    return MPI_SUCCESS;
}

static int check_level(void)
{
    int is_there = 0, is_over = 0, level = 0;
    MPI_Initialized(&is_there);
    MPI_Finalized(&is_over);
    if (!is_there || is_over)
        return refuse(is_over ? FINALIZED : "MPI is not initialized");
    MPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE && level != MPI_THREAD_SERIALIZED)
        return refuse(level == MPI_THREAD_FUNNELED ? "MPI provides MPI_THREAD_FUNNELED"
                                                   : "MPI provides MPI_THREAD_SINGLE");
    engine.multiple = level == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &engine.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &engine.ranks);
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, settle, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    return 0;
}

static long watch_seconds(void)
{
    const char *text = getenv("WEFT_MPI_WATCH");
    if (!text || !*text)
        return WATCH_SECONDS;
    char *end;
    long seconds = strtol(text, &end, 10);
    if (!*end && seconds >= 0 && seconds <= WATCH_MOST)
        return seconds;
    fprintf(stderr, "weft-mpi: WEFT_MPI_WATCH=%s is not a number of seconds; it is %d\n", text,
            WATCH_SECONDS);
    return WATCH_SECONDS;
}

static int start(void)
{
    pthread_condattr_t clock;
    pthread_attr_t detached;
    int error = check_level();
    if (error)
        return error;
    engine.watch = (uint64_t)watch_seconds() * 1000000000;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&engine.changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (engine.watch)
        weft__mpi_tell_when_killed(engine.rank, engine.ranks);
    error = -pthread_create(&engine.thread, &detached, run, NULL);
    pthread_attr_destroy(&detached);
    engine.started = !error;
    return error;
}

int weft__mpi_ready(void)
{
    pthread_mutex_lock(&engine.lock);
    int error = engine.is_over ? refuse(FINALIZED) : engine.started ? 0 : start();
    pthread_mutex_unlock(&engine.lock);
    return error;
}

bool weft__mpi_is_engine(void)
{
    return pthread_equal(pthread_self(), engine.thread);
}

bool weft__mpi_is_multiple(void)
{
    return engine.multiple; /* never changes after ready */
}

/* ---- Calls ---- */

static void submit_call(struct call *call)
{
    pthread_mutex_lock(&engine.lock);
    struct call **last = &engine.first_call;
    while (*last)
        last = &(*last)->next;
    *last = call;
    pthread_cond_signal(&engine.changed);
    pthread_mutex_unlock(&engine.lock);
}

/* An actor that is killed takes its call back, which is in its frames: if it has not begun, or else
 * when it is over. Worst case: this thread waits as long as the call of MPI takes. */
static void withdraw_call(weft *w, void *arg)
{
    (void)w;
    struct call *call = arg, **before = &engine.first_call;
    pthread_mutex_lock(&engine.lock);
    while (*before && *before != call)
        before = &(*before)->next;
    if (*before)
        *before = call->next;
    else
        while (!call->is_over)
            pthread_cond_wait(&engine.ran, &engine.lock);
    pthread_mutex_unlock(&engine.lock);
}

int weft__mpi_try(weft *w, weft_mpi_fn *fn, void *arg, int *result)
{
    if (engine.multiple || weft__mpi_is_engine()) {
        *result = fn(arg);
        return 0;
    }
    struct call call = {.fn = fn, .arg = arg};
    weft_event_init(&call.done, "weft_mpi_call");
    weft_event_from_outside(&call.done);
    int in_actor = w ? weft_defer(w, withdraw_call, &call) : -EPERM;
    if (in_actor == -ENOMEM)
        return -ENOMEM;
    submit_call(&call);
    weft_event_wait(w, &call.done);
    if (in_actor == 0)
        weft_undefer(w, withdraw_call, &call);
    if (in_actor == 0 && weft_cancelled(w)) /* with a mutex it goes on, but the wait just returns */
        withdraw_call(w, &call);
    *result = call.result;
    return call.is_over ? 0 : -ECANCELED;
}

int weft__mpi_do(weft *w, weft_mpi_fn *fn, void *arg)
{
    int result = MPI_ERR_OTHER;
    if (weft__mpi_try(w, fn, arg, &result))
        weft__mpi_die("a call of MPI was not made");
    return result;
}
