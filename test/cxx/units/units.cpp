/* SPDX-License-Identifier: MIT */
/* Files that include weft.hpp make up one program, also if they are compiled with different
 * options. */
#include "units.hpp"

/* The right side is skipped: there is no result. */
static void fail_here(weft *w, void *)
{
    weft_fail(w, -EDOM);
    skip_me left, right;
    CHECK(error_of([&] { weft::join(w, left, right); }) == -ECANCELED);
}

struct thrower {
    bool operator()(int, int) const
    {
        throw oops{1};
    }
};

void use_with_exceptions(weft_pool *pool)
{
    use_all<0>(pool);
    CHECK(weft_run(pool, fail_here, nullptr) == -EDOM);
    CHECK(thrown_by(
              [&] { weft::run(pool, [](weft *w) { weft::sort(w, numbers(), thrower()); }); }) == 1);
}

int main()
{
    weft::pool pool(2);
    for (int i = 0; i < 3; i++) {
        use_with_exceptions(pool.get());
        use_without_exceptions(pool.get());
        use_without_rtti(pool.get());
    }
    std::printf("3 files\n");
}
