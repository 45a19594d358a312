/* SPDX-License-Identifier: MIT */
/* actor_messages.c: what is sent arrives once and in order, a full mailbox makes its senders wait
 * and harms nobody else, and right sides receive as the actor itself does. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"

#include <errno.h>
#include <string.h>

static int sleep_for_ever(weft *w, void *arrived)
{
    atomic_store((atomic_bool *)arrived, true);
    weft_sleep_until(w, UINT64_MAX);
    return 0;
}

/* ---- Sending ---- */

struct letters {
    weft_actor *to;
    atomic_ulong received, dropped, sum;
    unsigned long n;
};

static int receive_n(weft *w, void *arg)
{
    struct letters *letters = arg;
    for (unsigned long i = 0; i < letters->n; i++) {
        void *message;
        if (i % 3 == 0)
            while (weft_try_receive(w, &message) == -EAGAIN)
                weft_yield(w);
        else
            CHECK(weft_receive(w, &message) == 0);
        atomic_fetch_add(&letters->received, 1);
        atomic_fetch_add(&letters->sum, (unsigned long)(uintptr_t)message);
    }
    return 0;
}

static void count_dropped(void *message, void *data)
{
    struct letters *letters = data;
    atomic_fetch_add(&letters->dropped, 1);
    atomic_fetch_add(&letters->sum, (unsigned long)(uintptr_t)message);
}

static void mailbox_has_an_end(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct held held;
    struct letters letters = {.n = 2};
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.mailbox = 3;
    config.drop = count_dropped;
    config.data = &letters;
    weft_actor *actor;
    pool_hold(pool, &held, 1); /* so that it does not start yet */
    assert_int_equal(weft_actor_create(&actor, pool, receive_n, &letters, &config), 0);
    for (uintptr_t i = 1; i <= 3; i++)
        assert_int_equal(weft_actor_try_send(NULL, actor, (void *)i), 0);
    assert_int_equal(weft_actor_try_send(NULL, actor, NULL), -EAGAIN);
    assert_int_equal(weft_actor_run(actor), -EALREADY); /* the first message has done it */
    pool_let_go(&held);
    assert_int_equal(weft_actor_wait(NULL, actor), 0);
    assert_int_equal(atomic_load(&letters.received), 2);
    assert_int_equal(atomic_load(&letters.dropped), 1);
    assert_int_equal(atomic_load(&letters.sum), 6);
    assert_int_equal(weft_actor_send(NULL, actor, NULL), -EPIPE);
    assert_int_equal(weft_actor_try_send(NULL, actor, NULL), -EPIPE);
    weft_actor_release(actor);
    pool_drop(pool);
}

static int receive_in_order(weft *w, void *n)
{
    for (uintptr_t i = 0; i < *(uintptr_t *)n; i++) {
        void *message;
        CHECK(weft_receive(w, &message) == 0);
        CHECK((uintptr_t)message == i);
    }
    return 0;
}

static void messages_keep_their_order(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    uintptr_t n = SCALED(20000, 10);
    weft_actor *actor = start(pool, receive_in_order, &n, NULL);
    for (uintptr_t i = 0; i < n; i++)
        assert_int_equal(weft_actor_send(NULL, actor, (void *)i), 0);
    assert_int_equal(end(actor), 0);
    pool_drop(pool);
}

enum { SENDERS = 4, EACH = SCALED(5000, 10) };

static int send_each(weft *w, void *arg)
{
    struct letters *letters = arg;
    for (uintptr_t i = 1; i <= EACH; i++)
        CHECK(weft_actor_send(w, letters->to, (void *)i) == 0);
    return 0;
}

static void send_each_from_outside(unsigned i, void *arg)
{
    send_each(NULL, arg);
}

static void waiting_senders_lose_nothing(void **state)
{
    for (unsigned workers = 1; workers <= 8; workers += 7) {
        weft_pool *pool = pool_make(workers, 0);
        struct letters letters = {.n = 2 * SENDERS * EACH};
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.mailbox = 2;
        letters.to = start(pool, receive_n, &letters, &config);
        weft_actor *senders[SENDERS];
        for (int i = 0; i < SENDERS; i++)
            senders[i] = start(pool, send_each, &letters, NULL);
        in_threads(SENDERS, send_each_from_outside, &letters);
        for (int i = 0; i < SENDERS; i++)
            assert_int_equal(end(senders[i]), 0);
        assert_int_equal(end(letters.to), 0);
        assert_int_equal(atomic_load(&letters.received), 2 * SENDERS * EACH);
        assert_int_equal(atomic_load(&letters.sum), SENDERS * (unsigned long)EACH * (EACH + 1));
        pool_drop(pool);
    }
}

static int send_until_it_is_over(weft *w, void *arg)
{
    struct letters *letters = arg;
    int error;
    while ((error = weft_actor_send(w, letters->to, (void *)(uintptr_t)1)) == 0)
        atomic_fetch_add(&letters->received, 1);
    return error;
}

static void send_until_it_is_over_outside(unsigned i, void *arg)
{
    CHECK(send_until_it_is_over(NULL, arg) == -EPIPE);
}

static int kill_when_full(weft *w, void *arg)
{
    struct letters *letters = arg;
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    do {
        weft_actor_get_info(letters->to, &info);
        weft_yield(w);
    } while (info.messages < 2);
    weft_actor_kill(letters->to);
    return 0;
}

static void waiting_senders_learn_of_its_end(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int round = 0; round < rounds_of(SCALED(200, 10)); round++) {
        atomic_bool arrived = false;
        struct letters letters = {0};
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.mailbox = 2;
        config.drop = count_dropped;
        config.data = &letters;
        letters.to = start(pool, sleep_for_ever, &arrived, &config);
        weft_actor *senders[2] = {start(pool, send_until_it_is_over, &letters, NULL),
                                  start(pool, send_until_it_is_over, &letters, NULL)};
        weft_actor *killer = start(pool, kill_when_full, &letters, NULL);
        in_threads(2, send_until_it_is_over_outside, &letters);
        assert_int_equal(end(killer), 0);
        for (int i = 0; i < 2; i++)
            assert_int_equal(end(senders[i]), -EPIPE);
        assert_int_equal(weft_actor_wait(NULL, letters.to), -ECANCELED);
        weft_actor_release(letters.to);
        assert_int_equal(atomic_load(&letters.received), 2); /* all that were sent */
        assert_int_equal(atomic_load(&letters.dropped), 2);
    }
    pool_drop(pool);
}

/* ---- What waits, counts ---- */

enum { ROOM = 4096, MESSAGES = 16 + ROOM / 2 / (int)sizeof(void *) };

static int alloc_and_receive(weft *w, void *bytes)
{
    void *message;
    memset(weft_alloc(w, *(size_t *)bytes), 1, *(size_t *)bytes);
    while (weft_try_receive(w, &message) == 0)
        ;
    return 0;
}

/* Half of what it may use is for messages: then it has the other half, whether they come or not. */
static void a_full_mailbox_takes_nothing_from_anybody(void **state)
{
    for (int i = 0; i < 3 * 4; i++) {
        static const unsigned workers[] = {1, 2, 8};
        weft_pool *pool = pool_make(workers[i / 4], 0);
        size_t bytes = i % 2 ? ROOM / 2 : ROOM / 2 + 1;
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.memory = WEFT_ACTOR_STACK + ROOM;
        config.mailbox = MESSAGES;
        struct held held;
        weft_actor *actor;
        pool_hold(pool, &held, workers[i / 4]); /* so that it does not start yet */
        assert_int_equal(weft_actor_create(&actor, pool, alloc_and_receive, &bytes, &config), 0);
        if (i % 4 < 2)
            weft_actor_run(actor);
        else
            for (int sent = 0; sent < MESSAGES; sent++)
                assert_int_equal(weft_actor_try_send(NULL, actor, NULL), 0);
        if (i % 4 >= 2)
            assert_int_equal(weft_actor_try_send(NULL, actor, NULL), -EAGAIN);
        pool_let_go(&held);
        assert_int_equal(weft_actor_wait(NULL, actor), i % 2 ? 0 : -ENOMEM);
        weft_actor_info info = WEFT_ACTOR_INFO_INIT;
        weft_actor_get_info(actor, &info);
        assert_int_equal(info.memory_limit, WEFT_ACTOR_STACK + ROOM);
        assert_int_equal(info.memory_peak, ROOM / 2);
        weft_actor_release(actor);
        pool_drop(pool);
    }
}

/* ---- Receiving in right sides ---- */

enum { SIDES = 3, PER_SIDE = 20 };

struct side {
    struct readers *readers;
    unsigned long last, sum;
};

struct readers {
    struct side sides[SIDES];
    bool is_stolen; /* the actor waits until the first one has begun elsewhere */
    atomic_bool begun;
    uint64_t steals; /* in the end */
};

/* Each keeps what it gets for a while, in memory of the actor. */
static void receive_side(weft *w, void *arg)
{
    struct side *side = arg;
    weft_mark mark = weft_alloc_mark(w);
    atomic_store(&side->readers->begun, true);
    for (int i = 0; i < PER_SIDE; i++) {
        void *message;
        CHECK(weft_receive(w, &message) == 0);
        unsigned long *kept = weft_alloc(w, 100);
        *kept = (unsigned long)(uintptr_t)message;
        CHECK(*kept > side->last); /* in their order, though others may get some */
        side->last = *kept;
        side->sum += *kept;
    }
    weft_alloc_release(w, mark);
    weft_alloc(w, 1000);
}

static int receive_in_right_sides(weft *w, void *arg)
{
    struct readers *readers = arg;
    for (int i = 0; i < SIDES; i++)
        weft_fork(w + i, receive_side, &readers->sides[i]);
    while (readers->is_stolen && !atomic_load(&readers->begun))
        weft_poll(w + SIDES);
    for (int i = SIDES; i-- > 0;)
        if (!weft_merge(w + i))
            receive_side(w + i, &readers->sides[i]);
    void *message;
    CHECK(weft_try_receive(w, &message) == -EAGAIN);
    return 0;
}

static void run_readers(weft_pool *pool, enum weft_steal steal, struct readers *readers)
{
    enum { ALL = SIDES * PER_SIDE };
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    unsigned long sum = 0;
    config.steal = steal;
    config.mailbox = 4;
    for (int i = 0; i < SIDES; i++)
        readers->sides[i].readers = readers;
    weft_actor *actor = start(pool, receive_in_right_sides, readers, &config);
    for (uintptr_t i = 1; i <= ALL; i++)
        assert_int_equal(weft_actor_send(NULL, actor, (void *)i), 0);
    assert_int_equal(weft_actor_wait(NULL, actor), 0);
    for (int i = 0; i < SIDES; i++)
        sum += readers->sides[i].sum;
    assert_int_equal(sum, (unsigned long)ALL * (ALL + 1) / 2);
    weft_actor_get_info(actor, &info);
    assert_int_equal(info.memory_peak, 2 * 1008 + PER_SIDE * 112);
    readers->steals = info.steals;
    weft_actor_release(actor);
}

/* Inline, the last one forked receives first, and all of its own; elsewhere, they share. Nothing
 * else is different. */
static void right_sides_receive_inline_and_elsewhere(void **state)
{
    static const unsigned workers[] = {1, 2, 8};
    for (int i = 0; i < 3 * 2 * 2; i++) {
        unsigned n = workers[i / 4];
        weft_pool *pool = pool_make(n, 0);
        struct readers readers = {.is_stolen = n > 1 && i % 2};
        run_readers(pool, i / 2 % 2 ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE, &readers);
        if (readers.is_stolen)
            assert_true(readers.steals > 0);
        if (n == 1)
            assert_int_equal(readers.sides[SIDES - 1].last, PER_SIDE);
        pool_drop(pool);
    }
}

/* ---- Receiving with a limit ---- */

enum { LATE = 500 };

struct late {
    unsigned long sum;
    atomic_ulong timeouts, received;
};

/* Limits that are reached while messages come: each is received, once. */
static int receive_late(weft *w, void *arg)
{
    struct late *late = arg;
    void *message;
    CHECK(weft_receive_until(w, NULL, 0) == -EINVAL);
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 1000000);
    CHECK(weft_receive_until(w, &message, WEFT_FOREVER) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
    uint64_t when = weft_now() + 1000000;
    CHECK(weft_receive_until(w, &message, when) == -ETIMEDOUT && weft_now() >= when);
    CHECK(weft_actor_send(w, weft_actor_self(w), arg) == 0);
    CHECK(weft_receive_until(w, &message, 0) == 0 && message == arg); /* however late it is */
    for (int received = 0; received < LATE;) {
        int error = weft_receive_until(w, &message, weft_now() + 10000);
        CHECK(error == 0 || error == -ETIMEDOUT);
        late->sum += error ? 0 : (uintptr_t)message;
        received += !error;
        atomic_fetch_add(error ? &late->timeouts : &late->received, 1);
    }
    return weft_receive_until(w, &message, WEFT_FOREVER); /* until it is killed */
}

static void receiving_has_a_limit(void **state)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        struct late late = {0};
        weft_actor *actor;
        CHECK(weft_actor_create(&actor, pool, receive_late, &late, NULL) == 0);
        CHECK(weft_actor_run(actor) == 0);
        WAIT_UNTIL(atomic_load(&late.timeouts)); /* it has received its own */
        for (uintptr_t i = 1; i <= LATE; i++)
            CHECK(weft_actor_send(NULL, actor, (void *)i) == 0);
        WAIT_UNTIL(atomic_load(&late.received) == LATE);
        weft_actor_kill(actor);
        assert_int_equal(weft_actor_wait(NULL, actor), -ECANCELED);
        assert_int_equal(late.sum, (unsigned long)LATE * (LATE + 1) / 2);
        weft_actor_release(actor);
        pool_drop(pool);
    }
}

/* ---- Sending, and waiting for an end, with a limit ---- */

enum { HURRIED = 6, SENT = SCALED(300, 5) };

struct hurried {
    weft_pool *pool;
    weft_actor *to;
    atomic_ulong sent, received, timeouts, early;
};

static uint64_t soon(void)
{
    return weft_now() + 20000;
}

static void send_hurried(weft *w, struct hurried *hurried)
{
    for (int i = 0; i < SENT; i++) {
        int error;
        while ((error = weft_actor_send_until(w, hurried->to, (void *)1, soon())) == -ETIMEDOUT)
            atomic_fetch_add(&hurried->timeouts, 1);
        CHECK(error == 0);
        atomic_fetch_add(&hurried->sent, 1);
    }
    int reason;
    while ((reason = weft_actor_wait_until(w, hurried->to, soon())) == -ETIMEDOUT)
        atomic_fetch_add(&hurried->early, 1);
    CHECK(reason == -EIO && weft_actor_done(hurried->to));
}

static void send_hurried_job(weft *w, void *hurried)
{
    send_hurried(w, hurried);
}

static int send_hurried_actor(weft *w, void *hurried)
{
    send_hurried(w, hurried);
    return 0;
}

static void send_hurried_from(unsigned i, void *arg)
{
    struct hurried *hurried = arg;
    weft_task task;
    weft_actor *actor;
    if (i % 3 == 0) {
        send_hurried(NULL, hurried);
    } else if (i % 3 == 1) {
        CHECK(weft_submit(hurried->pool, &task, send_hurried_job, hurried) == 0);
        CHECK(weft_task_wait(&task) == 0);
    } else {
        CHECK(weft_actor_create(&actor, hurried->pool, send_hurried_actor, hurried, NULL) == 0);
        CHECK(weft_actor_run(actor) == 0 && weft_actor_wait(NULL, actor) == 0);
        weft_actor_release(actor);
    }
}

/* Slow now and then, so that limits are reached. */
static int receive_hurried(weft *w, void *arg)
{
    struct hurried *hurried = arg;
    void *message;
    for (int i = 0; i < HURRIED * SENT; i++) {
        if (i % 64 == 0)
            weft_sleep_until(w, weft_now() + 100000);
        CHECK(weft_receive(w, &message) == 0 && message);
        atomic_fetch_add(&hurried->received, 1);
    }
    WAIT_UNTIL(atomic_load(&hurried->early) > 0);
    return -EIO;
}

static void sending_has_a_limit(void **state)
{
    static const unsigned workers[] = {1, 4};
    for (int i = 0; i < 2; i++) {
        struct hurried hurried = {.pool = pool_make(workers[i], 0)};
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.mailbox = 2;
        CHECK(weft_actor_create(&hurried.to, hurried.pool, receive_hurried, &hurried, &config) ==
              0);
        in_threads(HURRIED, send_hurried_from, &hurried);
        assert_int_equal(atomic_load(&hurried.sent), HURRIED * SENT);
        assert_int_equal(atomic_load(&hurried.received), HURRIED * SENT);
        assert_true(atomic_load(&hurried.timeouts) > 0);
        assert_int_equal(weft_actor_send_until(NULL, hurried.to, NULL, WEFT_FOREVER), -EPIPE);
        assert_int_equal(weft_actor_wait_until(NULL, hurried.to, 0), -EIO); /* however late */
        weft_actor_release(hurried.to);
        pool_drop(hurried.pool);
    }
}

static int wait_for_itself(weft *w, void *arg)
{
    weft_actor *self = weft_actor_self(w);
    CHECK(weft_actor_wait_until(w, self, WEFT_FOREVER) == -EDEADLK);
    while (weft_actor_try_send(w, self, arg) == 0)
        ;
    CHECK(weft_actor_send_until(w, self, arg, WEFT_FOREVER) == -EDEADLK);
    return 0;
}

static void nobody_waits_for_itself(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, pool, wait_for_itself, NULL, NULL) == 0);
    CHECK(weft_actor_run(actor) == 0);
    assert_int_equal(weft_actor_wait_until(NULL, actor, WEFT_FOREVER), 0);
    assert_int_equal(weft_actor_wait_until(NULL, NULL, 0), -EINVAL);
    assert_int_equal(weft_actor_send_until(NULL, NULL, NULL, 0), -EINVAL);
    weft_actor_release(actor);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mailbox_has_an_end),
        cmocka_unit_test(messages_keep_their_order),
        cmocka_unit_test(waiting_senders_lose_nothing),
        cmocka_unit_test(waiting_senders_learn_of_its_end),
        cmocka_unit_test(a_full_mailbox_takes_nothing_from_anybody),
        cmocka_unit_test(right_sides_receive_inline_and_elsewhere),
        cmocka_unit_test(receiving_has_a_limit),
        cmocka_unit_test(sending_has_a_limit),
        cmocka_unit_test(nobody_waits_for_itself),
    };
    return cmocka_run_group_tests_name("actor_messages", tests, NULL, NULL);
}
