/* SPDX-License-Identifier: MIT */
/* Coroutines: tasks are awaited, by weft::co and by another kind of coroutine. */
#include "check.hpp"

#if defined __cpp_impl_coroutine
#include <coroutine>
#include <thread>
#include <vector>

static weft::co<int> leaf(weft::pool &pool, int n)
{
    auto task = pool.submit([n, kept = std::make_unique<int>(1)](weft *w) {
        return weft::join(
            w, [n] { return n; }, [&] { return *kept; });
    });
    auto [left, right] = co_await task;
    CHECK(weft::here());
    co_return left + right;
}

static weft::co<std::string> sum(weft::pool &pool, int n)
{
    counted frame(n);
    int all = 0;
    for (int i = 0; i < n; i++)
        all += co_await leaf(pool, i);
    co_return std::to_string(all);
}

static weft::co<std::pair<int, std::string>> in_braces()
{
    co_return {1, "x"};
}

static void values(weft::pool &pool)
{
    CHECK(in_braces().get(pool).second == "x");
    CHECK(sum(pool, 100).get(pool) == "5050");
    CHECK(sum(pool, 10).get() == "55"); /* begins in the default pool */
    CHECK(pool.run([&] { return sum(pool, 20).get(pool); }) == "210");
    weft::co<std::string> never = sum(pool, 3);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] { CHECK(sum(pool, 30).get(pool) == "465"); });
    for (std::thread &thread : threads)
        thread.join();
}

static weft::co<> fails(weft::pool &pool, bool caught)
{
    counted frame(1);
    co_await weft::resume_in(pool);
    CHECK(weft::here());
    bool was_caught = false;
    try {
        co_await pool.submit([] { throw oops{1}; });
    } catch (const oops &) {
        was_caught = true;
    }
    CHECK(was_caught);
    if (!caught)
        co_await pool.submit([](weft *w) { weft_fail(w, -EDOM); });
    throw oops{2};
}

static weft::co<int> awaits(weft::pool &pool, bool caught)
{
    co_await fails(pool, caught);
    co_return 1;
}

static void failures(weft::pool &pool)
{
    CHECK(thrown_by([&] { awaits(pool, true).get(pool); }) == 2);
    CHECK(error_of([&] { awaits(pool, false).get(pool); }) == -EDOM);
}

/* A task is cancelled while a coroutine awaits it, before it has begun or later. */
static weft::co<int> cancelled(weft::pool &pool, weft::task<int> &task)
{
    co_await weft::resume_in(pool);
    try {
        co_return co_await task;
    } catch (const weft::cancelled &) {
        co_return -1;
    }
}

static void cancellation(weft::pool &pool)
{
    for (int round = 0; round < 20; round++) {
        std::atomic<int> begun{0};
        auto task = pool.submit([&](weft *w) -> int {
            begun = 1;
            while (!weft_cancelled(w))
                sched_yield();
            throw weft::cancelled();
        });
        std::thread other([&] {
            if (round % 2 && pool.workers() > 1)
                until(begun);
            task.cancel();
        });
        CHECK(cancelled(pool, task).get(weft_pool_default()) == -1);
        other.join();
    }
}

/* Any other kind of coroutine: this one begins at once, and nobody waits for it. */
struct fire {
    struct promise_type {
        fire get_return_object()
        {
            return {};
        }
        std::suspend_never initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };
};

static fire outlives(weft_pool *pool, std::atomic<int> &over)
{
    counted frame(1);
    auto task = weft::submit(pool, [] { return 2; });
    CHECK(co_await std::move(task) == 2);
    over++;
}

static void any_kind(weft::pool &pool)
{
    for (int round = 0; round < 20; round++) {
        std::atomic<int> over{0};
        outlives(pool.get(), over);
        until(over);
        while (counted::alive)
            sched_yield();
        over = 0;
        {
            weft::pool gone(1); /* destroyed while the coroutine waits */
            outlives(gone.get(), over);
        }
        until(over);
        while (counted::alive)
            sched_yield();
    }
}

/* Begins at once, and is gone at its end; or destroyed before, by its handle. */
struct owned {
    struct promise_type {
        owned get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };
    std::coroutine_handle<promise_type> coroutine;
};

static owned awaits(weft::task<int> &task, std::atomic<int> &result)
{
    counted frame(1);
    result = co_await task;
}

static owned awaits_its_own(weft::pool &pool, std::atomic<int> &started, std::atomic<int> &result)
{
    counted frame(1);
    auto until_cancelled = [&](weft *w) {
        started = 1;
        while (!weft_cancelled(w))
            sched_yield();
        return 1;
    };
    result = co_await pool.submit(until_cancelled);
}

/* A coroutine that is gone is not resumed; the task can be awaited by another. */
static void destroyed_meanwhile(weft::pool &pool)
{
    std::atomic<int> may_end{0}, started{0}, result{0};
    auto task = pool.submit([&] {
        until(may_end);
        return 3;
    });
    awaits(task, result).coroutine.destroy();
    CHECK(counted::alive == 0);
    awaits(task, result);
    may_end = 1;
    until(result);
    CHECK(result == 3);
    while (counted::alive)
        sched_yield();
    result = 0;
    owned third = awaits_its_own(pool, started, result);
    until(started);
    third.coroutine.destroy();
    CHECK(result == 0 && counted::alive == 0);
}

static weft::co<int &> refers(int &number)
{
    co_return number;
}

static weft::co<int> deep(int n)
{
    if (n == 0)
        co_return 0;
    co_return 1 + co_await deep(n - 1);
}

static void once(weft::pool &pool)
{
    int number = 1;
    CHECK(&refers(number).get(pool) == &number && deep(1000).get(pool) == 1000);
    weft::co<int> first = deep(1);
    weft::co<int> second(std::move(first));
    CHECK(error_of([&] { first.get(pool); }) == -EINVAL);
    CHECK(second.get(pool) == 1);
    CHECK(error_of([&] { second.get(pool); }) == -EINVAL);
}

static const test tests[] = {
    {"destroyed_meanwhile", destroyed_meanwhile},
    {"once", once},
    {"values", values},
    {"failures", failures},
    {"cancellation", cancellation},
    {"any_kind", any_kind},
};

int main()
{
    return run_tests(tests);
}
#else
int main()
{
    return 77;
}
#endif
