/* SPDX-License-Identifier: MIT */
/* scene.h: the picture of `weft demo`: a Mandelbulb in still water, in the evening. */
#ifndef TOOL_SCENE_H
#define TOOL_SCENE_H

#include <stdint.h>

#define SCENE_CHANNELS 3 /* red, green and blue, one byte each */

/* Pixels from (x0, y0) up to, not including, (x1, y1). */
struct scene_area {
    unsigned x0, y0, x1, y1;
};

/* Renders an area of the whole picture of width times height pixels at `pixels`. The
 * colour of a pixel depends on nothing but its place, so areas may be rendered in any
 * order, by any thread. */
void scene_render(unsigned width, unsigned height, struct scene_area area, uint8_t *pixels);

#endif
