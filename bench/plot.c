/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PLOT_SERIES_MAX = 32 };

/* ---- What is drawn: a series for each contender, a group for each benchmark ---- */

struct series {
    const char *peer;
    unsigned workers;
};

static bool in_series(const struct series *series, const struct result *r)
{
    return series->workers == r->workers && strcmp(series->peer, r->peer) == 0;
}

static bool drawn(const struct result *r)
{
    return r->plotted > 0 && strcmp(r->peer, "sequential") != 0;
}

static unsigned collect(const struct report *report, struct series *all)
{
    unsigned count = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct result *r = &report->results[i];
        unsigned s = 0;
        while (s < count && !in_series(&all[s], r))
            s++;
        if (drawn(r) && s == count && count < PLOT_SERIES_MAX)
            all[count++] = (struct series){r->peer, r->workers};
    }
    return count;
}

/* One benchmark's results follow each other from `first` on. */
static void write_group(FILE *out, const struct report *report, size_t first,
                        const struct series *series, unsigned count)
{
    const char *bench = report->results[first].bench;
    fprintf(out, "\"%s\"", bench);
    for (unsigned s = 0; s < count; s++) {
        double value = 0;
        for (size_t i = first; i < report->count && report->results[i].bench == bench; i++)
            if (in_series(&series[s], &report->results[i]))
                value = report->results[i].plotted;
        if (value > 0)
            fprintf(out, " %g", value);
        else
            fputs(" ?", out);
    }
    fputc('\n', out);
}

static void write_data(FILE *out, const struct report *report, const struct series *series,
                       unsigned count)
{
    fputs("$times << END\nbenchmark", out);
    for (unsigned s = 0; s < count; s++)
        fprintf(out, " \"%s, %u\"", series[s].peer, series[s].workers);
    fputc('\n', out);
    for (size_t i = 0; i < report->count; i++)
        if (drawn(&report->results[i]) &&
            (i == 0 || report->results[i - 1].bench != report->results[i].bench ||
             !drawn(&report->results[i - 1])))
            write_group(out, report, i, series, count);
    fputs("END\n", out);
}

/* A colour for each contender; one worker has the lighter shade. */
static void write_colours(FILE *out, const struct series *series, unsigned count)
{
    static const struct {
        const char *peer, *light, *dark;
    } shades[] = {
        {"weft", "#f5a26f", "#d9480f"},        {"copies", "#555555", "#555555"},
        {"not inlined", "#bbbbbb", "#bbbbbb"}, {"openmp-gnu", "#a9d18e", "#4f8a2f"},
        {"openmp-llvm", "#9dc3e6", "#2f6fa8"}, {"tbb", "#d5b0e0", "#8e44ad"},
        {"rayon", "#f7dc8a", "#c29b0c"},
    };
    for (unsigned s = 0; s < count; s++)
        for (size_t i = 0; i < sizeof shades / sizeof shades[0]; i++)
            if (strcmp(shades[i].peer, series[s].peer) == 0)
                fprintf(out, "set linetype %u lc rgb '%s'\n", s + 1,
                        series[s].workers == 1 ? shades[i].light : shades[i].dark);
}

static void write_script(FILE *out, const struct report *report)
{
    struct series series[PLOT_SERIES_MAX];
    unsigned count = collect(report, series);
    write_data(out, report, series, count);
    write_colours(out, series, count);
    fprintf(out,
            "set terminal svg size 1400,700 dynamic font 'sans-serif,14' background 'white'\n"
            "set title 'Time as a multiple of the sequential program (bursty: CPU time); "
            "contender, workers'\n"
            "set style data histograms\n"
            "set style histogram clustered gap 1.5\n"
            "set style fill solid 0.9 noborder\n"
            "set logscale y\n"
            "set grid ytics\n"
            "set ylabel 'time / sequential'\n"
            "set xtics rotate by -20\n"
            "set key outside right top\n"
            "set datafile missing '?'\n"
            "plot for [i=2:%u] $times using i:xtic(1) title columnheader(i), "
            "1 with lines lc rgb 'black' dt 2 title 'sequential'\n",
            count + 1);
}

/* ---- gnuplot ---- */

/* Starts it with these for standard input and output; 0 or an errno value. */
static int start(pid_t *pid, const char *argument, int in, int out)
{
    char name[] = "gnuplot", text[64];
    char *argv[] = {name, argument ? text : NULL, NULL};
    snprintf(text, sizeof text, "%s", argument ? argument : "");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    int error = posix_spawnp(pid, name, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static bool ended_well(pid_t pid)
{
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool gnuplot_works(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t pid;
    bool works = null >= 0 && start(&pid, "--version", null, null) == 0 && ended_well(pid);
    if (null >= 0)
        close(null);
    if (!works)
        warnx("--plot needs gnuplot (Debian: gnuplot-nox)");
    return works;
}

bool plot_possible(const char *path)
{
    if (!gnuplot_works())
        return false;
    FILE *file = fopen(path, "ae");
    if (!file) {
        warn("cannot write '%s'", path);
        return false;
    }
    fclose(file);
    return true;
}

bool plot_draw(const struct report *report, const char *path)
{
    FILE *script = tmpfile();
    int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    pid_t pid;
    bool drew = script && out >= 0;
    if (drew) {
        write_script(script, report);
        rewind(script); /* flushes it, and gnuplot reads from the beginning */
        drew = start(&pid, NULL, fileno(script), out) == 0 && ended_well(pid);
    }
    if (!drew)
        warnx("cannot draw '%s'", path);
    if (script)
        fclose(script);
    if (out >= 0)
        close(out);
    return drew;
}
