/* SPDX-License-Identifier: MIT */
/* bulb.h: the Mandelbulb of power 8, four rays at a time. Everything here is in the
 * bulb's own coordinates: its centre is the origin, its axis y, its radius about 1.2. */
#ifndef TOOL_BULB_H
#define TOOL_BULB_H

#include "lanes.h"

/* A ray that left the eye `travelled` before its origin. A pixel is `pixel` wide at
 * distance 1 from the eye, and what is smaller than a pixel counts as surface. */
struct ray {
    struct vec3 origin, direction;
    lanes travelled;
    float pixel;
};

static inline struct vec3 ray_at(const struct ray *ray, lanes t)
{
    return vec3_along(ray->origin, ray->direction, t);
}

/* The width of a pixel there. */
static inline lanes ray_width(const struct ray *ray, lanes t)
{
    return ray->pixel * (ray->travelled + t);
}

/* How near to the axis, the planes and the centre a point's orbit came. */
struct bulb_trap {
    struct vec3 planes; /* smallest squared x, y and z */
    lanes centre;       /* smallest squared radius */
};

struct bulb_hit {
    mask hit;
    lanes t;
    struct bulb_trap trap;
};

/* Follows the rays of `active` lanes up to t = far. */
struct bulb_hit bulb_march(const struct ray *ray, lanes far, mask active);

/* The surface's direction at p, smoothed over the distance `eps`. */
struct vec3 bulb_normal(struct vec3 p, lanes eps);

/* How much of a broad light in `direction` reaches p, 0 to 1. */
lanes bulb_light(struct vec3 p, struct vec3 direction, mask active);

/* How open the surface is around p, 0 to 1. */
lanes bulb_openness(struct vec3 p, struct vec3 normal);

#endif
