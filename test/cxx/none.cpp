/* SPDX-License-Identifier: MIT */
/* Without exceptions: the same functions, and failures as in C. */
#include "check.hpp"

#include <numeric>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static void works(weft::pool &pool)
{
    long sum = pool.run([](weft *w) {
        auto [left, right] = weft::join(
            w, [] { return 1; }, [] { return std::string("two"); });
        std::vector<int> numbers(10000);
        weft::for_each_index(w, 0, 10000,
                             [&](int i) { numbers[static_cast<std::size_t>(i)] = 10000 - i; });
        weft::sort(w, numbers, [](int a, int b) { return a < b; });
        std::vector<std::string> text;
        for (int number : numbers)
            text.push_back(std::to_string(number));
        weft::stable_sort(w, text);
        CHECK(numbers[0] == 1 && text[1] == "10" && right == "two");
        std::atomic<int> children{0};
        weft::in_scope(w, [&](weft::scope &scope) {
            scope.spawn([&] { children++; });
            scope.spawn([&, kept = counted(1)] { children += kept.value; });
        });
        CHECK(children == 2);
        weft::inclusive_scan(w, numbers, numbers.begin());
        return left + weft::reduce(w, numbers, 0L) * 0;
    });
    CHECK(sum == 1);
    CHECK(pool.submit([] { return 4; }).get() == 4);
    weft::channel<std::string> words(1);
    CHECK(words.send("one") && *words.receive() == "one");
    weft::actor<int> actor(pool, [](weft::mailbox<int> &mail) { CHECK(mail.receive() == 3); });
    CHECK(actor.send(3));
    actor.wait();
}

/* What fails in a scope fails the computation around. A side that is skipped has an empty result.
 */
static void failing(weft *w, void *)
{
    weft::scope scope(w);
    scope.spawn([](weft *in) { weft_fail(in, -EDOM); });
    scope.close();
    CHECK(weft_cancelled(w));
    auto [left, right] = weft::join(
        w, [] { return 1; }, [] { return std::string("skipped"); });
    CHECK(left == 1 && right.empty());
    weft::for_each_index(w, 0, 10, [](int) {});
}

static void fails(weft::pool &pool)
{
    CHECK(weft_run(pool.get(), failing, nullptr) == -EDOM);
}

/* Outside, there is nothing around. */
static void ends(weft::pool &)
{
    pid_t child = fork();
    if (child == 0) {
        CHECK(std::freopen("/dev/null", "w", stderr));
        weft::pool own(1);
        own.run([](weft *w) { weft_fail(w, -EDOM); });
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
}

static const test tests[] = {{"works", works}, {"fails", fails}, {"ends", ends}};

int main()
{
    return run_tests(tests);
}
