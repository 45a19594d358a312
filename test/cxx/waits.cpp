/* SPDX-License-Identifier: MIT */
/* Locks, channels and actors: those that wait. */
#include "check.hpp"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

static void locks(weft::pool &pool)
{
    weft::mutex mutex("counter");
    weft::shared_mutex shared;
    long count = 0, slow = 0;
    pool.run([&](weft *w) {
        weft::for_each_index(w, 0, 1000, [&](int) {
            {
                std::lock_guard<weft::mutex> held(mutex);
                count++;
            }
            std::unique_lock<weft::shared_mutex> writes(shared);
            slow++;
            writes.unlock();
            std::shared_lock<weft::shared_mutex> reads(shared);
            CHECK(slow > 0);
        });
    });
    CHECK(count == 1000 && slow == 1000);
    std::unique_lock<weft::mutex> mine(mutex);
    pool.run([&](weft *w) {
        CHECK(!mutex.try_lock(w) && !mutex.try_lock_until(weft_now(), w));
        CHECK(shared.try_lock_shared() && !shared.try_lock());
        shared.unlock_shared();
        weft_fail(w, -EDOM);
        CHECK(error_of([&] { (void)mutex.try_lock_until(WEFT_FOREVER, w); }) == -ECANCELED);
        weft::in_scope(w, [](weft::scope &) {}); /* throws weft::cancelled, which is no reason */
    });
}

static void lock_tests(weft::pool &pool)
{
    CHECK(error_of([&] { locks(pool); }) == -EDOM);
}

static void conditions(weft::pool &pool)
{
    weft::mutex mutex;
    weft::condition changed;
    weft::semaphore done;
    int turn = 0;
    auto play = [&](int mine) {
        for (int i = 0; i < 50; i++) {
            std::unique_lock<weft::mutex> held(mutex);
            changed.wait(held, [&] { return turn == mine; });
            turn = !mine;
            changed.notify_all();
        }
        done.release();
    };
    std::thread outside(play, 1);
    pool.run([&] { play(0); });
    outside.join();
    done.acquire();
    CHECK(done.try_acquire() && !done.try_acquire() && !done.try_acquire_until(weft_now()));
    std::unique_lock<weft::mutex> held(mutex);
    CHECK(!changed.wait_until(held, weft_now()) && held.owns_lock());
    weft::event event;
    event.from_outside();
    CHECK(!event.is_set() && !event.wait_until(weft_now()));
    event.set();
    event.wait();
    event.reset();
    CHECK(!event.is_set());
}

static void channels(weft::pool &pool)
{
    weft::channel<std::string> words(3);
    weft::channel<int> numbers(3);
    words.from_outside();
    numbers.from_outside();
    std::thread sender([&] {
        for (int i = 0; i < 200; i++)
            CHECK(words.send(std::to_string(i)) && numbers.send(i));
        words.close();
        numbers.close();
    });
    pool.run([&] {
        for (int i = 0; i < 200; i++)
            CHECK(*words.receive() == std::to_string(i) && *numbers.receive() == i);
        CHECK(!words.receive() && !numbers.receive());
    });
    sender.join();
    CHECK(!words.send("closed"));
    weft::channel<counted> left(2); /* with values in it */
    CHECK(left.try_send(counted(1)) && left.try_send(counted(2)) && !left.try_send(counted(3)));
    CHECK(!left.send_until(counted(4), weft_now()) && left.receive()->value == 1);
    CHECK(left.receive_until(weft_now())->value == 2 && !left.try_receive());
    CHECK(left.send(counted(5)));
    CHECK(counted::alive == 1);
}

static void actors(weft::pool &pool)
{
    std::atomic<int> sum{0};
    weft::actor<std::string> adds(pool, [&](weft *w, weft::mailbox<std::string> &mail) {
        for (std::string text; !(text = mail.receive(w)).empty();)
            sum += std::stoi(text);
    });
    for (int i = 0; i < 100; i++)
        CHECK(adds.send(std::to_string(i)));
    CHECK(adds.send(""));
    adds.wait();
    CHECK(sum == 4950 && adds.done() && !adds.send("late"));

    weft::actor<int> small(pool.get(), [&](weft::mailbox<int> &mail) {
        CHECK(mail.receive() == -7 && !mail.receive_until(weft_now()));
    });
    CHECK(small.send(-7));
    small.wait();

    weft::actor<> throws(pool, [](weft *w) {
        weft::join(
            w, [] { return counted(1); },
            []() -> int {
                counted frame(2);
                throw oops{6};
            });
    });
    throws.run();
    CHECK(thrown_by([&] { throws.wait(); }) == 6);

    weft::actor<> returns(pool, [] { return -EDOM; });
    returns.run();
    CHECK(error_of([&] { returns.wait(); }) == -EDOM);

    weft::actor<counted> busy(pool, [](weft *w) { weft_sleep_until(w, WEFT_FOREVER); });
    CHECK(busy.send(counted(3)) && busy.try_send(counted(4)));
    CHECK(counted::alive == 2);
    weft::actor<counted> moved(std::move(busy));
    moved.kill();
    CHECK(error_of([&] { moved.wait(); }) == -ECANCELED && counted::alive == 0);
    weft::actor<counted> never(pool, [kept = counted(1)] {});
    weft::actor<> killed(pool, [](weft *w) { weft_sleep_until(w, WEFT_FOREVER); });
    killed.run();
}

/* Parts of an actor that others run throw, in loops and scopes. */
static void actors_in_parallel(weft::pool &pool)
{
    for (int round = 0; round < 5; round++) {
        weft::actor<> one(pool, [](weft *w) {
            for (int i = 0; i < 10; i++) {
                CHECK(thrown_by([&] {
                          weft::for_each_index(w, 0, 2000, [&](weft *in, int k) {
                              weft_poll(in);
                              if (k == 1234)
                                  throw oops{1};
                          });
                      }) == 1);
                CHECK(thrown_by([&] {
                          weft::in_scope(w, [](weft::scope &scope) {
                              for (int k = 0; k < 20; k++)
                                  scope.spawn([kept = counted(k)](weft *in) {
                                      weft_poll(in);
                                      throw oops{2};
                                  });
                          });
                      }) == 2);
                std::vector<std::string> text;
                for (int k = 0; k < 2000; k++)
                    text.push_back(std::to_string(k * 7919 % 2003));
                weft::sort(w, text);
                CHECK(std::is_sorted(text.begin(), text.end()));
            }
            throw oops{3};
        });
        one.run();
        CHECK(thrown_by([&] { one.wait(); }) == 3);
    }
    std::atomic<int> over{0};
    weft::actor<> alone(pool, [&over, kept = counted(1)] { over = 1; });
    alone.run();
    alone.detach();
    until(over);
    while (counted::alive)
        sched_yield();
}

/* Plain data, but not to be copied. */
struct only_moved {
    int value;
    explicit only_moved(int number) : value(number)
    {
    }
    only_moved(only_moved &&) = default;
    only_moved &operator=(only_moved &&) = default;
    only_moved *operator&() = delete;
};

struct never_moved {
    counted inside;
    explicit never_moved(int number) : inside(number)
    {
    }
    never_moved(never_moved &&other) : inside(std::move(other.inside))
    {
        throw oops{1};
    }
};

static void strange_messages(weft::pool &pool)
{
    weft::channel<only_moved> channel(2);
    channel.send(only_moved(4));
    CHECK(channel.receive()->value == 4);
    weft::actor<only_moved> actor(
        pool, [](weft::mailbox<only_moved> &mail) { return mail.receive().value - 4; });
    actor.send(only_moved(4));
    actor.wait();
    weft::channel<never_moved> full(2); /* what is left in it is dropped without a move */
    full.send(1);
    full.send(2);
}

/* By two threads, and again: each gets the exception. */
static void actors_are_waited_for(weft::pool &pool)
{
    weft::actor<> actor(pool, [] { throw oops{3}; });
    auto wait = [&] { return thrown_by([&] { actor.wait(); }); };
    weft::task<int> other = weft::submit(wait);
    actor.run();
    CHECK(wait() == 3 && other.get() == 3 && wait() == 3);
}

static const test tests[] = {
    {"strange_messages", strange_messages},
    {"actors_are_waited_for", actors_are_waited_for},
    {"locks", lock_tests},
    {"conditions", conditions},
    {"channels", channels},
    {"actors", actors},
    {"actors_in_parallel", actors_in_parallel},
};

int main()
{
    return run_tests(tests);
}
