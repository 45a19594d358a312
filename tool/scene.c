/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "scene.h"

#include <stddef.h>

#include "bulb.h"
#include "lanes.h"
#include "sky.h"

#define WATER_LEVEL (-0.52f)
#define FAR_AWAY 1e6f

/* From the world into the bulb's coordinates: turned so that the hollow around its pole
 * faces the eye, a little upwards. A rotation, so distances stay what they are. */
static const float tilt[3][3] = {
    {0.9745f, 0.1453f, 0.1710f},
    {0.1170f, 0.3214f, -0.9397f},
    {-0.1915f, 0.9357f, 0.2962f},
};

static struct vec3 into_bulb(struct vec3 v)
{
    return (struct vec3){
        tilt[0][0] * v.x + tilt[0][1] * v.y + tilt[0][2] * v.z,
        tilt[1][0] * v.x + tilt[1][1] * v.y + tilt[1][2] * v.z,
        tilt[2][0] * v.x + tilt[2][1] * v.y + tilt[2][2] * v.z,
    };
}

static struct vec3 out_of_bulb(struct vec3 v)
{
    return (struct vec3){
        tilt[0][0] * v.x + tilt[1][0] * v.y + tilt[2][0] * v.z,
        tilt[0][1] * v.x + tilt[1][1] * v.y + tilt[2][1] * v.z,
        tilt[0][2] * v.x + tilt[1][2] * v.y + tilt[2][2] * v.z,
    };
}

/* The material: slate, and over it ivory, bronze and verdigris where the orbit kept away
 * from one of the planes; darker where it came near the centre. */
static struct vec3 bulb_colour(const struct bulb_trap *trap)
{
    lanes x = lanes_sqrt(trap->planes.x), z = lanes_sqrt(trap->planes.z);
    struct vec3 c = vec3_all(0.10f, 0.26f, 0.30f);
    c = vec3_mix(c, vec3_all(0.82f, 0.74f, 0.58f), lanes_clamp(2.0f * x, 0.0f, 1.0f));
    c = vec3_mix(c, vec3_all(0.70f, 0.40f, 0.14f), lanes_clamp(2.5f * trap->planes.y, 0.0f, 1.0f));
    c = vec3_mix(c, vec3_all(0.10f, 0.42f, 0.44f), lanes_clamp(1.3f * z, 0.0f, 1.0f));
    return vec3_scale(c, 0.3f + 0.7f * lanes_clamp(trap->centre, 0.0f, 1.0f));
}

/* Light of a ring that glows in the hollow, in the bulb's coordinates. */
static lanes ring_light(struct vec3 p, struct vec3 normal)
{
    const float radius = 0.30f, height = -0.72f;
    lanes rho = lanes_sqrt(p.x * p.x + p.z * p.z) + 1e-6f, outward = radius / rho - 1.0f;
    struct vec3 to = {p.x * outward, height - p.y, p.z * outward};
    lanes r2 = vec3_dot(to, to), r = lanes_sqrt(r2) + 1e-6f;
    lanes facing = lanes_clamp(0.35f + 0.65f * vec3_dot(normal, to) / r, 0.0f, 1.0f);
    return 0.19f * facing / (0.008f + r2) * lanes_smoothstep(0.75f, 0.0f, r);
}

/* What a surface of colour 1 with the normal n sends back of sun, sky, water and ring. */
static struct vec3 light_at(struct vec3 n, lanes sun, lanes ring, lanes open)
{
    lanes up = 0.5f + 0.5f * n.y;
    struct vec3 sum = vec3_scale(sky_sun_colour(), sun);
    sum = vec3_along(sum, vec3_all(0.34f, 0.42f, 0.78f), open * (0.35f + 0.65f * up));
    sum = vec3_along(sum, vec3_all(0.46f, 0.24f, 0.16f), open * (1.0f - up));
    return vec3_along(sum, vec3_all(1.0f, 0.40f, 0.09f), ring * (0.1f + 0.9f * open));
}

static struct vec3 shade_bulb(const struct ray *ray, const struct bulb_hit *hit)
{
    /* Normals are taken over a pixel's width: finer detail would be noise. */
    lanes width = ray_width(ray, hit->t);
    struct vec3 p = into_bulb(ray_at(ray, hit->t));
    struct vec3 normal = bulb_normal(p, width), n = out_of_bulb(normal);
    p = vec3_along(p, normal, width);

    struct vec3 to_sun = sky_sun_direction();
    lanes sun = lanes_clamp(vec3_dot(n, to_sun), 0.0f, 1.0f);
    sun *= bulb_light(p, into_bulb(to_sun), hit->hit & (sun > 0.0f));
    lanes open = bulb_openness(p, normal);
    struct vec3 c =
        vec3_times(bulb_colour(&hit->trap), light_at(n, sun, ring_light(p, normal), open));

    struct vec3 half = vec3_normalize(vec3_along(to_sun, ray->direction, lanes_all(-1.0f)));
    lanes gloss = lanes_pow(lanes_clamp(vec3_dot(n, half), 0.0f, 1.0f), 40.0f);
    lanes rim = 1.0f - lanes_clamp(-vec3_dot(n, ray->direction), 0.0f, 1.0f);
    c = vec3_along(c, sky_sun_colour(), 0.25f * gloss * sun);
    return vec3_along(c, vec3_all(0.40f, 0.36f, 0.50f), 0.5f * rim * rim * rim * open);
}

/* What the ray sees above the water. */
static struct vec3 shade(const struct ray *ray, const struct bulb_hit *hit)
{
    struct vec3 c = vec3_all(0.0f, 0.0f, 0.0f);
    if (mask_any(~hit->hit))
        c = sky_colour(ray->direction);
    if (mask_any(hit->hit))
        c = vec3_select(hit->hit, shade_bulb(ray, hit), c);
    return c;
}

/* Ripples, flatter with the distance t so that they don't glitter. */
static struct vec3 water_normal(struct vec3 p, lanes t)
{
    lanes x = 9.0f * p.x, z = 16.0f * p.z;
    lanes dx = sky_noise(x, z) + 0.5f * sky_noise(2.3f * x + 31.0f, 2.1f * z);
    lanes dz = sky_noise(x + 57.0f, z) + 0.5f * sky_noise(2.3f * x, 2.1f * z + 91.0f);
    lanes slope = 0.016f / (1.0f + 0.06f * t * t);
    return vec3_normalize((struct vec3){dx * slope, lanes_all(1.0f), dz * slope});
}

/* The ray mirrored in the water at distance t. `mirrored` gets the part of the light that
 * comes this way: much at a flat angle, little from above. */
static struct ray water_reflect(const struct ray *ray, lanes t, lanes *mirrored)
{
    struct vec3 p = ray_at(ray, t), n = water_normal(p, t);
    lanes against = -vec3_dot(n, ray->direction);
    lanes flat = 1.0f - lanes_clamp(against, 0.0f, 1.0f);
    *mirrored = 0.08f + 0.92f * flat * flat * flat * flat;

    struct vec3 d = vec3_along(ray->direction, n, 2.0f * against);
    d.y = lanes_max(d.y, lanes_all(0.004f));
    return (struct ray){p, vec3_normalize(d), ray->travelled + t, ray->pixel};
}

static struct bulb_hit march(const struct ray *ray, lanes far, mask active)
{
    struct ray inner = *ray;
    inner.origin = into_bulb(ray->origin);
    inner.direction = into_bulb(ray->direction);
    return bulb_march(&inner, far, active);
}

/* A pixel's samples may end on the bulb, in the sky and in the water, all at once: `wet`
 * lanes go on with the mirrored ray, the others wait for them. */
static struct vec3 trace(const struct ray *ray)
{
    mask down = ray->direction.y < -1e-4f;
    lanes water = (WATER_LEVEL - ray->origin.y) / lanes_min(ray->direction.y, lanes_all(-1e-4f));
    water = lanes_select(down, water, lanes_all(FAR_AWAY));
    struct bulb_hit hit = march(ray, water, down | ~down);
    mask wet = down & ~hit.hit;
    struct vec3 c = vec3_all(0.0f, 0.0f, 0.0f);

    if (mask_any(~wet))
        c = shade(ray, &hit);
    if (mask_any(wet)) {
        lanes mirrored;
        struct ray bounced = water_reflect(ray, water, &mirrored);
        struct bulb_hit second = march(&bounced, lanes_all(FAR_AWAY), wet);
        struct vec3 deep = vec3_all(0.010f, 0.030f, 0.050f);
        struct vec3 seen = vec3_mix(deep, shade(&bounced, &second), mirrored);
        lanes haze = 1.0f - lanes_exp(-0.012f * water);
        c = vec3_select(wet, vec3_mix(seen, sky_haze(ray->direction), haze), c);
    }
    return c;
}

/* Bends unlimited light into 0 to 1, as film does: dark tones deepened, highlights rolled
 * off. */
static inline lanes expose(lanes a)
{
    lanes square = a * a;
    return lanes_clamp((square + 0.012f * a) / (square + 0.25f * a + 0.06f), 0.0f, 1.0f);
}

/* Half a step of noise up or down, from the pixel's place: gradients without bands. */
static float dither(unsigned x, unsigned y)
{
    uint32_t h = (x * 0x9e3779b1u) ^ (y * 0x85ebca77u);
    h = (h ^ (h >> 15)) * 0xc2b2ae3du;
    h ^= h >> 13;
    return (float)(h >> 8) * (1.0f / 16777216.0f) - 0.5f;
}

/* The mean of the four samples as a byte of sRGB. */
static uint8_t develop(lanes a, float noise)
{
    lanes e = expose(a);
    float linear = 0.25f * (e[0] + e[1] + e[2] + e[3]);
    float v = linear <= 0.0031308f ? 12.92f * linear : 1.055f * powf(linear, 1 / 2.4f) - 0.055f;
    v = 255.0f * v + 0.5f + noise;
    return (uint8_t)(v < 0.0f ? 0.0f : v > 255.0f ? 255.0f : v);
}

/* The samples lie on a turned grid: four different places in x and in y smooth edges that
 * are almost upright or level better than two would. */
static void render_pixel(unsigned width, unsigned height, unsigned x, unsigned y, uint8_t *out)
{
    const lanes right = {0.125f, 0.625f, 0.375f, 0.875f}, down = {0.375f, 0.125f, 0.875f, 0.625f};
    const float zoom = 1.95f, shift = -0.10f;
    float w = (float)width, h = (float)height, scale = 2.0f / fminf(h, w * 9.0f / 16.0f);
    lanes u = ((float)x + right - 0.5f * w) * scale;
    lanes v = (0.5f * h - (float)y - down) * scale + shift;
    struct ray ray = {
        .origin = vec3_all(-0.42f, -0.10f, 3.05f),
        .direction = vec3_normalize((struct vec3){u, v, lanes_all(-zoom)}),
        .travelled = lanes_all(0.0f),
        .pixel = scale / zoom,
    };
    struct vec3 c = trace(&ray);
    float noise = dither(x, y);
    out[0] = develop(c.x, noise);
    out[1] = develop(c.y, noise);
    out[2] = develop(c.z, noise);
}

void scene_render(unsigned width, unsigned height, struct scene_area area, uint8_t *pixels)
{
    for (unsigned y = area.y0; y < area.y1; y++)
        for (unsigned x = area.x0; x < area.x1; x++)
            render_pixel(width, height, x, y, pixels + ((size_t)y * width + x) * SCENE_CHANNELS);
}
