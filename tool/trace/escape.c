/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include <stdbool.h>

static unsigned length_of(unsigned char first)
{
    return first < 0x80   ? 1
           : first < 0xc2 ? 0
           : first < 0xe0 ? 2
           : first < 0xf0 ? 3
           : first < 0xf5 ? 4
                          : 0;
}

unsigned escape_character(const char *text, size_t size, uint32_t *value)
{
    unsigned char first = (unsigned char)text[0];
    unsigned length = length_of(first);
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (length == 0 || length > size)
        return 0;
    *value = length == 1 ? first : first & (0xffu >> (length + 1));
    for (unsigned i = 1; i < length; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        *value = *value << 6 | (next & 0x3f);
    }
    bool surrogate = *value >= 0xd800 && *value < 0xe000;
    return *value < least[length] || *value > 0x10ffff || surrogate ? 0 : length;
}

void escape_json(FILE *out, const char *text, size_t size)
{
    fputc('"', out);
    while (size > 0) {
        uint32_t value;
        unsigned length = escape_character(text, size, &value);
        if (length == 0)
            fprintf(out, "\\u%04x", (unsigned char)*text);
        else if (value < ' ' || value == 127)
            fprintf(out, "\\u%04x", (unsigned)value);
        else if (value == '"' || value == '\\')
            fprintf(out, "\\%c", (int)value);
        else
            fwrite(text, 1, length, out);
        length = length > 0 ? length : 1;
        text += length;
        size -= length;
    }
    fputc('"', out);
}

void escape_xml(FILE *out, const char *text, size_t size)
{
    while (size > 0) {
        uint32_t value;
        unsigned length = escape_character(text, size, &value);
        if (length == 0 || value < ' ' || value == 127 || value == 0xfffe || value == 0xffff)
            fputc('?', out);
        else if (value == '<' || value == '>' || value == '&' || value == '"')
            fprintf(out, "&#%u;", (unsigned)value);
        else
            fwrite(text, 1, length, out);
        length = length > 0 ? length : 1;
        text += length;
        size -= length;
    }
}
