/* SPDX-License-Identifier: MIT */
#include "words.h"

#include "escape.h"

#include <inttypes.h>
#include <string.h>

struct words words_time(uint64_t ns)
{
    struct words words;
    double value = (double)ns;
    static const char *const units[] = {"ns", "us", "ms", "s"};
    unsigned unit = 0;
    for (; unit < 3 && value >= 999.5; unit++)
        value /= 1000;
    int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(words.text, sizeof words.text, "%.*f %s", digits, value, units[unit]);
    return words;
}

struct words words_count(uint64_t count, const char *one)
{
    struct words words;
    snprintf(words.text, sizeof words.text, "%" PRIu64 " %s%s", count, one, count == 1 ? "" : "s");
    return words;
}

double words_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

struct words words_thread(const struct trace *trace, int thread)
{
    struct words words = {"a thread that is not in the trace"};
    if (thread < 0)
        return words;
    const struct trace_thread *one = trace_thread(trace, (unsigned)thread);
    if (one->name[0])
        words = words_text(one->name, (uint32_t)strlen(one->name));
    else
        snprintf(words.text, sizeof words.text, "thread %u", one->number);
    return words;
}

struct words words_function(struct names *names, uint64_t function)
{
    struct words words;
    snprintf(words.text, sizeof words.text, "%s", names_find(names, function));
    return words;
}

struct words words_text(const char *text, uint32_t size)
{
    struct words words;
    uint32_t to = 0;
    for (uint32_t from = 0; from < size && to + 4 < sizeof words.text;) {
        uint32_t value = 0;
        unsigned length = escape_character(text + from, size - from, &value);
        if (length == 0 || value < ' ' || (value >= 127 && value < 160)) {
            words.text[to++] = '?';
            from += length > 0 ? length : 1;
            continue;
        }
        memcpy(words.text + to, text + from, length);
        to += length;
        from += length;
    }
    words.text[to] = 0;
    return words;
}
