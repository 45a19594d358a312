/* SPDX-License-Identifier: MIT */
/* Exceptions in jobs: those that are promised to pass, and those that have to be explained.
 *
 *     throw NAME WORKERS
 *
 * Exit code 0: it did what is promised. What must not leave a job ends in an abort; throw.sh looks
 * at the message. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft.h>
#include <weft/actor.h>
#include <weft/parallel.h>
#include <weft/sort.h>

#define CHECK(condition) ((condition) ? (void)0 : failed(#condition, __LINE__))

static void failed(const char *what, int line)
{
    std::fprintf(stderr, "throw.cpp:%d: %s\n", line, what);
    std::_Exit(1);
}

static const int ROUNDS = 200, ROUNDS_TAKEN = 20; /* who waits for a thief may wait for a CPU */

static void until(const std::atomic<int> &flag)
{
    while (!flag)
        sched_yield();
}

/* A right side in a frame that may be left: it must not be used afterwards. */
struct side {
    enum { ALIVE = 0x5afe, GONE = 0xdead };
    std::atomic<int> state{ALIVE}, started{0}, may_end{0}, ended{0};
    ~side()
    {
        CHECK(started == ended);
        state = GONE;
    }
};

static void nothing(weft *, void *)
{
}

static void count(weft *, void *arg)
{
    side *s = static_cast<side *>(arg);
    CHECK(s->state == side::ALIVE);
    s->started++;
    s->ended++;
}

static void count_slowly(weft *, void *arg)
{
    side *s = static_cast<side *>(arg);
    CHECK(s->state == side::ALIVE);
    s->started++;
    until(s->may_end);
    for (int i = 0; i < 100; i++)
        sched_yield();
    CHECK(s->state == side::ALIVE);
    s->ended++;
}

static void throw_it(weft *, void *)
{
    throw std::runtime_error("left");
}

static void throw_when_started(weft *, void *arg)
{
    side *s = static_cast<side *>(arg);
    until(s->started);
    s->may_end = 1;
    throw std::runtime_error("left");
}

static void wait_until_started(weft *, void *arg)
{
    until(static_cast<side *>(arg)->started);
}

static void start_and_throw(weft *, void *arg)
{
    side *s = static_cast<side *>(arg);
    s->started++;
    s->ended++;
    throw std::runtime_error("right");
}

/* What a call throws, or "". */
template <typename F> static std::string thrown_by(F call)
{
    try {
        call();
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

/* The context is as it was: whatever is forked now is merged. */
static void is_usable(weft *w)
{
    side s;
    weft_join(w, nothing, nullptr, count, &s);
    CHECK(s.ended == 1);
}

/* ---- What passes ---- */

static void left_throws(weft *w, void *)
{
    for (int i = 0; i < ROUNDS; i++) {
        std::string what = thrown_by([w] {
            side s;
            weft_join(w, throw_it, nullptr, count, &s);
        });
        CHECK(what == "left");
        is_usable(w);
    }
}

static void left_throws_and_right_is_taken(weft *w, void *)
{
    for (int i = 0; i < ROUNDS_TAKEN; i++) {
        std::string what = thrown_by([w] {
            side s;
            weft_join(w, throw_when_started, &s, count_slowly, &s);
        });
        CHECK(what == "left");
        is_usable(w);
    }
}

static void right_throws(weft *w, void *)
{
    for (int i = 0; i < ROUNDS; i++) {
        side s;
        std::string what = thrown_by([&] { weft_join(w, nothing, nullptr, start_and_throw, &s); });
        CHECK(what == "right" && s.started == 1);
        is_usable(w);
    }
}

static void right_is_taken_and_throws(weft *w, void *)
{
    for (int i = 0; i < ROUNDS_TAKEN; i++) {
        side s;
        std::string what =
            thrown_by([&] { weft_join(w, wait_until_started, &s, start_and_throw, &s); });
        CHECK(what == "right" && s.started == 1);
        is_usable(w);
    }
}

static void both_throw(weft *w, void *)
{
    for (int i = 0; i < ROUNDS_TAKEN; i++) {
        side s;
        std::string what =
            thrown_by([&] { weft_join(w, throw_when_started, &s, start_and_throw, &s); });
        CHECK(what == "left" && s.started == 1);
        is_usable(w);
    }
}

static void guard_is_left(weft *w, bool by_throwing)
{
    side s;
    weft::fork_guard right(w, count, &s);
    is_usable(right.context());
    if (by_throwing)
        throw std::runtime_error("left");
}

static void guards(weft *w, void *)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(thrown_by([w] { guard_is_left(w, true); }) == "left");
        guard_is_left(w, false);
        side s;
        weft::fork_guard first(w, count, &s);
        weft::fork_guard second(first.context(), count, &s);
        is_usable(second.context());
        if (!second.merge())
            count(first.context(), &s);
        if (!first.merge())
            count(w, &s);
        CHECK(s.ended == 2);
        is_usable(w);
    }
}

static void scopes(weft *w, void *)
{
    for (int i = 0; i < ROUNDS; i++) {
        side s;
        std::string what = thrown_by([&] {
            weft::scope_guard scope(w);
            for (int child = 0; child < 3; child++)
                CHECK(weft_spawn(w, &scope, count, &s) == 0);
            throw std::runtime_error("scope");
        });
        CHECK(what == "scope" && s.ended == 3);
        is_usable(w);
        weft::scope_guard scope(w);
        weft_fail(w, -5);
        CHECK(scope.close() == -5);
        weft::scope_guard left_open(w);
    }
}

/* A tree whose leaves throw by chance. Each node has two sides in its frame, which are gone once an
 * exception has left it. */
struct node {
    unsigned depth, seed;
    bool by_hand;
    long leaves;
    std::vector<int> alive;
};

static unsigned next_seed(unsigned seed, unsigned which)
{
    return (seed * 2 + which) * 2654435761u ^ seed >> 7;
}

static void grow(weft *w, void *arg)
{
    node *n = static_cast<node *>(arg);
    CHECK(n->alive.size() == 16 && n->alive[7] == 7);
    n->leaves = 1;
    if (n->depth == 0) {
        if (n->seed % 13 == 0)
            throw n->seed;
        return;
    }
    node left = {n->depth - 1, next_seed(n->seed, 0), n->by_hand, 0, n->alive};
    node right = {n->depth - 1, next_seed(n->seed, 1), n->by_hand, 0, n->alive};
    try {
        if (n->by_hand) {
            weft::fork_guard guard(w, grow, &right);
            grow(guard.context(), &left);
            if (!guard.merge())
                grow(w, &right);
        } else {
            weft_join(w, grow, &left, grow, &right);
        }
        n->leaves = left.leaves + right.leaves;
    } catch (unsigned) {
        if (n->seed % 3)
            throw;
        n->leaves = -1;
    }
    left.alive[7] = right.alive[7] = 0;
}

/* The same tree without forks; -1: it throws, as anything below that nobody catches. */
static long expected(unsigned depth, unsigned seed, bool *throws)
{
    *throws = depth == 0 && seed % 13 == 0;
    if (depth == 0)
        return 1;
    bool left_throws, right_throws;
    long left = expected(depth - 1, next_seed(seed, 0), &left_throws);
    long right = expected(depth - 1, next_seed(seed, 1), &right_throws);
    if (!left_throws && !right_throws)
        return left + right;
    *throws = seed % 3 != 0;
    return -1;
}

static void tree(weft *w, void *)
{
    std::vector<int> numbers(16);
    for (int i = 0; i < 16; i++)
        numbers[static_cast<size_t>(i)] = i;
    for (unsigned i = 0; i < 30; i++) {
        node root = {10, i * 977 + 1, i % 2 == 0, 0, numbers};
        bool has_thrown = false, throws;
        try {
            grow(w, &root);
        } catch (unsigned) {
            has_thrown = true;
        }
        long leaves = expected(root.depth, root.seed, &throws);
        CHECK(has_thrown == throws && (throws || root.leaves == leaves));
    }
}

/* ---- What is explained ---- */

/* Each calls something that is left by an exception, and has a handler that it must not reach. */

static void out_of_run(weft *w, void *)
{
    weft_pool *pool = weft_pool_of(w);
    try {
        CHECK(weft_run(pool, throw_it, nullptr) == 0);
    } catch (...) {
    }
    std::puts("caught");
}

static void out_of_child(weft *w, void *)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, throw_it, nullptr) == 0);
    try {
        CHECK(weft_scope_close(w, &scope) == 0);
    } catch (...) {
    }
    std::puts("caught");
}

static void out_of_loop(weft *w, void *arg)
{
    size_t n = *static_cast<size_t *>(arg);
    try {
        weft_for(
            w, 0, n,
            [](weft *, size_t begin, size_t, void *) {
                if (begin == 0)
                    throw std::runtime_error("body");
            },
            nullptr);
    } catch (...) {
    }
    std::puts("caught");
}

static void out_of_short_loop(weft *w, void *)
{
    size_t n = 1;
    out_of_loop(w, &n);
}

static void out_of_long_loop(weft *w, void *)
{
    size_t n = 1000000;
    out_of_loop(w, &n);
}

static void out_of_sort(weft *w, void *)
{
    std::vector<unsigned> numbers(100000);
    for (size_t i = 0; i < numbers.size(); i++)
        numbers[i] = static_cast<unsigned>(i * 2654435761u);
    try {
        weft_sort(
            w, numbers.data(), numbers.size(), sizeof numbers[0],
            [](const void *a, const void *b, void *) -> int {
                if (*static_cast<const unsigned *>(a) % 1000 == 7)
                    throw std::runtime_error("comparison");
                return *static_cast<const unsigned *>(a) < *static_cast<const unsigned *>(b);
            },
            nullptr);
    } catch (...) {
    }
    std::puts("caught");
}

static void out_of_reduction(weft *w, void *)
{
    static const weft_reducer sum = {
        sizeof(long),
        nullptr,
        [](weft *, size_t, size_t, void *, void *) { throw std::runtime_error("fold"); },
        [](weft *, void *, const void *, void *) {},
        0,
        nullptr,
        nullptr,
        nullptr,
        nullptr};
    long result = 0;
    try {
        weft_reduce(w, 0, 100000, &sum, nullptr, &result);
    } catch (...) {
    }
    std::puts("caught");
}

/* A right side that nobody guards, on another thread. */
static void out_of_taken_fork(weft *w, void *)
{
    side s;
    weft *in = weft_fork(w, start_and_throw, &s);
    wait_until_started(in, &s);
    if (!weft_merge(w))
        std::puts("not taken");
}

/* A fork that nobody guards, left by an exception. */
static void out_of_fork(weft *w, void *arg)
{
    try {
        throw_it(weft_fork(w, nothing, arg), nullptr);
        if (!weft_merge(w))
            nothing(w, arg);
    } catch (...) {
    }
}

static int throw_from_actor(weft *, void *)
{
    throw std::runtime_error("actor");
}

static void out_of_actor(weft *w, void *)
{
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, weft_pool_of(w), throw_from_actor, nullptr, nullptr) == 0);
    weft_actor_run(actor);
    try {
        weft_actor_wait(w, actor);
    } catch (...) {
    }
    std::puts("caught");
}

static const struct test {
    const char *name;
    weft_fn *fn;
} tests[] = {
#define TEST(name)  \
    {               \
#name, name \
    }
    TEST(left_throws),
    TEST(left_throws_and_right_is_taken),
    TEST(right_throws),
    TEST(right_is_taken_and_throws),
    TEST(both_throw),
    TEST(guards),
    TEST(scopes),
    TEST(tree),
    TEST(out_of_run),
    TEST(out_of_child),
    TEST(out_of_short_loop),
    TEST(out_of_long_loop),
    TEST(out_of_sort),
    TEST(out_of_reduction),
    TEST(out_of_taken_fork),
    TEST(out_of_fork),
    TEST(out_of_actor),
    {"out_of_outermost_run", throw_it},
};

int main(int argc, char **argv)
{
    weft_config config = WEFT_CONFIG_INIT;
    weft_pool *pool = nullptr;
    CHECK(argc == 3);
    config.workers = static_cast<unsigned>(std::atoi(argv[2]));
    CHECK(weft_pool_create(&pool, &config) == 0);
    for (const test &t : tests) {
        if (std::strcmp(t.name, argv[1]) != 0)
            continue;
        try {
            CHECK(weft_run(pool, t.fn, &pool) == 0);
        } catch (...) {
            std::puts("caught");
        }
        return weft_pool_destroy(pool) != 0;
    }
    return 2;
}
