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

/* What the text begins with: a character, or a byte that is not part of one. */
struct step {
    const char *bytes;
    unsigned length; /* 0: a byte */
    uint32_t value;
};

/* The text begins after it then. */
static struct step step(const char **text, size_t *size)
{
    struct step step = {.bytes = *text};
    step.length = escape_character(*text, *size, &step.value);
    if (step.length == 0)
        step.value = (unsigned char)**text;
    *text += step.length > 0 ? step.length : 1;
    *size -= step.length > 0 ? step.length : 1;
    return step;
}

void escape_json(FILE *out, const char *text, size_t size)
{
    fputc('"', out);
    while (size > 0) {
        struct step one = step(&text, &size);
        if (one.length == 0 || one.value < ' ' || one.value == 127 || one.value == '<')
            fprintf(out, "\\u%04x", (unsigned)one.value);
        else if (one.value == '"' || one.value == '\\')
            fprintf(out, "\\%c", (int)one.value);
        else
            fwrite(one.bytes, 1, one.length, out);
    }
    fputc('"', out);
}

void escape_xml(FILE *out, const char *text, size_t size)
{
    while (size > 0) {
        struct step one = step(&text, &size);
        bool no_xml =
            one.value < ' ' || one.value == 127 || one.value == 0xfffe || one.value == 0xffff;
        if (one.length == 0 || no_xml)
            fputc('?', out);
        else if (one.value == '<' || one.value == '>' || one.value == '&' || one.value == '"')
            fprintf(out, "&#%u;", (unsigned)one.value);
        else
            fwrite(one.bytes, 1, one.length, out);
    }
}
