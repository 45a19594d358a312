/* SPDX-License-Identifier: MIT */
/* units.hpp: what each file of the program does. The same names in all files: if the linker took
 * one for the other, a file would get code that was compiled with other options. */
#ifndef TEST_CXX_UNITS_HPP
#define TEST_CXX_UNITS_HPP

#include "../check.hpp"

#include <vector>

struct by_value {
    bool operator()(int a, int b) const
    {
        return a < b;
    }
};

struct skip_me {
    int operator()() const
    {
        return 1;
    }
};

/* No lambdas: all of these are the same for the linker. What a file has compiled is what it gets.
 */
inline std::vector<int> &numbers()
{
    static std::vector<int> all;
    return all;
}

template <int file> void use_all(weft_pool *pool)
{
    struct job {
        static void run(weft *w, void *)
        {
            std::vector<int> &all = numbers();
            all.assign(5000, file);
            for (std::size_t i = 0; i < all.size(); i++)
                all[i] = static_cast<int>((i * 7919) % 5000);
            weft::sort(w, all, by_value());
            CHECK(all[0] == 0 && all[4999] == 4999);
            CHECK(weft::reduce(w, all, 0L) == 12497500);
            skip_me left, right;
            auto both = weft::join(w, left, right);
            CHECK(both.first + both.second == 2);
            weft::mutex mutex;
            mutex.lock(w);
            mutex.unlock(w);
            weft::channel<int> channel(1);
            CHECK(channel.send(3, w) && *channel.receive(w) == 3);
        }
    };
    CHECK(weft_run(pool, job::run, nullptr) == 0);
    weft::task<int> task = weft::submit(pool, skip_me());
    CHECK(task.get() == 1);
}

void use_with_exceptions(weft_pool *pool);
void use_without_exceptions(weft_pool *pool);
void use_without_rtti(weft_pool *pool);

#endif
