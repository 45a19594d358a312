/* SPDX-License-Identifier: MIT */
/* Blocked workers against the look for deadlocks: it never reports one that is none, and always
 * one that is: there, an execution in which all are stuck and nobody said so fails by itself. */
#include "blocking.h"
#include "core/search.h"
#include "sleep/crowd.h"
#include "sleep/latch.h"
#include "weft/sync.h"

static weft_mutex mutex, other_mutex;
static weft_event event, other_event;
static struct weft__latch begun, gate[2]; /* what the pool does not know */
static struct weft__job job;
static int data;

static void true_report(weft_pool *reported, const char *text, const char *graph, void *arg)
{
    model_done();
}

static void prepare(unsigned workers, int spares, weft_deadlock_fn *deadlock)
{
    weft_mutex_init(&mutex, "mutex");
    weft_mutex_init(&other_mutex, "other mutex");
    weft_event_init(&event, "event");
    weft_event_init(&other_event, "other event");
    begun = gate[0] = gate[1] = (struct weft__latch){0};
    make_pool(workers, spares, deadlock);
}

static void setup_two(void)
{
    prepare(2, -1, false_report);
}

static void setup_three(void)
{
    prepare(3, -1, false_report);
}

/* With a handler, waits of the program's own would be reported. */
static void setup_no_handler(void)
{
    prepare(2, -1, NULL);
}

static void setup_dead_one(void)
{
    prepare(1, -1, true_report);
}

static void setup_dead(void)
{
    prepare(2, -1, true_report);
}

/* The same where those who sleep do so in a crowd, and whatever happens wakes them all. */

static void setup_crowd(void)
{
    sleep_protocol = WEFT_SLEEP_TICKLE_SEQCST;
    setup_two();
}

static void setup_dead_crowd(void)
{
    sleep_protocol = WEFT_SLEEP_TICKLE_SEQCST;
    setup_dead();
}

/* ---- No false report ---- */

static void lock_unlock_sleep(void)
{
    weft *w = be_worker(0);
    weft_mutex_lock(w, &mutex);
    data++;
    weft_mutex_unlock(w, &mutex);
    serve(0);
}

static void lock_unlock_stop(void)
{
    weft *w = be_worker(1);
    weft_mutex_lock(w, &mutex);
    data++;
    weft_mutex_unlock(w, &mutex);
    stop(0);
    leave_pool(1);
}

static void set_sleep(void)
{
    weft_event_set(be_worker(0), &event);
    serve(0);
}

static void wait_stop(void)
{
    weft_event_wait(be_worker(1), &event);
    stop(0);
    leave_pool(1);
}

/* Unblocks the other and blocks itself. */
static void set_wait(void)
{
    weft *w = be_worker(0);
    weft_event_set(w, &event);
    weft_event_wait(w, &other_event);
    leave_pool(0);
}

static void wait_set(void)
{
    weft *w = be_worker(1);
    weft_event_wait(w, &event);
    weft_event_set(w, &other_event);
    leave_pool(1);
}

/* Fault 28: of two that wait, one goes on and waits for the other. */

static void set_leave(void)
{
    weft_event_set(be_worker(0), &event);
    leave_pool(0);
}

static void wait_wait(void)
{
    weft *w = be_worker(2);
    weft_event_wait(w, &event);
    weft_event_wait(w, &other_event);
}

static void wait_set_stay(void)
{
    weft *w = be_worker(1);
    weft_event_wait(w, &event);
    weft_event_set(w, &other_event);
}

/* A dump looks at one that rests. */

static void wait_leave(void)
{
    weft_event_wait(be_worker(1), &event);
    leave_pool(1);
}

static void look(void)
{
    struct weft__worker *worker = pool->workers[1];
    weft__lock_take(&pool->blocking.lock);
    if (weft__block_rests(worker))
        MODEL_ASSERT(worker->blocked->kind == BLOCKED_EVENT &&
                     worker->blocked->object == (void *)&event);
    weft__lock_drop(&pool->blocking.lock);
}

static void sleep_only(void)
{
    be_worker(0);
    serve(0);
}

static void sleep_simply(void)
{
    be_worker(0);
    sleep_until_stopped(0);
}

static void set_last(void)
{
    weft_event_set(be_worker(2), &event);
    leave_pool(2);
}

/* Who is woken changes what a report may be reading. */

static void setup_outside(void)
{
    setup_two();
    weft_event_from_outside(&event);
}

static void sleep_change_set(void)
{
    weft *w = be_worker(0);
    sleep_until_stopped(0);
    pool->workers[0]->frame = NULL; /* as weft__execute() */
    weft_event_set(w, &event);
}

static void wait_only(void)
{
    weft_event_wait(be_worker(1), &event);
}

static void stop_sleeper(void)
{
    stop(0);
}

/* In code of its own; the one that ends the wait says so before. */

static void block(void)
{
    weft *w = be_worker(0);
    weft_block_begin(w);
    weft__lock_latch_set(&begun);
    weft__lock_latch_wait(&gate[0]);
    leave_pool(0);
}

static void block_twice(void)
{
    weft *w = be_worker(0);
    weft_block_begin(w);
    weft_block_end(w);
    weft_block_begin(w);
    weft_block_end(w);
    stop(1);
    leave_pool(0);
}

static void sleep_second(void)
{
    be_worker(1);
    serve(1);
}

static void unblock_leave(void)
{
    be_worker(1);
    weft__lock_latch_wait(&begun);
    weft_block_end(pool->workers[0]->context->first);
    weft__lock_latch_set(&gate[0]);
    leave_pool(1);
}

/* A job is left on the deque of one that blocks; it ends the wait. */

static void set_in_job(weft *w, struct weft__job *unused)
{
    weft_event_set(w, &event);
}

static void post(unsigned i)
{
    job = (struct weft__job){.execute = set_in_job};
    MODEL_ASSERT(weft__post_spawn(pool->workers[i], &job) == 0);
}

static void post_wait_stop(void)
{
    weft *w = be_worker(1);
    post(1);
    weft_event_wait(w, &event);
    stop(0);
    leave_pool(1);
}

/* ---- Every deadlock ---- */

static void lock_both(void)
{
    weft *w = be_worker(0);
    weft_mutex_lock(w, &mutex);
    weft_mutex_lock(w, &other_mutex);
    weft_mutex_unlock(w, &other_mutex);
    weft_mutex_unlock(w, &mutex);
    leave_pool(0);
}

static void lock_both_reversed(void)
{
    weft *w = be_worker(1);
    weft_mutex_lock(w, &other_mutex);
    weft_mutex_lock(w, &mutex);
    weft_mutex_unlock(w, &mutex);
    weft_mutex_unlock(w, &other_mutex);
    leave_pool(1);
}

static void lock_twice(void)
{
    weft *w = be_worker(0);
    weft_mutex_lock(w, &mutex);
    weft_mutex_lock(w, &mutex);
}

static void wait_for_ever(void)
{
    weft_event_wait(be_worker(1), &event);
}

static void leave_only(void)
{
    be_worker(0);
    leave_pool(0);
}

static void set_wait_for_ever(void)
{
    weft *w = be_worker(0);
    weft_event_set(w, &event);
    weft_event_wait(w, &other_event);
}

static void wait_twice_for_ever(void)
{
    weft *w = be_worker(1);
    weft_event_wait(w, &event);
    weft_event_wait(w, &other_event);
}

static void block_for_ever(void)
{
    weft_block_begin(be_worker(1));
    weft__lock_latch_wait(&gate[1]);
}

/* Guests of a pool whose worker has gone. */

static void setup_guests(void)
{
    setup_dead_one();
    weft__census_leave(&pool->census);
}

static void lock_both_in(weft *w, void *unused)
{
    weft_mutex_lock(w, &mutex);
    weft_mutex_lock(w, &other_mutex);
    weft_mutex_unlock(w, &other_mutex);
    weft_mutex_unlock(w, &mutex);
}

static void lock_both_reversed_in(weft *w, void *unused)
{
    weft_mutex_lock(w, &other_mutex);
    weft_mutex_lock(w, &mutex);
    weft_mutex_unlock(w, &mutex);
    weft_mutex_unlock(w, &other_mutex);
}

static void guest(void)
{
    MODEL_ASSERT(weft_run(pool, lock_both_in, NULL) == 0);
}

static void guest_reversed(void)
{
    MODEL_ASSERT(weft_run(pool, lock_both_reversed_in, NULL) == 0);
}

/* Somebody comes for a moment, which calls a report off; then it has to come all the same. */

static void visit(void)
{
    weft__census_enter(&pool->census); /* as guest_enter() */
    weft__block_let_report(pool);
    weft__census_leave(&pool->census);
}

static void visit_twice(void)
{
    visit();
    visit();
}

static void wake_sleeper(void)
{
    (void)weft__park_wake(pool->workers[0]->park);
}

static void tickle(void)
{
    weft__crowd_tickle(pool->sleep.crowd);
}

static void wait_alone_for_ever(void)
{
    weft_event_wait(be_worker(0), &event);
}

/* A thread outside could have ended the wait, until it comes to wait itself. */

static weft_task task;

static void wait_in_task(weft *w, void *unused)
{
    weft_event_wait(w, &event);
}

static void serve_first(void)
{
    be_worker(0);
    serve(0);
}

static void submit_and_wait(void)
{
    MODEL_ASSERT(weft_submit(pool, &task, wait_in_task, NULL) == 0);
    (void)!weft_task_wait(&task);
}

/* A job waits for a task, which it takes itself, or another worker has taken. */

static void note_task(weft *w, void *unused)
{
    data++;
}

static void submit_wait_stop(void)
{
    be_worker(0);
    MODEL_ASSERT(weft_submit(pool, &task, note_task, NULL) == 0);
    MODEL_ASSERT(weft_task_wait(&task) == 0);
    MODEL_ASSERT(data == 1);
    stop(1);
    leave_pool(0);
}

/* ---- Spares ---- */

static void setup_spare(void)
{
    prepare(1, 1, false_report);
}

static void setup_spare_no_handler(void)
{
    prepare(1, 1, NULL);
}

static void setup_dead_spare(void)
{
    prepare(1, 1, true_report);
}

static void wait_for_spare(void)
{
    weft *w = be_worker(0);
    post(0);
    weft_event_wait(w, &event);
    weft__spares_stop(pool);
}

static void block_again_with_spare(void)
{
    weft *w = be_worker(0);
    weft_block_begin(w);
    weft_block_end(w);
    weft_block_begin(w);
    weft_block_end(w);
    weft__spares_stop(pool);
}

static void block_with_spare(void)
{
    weft *w = be_worker(0);
    weft_block_begin(w);
    weft_block_end(w);
    weft__spares_stop(pool);
}

/* ---- The place of a searcher ---- */

static bool begins[3];

/* Worker 0 searches, the others sleep, and guests have the other places. */
static void setup_searcher(unsigned workers)
{
    prepare(workers, -1, NULL);
    struct weft__idle idle;
    for (unsigned i = 0; i < workers; i++) {
        weft__sleep_start_looking(&pool->sleep, &idle, 0);
        atomic_store_relaxed(&pool->workers[i]->seeks, SEEKS_FREELY);
        begins[i] = false;
        if (i == 0)
            continue;
        atomic_fetch_add_relaxed(&pool->sleep.counters, 1);
        atomic_store_relaxed(&pool->workers[i]->park->state, PARK_ASLEEP);
        weft__sleep_guest_entered(&pool->sleep);
    }
}

static void setup_searcher_and_one(void)
{
    setup_searcher(2);
}

static void setup_searcher_and_two(void)
{
    setup_searcher(3);
}

static void begin_as_searcher(void)
{
    begins[0] = weft__may_begin(pool->workers[0]);
}

static void get_up_and_overtake(unsigned i)
{
    struct weft__worker *me = pool->workers[i];
    atomic_store_relaxed(&me->park->state, PARK_AWAKE);
    atomic_fetch_sub_relaxed(&pool->sleep.counters, 1);
    begins[i] = weft__may_overtake(me);
}

static void overtake(void)
{
    get_up_and_overtake(1);
}

static void overtake_too(void)
{
    get_up_and_overtake(2);
}

/* The searcher has stepped back, and looks out, while the one in its place still searches. */
static void overtake_and_be_overtaken(void)
{
    overtake();
    atomic_fetch_add_relaxed(&pool->sleep.counters, 1);
    get_up_and_overtake(0);
}

/* A guest comes and forks; who overtakes sees the fork. */
static void come_and_fork(void)
{
    weft__sleep_guest_entered(&pool->sleep);
    weft__latch_set(&gate[0]);
}

static void step_back_come_and_fork(void)
{
    atomic_store_relaxed(&pool->workers[0]->park->state, PARK_ASLEEP);
    atomic_fetch_add_relaxed(&pool->sleep.counters, 1);
    come_and_fork();
}

static void overtake_and_find(void)
{
    struct weft__worker *me = pool->workers[1];
    overtake();
    me->overtakes = begins[1];
    begins[1] = weft__latch_probe(&gate[0]) && weft__may_begin(me);
}

static void none_begins(void)
{
    MODEL_ASSERT(!begins[1]);
}

static void one_begins(void)
{
    MODEL_ASSERT(begins[0] + begins[1] + begins[2] <= 1);
}

const struct harness block_harnesses[] = {
    {.name = "overtake",
     .what = "a searcher begins a job while the look-out takes its place",
     .setup = setup_searcher_and_one,
     .thread = {begin_as_searcher, overtake},
     .finish = one_begins},
    {.name = "overtake-two",
     .what = "two look-outs want the place of one searcher",
     .setup = setup_searcher_and_two,
     .thread = {overtake, overtake_too},
     .finish = one_begins},
    {.name = "overtake-back",
     .what = "a searcher that was overtaken takes its place back",
     .setup = setup_searcher_and_one,
     .thread = {overtake_and_be_overtaken},
     .finish = one_begins},
    {.name = "overtake-guest",
     .what = "a guest comes and forks after the look-out has taken the place of a searcher",
     .setup = setup_searcher_and_one,
     .thread = {come_and_fork, overtake_and_find},
     .finish = none_begins},
    {.name = "overtake-late",
     .what = "the searcher has stepped back, too, before that guest came",
     .setup = setup_searcher_and_one,
     .thread = {step_back_come_and_fork, overtake_and_find},
     .finish = none_begins},
    {.name = "block-mutex-sleep",
     .what = "the holder of a mutex unlocks it, and sleeps",
     .setup = setup_two,
     .thread = {lock_unlock_sleep, lock_unlock_stop}},
    {.name = "block-event-sleep",
     .what = "who set the event sleeps",
     .setup = setup_two,
     .thread = {set_sleep, wait_stop}},
    {.name = "block-event-turns",
     .what = "who set the event waits for another one",
     .setup = setup_two,
     .thread = {set_wait, wait_set}},
    {.name = "block-event-two",
     .what = "of two whose wait has ended, one waits for the other (bug 28)",
     .setup = setup_three,
     .thread = {set_leave, wait_set_stay, wait_wait},
     .preemptions = 1,
     .stale = 1},
    {.name = "block-sleep-third",
     .what = "a worker falls asleep while one unblocks another",
     .setup = setup_three,
     .thread = {sleep_simply, wait_stop, set_last},
     .stale = 1},
    {.name = "block-report",
     .what = "a sleeper is woken during a look for deadlocks",
     .setup = setup_outside,
     .thread = {sleep_change_set, wait_only, stop_sleeper},
     .stale = 1},
    {.name = "block-dump",
     .what = "a dump looks at what a worker is blocked by, while that is ended",
     .setup = setup_two,
     .thread = {set_leave, wait_leave, look},
     .stale = 1},
    {.name = "block-own-code",
     .what = "a wait of the program's own, ended by a worker that says so",
     .setup = setup_two,
     .thread = {block, unblock_leave}},
    {.name = "block-again",
     .what = "such waits, while the other falls asleep",
     .setup = setup_no_handler,
     .thread = {block_twice, sleep_second}},
    {.name = "block-job-left",
     .what = "a blocked worker has left a job that ends its wait; the other falls asleep",
     .setup = setup_two,
     .thread = {sleep_only, post_wait_stop},
     .stale = 1},
    {.name = "dead-mutexes",
     .what = "two mutexes in opposite order",
     .setup = setup_dead,
     .thread = {lock_both, lock_both_reversed}},
    {.name = "dead-own-mutex",
     .what = "a mutex twice",
     .setup = setup_dead_one,
     .thread = {lock_twice}},
    {.name = "dead-event-sleep",
     .what = "an event that nobody sets; the other falls asleep",
     .setup = setup_dead,
     .thread = {sleep_only, wait_for_ever}},
    {.name = "dead-event-leave",
     .what = "an event that nobody sets; the other ends",
     .setup = setup_dead,
     .thread = {leave_only, wait_for_ever}},
    {.name = "dead-event-late",
     .what = "both wait, after one was unblocked",
     .setup = setup_dead,
     .thread = {set_wait_for_ever, wait_twice_for_ever}},
    {.name = "dead-own-code",
     .what = "a wait of the program's own; the other falls asleep",
     .setup = setup_dead,
     .thread = {sleep_only, block_for_ever}},
    {.name = "dead-guests",
     .what = "two mutexes in opposite order, by guests",
     .setup = setup_guests,
     .thread = {guest, guest_reversed},
     .stale = 1},
    {.name = "dead-visitor",
     .what = "an event that nobody sets, while guests come and go",
     .setup = setup_dead_one,
     .thread = {wait_alone_for_ever, visit_twice}},
    {.name = "dead-woken",
     .what = "an event that nobody sets, while the other is woken for nothing",
     .setup = setup_dead,
     .thread = {sleep_simply, wait_for_ever, wake_sleeper},
     .stale = 1},
    {.name = "dead-submitter",
     .what = "an event that nobody sets, in a task that a thread outside comes to wait for",
     .setup = setup_dead_one,
     .thread = {serve_first, submit_and_wait},
     .stale = 1},
    {.name = "block-mutex-sleep-seqcst",
     .what = "the holder of a mutex unlocks it, and sleeps in a crowd",
     .setup = setup_crowd,
     .thread = {lock_unlock_sleep, lock_unlock_stop},
     .stale = 1},
    {.name = "block-event-sleep-seqcst",
     .what = "who set the event sleeps in a crowd",
     .setup = setup_crowd,
     .thread = {set_sleep, wait_stop},
     .stale = 1},
    {.name = "block-job-left-seqcst",
     .what = "a blocked worker has left a job that ends its wait; the other sleeps in a crowd",
     .setup = setup_crowd,
     .thread = {sleep_only, post_wait_stop},
     .stale = 1},
    {.name = "dead-event-sleep-seqcst",
     .what = "an event that nobody sets; the other sleeps in a crowd",
     .setup = setup_dead_crowd,
     .thread = {sleep_only, wait_for_ever},
     .stale = 1},
    {.name = "dead-woken-seqcst",
     .what = "an event that nobody sets, while the crowd is tickled for nothing",
     .setup = setup_dead_crowd,
     .thread = {sleep_only, wait_for_ever, tickle},
     .preemptions = 1,
     .stale = 1},
    {.name = "task-wait",
     .what = "a job waits for a task that another worker runs",
     .setup = setup_no_handler,
     .thread = {submit_wait_stop, sleep_second},
     .stale = 1},
    {.name = "spare-job",
     .what = "a spare runs what a blocked worker has left",
     .setup = setup_spare,
     .thread = {wait_for_spare}},
    {.name = "spare-again",
     .what = "a spare is called again while it leaves",
     .setup = setup_spare_no_handler,
     .thread = {block_again_with_spare},
     .stale = 1},
    {.name = "spare-dismissed",
     .what = "a spare is called and dismissed",
     .setup = setup_spare_no_handler,
     .thread = {block_with_spare}},
    {.name = "dead-spare",
     .what = "an event that nobody sets, and a spare",
     .setup = setup_dead_spare,
     .thread = {wait_alone_for_ever}},
    {0},
};
