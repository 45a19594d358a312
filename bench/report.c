/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <err.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void report_free(struct report *report)
{
    free(report->results);
}

/* Names are the program's own; there is nothing in them to escape. */
static void print_json(const struct result *r)
{
    printf("{\"bench\":\"%s\",\"peer\":\"%s\",\"workers\":%u,\"reps\":%zu,\"seconds_min\":%.9g,"
           "\"seconds_median\":%.9g,\"ns_per_op\":%.6g,\"cpu_seconds\":%.9g,\"checksum\":\"%" PRIx64
           "\"",
           r->bench, r->peer, r->workers, r->seconds.count, r->seconds.min, r->seconds.median,
           r->ns_per_op, r->cpu, r->checksum);
    if (r->steals >= 0)
        printf(",\"steals\":%.0f", r->steals);
    if (r->measured)
        printf(",\"value\":%.9g", r->value);
    puts("}");
    fflush(stdout);
}

void report_add(struct report *report, const struct result *result)
{
    if (report->count == report->room) {
        size_t room = report->room ? 2 * report->room : 64;
        struct result *results = realloc(report->results, room * sizeof *results);
        if (!results)
            err(EXIT_FAILURE, "results");
        report->results = results;
        report->room = room;
    }
    report->results[report->count++] = *result;
    if (report->json)
        print_json(result);
}

void report_title(const struct report *report, const char *format, ...)
{
    if (report->json)
        return;
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
}

void report_head(const struct report *report, const char *operation)
{
    if (report->json)
        return;
    char per[32];
    snprintf(per, sizeof per, "ns/%s", operation);
    printf("  %-12s %7s %11s %11s %8s %13s %8s %11s %7s\n", "", "workers", "median", "min",
           "spread", per, "x twin", "CPU", "steals");
}

/* A time with a unit that suits it. */
static const char *time_text(double seconds, char text[static 24])
{
    if (seconds >= 10)
        snprintf(text, 24, "%.2f s ", seconds);
    else if (seconds >= 1e-3)
        snprintf(text, 24, "%.2f ms", seconds * 1e3);
    else
        snprintf(text, 24, "%.2f us", seconds * 1e6);
    return text;
}

void report_row(struct report *report, const struct result *r)
{
    report_add(report, r);
    if (report->json)
        return;
    char median[24], min[24], cpu[24], steals[24] = "";
    double spread =
        r->seconds.median > 0 ? (r->seconds.high - r->seconds.low) / r->seconds.median : 0;
    if (r->steals >= 0)
        snprintf(steals, sizeof steals, "%.0f", r->steals);
    printf("  %-12s %7u %11s %11s %6.1f %% %13.2f %8.3f %11s %7s\n", r->peer, r->workers,
           time_text(r->seconds.median, median), time_text(r->seconds.min, min), 100 * spread,
           r->ns_per_op, r->times_twin, time_text(r->cpu, cpu), steals);
}

void report_sample(struct report *report, const struct result *r)
{
    report_add(report, r);
    if (!report->json)
        printf("  %-52s %8.2f  (%.2f to %.2f)\n", r->peer, r->seconds.median * 1e6,
               r->seconds.low * 1e6, r->seconds.high * 1e6);
}

static bool kept(double value, enum report_bound bound, double limit)
{
    switch (bound) {
    case REPORT_AT_MOST:
        return value <= limit;
    case REPORT_AT_LEAST:
        return value >= limit;
    default:
        return value < limit;
    }
}

void report_claim(const struct report *report, const char *what, double value,
                  enum report_bound bound, double limit)
{
    static const char *const words[] = {"at most", "at least", "under"};
    if (report->json)
        return;
    printf("  %-52s %8.3f", what, value);
    if (report->judge && limit > 0)
        printf("  (should be %s %g%s)", words[bound], limit,
               kept(value, bound, limit) ? "" : ", and is not");
    puts("");
    fflush(stdout);
}
