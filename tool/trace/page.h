/* SPDX-License-Identifier: MIT */
/* page.h: the page of `weft trace --html`, which the build makes of the files in page/, as bytes.
 */
#ifndef TRACE_PAGE_H
#define TRACE_PAGE_H

#include <stddef.h>

extern const unsigned char trace_page[];
extern const size_t trace_page_size;

/* Where the data belongs. */
size_t page_data(void);

#endif
