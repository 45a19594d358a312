/* SPDX-License-Identifier: MIT */
/* sky.h: an evening sky. y is up. */
#ifndef TOOL_SKY_H
#define TOOL_SKY_H

#include "lanes.h"

/* Towards the sun, and what its light looks like on a surface that faces it. */
struct vec3 sky_sun_direction(void);
struct vec3 sky_sun_colour(void);

/* What is seen in a direction, in linear light. */
struct vec3 sky_colour(struct vec3 direction);

/* The haze in front of what is far away in a direction: the sky without sun and clouds. */
struct vec3 sky_haze(struct vec3 direction);

/* Smooth noise over the plane, -1 to 1. */
lanes sky_noise(lanes x, lanes y);

#endif
