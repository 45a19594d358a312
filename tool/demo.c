/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>
#include <weft/trace.h>

#include "picture.h"
#include "progress.h"
#include "scene.h"
#include "tool.h"
#include "trace/svg.h"

enum {
    DEMO_WIDTH = 1920,
    DEMO_HEIGHT = 1080,
    DEMO_SIDE_MAX = 16384,
    DEMO_TILE = 32, /* pixels a side: 5 to 10 milliseconds of work where the bulb is */
};

struct demo {
    const char *file;
    const char *timeline; /* of the threads, a picture; NULL: none */
    char trace[PATH_MAX]; /* what it is made of, beside it */
    unsigned workers;     /* 0: the pool's default */
    unsigned width, height;
    bool sequential;
};

/* One rendering of the whole picture. */
struct render {
    unsigned width, height;
    uint8_t *pixels;
    uint64_t took; /* nanoseconds */
    struct progress progress;
};

/* What one worker rendered. Written by that worker alone, on a cache line of its own. */
struct tally {
    alignas(64) uint64_t tiles;
    uint64_t pixels;
};

/* The parallel rendering has this besides. */
struct crew {
    weft_pool *pool;
    unsigned members;      /* the workers and one guest, the thread that calls weft_run() */
    struct tally *tallies; /* by weft_worker_index() */
    uint64_t guest_cpu;    /* nanoseconds of CPU time */
};

struct tile {
    struct render *render;
    struct crew *crew;
    struct scene_area area;
};

static void usage(void)
{
    printf("Usage: weft demo [OPTION]...\n"
           "Renders a fractal, first on one thread without the library, then on a pool, checks\n"
           "that both pictures are the same, and tells what each worker did.\n"
           "\n"
           "  -o, --output FILE    where the picture goes, a PNG file; default weft-demo.png\n"
           "  -w, --workers N      worker threads; default WEFT_WORKERS, else one per CPU\n"
           "      --width N        pixels; default %d\n"
           "      --height N       pixels; default %d\n"
           "      --no-sequential  only the parallel rendering\n"
           "  -t, --trace [FILE]   draw what the threads did, an SVG file; default weft-demo.svg\n"
           "  -h, --help           show this\n",
           DEMO_WIDTH, DEMO_HEIGHT);
}

static bool render_prepare(struct render *r, const struct demo *demo)
{
    *r = (struct render){.width = demo->width, .height = demo->height};
    r->pixels = malloc((size_t)r->width * r->height * SCENE_CHANNELS);
    if (!r->pixels)
        warnx("no memory for a picture of %u by %u pixels", r->width, r->height);
    return r->pixels != NULL;
}

/* The twin without the library: a loop over the rows. */
static void render_sequential(struct render *r)
{
    weft_span_begin("sequential");
    progress_begin(&r->progress, "sequential", (uint64_t)r->width * r->height);
    for (unsigned y = 0; y < r->height; y++) {
        scene_render(r->width, r->height, (struct scene_area){0, y, r->width, y + 1}, r->pixels);
        progress_step(&r->progress, r->width);
    }
    r->took = progress_end(&r->progress);
    weft_span_end();
}

static void tile_render(weft *w, const struct tile *tile)
{
    const struct scene_area *area = &tile->area;
    struct render *r = tile->render;
    uint64_t count = (uint64_t)(area->x1 - area->x0) * (area->y1 - area->y0);

    weft_span_begin("tile");
    scene_render(r->width, r->height, *area, r->pixels);
    weft_span_end();
    struct tally *tally = &tile->crew->tallies[weft_worker_index(w)];
    tally->tiles++;
    tally->pixels += count;
    progress_step(&r->progress, count);
}

/* Halves the longer side until what is left is a tile. Nobody needs to know beforehand
 * that a tile of sky is thirty times cheaper than one of the bulb: who is done early
 * takes a half from somebody else. */
static void tile_run(weft *w, void *arg)
{
    const struct tile *tile = arg;
    const struct scene_area *area = &tile->area;
    unsigned wide = area->x1 - area->x0, high = area->y1 - area->y0;

    if (wide <= DEMO_TILE && high <= DEMO_TILE) {
        tile_render(w, tile);
        return;
    }
    struct tile left = *tile, right = *tile;
    if (wide > high)
        left.area.x1 = right.area.x0 = area->x0 + wide / 2;
    else
        left.area.y1 = right.area.y0 = area->y0 + high / 2;

    weft *in = weft_fork(w, tile_run, &right);
    tile_run(in, &left);
    if (!weft_merge(w))
        tile_run(w, &right);
}

static uint64_t thread_cpu_time(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool render_parallel(struct render *r, struct crew *crew)
{
    struct tile whole = {r, crew, {0, 0, r->width, r->height}};
    progress_begin(&r->progress, "parallel", (uint64_t)r->width * r->height);
    uint64_t cpu = thread_cpu_time();
    weft_span_begin("parallel");
    int status = weft_run(crew->pool, tile_run, &whole);
    weft_span_end();
    r->took = progress_end(&r->progress);
    crew->guest_cpu = thread_cpu_time() - cpu;
    if (status != 0)
        warnx("the parallel rendering failed: %s", strerror(-status));
    return status == 0;
}

static bool crew_hire(struct crew *crew, const struct demo *demo)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = demo->workers;
    int status = weft_pool_create(&crew->pool, &config);
    if (status != 0) {
        warnx("no pool: %s", strerror(-status));
        return false;
    }
    crew->members = weft_pool_workers(crew->pool) + 1;
    size_t size = crew->members * sizeof crew->tallies[0];
    crew->tallies = aligned_alloc(alignof(struct tally), size);
    if (!crew->tallies) {
        warnx("no memory for %u workers", crew->members);
        return false;
    }
    memset(crew->tallies, 0, size);
    return true;
}

static void crew_dismiss(struct crew *crew)
{
    free(crew->tallies);
    if (crew->pool)
        weft_pool_destroy(crew->pool);
}

static void report_times(const struct render *sequential, const struct render *parallel,
                         weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    double one = (double)sequential->took / 1e9, all = (double)parallel->took / 1e9;
    if (sequential->pixels)
        printf("sequential  %6.2f s\n", one);
    printf("parallel    %6.2f s   %u worker%s, the calling thread in place of one, on %u CPU%s\n",
           all, info.workers, info.workers == 1 ? "" : "s", info.cpus, info.cpus == 1 ? "" : "s");
    if (sequential->pixels)
        printf("speed-up    %6.2f x   both pictures are identical\n", one / all);
}

static void report_worker(const struct crew *crew, unsigned index, uint64_t all_pixels)
{
    const struct tally *tally = &crew->tallies[index];
    double share = 100.0 * (double)tally->pixels / (double)all_pixels;
    weft_worker_info info = WEFT_WORKER_INFO_INIT;

    if (index == crew->members - 1)
        printf("%6s %8" PRIu64 " %7.1f %8s %8s %8s %8.0f\n", "guest", tally->tiles, share, "-", "-",
               "-", (double)crew->guest_cpu / 1e6);
    else if (weft_worker_get_info(crew->pool, index, &info) == 0)
        printf("%6u %8" PRIu64 " %7.1f %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8.0f\n", index,
               tally->tiles, share, info.jobs, info.steals, info.sleeps, (double)info.cpu_ns / 1e6);
}

static void report(const struct render *sequential, const struct render *parallel,
                   const struct crew *crew)
{
    report_times(sequential, parallel, crew->pool);
    printf("\n%6s %8s %7s %8s %8s %8s %8s\n", "worker", "tiles", "area %", "jobs", "steals",
           "sleeps", "CPU ms");
    for (unsigned i = 0; i < crew->members; i++)
        report_worker(crew, i, (uint64_t)parallel->width * parallel->height);
}

static bool same_picture(const struct render *a, const struct render *b)
{
    size_t size = (size_t)a->width * a->height * SCENE_CHANNELS;
    weft_span_begin("compare");
    bool same = memcmp(a->pixels, b->pixels, size) == 0;
    weft_span_end();
    if (same)
        return true;
    warnx("the parallel picture differs from the sequential one: a bug, please report it");
    return false;
}

/* ---- What the threads did, as a picture ---- */

/* The trace is beside the picture: FILE.svg and FILE.trace. */
static bool trace_begin(struct demo *demo)
{
    size_t size = strlen(demo->timeline);
    if (size > 4 && strcmp(demo->timeline + size - 4, ".svg") == 0)
        size -= 4;
    if (size + sizeof ".trace" > sizeof demo->trace) {
        warnx("'%s' is too long", demo->timeline);
        return false;
    }
    snprintf(demo->trace, sizeof demo->trace, "%.*s.trace", (int)size, demo->timeline);
    int status = weft_trace_start(demo->trace, 0);
    if (status != 0)
        warnx("no trace in '%s': %s", demo->trace, strerror(-status));
    return status == 0;
}

static bool timeline_save(const struct demo *demo)
{
    char why[TRACE_WHY_SIZE];
    struct trace *trace = trace_open(demo->trace, why);
    struct names *names = trace ? names_open(trace) : NULL;
    FILE *file = names ? fopen(demo->timeline, "we") : NULL;
    bool saved = file && svg_put(file, trace, names);
    saved &= file && !ferror(file);
    if (!trace)
        warnx("'%s': %s", demo->trace, why);
    else if (!file || fclose(file) != 0 || !saved)
        warn("cannot write '%s'", demo->timeline), saved = false;
    if (names)
        names_close(names);
    if (trace)
        trace_close(trace);
    return saved;
}

/* ---- All of it ---- */

static void tell_where(const struct demo *demo)
{
    printf("\nThe picture, %u by %u pixels, is in %s\n", demo->width, demo->height, demo->file);
    if (demo->timeline)
        printf("What each thread did is drawn in %s; to read about it: weft trace %s\n",
               demo->timeline, demo->trace);
    else
        printf("To see what each thread did, and when: weft demo --trace\n");
}

static bool demo_render(const struct demo *demo, struct render *sequential, struct render *parallel,
                        struct crew *crew)
{
    if (demo->sequential)
        render_sequential(sequential);
    if (!render_parallel(parallel, crew))
        return false;
    return !demo->sequential || same_picture(sequential, parallel);
}

static bool demo_run(struct demo *demo, struct render *sequential, struct render *parallel,
                     struct crew *crew)
{
    /* What is likely to fail comes before the seconds of work. */
    if (!picture_writable(demo->file) || (demo->timeline && !picture_writable(demo->timeline)))
        return false;
    if ((demo->timeline && !trace_begin(demo)) || !crew_hire(crew, demo))
        return false;
    if (!render_prepare(parallel, demo) || (demo->sequential && !render_prepare(sequential, demo)))
        return false;
    bool rendered = demo_render(demo, sequential, parallel, crew);
    if (demo->timeline)
        (void)weft_trace_stop();
    if (!rendered || !picture_save(demo->file, parallel->pixels, demo->width, demo->height))
        return false;
    if (demo->timeline && !timeline_save(demo))
        return false;
    report(sequential, parallel, crew);
    tell_where(demo);
    return true;
}

/* --trace FILE and --trace=FILE, and --trace. Nothing else stands alone on this command line. */
static const char *timeline_file(int argc, char **argv)
{
    if (!optarg && optind < argc && argv[optind][0] != '-')
        optarg = argv[optind++];
    return optarg ? optarg : "weft-demo.svg";
}

/* Fills in `demo`. -1: go on; else the exit status. */
static int demo_parse(struct demo *demo, int argc, char **argv)
{
    enum { WIDTH = 256, HEIGHT, NO_SEQUENTIAL };
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"workers", required_argument, NULL, 'w'},
        {"width", required_argument, NULL, WIDTH},
        {"height", required_argument, NULL, HEIGHT},
        {"no-sequential", no_argument, NULL, NO_SEQUENTIAL},
        {"trace", optional_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    bool good = true;

    for (int c; good && (c = getopt_long(argc, argv, "o:w:t::h", options, NULL)) != -1;) {
        switch (c) {
        case 'o':
            demo->file = optarg;
            break;
        case 'w':
            good = tool_number("--workers", optarg, 1, WEFT_WORKERS_MAX, &demo->workers);
            break;
        case WIDTH:
            good = tool_number("--width", optarg, 1, DEMO_SIDE_MAX, &demo->width);
            break;
        case HEIGHT:
            good = tool_number("--height", optarg, 1, DEMO_SIDE_MAX, &demo->height);
            break;
        case NO_SEQUENTIAL:
            demo->sequential = false;
            break;
        case 't':
            demo->timeline = timeline_file(argc, argv);
            break;
        default:
            return tool_other_option(c, usage);
        }
    }
    return good && tool_no_more(argc, argv) ? -1 : TOOL_EXIT_USAGE;
}

int demo_main(int argc, char **argv)
{
    struct demo demo = {
        .file = "weft-demo.png",
        .width = DEMO_WIDTH,
        .height = DEMO_HEIGHT,
        .sequential = true,
    };
    int status = demo_parse(&demo, argc, argv);
    if (status >= 0)
        return status;

    struct render sequential = {0}, parallel = {0};
    struct crew crew = {0};
    bool done = demo_run(&demo, &sequential, &parallel, &crew);
    crew_dismiss(&crew);
    free(sequential.pixels);
    free(parallel.pixels);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
