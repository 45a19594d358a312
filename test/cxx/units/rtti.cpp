/* SPDX-License-Identifier: MIT */
/* Compiled with -fno-rtti. */
#include "units.hpp"

void use_without_rtti(weft_pool *pool)
{
    use_all<2>(pool);
    weft::task<int> task = weft::submit(pool, []() -> int { throw oops{2}; });
    CHECK(thrown_by([&] { task.get(); }) == 2);
}
