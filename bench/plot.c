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

enum { PLOT_SERIES_MAX = 64 };

/* ---- What is drawn: a series for each contender, a group for each benchmark ---- */

static const struct panel {
    const char *title, *axis;
    bool by_workers; /* each number of workers is a group; else a series */
    int line;        /* across it */
    const char *line_title;
} panels[] = {
    [REPORT_TIMES] =
        {
            .title = "Time as a multiple of the sequential program (bursty: CPU time); "
                     "contender, workers",
            .axis = "time / sequential",
            .line = 1,
            .line_title = "sequential",
        },
    [REPORT_OVERHEADS] =
        {
            .title = "Sleep protocols, all workers, eager road: time as a multiple of "
                     "tickle-seqcst",
            .axis = "time / tickle-seqcst",
            .by_workers = true,
            .line = 1,
            .line_title = "tickle-seqcst",
        },
    [REPORT_USAGE] =
        {
            .title = "Sleep protocols: CPU time beside the jobs (noop, bursty: with them); "
                     "load, workers",
            .axis = "percent of a core",
            .by_workers = true,
            .line = 100,
            .line_title = "a core",
        },
};

struct series {
    const char *peer;
    unsigned workers;
};

struct drawing {
    const struct report *report;
    enum report_panel panel;
    unsigned count;
    struct series series[PLOT_SERIES_MAX];
};

static bool in_series(const struct drawing *d, const struct series *series, const struct result *r)
{
    return strcmp(series->peer, r->peer) == 0 &&
           (panels[d->panel].by_workers || series->workers == r->workers);
}

static bool drawn(const struct drawing *d, const struct result *r)
{
    return r->panel == d->panel && r->plotted > 0 && strcmp(r->peer, "sequential") != 0;
}

static void collect(struct drawing *d)
{
    for (size_t i = 0; i < d->report->count; i++) {
        const struct result *r = &d->report->results[i];
        unsigned s = 0;
        while (s < d->count && !in_series(d, &d->series[s], r))
            s++;
        if (drawn(d, r) && s == d->count && d->count < PLOT_SERIES_MAX)
            d->series[d->count++] = (struct series){r->peer, r->workers};
    }
}

static bool same_group(const struct drawing *d, const struct result *a, const struct result *b)
{
    return a->bench == b->bench && (!panels[d->panel].by_workers || a->workers == b->workers);
}

static bool begins_group(const struct drawing *d, size_t i)
{
    const struct result *r = &d->report->results[i];
    return drawn(d, r) && (i == 0 || !same_group(d, r - 1, r) || !drawn(d, r - 1));
}

/* One group's results follow each other from `first` on. */
static void write_group(FILE *out, const struct drawing *d, size_t first)
{
    const struct report *report = d->report;
    const struct result *results = report->results;
    if (panels[d->panel].by_workers)
        fprintf(out, "\"%s, %u\"", results[first].bench, results[first].workers);
    else
        fprintf(out, "\"%s\"", results[first].bench);
    for (unsigned s = 0; s < d->count; s++) {
        double value = 0;
        for (size_t i = first; i < report->count && same_group(d, &results[first], &results[i]);
             i++)
            if (in_series(d, &d->series[s], &results[i]))
                value = results[i].plotted;
        if (value > 0)
            fprintf(out, " %g", value);
        else
            fputs(" ?", out);
    }
    fputc('\n', out);
}

static void write_data(FILE *out, const struct drawing *d)
{
    fprintf(out, "$panel%d << END\nbenchmark", (int)d->panel);
    for (unsigned s = 0; s < d->count; s++)
        if (panels[d->panel].by_workers)
            fprintf(out, " \"%s\"", d->series[s].peer);
        else
            fprintf(out, " \"%s, %u\"", d->series[s].peer, d->series[s].workers);
    fputc('\n', out);
    for (size_t i = 0; i < d->report->count; i++)
        if (begins_group(d, i))
            write_group(out, d, i);
    fputs("END\n", out);
}

/* A colour for each contender; one worker has the lighter shade. */
static void write_colours(FILE *out, const struct drawing *d)
{
    static const struct {
        const char *peer, *light, *dark;
    } shades[] = {
        {"weft", "#f5a26f", "#d9480f"},           {"copies", "#555555", "#555555"},
        {"not inlined", "#bbbbbb", "#bbbbbb"},    {"openmp-gnu", "#a9d18e", "#4f8a2f"},
        {"openmp-llvm", "#9dc3e6", "#2f6fa8"},    {"tbb", "#d5b0e0", "#8e44ad"},
        {"rayon", "#f7dc8a", "#c29b0c"},          {"tickle", "#2f6fa8", "#2f6fa8"},
        {"tickle-seqcst", "#5b9bd5", "#5b9bd5"},  {"tickle-flag", "#9dc3e6", "#9dc3e6"},
        {"tickle-swap", "#c5dcf0", "#c5dcf0"},    {"counters", "#3d6b24", "#3d6b24"},
        {"counters-local", "#4f8a2f", "#4f8a2f"}, {"counters-blocks", "#7fb55f", "#7fb55f"},
        {"counters-all", "#a9d18e", "#a9d18e"},   {"counters-two", "#c9e3b8", "#c9e3b8"},
        {"events", "#d9480f", "#d9480f"},         {"events-plain", "#f08c4a", "#f08c4a"},
        {"events-latch", "#f5a26f", "#f5a26f"},
    };
    for (unsigned s = 0; s < d->count; s++)
        for (size_t i = 0; i < sizeof shades / sizeof shades[0]; i++)
            if (strcmp(shades[i].peer, d->series[s].peer) == 0)
                fprintf(out, "set linetype %u lc rgb '%s'\n", s + 1,
                        d->series[s].workers == 1 ? shades[i].light : shades[i].dark);
}

static void write_panel(FILE *out, const struct drawing *d)
{
    const struct panel *panel = &panels[d->panel];
    write_data(out, d);
    write_colours(out, d);
    fprintf(out,
            "set title '%s'\n"
            "set ylabel '%s'\n"
            "plot for [i=2:%u] $panel%d using i:xtic(1) title columnheader(i), "
            "%d with lines lc rgb 'black' dt 2 title '%s'\n",
            panel->title, panel->axis, d->count + 1, (int)d->panel, panel->line, panel->line_title);
}

static void write_script(FILE *out, const struct report *report)
{
    struct drawing drawings[REPORT_PANELS];
    int count = 0;
    for (int i = 0; i < REPORT_PANELS; i++) {
        drawings[count] = (struct drawing){.report = report, .panel = (enum report_panel)i};
        collect(&drawings[count]);
        count += drawings[count].count > 0;
    }
    if (count == 0) /* an empty picture is a picture, too */
        drawings[count++] = (struct drawing){.report = report};
    fprintf(out,
            "set terminal svg size 1400,%d dynamic font 'sans-serif,14' background 'white'\n"
            "set style data histograms\n"
            "set style histogram clustered gap 1.5\n"
            "set style fill solid 0.9 noborder\n"
            "set logscale y\n"
            "set grid ytics\n"
            "set xtics rotate by -20\n"
            "set key outside right top\n"
            "set datafile missing '?'\n"
            "set multiplot layout %d,1\n",
            700 * count, count);
    for (int i = 0; i < count; i++)
        write_panel(out, &drawings[i]);
    fputs("unset multiplot\n", out);
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
