/* SPDX-License-Identifier: MIT */
/* html.h: a trace as one page for a browser, which needs no other file and no network.
 *
 * The page is what is in page/, with the data as JSON in one element: no text of the trace is
 * anywhere else, and no `<` is in the JSON. Its policy (Content-Security-Policy) allows the page's
 * own script and style by their hashes, and nothing from anywhere: even a text that got out of its
 * place would not run.
 *
 * However long the trace is, the page is below HTML_SIZE_MOST bytes, and the memory for it is that
 * of timeline.h. The parts, at worst: intervals 18 MB, labels 6 MB, arrows 3 MB, all others 2 MB.
 */
#ifndef TRACE_HTML_H
#define TRACE_HTML_H

#include "names.h"

#include <stdio.h>

enum { HTML_SIZE_MOST = 30000000 };

bool html_put(FILE *out, struct trace *trace, struct names *names); /* false: no memory */

#endif
