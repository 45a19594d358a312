/* SPDX-License-Identifier: MIT */
/* weft top: what the threads of running programs do. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"
#include "top/json.h"
#include "top/lines.h"
#include "top/list.h"
#include "top/view.h"

struct options {
    pid_t pid; /* 0: all */
    bool once, json;
    unsigned interval_ms;
};

static void usage(void)
{
    puts("Usage: weft top [OPTION]... [PID]\n"
         "Shows what the threads of a running program do that uses the library, and for whom\n"
         "they wait; without PID, all such programs of this user, to choose from. The program\n"
         "goes on undisturbed; it may also stand still.\n"
         "\n"
         "  -1, --once              write it once, and not as a page on the terminal\n"
         "  -j, --json              the same as JSON, for scripts\n"
         "  -i, --interval SECONDS  how often to look, and for how long with --once; 1. With\n"
         "                          --once 0, the whole life of the program so far\n"
         "  -h, --help              show this");
}

static bool parse_interval(const char *text, unsigned *ms)
{
    char *end;
    errno = 0;
    double seconds = strtod(text, &end);
    bool digits = text[0] >= '0' && text[0] <= '9' && *end == '\0';
    if (!digits || errno == ERANGE || !(seconds >= 0 && seconds <= 3600)) {
        warnx("--interval: '%s' is no number of seconds from 0 to 3600", text);
        return false;
    }
    *ms = (unsigned)(seconds * 1000 + 0.5);
    return true;
}

static void sleep_ms(unsigned ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
}

/* As wide as the terminal; in a file, wide enough for everything. */
static unsigned width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40)
        return 200;
    return size.ws_col < LINE_WIDEST ? size.ws_col : LINE_WIDEST;
}

static void print(const struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        size_t size = strlen(lines->all[i].text);
        while (size > 0 && lines->all[i].text[size - 1] == ' ')
            size--;
        printf("%.*s\n", (int)size, lines->all[i].text);
    }
}

static void print_sample(const struct sample *sample, bool json)
{
    struct lines lines = {.width = width()};
    if (json) {
        json_put(stdout, sample);
        putchar('\n');
        return;
    }
    lines_put_sample(&lines, sample, (struct choice){.pool = -1});
    print(&lines);
    lines_free(&lines);
}

static int once(const struct options *options)
{
    char why[PAGE_WHY_SIZE];
    struct sample sample;
    struct watch *watch = watch_open(options->pid, why);
    bool good = watch && (options->interval_ms == 0 || watch_look(watch, &sample, why));
    if (good && options->interval_ms) {
        sample_free(&sample);
        sleep_ms(options->interval_ms);
    }
    good = good && watch_look(watch, &sample, why);
    if (good) {
        print_sample(&sample, options->json);
        sample_free(&sample);
    } else {
        warnx("%s", why);
    }
    if (watch)
        watch_close(watch);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void print_list(const struct list *list, bool json)
{
    struct lines lines = {.width = width()};
    if (json) {
        putchar('[');
        for (size_t i = 0; i < list->count; i++) {
            fputs(i ? ",\n" : "", stdout);
            json_put(stdout, &list->all[i].sample);
        }
        puts("]");
        return;
    }
    lines_put_list(&lines, list->all, list->count);
    print(&lines);
    lines_free(&lines);
}

static int once_all(const struct options *options)
{
    struct list list = {0};
    bool good = list_look(&list);
    if (good && options->interval_ms) {
        sleep_ms(options->interval_ms);
        good = list_look(&list);
    }
    if (good)
        print_list(&list, options->json);
    else
        warnx("there is no memory");
    list_free(&list);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool parse(int argc, char **argv, struct options *out, bool *help)
{
    static const struct option options[] = {
        {"once", no_argument, NULL, '1'},
        {"json", no_argument, NULL, 'j'},
        {"interval", required_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    for (int c; (c = getopt_long(argc, argv, "1ji:h", options, NULL)) != -1;) {
        switch (c) {
        case '1':
            out->once = true;
            break;
        case 'j':
            out->once = out->json = true;
            break;
        case 'i':
            if (!parse_interval(optarg, &out->interval_ms))
                return false;
            break;
        case 'h':
            *help = true;
            return true;
        default:
            return false;
        }
    }
    unsigned pid;
    if (optind < argc) {
        if (!tool_number("PID", argv[optind], 1, INT_MAX, &pid))
            return false;
        out->pid = (pid_t)pid;
        optind++;
    }
    return tool_no_more(argc, argv);
}

int top_main(int argc, char **argv)
{
    struct options options = {.interval_ms = 1000};
    bool help = false;
    if (!parse(argc, argv, &options, &help))
        return TOOL_EXIT_USAGE;
    if (help) {
        usage();
        return EXIT_SUCCESS;
    }
    if (!options.once)
        return view_run(options.pid, options.interval_ms < 100 ? 100 : options.interval_ms);
    return options.pid ? once(&options) : once_all(&options);
}
