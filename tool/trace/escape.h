/* SPDX-License-Identifier: MIT */
/* escape.h: bytes of a trace inside strings of JSON, and inside XML. */
#ifndef TRACE_ESCAPE_H
#define TRACE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The length of the character in UTF-8 that the text begins with, and which one it is; 0: it is
 * none (RFC 3629, section 4). */
unsigned escape_character(const char *text, size_t size, uint32_t *value);

/* With the quotes. A byte that is not part of a character in UTF-8 becomes the character that has
 * its number. There is no `<` in it: a text can't end the element of a page that it is in. */
void escape_json(FILE *out, const char *text, size_t size);

/* Such bytes, and control characters, become question marks. */
void escape_xml(FILE *out, const char *text, size_t size);

#endif
