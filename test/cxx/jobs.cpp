/* SPDX-License-Identifier: MIT */
/* Scopes, tasks and graphs: captures, exceptions, and that nothing started is left running. */
#include "check.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

struct sometimes_copied {
    bool throws;
    counted kept{1};
    explicit sometimes_copied(bool t) : throws(t)
    {
    }
    sometimes_copied(const sometimes_copied &other) : throws(other.throws), kept(other.kept)
    {
        if (throws)
            throw oops{9};
    }
    void operator()() const
    {
    }
};

static void children(weft::pool &pool)
{
    pool.run([](weft *w) {
        std::atomic<int> sum{0};
        int made = weft::in_scope(w, [&](weft::scope &scope, weft *in) {
            for (int i = 0; i < 50; i++) {
                scope.spawn(in, [&sum, i] { sum += i; });
                scope.spawn([&sum, one = std::make_unique<int>(i)](weft *) { sum += *one; });
                scope.spawn([&, i] { scope.spawn([&sum, i] { sum += i; }); });
            }
            return 5;
        });
        CHECK(sum == 3 * 1225 && made == 5);
        std::array<char, 200> large{};
        large[199] = 7;
        weft::scope scope(w);
        scope.spawn([&sum, large] { sum = large[199]; });
        scope.close();
        CHECK(sum == 7);
    });
    CHECK(weft::in_scope([](weft::scope &) { return 2; }) == 2); /* outside */
}

static void children_throw(weft::pool &pool)
{
    pool.run([](weft *w) {
        for (int round = 0; round < 20; round++) {
            std::atomic<int> running{0}, begun{0};
            int thrown = thrown_by([&] {
                weft::in_scope(w, [&](weft::scope &scope) {
                    for (int i = 0; i < 200; i++)
                        scope.spawn([&, i, kept = counted(i)] {
                            begun++;
                            running++;
                            counted frame(kept);
                            running--;
                            if (i == 20)
                                throw oops{1};
                        });
                });
            });
            CHECK(thrown == 1 && running == 0 && counted::alive == 0 && begun > 0);
            CHECK(!weft_cancelled(w));
        }
        /* The function itself throws: children are cancelled, and waited for. */
        CHECK(thrown_by([&] {
                  weft::in_scope(w, [&](weft::scope &scope) {
                      scope.spawn([kept = counted(1)](weft *in) {
                          while (!weft_cancelled(in))
                              sched_yield();
                      });
                      throw oops{2};
                  });
              }) == 2);
        CHECK(thrown_by([&] {
                  weft::scope left(w);
                  left.spawn([kept = counted(1)] {});
                  throw oops{3};
              }) == 3);
        CHECK(counted::alive == 0);
        CHECK(thrown_by([&] {
                  weft::in_scope(w,
                                 [&](weft::scope &scope) { scope.spawn(sometimes_copied(false)); });
                  weft::in_scope(w, [&](weft::scope &scope) {
                      sometimes_copied never(true);
                      scope.spawn(never);
                  });
              }) == 9);
        CHECK(error_of([&] {
                  weft::in_scope(w, [&](weft::scope &scope) {
                      scope.deadline(weft_now());
                      while (!weft::is_cancelled())
                          sched_yield();
                  });
              }) == -ETIMEDOUT);
        CHECK(error_of([&] {
                  weft::in_scope(w, [&](weft::scope &scope) {
                      scope.spawn([](weft *in) { weft_fail(in, -EDOM); });
                  });
              }) == -EDOM);
        CHECK(!weft_cancelled(w));
    });
}

static void tasks(weft::pool &pool)
{
    auto number = pool.submit([kept = std::make_unique<int>(4)](weft *w) {
        return weft::join(
                   w, [&] { return *kept; }, [] { return 1; })
            .first;
    });
    static_assert(std::is_same_v<decltype(number), weft::task<int>>);
    number.wait();
    CHECK(number.done() && number.valid() && number.get() == 4 && !number.valid());
    CHECK(error_of([&] { number.get(); }) == -EINVAL);
    weft::task<std::unique_ptr<int>> owned = weft::submit([] { return std::make_unique<int>(1); });
    CHECK(*owned.get() == 1);
    int referred = 0;
    auto reference = weft::submit(pool, [&]() -> int & { return referred; });
    reference.get() = 3;
    CHECK(referred == 3);
    CHECK(thrown_by([&] { pool.submit([] { throw oops{4}; }).get(); }) == 4);
    CHECK(error_of([&] { pool.submit([](weft *w) { weft_fail(w, -EDOM); }).get(); }) == -EDOM);
    CHECK(pool.submit([] {}).wait_until(WEFT_FOREVER));
    std::atomic<int> go{0};
    auto slow = pool.submit([&] { until(go); });
    CHECK(!slow.wait_until(weft_now()) && !slow.wait_for(std::chrono::nanoseconds(1)));
    go = 1;
    slow.get();
    /* From a job, and dropped in a job. */
    pool.run([&] {
        CHECK(pool.submit([] { return 6; }).get() == 6);
        auto dropped = pool.submit([kept = counted(1)] {});
    });
    weft::event over("a detached task is over");
    over.from_outside();
    weft::submit_detached(pool, [&over, kept = std::make_unique<int>(1)] { over.set(); });
    over.wait();
}

static void tasks_are_cancelled(weft::pool &pool)
{
    for (int round = 0; round < 20; round++) {
        std::atomic<int> begun{0}, ended{0};
        auto endless = [&](weft *w) {
            begun = 1;
            counted frame(1);
            while (!weft_cancelled(w))
                sched_yield();
            ended = 1;
        };
        auto task = pool.submit(endless);
        if (round % 2)
            until(begun);
        task.cancel();
        CHECK(error_of([&] { task.get(); }) == -ECANCELED && begun == ended);
        begun = ended = 0;
        { /* a task that is dropped */
            auto dropped = pool.submit(endless);
            if (round % 2)
                until(begun);
        }
        CHECK(begun == ended);
        auto assigned = pool.submit(endless);
        assigned = pool.submit([](weft *) {});
        assigned.get();
    }
}

static void graphs(weft::pool &pool)
{
    weft::graph graph;
    std::atomic<int> step{0};
    int rounds = 0;
    bool throws = false;
    int first = graph.add([&] { step = 1; }, "first");
    int second = graph.add(
        [&, kept = std::make_unique<int>(2)](weft *w) {
            CHECK(step == 1 && w);
            step = *kept;
            if (throws)
                throw oops{5};
        },
        "second");
    int third = graph.add_condition([&] { return ++rounds < 3 ? 0 : 1; }, "again?");
    int last = graph.add([&] { step = 9; }, "last");
    graph.edge(first, second);
    graph.edge(second, third);
    graph.edge(third, first);
    graph.edge(third, last);
    CHECK(error_of([&] { graph.edge(0, 77); }) == -EINVAL);
    weft::graph sound;
    int one = sound.add([&] { step = 1; }), two = sound.add([&] {
        if (throws)
            throw oops{5};
        step = 2;
    });
    int three = sound.add([&] { step = 3; });
    sound.edge(one, two);
    sound.edge(two, three);
    pool.run([&](weft *w) {
        sound.run(w);
        CHECK(step == 3);
        throws = true;
        CHECK(thrown_by([&] { sound.run(w); }) == 5 && step == 1);
        throws = false;
        sound.run(w);
        CHECK(step == 3 && !weft_cancelled(w));
    });
    sound.run();
}

static void references(weft::pool &pool)
{
    int number = 1;
    pool.run([&](weft *w) {
        weft::in_scope(w, [&](weft::scope &) -> int & { return number; })++;
        weft::in_scope([&](weft::scope &) -> int & { return number; })++;
    });
    weft::submit(pool.get(), [&]() -> int & { return number; }).get()++;
    CHECK(number == 4);
    std::atomic<int> ran{0};
    weft::submit_detached(pool.get(), [&] { ran = 1; });
    until(ran);
}

/* A second run is refused, and the first does not notice. */
static void a_graph_is_busy(weft::pool &pool)
{
    if (pool.workers() == 1)
        return;
    weft::graph graph;
    std::atomic<int> started{0}, may_end{0};
    graph.add([&] {
        started = 1;
        until(may_end);
        throw oops{4};
    });
    auto first = pool.submit([&](weft *w) { return thrown_by([&] { graph.run(w); }); });
    until(started);
    CHECK(error_of([&] { pool.run([&](weft *w) { graph.run(w); }); }) == -EBUSY);
    may_end = 1;
    CHECK(first.get() == 4);
}

/* C has no exceptions: a failure is a code. */
static void c_runs_a_graph(weft::pool &pool)
{
    weft::graph graph;
    std::atomic<int> ran{0};
    bool throws = false;
    int first = graph.add([&] {
        ran++;
        if (throws)
            throw oops{1};
    });
    graph.edge(first, graph.add_condition([&] {
        ran++;
        return 7;
    }));
    pool.run([&](weft *w) {
        CHECK(weft_graph_run(w, graph.get()) == 0 && ran == 2);
        throws = true;
        CHECK(weft_graph_run(w, graph.get()) < 0 && ran == 3);
        CHECK(thrown_by([&] { graph.run(w); }) == 1 && ran == 4);
        throws = false;
        graph.run(w);
        CHECK(ran == 6 && !weft_cancelled(w));
    });
}

static const test tests[] = {
    {"c_runs_a_graph", c_runs_a_graph},           {"references", references},
    {"a_graph_is_busy", a_graph_is_busy},         {"children", children},
    {"children_throw", children_throw},           {"tasks", tasks},
    {"tasks_are_cancelled", tasks_are_cancelled}, {"graphs", graphs},
};

int main()
{
    return run_tests(tests);
}
