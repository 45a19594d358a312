/* SPDX-License-Identifier: MIT */
/* Compiled with -fno-exceptions. */
#include "units.hpp"

/* The right side is skipped: its result is a value, not an exception. */
static void fail_here(weft *w, void *)
{
    weft_fail(w, -EDOM);
    skip_me left, right;
    auto both = weft::join(w, left, right);
    CHECK(both.first == 1 && both.second == 0);
}

void use_without_exceptions(weft_pool *pool)
{
    use_all<1>(pool);
    CHECK(weft_run(pool, fail_here, nullptr) == -EDOM);
}
