/* SPDX-License-Identifier: MIT */
#include "lines.h"

/* There is one space between two words, and none elsewhere. */
void lines_add(struct lines_count *count, const char *line, size_t size)
{
    uint64_t spaces = 0;
    for (size_t i = 0; i < size; i++)
        spaces += line[i] == ' ';
    count->words += spaces + (size > 0);
    count->longest = size > count->longest ? size : count->longest;
}

void lines_combine(struct lines_count *to, const struct lines_count *from)
{
    to->words += from->words;
    to->longest = from->longest > to->longest ? from->longest : to->longest;
}
