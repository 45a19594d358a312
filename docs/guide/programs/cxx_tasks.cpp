/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <mutex>
#include <vector>
#include <weft.hpp>

// [scope]
static int sum_of_squares(weft *w, const std::vector<int> &numbers)
{
    weft::mutex mutex;
    int sum = 0;
    weft::in_scope(w, [&](weft::scope &scope) {
        for (int number : numbers)
            scope.spawn([&, number] { // moved into the child, destroyed with it
                std::lock_guard<weft::mutex> lock(mutex);
                sum += number * number;
            });
    }); // all children are over; what one has thrown is thrown here
    return sum;
}
// [end]

int main()
{
    // [task]
    weft::task<int> task = weft::submit([](weft *w) { return sum_of_squares(w, {1, 2, 3, 4}); });
    std::printf("meanwhile\n");
    std::printf("%d\n", task.get()); // or throws what the task has thrown
    // [end]

    // [actor]
    weft::actor<int> adder(nullptr, [](weft *w, weft::mailbox<int> &mail) {
        int sum = 0;
        for (int n = mail.receive(w); n != 0; n = mail.receive(w))
            sum += n;
        std::printf("%d\n", sum);
    });
    adder.run();
    for (int n = 10; n >= 0; n--)
        adder.send(n);
    adder.wait();
    // [end]
}
