/* SPDX-License-Identifier: MIT */
/* json.h: a sample for scripts. weft(1) describes it. */
#ifndef TOP_JSON_H
#define TOP_JSON_H

#include "sample.h"

#include <stdio.h>

void json_put(FILE *out, const struct sample *sample);

#endif
