/* SPDX-License-Identifier: MIT */
/* Actors that wait inside of a catch block, or while an exception is on its way: what the C++
 * library knows of exceptions goes with their stacks. */
#include "check.hpp"

#include <memory>
#include <vector>

/* What the innermost catch block has caught. */
static int caught_here()
{
    return thrown_by([] { throw; });
}

/* Actors in a ring, all in a catch block, pass a token on: each round switches between all of them.
 * In between, each throws and catches more. */
enum { RING = 5, ROUNDS = 40 };
using ring = std::vector<std::unique_ptr<weft::actor<int>>>;

static void in_the_ring(weft *w, weft::mailbox<int> &mail, const ring &all, int me)
{
    CHECK(!std::current_exception() && std::uncaught_exceptions() == 0);
    try {
        throw oops{me};
    } catch (const oops &mine) {
        for (int i = 0; i < ROUNDS; i++) {
            int token = mail.receive(w);
            CHECK(mine.value == me && caught_here() == me);
            try {
                throw oops{me + 100 + i};
            } catch (const oops &inner) {
                all[static_cast<size_t>(me + 1) % RING]->send(token + 1);
                weft_poll(w);
                CHECK(inner.value == me + 100 + i && caught_here() == inner.value);
            }
            CHECK(caught_here() == me);
        }
    }
    CHECK(!std::current_exception());
}

static void handlers_wait(weft::pool &pool)
{
    ring all;
    for (int i = 0; i < RING; i++)
        all.push_back(std::make_unique<weft::actor<int>>(
            pool, [&all, i](weft *w, weft::mailbox<int> &mail) { in_the_ring(w, mail, all, i); }));
    for (auto &one : all)
        one->run();
    all[0]->send(0);
    for (auto &one : all)
        one->wait();
}

/* The same in a destructor, while an exception passes. */
struct waits_when_destroyed {
    weft *w;
    weft::mailbox<int> &mail;
    weft::actor<int> *other;
    ~waits_when_destroyed()
    {
        for (int i = 0; i < ROUNDS; i++) {
            CHECK(std::uncaught_exceptions() == 1);
            other->send(i);
            CHECK(mail.receive(w) == i);
        }
        CHECK(std::uncaught_exceptions() == 1);
    }
};

static void destructors_wait(weft::pool &pool)
{
    weft::actor<int> *first = nullptr;
    weft::actor<int> echo(pool, [&](weft *w, weft::mailbox<int> &mail) {
        for (int i = 0; i < ROUNDS; i++) {
            int message = mail.receive(w);
            CHECK(std::uncaught_exceptions() == 0 && !std::current_exception());
            first->send(message);
        }
    });
    weft::actor<int> passes(pool, [&](weft *w, weft::mailbox<int> &mail) {
        CHECK(thrown_by([&] {
                  waits_when_destroyed late{w, mail, &echo};
                  throw oops{7};
              }) == 7);
        CHECK(std::uncaught_exceptions() == 0);
    });
    first = &passes;
    echo.run();
    passes.run();
    passes.wait();
    echo.wait();
}

/* An actor ends in a catch block: nothing of that is left on its thread, nor on its stack. */
static void killed_in_handlers(weft::pool &pool)
{
    for (int i = 0; i < 10; i++) {
        std::atomic<int> waits{0};
        {
            weft::actor<> killed(pool, [&](weft *w) {
                CHECK(!std::current_exception());
                try {
                    throw oops{1};
                } catch (const oops &) {
                    waits = 1;
                    weft_sleep_until(w, WEFT_FOREVER);
                }
            });
            killed.run();
            until(waits);
        } /* the destructor kills it */
        pool.run([] { CHECK(!std::current_exception()); });
        weft::actor<> next(pool, [] { CHECK(!std::current_exception()); });
        next.run();
        next.wait();
    }
}

/* Both sides of forks in a catch block throw and catch, whoever runs them. */
static int tree(weft *w, int depth)
{
    try {
        throw oops{depth};
    } catch (const oops &mine) {
        int sum = 1;
        if (depth > 0) {
            auto [left, right] = weft::join(
                w, [=](weft *in) { return tree(in, depth - 1); },
                [=](weft *in) { return tree(in, depth - 1); });
            sum += left + right;
        }
        CHECK(mine.value == depth && caught_here() == depth);
        return sum;
    }
}

static void forks_in_handlers(weft::pool &pool)
{
    std::vector<std::unique_ptr<weft::actor<>>> all;
    for (int i = 0; i < 4; i++)
        all.push_back(
            std::make_unique<weft::actor<>>(pool, [](weft *w) { CHECK(tree(w, 10) == 2047); }));
    for (auto &one : all)
        one->run();
    for (auto &one : all)
        one->wait();
    CHECK(pool.run([](weft *w) { return tree(w, 10); }) == 2047);
}

static const test tests[] = {
    {"handlers_wait", handlers_wait},
    {"destructors_wait", destructors_wait},
    {"killed_in_handlers", killed_in_handlers},
    {"forks_in_handlers", forks_in_handlers},
};

int main()
{
    return run_tests(tests);
}
