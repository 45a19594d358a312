/* SPDX-License-Identifier: MIT */
/* parallel_find.c: searches find what a sequential program finds, and then stop. */
#include "property.h"
#include "weft/parallel.h"

#include <stdlib.h>

struct haystack {
    const bool *is_needle; /* of element `begin` first */
    size_t begin;
    bool slow;
};

static size_t first_needle(weft *w, size_t begin, size_t end, void *arg)
{
    const struct haystack *hay = arg;
    for (size_t i = begin; i < end; i++) {
        if (hay->is_needle[i - hay->begin])
            return i;
        if (hay->slow)
            dawdle(i);
    }
    return end;
}

static size_t last_needle(weft *w, size_t begin, size_t end, void *arg)
{
    const struct haystack *hay = arg;
    for (size_t i = end; i > begin; i--) {
        if (hay->is_needle[i - 1 - hay->begin])
            return i - 1;
        if (hay->slow)
            dawdle(i);
    }
    return end;
}

static bool any_needle(weft *w, size_t begin, size_t end, void *arg)
{
    return first_needle(w, begin, end, arg) < end;
}

static bool all_needles(weft *w, size_t begin, size_t end, void *arg)
{
    const struct haystack *hay = arg;
    bool all = true;
    for (size_t i = begin; i < end; i++)
        all = all && hay->is_needle[i - hay->begin];
    return all;
}

static size_t count_needles(weft *w, size_t begin, size_t end, void *arg)
{
    const struct haystack *hay = arg;
    size_t found = 0;
    for (size_t i = begin; i < end; i++)
        found += hay->is_needle[i - hay->begin];
    return found;
}

static void finds(weft *w, struct dice *dice)
{
    bool slow = dice_below(dice, 2);
    size_t n = dice_size(dice, slow ? 10000 : 100000), needles = dice_size(dice, 20), count = 0;
    bool *is_needle = calloc(n + 1, sizeof is_needle[0]), full = dice_below(dice, 8) == 0;
    HOLDS(is_needle);
    for (size_t i = 0; i < n; i++)
        is_needle[i] = full;
    for (size_t i = 0; n > 0 && i < needles; i++)
        is_needle[dice_below(dice, n)] = true;
    struct haystack hay = {is_needle, dice_below(dice, 2) ? SIZE_MAX - n : 5, slow};
    size_t begin = hay.begin, end = begin + n, first = end, last = end;
    for (size_t i = n; i-- > 0;)
        if (is_needle[i]) {
            first = begin + i;
            last = last == end ? first : last;
            count++;
        }
    HOLDS(weft_find_first(w, begin, end, first_needle, &hay) == first);
    HOLDS(weft_find_last(w, begin, end, last_needle, &hay) == last);
    size_t any = weft_find_any(w, begin, end, first_needle, &hay);
    HOLDS(count ? is_needle[any - begin] : any == end);
    HOLDS(weft_any(w, begin, end, any_needle, &hay) == (count > 0));
    HOLDS(weft_all(w, begin, end, all_needles, &hay) == (count == n));
    HOLDS(weft_count(w, begin, end, count_needles, &hay) == count);
    free(is_needle);
}

static void searches_find(void **state)
{
    property_holds(finds, SCALED(150, 5));
}

/* ---- Searches without end ---- */

static size_t from_here_on(weft *w, size_t begin, size_t end, void *arg)
{
    size_t at = *(size_t *)arg;
    for (int i = 0; i < 4; i++)
        dawdle(begin + (size_t)i);
    return at < begin ? begin : at < end ? at : end;
}

static size_t up_to_here(weft *w, size_t begin, size_t end, void *arg)
{
    size_t at = *(size_t *)arg;
    return at >= end ? end - 1 : at >= begin ? at : end;
}

static bool includes(weft *w, size_t begin, size_t end, void *arg)
{
    return from_here_on(w, begin, end, arg) < end;
}

static bool excludes(weft *w, size_t begin, size_t end, void *arg)
{
    return !includes(w, begin, end, arg);
}

static void endless(weft *w, struct dice *dice)
{
    size_t at = dice_size(dice, 1000000);
    HOLDS(weft_find_first(w, 0, SIZE_MAX, from_here_on, &at) == at);
    HOLDS(weft_find_any(w, 0, SIZE_MAX, from_here_on, &at) >= at);
    HOLDS(weft_any(w, 0, SIZE_MAX, includes, &at));
    HOLDS(!weft_all(w, 0, SIZE_MAX, excludes, &at));
    at = SIZE_MAX - 1 - at;
    HOLDS(weft_find_last(w, 0, SIZE_MAX, up_to_here, &at) == at);
}

static void searches_end_early(void **state)
{
    property_holds(endless, SCALED(50, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_find),
        cmocka_unit_test(searches_end_early),
    };
    return RUN_ON_ALL_ROADS(tests);
}
