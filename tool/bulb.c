/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "bulb.h"

#include <stddef.h>

enum {
    BULB_ITERATIONS = 8,
    BULB_MARCH_STEPS = 96,
    BULB_LIGHT_STEPS = 28,
    BULB_OPENNESS_STEPS = 6,
};

#define BULB_RADIUS2 1.5f   /* of a sphere around all of it, squared */
#define BULB_ESCAPED 256.0f /* squared radius from which the distance estimate is good */

/* (re, im)^8 by squaring three times. */
static inline void complex_power8(lanes *re, lanes *im)
{
    for (int i = 0; i < 3; i++) {
        lanes r = *re * *re - *im * *im;
        *im = 2.0f * *re * *im;
        *re = r;
    }
}

/* z^8: in spherical coordinates the radius to the eighth power and both angles times
 * eight. (y, rho) carries radius and polar angle, (z, x) / rho the azimuth; powers of
 * complex numbers do the rest, so there is no trigonometry. */
static inline struct vec3 bulb_power8(struct vec3 z)
{
    lanes rho2 = lanes_max(z.x * z.x + z.z * z.z, lanes_all(1e-12f));
    lanes rho = lanes_sqrt(rho2), inverse = 1.0f / rho;
    lanes polar_re = z.y, polar_im = rho;
    lanes azimuth_re = z.z * inverse, azimuth_im = z.x * inverse;
    complex_power8(&polar_re, &polar_im);
    complex_power8(&azimuth_re, &azimuth_im);
    return (struct vec3){polar_im * azimuth_im, polar_re, polar_im * azimuth_re};
}

/* Lower bound of the distance to the surface: the orbit of z -> z^8 + p with the running
 * length of its derivative. `trap` may be NULL. */
static inline lanes bulb_distance(struct vec3 p, struct bulb_trap *trap)
{
    struct vec3 z = p, least = vec3_all(4.0f, 4.0f, 4.0f);
    lanes r2 = vec3_dot(p, p), derivative = lanes_all(1.0f), nearest = r2;

    for (int i = 0; i < BULB_ITERATIONS; i++) {
        mask live = r2 < BULB_ESCAPED;
        if (!mask_any(live))
            break;
        lanes r7 = r2 * r2 * r2 * lanes_sqrt(r2);
        derivative = lanes_select(live, 8.0f * r7 * derivative + 1.0f, derivative);
        z = vec3_select(live, vec3_add(bulb_power8(z), p), z);
        r2 = vec3_dot(z, z);
        if (trap) {
            least.x = lanes_min(least.x, z.x * z.x);
            least.y = lanes_min(least.y, z.y * z.y);
            least.z = lanes_min(least.z, z.z * z.z);
            nearest = lanes_min(nearest, r2);
        }
    }
    if (trap)
        *trap = (struct bulb_trap){least, nearest};
    return 0.25f * lanes_log(r2) * lanes_sqrt(r2) / derivative;
}

/* Where rays enter and leave the sphere around the bulb; mask of those that do. */
static mask bulb_bounds(struct vec3 origin, struct vec3 direction, lanes *enter, lanes *leave)
{
    lanes b = vec3_dot(origin, direction);
    lanes h = b * b - vec3_dot(origin, origin) + BULB_RADIUS2;
    lanes root = lanes_sqrt(lanes_max(h, lanes_all(0.0f)));
    *enter = lanes_max(-b - root, lanes_all(0.0f));
    *leave = root - b;
    return (h > 0.0f) & (*leave > 0.0f);
}

struct bulb_hit bulb_march(const struct ray *ray, lanes far, mask active)
{
    lanes t, leave;
    active &= bulb_bounds(ray->origin, ray->direction, &t, &leave);
    far = lanes_min(far, leave);
    mask hit = active & 0;

    for (int i = 0; i < BULB_MARCH_STEPS; i++) {
        active &= t < far;
        if (!mask_any(active))
            break;
        lanes d = bulb_distance(ray_at(ray, t), NULL);
        mask close = active & (d < 0.5f * ray_width(ray, t));
        hit |= close;
        active &= ~close;
        t = lanes_select(active, t + d, t);
    }
    struct bulb_hit result = {.hit = hit, .t = t};
    if (mask_any(hit))
        bulb_distance(ray_at(ray, t), &result.trap);
    return result;
}

/* Four corners of a tetrahedron are enough for a gradient. */
struct vec3 bulb_normal(struct vec3 p, lanes eps)
{
    static const float corners[4][3] = {{1, -1, -1}, {-1, -1, 1}, {-1, 1, -1}, {1, 1, 1}};
    struct vec3 sum = vec3_all(0.0f, 0.0f, 0.0f);

    for (int i = 0; i < 4; i++) {
        struct vec3 corner = vec3_all(corners[i][0], corners[i][1], corners[i][2]);
        sum = vec3_along(sum, corner, bulb_distance(vec3_along(p, corner, eps), NULL));
    }
    sum.y = sum.y + 1e-12f;
    return vec3_normalize(sum);
}

lanes bulb_light(struct vec3 p, struct vec3 direction, mask active)
{
    const float sharpness = 24.0f;
    lanes enter, leave, t = lanes_all(0.004f), light = lanes_all(1.0f);
    active &= bulb_bounds(p, direction, &enter, &leave);

    for (int i = 0; i < BULB_LIGHT_STEPS; i++) {
        active &= (t < leave) & (light > 0.01f);
        if (!mask_any(active))
            break;
        lanes d = bulb_distance(vec3_along(p, direction, t), NULL);
        lanes passes = lanes_clamp(sharpness * d / t, 0.0f, 1.0f);
        light = lanes_select(active, lanes_min(light, passes), light);
        t = t + lanes_clamp(d, 0.008f, 0.15f);
    }
    return light * light * (3.0f - 2.0f * light);
}

lanes bulb_openness(struct vec3 p, struct vec3 normal)
{
    lanes hidden = lanes_all(0.0f);
    float weight = 1.0f;

    for (int i = 0; i < BULB_OPENNESS_STEPS; i++) {
        float h = 0.006f + 0.045f * (float)i;
        lanes d = bulb_distance(vec3_along(p, normal, lanes_all(h)), NULL);
        hidden += weight * lanes_max(h - d, lanes_all(0.0f));
        weight *= 0.8f;
    }
    return lanes_clamp(1.0f - 3.5f * hidden, 0.0f, 1.0f);
}
