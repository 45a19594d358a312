/* SPDX-License-Identifier: MIT */
/* Joins: results of all kinds, exceptions on both sides, whoever runs them, and cancellation. */
#include "check.hpp"

#include <climits>
#include <memory>
#include <stdexcept>
#include <vector>

static long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    auto [left, right] = weft::join(
        w, [=](weft *in) { return fib(in, n - 1); }, [&](weft *in) { return fib(in, n - 2); });
    return left + right;
}

/* The same without a context, which has to be found. */
static long fib_here(long n)
{
    if (n < 2)
        return n;
    auto [left, right] =
        weft::join([=] { return fib_here(n - 1); }, [=] { return fib_here(n - 2); });
    return left + right;
}

static void recursion(weft::pool &pool)
{
    CHECK(pool.run([](weft *w) { return fib(w, 18); }) == 2584);
    CHECK(pool.run([] { return fib_here(14); }) == 377);
    CHECK(fib_here(12) == 144); /* in the default pool */
}

struct no_default {
    int value;
    explicit no_default(int number) : value(number)
    {
    }
};

struct function_object {
    int calls = 0;
    int operator()()
    {
        return ++calls;
    }
};

static int plain(weft *)
{
    return 5;
}

static void results(weft::pool &pool)
{
    pool.run([](weft *w) {
        int number = 3;
        auto moved = weft::join(
            w, [] { return std::make_unique<int>(1); }, [](weft *) { return std::string("two"); });
        static_assert(
            std::is_same_v<decltype(moved), std::pair<std::unique_ptr<int>, std::string>>);
        CHECK(*moved.first == 1 && moved.second == "two");
        auto strange = weft::join(
            w, [] { return no_default(4); }, [&]() -> int & { return number; });
        static_assert(std::is_same_v<decltype(strange), std::pair<no_default, int &>>);
        strange.second = 7;
        CHECK(strange.first.value == 4 && number == 7);
        auto nothing = weft::join(
            w, [] {}, [] { return counted(2); });
        static_assert(std::is_same_v<decltype(nothing), std::pair<std::monostate, counted>>);
        CHECK(nothing.second.value == 2);
        /* What is no rvalue keeps what it has become. */
        function_object left, right;
        weft::join(w, left, right);
        CHECK(left.calls == 1 && right.calls == 1);
        std::vector<int> owned(3, 1);
        auto sizes = weft::join(
            w, [more = owned] { return more.size(); }, [more = owned] { return more.size(); });
        CHECK(sizes.first == 3 && sizes.second == 3);
        CHECK(weft::join(w, plain, plain).second == 5);
    });
    CHECK(*weft::run(pool, [] { return std::make_unique<int>(8); }) == 8);
}

/* Each combination of sides that throw, taken by another thread or not. */
static void exceptions(weft::pool &pool)
{
    bool together = pool.workers() > 1;
    pool.run([=](weft *w) {
        for (int i = 0; i < 8; i++) {
            bool left_throws = i & 1, right_throws = i & 2, taken = i & 4;
            if (taken && !together)
                continue;
            std::atomic<int> started{0}, ended{0};
            int thrown = thrown_by([&] {
                weft::join(
                    w,
                    [&] {
                        if (taken)
                            until(started);
                        if (left_throws)
                            throw oops{1};
                        return counted(1);
                    },
                    [&] {
                        started = 1;
                        for (int k = 0; k < 20; k++)
                            sched_yield();
                        ended = 1;
                        if (right_throws)
                            throw oops{2};
                        return counted(2);
                    });
            });
            CHECK(thrown == (left_throws ? 1 : right_throws ? 2 : 0));
            CHECK(started == ended && (left_throws || ended) && counted::alive == 0);
            CHECK(!weft_cancelled(w) && fib(w, 5) == 5);
        }
    });
    CHECK(thrown_by([&] { pool.run([]() -> int { throw oops{3}; }); }) == 3);
}

/* The left side throws: a right side that another thread has begun is cancelled, with all that it
 * has forked. Who catches the exception may go on. */
static void until_cancelled(weft *w)
{
    while (!weft_cancelled(w))
        sched_yield();
}

static void rest_is_cancelled(weft::pool &pool)
{
    if (pool.workers() == 1)
        return;
    pool.run([](weft *w) {
        for (int way = 0; way < 3; way++) {
            std::atomic<int> started{0}, told{0};
            auto left = [&] {
                until(started);
                throw oops{1};
            };
            auto right = [&](weft *in) {
                weft::join(
                    in,
                    [&](weft *inner) {
                        started = 1;
                        until_cancelled(inner);
                        told++;
                    },
                    [&](weft *inner) { until_cancelled(inner); }); /* skipped, or told as well */
            };
            auto run_left = [](weft *, void *arg) { (*static_cast<decltype(left) *>(arg))(); };
            auto run_right = [](weft *in, void *arg) {
                try {
                    (*static_cast<decltype(right) *>(arg))(in);
                } catch (const weft::cancelled &) {
                }
            };
            int thrown = thrown_by([&] {
                if (way == 0) {
                    weft::join(w, left, right);
                } else if (way == 1) {
                    weft_join(w, run_left, &left, run_right, &right);
                } else {
                    weft::fork_guard guard(w, run_right, &right);
                    left();
                }
            });
            CHECK(thrown == 1 && told == 1);
            CHECK(!weft_cancelled(w) && fib(w, 8) == 21);
        }
    });
}

/* The right side throws on another thread: the left side is cancelled, with all that it has forked
 * and spawned, and the exception of the right side leaves the join, however the left side ends. */
static void left_is_cancelled(weft::pool &pool)
{
    if (pool.workers() == 1)
        return;
    pool.run([](weft *w) {
        for (int way = 0; way < 8; way++) {
            std::atomic<int> started{0}, go{0}, told{0};
            auto left = [&](weft *in) {
                until(started);
                go = 1;
                if (way & 1) /* returns, or is ended by what is not complete in it */
                    until_cancelled(in);
                else
                    weft::in_scope(in, [&](weft::scope &scope) {
                        scope.spawn([&](weft *child) { until_cancelled(child); });
                        until_cancelled(in);
                    });
                told = 1;
            };
            auto right = [&] {
                started = 1;
                until(go);
                throw oops{2};
            };
            auto run_left = [](weft *in, void *arg) { (*static_cast<decltype(left) *>(arg))(in); };
            auto run_right = [](weft *, void *arg) { (*static_cast<decltype(right) *>(arg))(); };
            int thrown = thrown_by([&] {
                if (way < 4) {
                    weft::join(w, left, right);
                } else if (way < 6) {
                    weft_join(w, run_left, &left, run_right, &right);
                } else {
                    weft::fork_guard guard(w, run_right, &right);
                    until(started);
                    go = 1;
                    until_cancelled(guard.context());
                    CHECK(guard.merge());
                }
            });
            CHECK(thrown == 2 && (told == (way & 1) || way >= 6));
            CHECK(!weft_cancelled(w) && fib(w, 8) == 21);
        }
    });
}

/* The left side has a reason of its own: that is thrown. */
static void left_has_a_reason(weft::pool &pool)
{
    if (pool.workers() == 1)
        return;
    pool.run([](weft *w) {
        for (int way = 0; way < 2; way++) {
            std::atomic<int> started{0};
            auto left = [&](weft *in) {
                until(started);
                until_cancelled(in);
                throw oops{1};
            };
            auto right = [&] {
                started = 1;
                throw oops{2};
            };
            auto run_left = [](weft *in, void *arg) { (*static_cast<decltype(left) *>(arg))(in); };
            auto run_right = [](weft *, void *arg) { (*static_cast<decltype(right) *>(arg))(); };
            CHECK(thrown_by([&] {
                      if (way == 0)
                          weft::join(w, left, right);
                      else
                          weft_join(w, run_left, &left, run_right, &right);
                  }) == 1);
            CHECK(!weft_cancelled(w) && fib(w, 8) == 21);
        }
    });
}

/* A result whose move throws: after a stolen right side, that has to go, too. */
struct throws_when_moved {
    static inline std::atomic<bool> armed{false};
    counted inside{1};
    throws_when_moved() = default;
    throws_when_moved(throws_when_moved &&other) : inside(std::move(other.inside))
    {
        if (armed)
            throw oops{4};
    }
};

static void moves_throw(weft::pool &pool)
{
    if (pool.workers() == 1)
        return;
    pool.run([](weft *w) {
        for (bool left : {true, false}) {
            std::atomic<int> started{0};
            auto bad = [] {
                throws_when_moved::armed = true;
                return throws_when_moved();
            };
            auto good = [] { return counted(2); };
            auto join = [&](auto first, auto second) {
                weft::join(
                    w,
                    [&] {
                        until(started);
                        return first();
                    },
                    [&] {
                        started = 1;
                        return second();
                    });
            };
            CHECK(thrown_by([&] { left ? join(bad, good) : join(good, bad); }) == 4);
            CHECK(counted::alive == 0);
            throws_when_moved::armed = false;
        }
    });
}

/* A tree whose leaves throw by chance; each node catches by chance. */
static int tree(weft *w, int depth, unsigned seed)
{
    if (depth == 0) {
        if (seed % 7 == 0)
            throw oops{static_cast<int>(seed % 1000) + 1};
        return 1;
    }
    counted frame(depth);
    try {
        auto [left, right] = weft::join(
            w, [=](weft *in) { return tree(in, depth - 1, seed * 2654435761u + 1); },
            [=](weft *in) { return tree(in, depth - 1, seed * 2246822519u + 5); });
        CHECK(frame.value == depth);
        return left + right;
    } catch (const oops &) {
        CHECK(frame.value == depth);
        if (seed % 3 == 0)
            throw;
        return -1;
    }
}

static void trees(weft::pool &pool)
{
    pool.run([](weft *w) {
        for (unsigned seed = 1; seed < 12; seed++) {
            int first = 0, again = 0;
            int thrown = thrown_by([&] { first = tree(w, 9, seed); });
            CHECK(thrown_by([&] { again = tree(w, 9, seed); }) == thrown && first == again);
        }
    });
}

/* In a computation that has failed, a right side is skipped, and there is no result. The failure
 * arrives where the computation is waited for. */
static void cancellation(weft::pool &pool)
{
    bool skipped = false, ran = false;
    int code = error_of([&] {
        pool.run([&](weft *w) {
            weft_fail(w, -EDOM);
            try {
                weft::join(
                    w, [&] { ran = true; }, [] {});
            } catch (const weft::cancelled &error) {
                CHECK(error.code() == std::errc::operation_canceled);
                skipped = true;
                throw;
            }
        });
    });
    CHECK(code == -EDOM && skipped && ran);
    try {
        pool.run([](weft *w) { weft_fail(w, -ETIMEDOUT); });
        CHECK(false);
    } catch (const std::system_error &error) {
        CHECK(error.code() == std::errc::timed_out);
    }
    /* A code of the program: its text is not lost on the way. */
    for (int own : {-4711, 4711, INT_MIN}) {
        std::string text = weft_strerror(own);
        try {
            pool.run([=](weft *w) { weft_fail(w, own); });
            CHECK(false);
        } catch (const weft::error &error) {
            CHECK(error.value() == own && std::string(error.what()).find(text) == 0);
        }
    }
    /* The first failure counts. */
    CHECK(error_of([&] {
              pool.run([](weft *w) {
                  weft_fail(w, -EDOM);
                  throw oops{1};
              });
          }) == -EDOM);
}

static void pools_in_pools(weft::pool &pool)
{
    weft::pool inner(2);
    CHECK(thrown_by([&] {
              pool.run([&](weft *w) {
                  weft::join(
                      w, [&] { return inner.run([](weft *in) { return fib(in, 10); }); },
                      [&] {
                          inner.run([](weft *in) {
                              weft::join(
                                  in, [] {}, [] { throw oops{6}; });
                          });
                      });
              });
          }) == 6);
    weft::pool moved(std::move(inner));
    CHECK(moved.workers() == 2 && moved.run([] { return 1; }) == 1);
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = WEFT_WORKERS_MAX + 1;
    CHECK(error_of([&] { weft::pool none(config); }) == -EINVAL);
}

static void blocks(weft::pool &pool)
{
    pool.run([](weft *w) {
        weft::blocking outer(w);
        weft::blocking inner;
    });
    weft::blocking outside;
    CHECK(!weft::here() && !weft::is_cancelled());
}

static const test tests[] = {
    {"recursion", recursion},
    {"results", results},
    {"exceptions", exceptions},
    {"trees", trees},
    {"cancellation", cancellation},
    {"pools_in_pools", pools_in_pools},
    {"blocks", blocks},
    {"moves_throw", moves_throw},
    {"rest_is_cancelled", rest_is_cancelled},
    {"left_is_cancelled", left_is_cancelled},
    {"left_has_a_reason", left_has_a_reason},
};

int main()
{
    return run_tests(tests);
}
