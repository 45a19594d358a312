/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "sky.h"

struct vec3 sky_sun_direction(void)
{
    return vec3_normalize(vec3_all(-0.86f, 0.30f, 0.22f));
}

struct vec3 sky_sun_colour(void)
{
    return vec3_all(2.2f, 1.05f, 0.75f);
}

static inline lanes_u32 sky_hash(lanes_u32 x, lanes_u32 y)
{
    lanes_u32 h = x * 0x9e3779b1u ^ y * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0xc2b2ae3du;
    return h ^ (h >> 13);
}

/* The random number of one lattice point, -1 to 1. */
static inline lanes sky_lattice(mask x, mask y)
{
    mask h = (mask)(sky_hash((lanes_u32)x, (lanes_u32)y) >> 8);
    return __builtin_convertvector(h, lanes) * (2.0f / 16777216.0f) - 1.0f;
}

lanes sky_noise(lanes x, lanes y)
{
    lanes fx = lanes_floor(x), fy = lanes_floor(y);
    mask ix = __builtin_convertvector(fx, mask), iy = __builtin_convertvector(fy, mask);
    lanes u = x - fx, v = y - fy;
    u = u * u * u * (u * (u * 6.0f - 15.0f) + 10.0f);
    v = v * v * v * (v * (v * 6.0f - 15.0f) + 10.0f);
    lanes near = lanes_mix(sky_lattice(ix, iy), sky_lattice(ix + 1, iy), u);
    lanes far = lanes_mix(sky_lattice(ix, iy + 1), sky_lattice(ix + 1, iy + 1), u);
    return lanes_mix(near, far, v);
}

/* Thin clouds: octaves of noise on a plane high above, stretched by the wind. */
static lanes sky_clouds(struct vec3 d)
{
    lanes reach = 1.0f / (lanes_max(d.y, lanes_all(0.0f)) + 0.12f);
    lanes x = d.x * reach * 0.55f + 3.1f, y = d.z * reach * 1.3f + 7.7f;
    lanes sum = lanes_all(0.0f);
    float weight = 0.5f;

    for (int i = 0; i < 5; i++) {
        sum += weight * sky_noise(x, y);
        lanes turned = 1.6f * x - 1.2f * y;
        y = 1.2f * x + 1.6f * y;
        x = turned;
        weight *= 0.5f;
    }
    return lanes_smoothstep(-0.05f, 0.55f, sum) * lanes_smoothstep(0.0f, 0.16f, d.y);
}

struct vec3 sky_haze(struct vec3 d)
{
    lanes up = lanes_max(d.y, lanes_all(0.0f));
    lanes toward = vec3_dot(d, sky_sun_direction()) * 0.5f + 0.5f;
    toward = toward * toward;
    struct vec3 horizon =
        vec3_mix(vec3_all(0.30f, 0.14f, 0.22f), vec3_all(1.10f, 0.42f, 0.18f), toward);
    struct vec3 middle =
        vec3_mix(vec3_all(0.07f, 0.085f, 0.21f), vec3_all(0.30f, 0.16f, 0.25f), toward);
    struct vec3 zenith = vec3_all(0.010f, 0.022f, 0.075f);
    struct vec3 c = vec3_mix(horizon, middle, lanes_smoothstep(0.0f, 0.24f, up));
    return vec3_mix(c, zenith, lanes_smoothstep(0.06f, 0.60f, up));
}

/* One star in some cells of a fine grid on the sphere. */
static lanes sky_stars(struct vec3 d)
{
    lanes x = d.x / (1.0f + d.y) * 170.0f, y = d.z / (1.0f + d.y) * 170.0f;
    lanes fx = lanes_floor(x), fy = lanes_floor(y);
    mask ix = __builtin_convertvector(fx, mask), iy = __builtin_convertvector(fy, mask);
    lanes magnitude = lanes_max(sky_lattice(ix, iy) - 0.93f, lanes_all(0.0f)) * 14.0f;
    lanes dx = x - fx - 0.5f - 0.3f * sky_lattice(ix + 7001, iy);
    lanes dy = y - fy - 0.5f - 0.3f * sky_lattice(ix, iy + 7001);
    lanes near = lanes_smoothstep(0.20f, 0.02f, lanes_sqrt(dx * dx + dy * dy));
    return magnitude * near * lanes_smoothstep(0.10f, 0.45f, d.y);
}

/* A young moon: a sphere whose lit side is turned away from us. `halo` gets the light
 * around it. */
static lanes sky_moon(struct vec3 d, lanes *halo)
{
    const float size = 0.032f;
    struct vec3 to = vec3_normalize(vec3_all(-0.50f, 0.34f, -1.0f));
    struct vec3 right = vec3_normalize((struct vec3){-to.z, lanes_all(0.0f), to.x});
    struct vec3 up = {right.y * to.z - right.z * to.y, right.z * to.x - right.x * to.z,
                      right.x * to.y - right.y * to.x};
    lanes before = vec3_dot(d, to);
    lanes x = vec3_dot(d, right) / size, y = vec3_dot(d, up) / size, r2 = x * x + y * y;
    lanes z = lanes_sqrt(lanes_max(1.0f - r2, lanes_all(0.0f)));
    lanes lit = lanes_clamp(-0.75f * x - 0.35f * y - 0.56f * z, 0.0f, 1.0f);
    mask front = before > 0.0f;
    *halo = lanes_select(front, 1.0f / (1.0f + 0.5f * r2), lanes_all(0.0f));
    lanes disc = lanes_smoothstep(1.0f, 0.9f, r2);
    return lanes_select(front, disc * lanes_sqrt(lit), lanes_all(0.0f));
}

struct vec3 sky_colour(struct vec3 d)
{
    lanes toward = lanes_max(vec3_dot(d, sky_sun_direction()), lanes_all(0.0f));
    lanes glow = 0.35f * lanes_pow(toward, 12.0f);
    struct vec3 c = vec3_along(sky_haze(d), vec3_all(1.0f, 0.55f, 0.25f), glow);
    lanes clouds = sky_clouds(d), halo, moon = sky_moon(d, &halo);
    c = vec3_along(c, vec3_all(1.6f, 1.35f, 1.05f), moon);
    c = vec3_along(c, vec3_all(0.09f, 0.06f, 0.07f), halo);
    c = vec3_along(c, vec3_all(0.9f, 0.95f, 1.1f), sky_stars(d) * (1.0f - clouds));
    struct vec3 lit =
        vec3_mix(vec3_all(0.24f, 0.13f, 0.20f), vec3_all(1.5f, 0.62f, 0.32f), toward * toward);
    return vec3_mix(c, lit, 0.7f * clouds);
}
