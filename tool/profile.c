/* SPDX-License-Identifier: MIT */
/* weft profile: runs a program with a trace, and explains it. What it says goes to standard error,
 * so that the program's own output can be used as ever. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <langinfo.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft.h>

#include "profile/folder.h"
#include "profile/launch.h"
#include "progress.h"
#include "tool.h"
#include "trace/report.h"
#include "trace/words.h"

/* How to see more of a trace: its file, and a file to write. */
#define MORE "weft trace %s --html %s.html"

enum { OTHERS_MOST = 20, SIZE_MOST = 1 << 20 };

struct profile {
    const char *output; /* or NULL */
    unsigned mib;       /* 0: what the library takes */
    struct folder folder;
    struct launch launch;
    uint64_t begun;
    uint64_t cpu; /* nanoseconds so far, of what is traced and has not ended */
};

/* One process. */
struct finding {
    struct folder_trace *file;
    struct trace *trace; /* NULL: can't be read */
    struct summary *summary;
};

static void usage(void)
{
    puts("Usage: weft profile [OPTION]... PROGRAM [ARGUMENT]...\n"
         "Runs a program that uses weft, and explains what its threads did: what to look at first, "
         "how\n"
         "busy they were, and for what they waited. What it says goes to standard error. The exit "
         "status\n"
         "is that of the program.\n"
         "\n"
         "  -o, --output FILE  keep the trace there; default: in a new folder in $TMPDIR or /tmp. "
         "If\n"
         "                     the program's children use weft, too, each has a FILE.NUMBER\n"
         "  -s, --size MIB     how long a trace may become; default 64\n"
         "  -h, --help         show this");
}

/* ---- While it runs ---- */

static uint64_t cpu_of(pid_t pid, bool with_children)
{
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    long user_ended = 0, system_ended = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = 0;
    char *name = strrchr(text, ')'); /* which may have anything in it */
    if (!name || sscanf(name, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
                        &user, &system, &user_ended, &system_ended) != 4)
        return 0;
    uint64_t ticks = user + system;
    if (with_children)
        ticks += (uint64_t)user_ended + (uint64_t)system_ended;
    return ticks * UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void tick(void *arg, pid_t pid)
{
    struct profile *p = arg;
    struct folder_list list;
    uint64_t size = 0, cpu = cpu_of(pid, true), took = weft_now() - p->begun;
    if (!folder_list(&p->folder, &list))
        return;
    for (size_t i = 0; i < list.count; i++) {
        size += list.traces[i].size;
        if (list.traces[i].pid != pid)
            cpu += cpu_of(list.traces[i].pid, false);
    }
    folder_list_free(&list);
    /* What a child used is counted again when its parent has waited for it. */
    p->cpu = cpu > p->cpu ? cpu : p->cpu;
    char words[128];
    snprintf(words, sizeof words, "profile: %.1f s, trace %.1f MiB, CPU %.0f %%",
             (double)took / 1e9, (double)size / (1 << 20),
             took > 0 ? 100.0 * (double)p->cpu / (double)took : 0);
    progress_margin(words);
}

/* ---- What came of it ---- */

static void find(struct finding *finding, struct folder_trace *file)
{
    char why[TRACE_WHY_SIZE];
    *finding = (struct finding){.file = file, .trace = trace_open(file->path, why)};
    if (!finding->trace) {
        warnx("%s: %s", file->path, why);
        return;
    }
    finding->summary = summary_make(finding->trace);
    if (!finding->summary)
        warnx("%s: there is no memory", file->path);
}

static uint64_t work_of(const struct finding *finding)
{
    return finding->summary ? finding->summary->area : 0;
}

static void put_report(const struct finding *finding)
{
    struct names *names = names_open(finding->trace);
    char *text = NULL;
    size_t size = 0;
    /* As one write: what is left of the program's children may write, too. */
    FILE *out = names ? open_memstream(&text, &size) : NULL;
    if (out) {
        report_put(out, finding->summary, names, strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
        fclose(out);
        fwrite(text, 1, size, stderr);
    } else {
        warnx("%s: there is no memory", finding->file->path);
    }
    free(text);
    if (names)
        names_close(names);
}

/* For a shell. */
static char *quoted(const char *path)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-=:,@";
    char *text, *to;
    if (path[strspn(path, plain)] == 0)
        return strdup(path);
    to = text = malloc(4 * strlen(path) + 3);
    if (!text)
        return NULL;
    *to++ = '\'';
    for (; *path; path++)
        to = *path == '\'' ? stpcpy(to, "'\\''") : (*to = *path, to + 1);
    strcpy(to, "'");
    return text;
}

static void put_more(const char *path)
{
    char *name = quoted(path);
    if (name)
        fprintf(stderr, "\nThe trace is in %s. To see it over time: " MORE "\n", name, name, name);
    free(name);
}

static void put_others(const struct finding *findings, size_t count, const struct finding *most)
{
    size_t shown = 0, others = count - 1;
    if (others > 0)
        fprintf(stderr, "\nOther processes that used weft, and their traces:\n");
    for (size_t i = 0; i < count && shown < OTHERS_MOST; i++) {
        const struct finding *one = &findings[i];
        if (one == most)
            continue;
        shown++;
        const char *program = one->trace ? trace_about(one->trace)->program : "";
        const char *slash = strrchr(program, '/');
        fprintf(stderr, "  process %-8d work %8s  %-16s %s\n", (int)one->file->pid,
                words_time(work_of(one)).text, slash ? slash + 1 : "?", one->file->path);
    }
    if (shown < others)
        fprintf(stderr, "  and %zu more\n", others - shown);
}

static void put_end(const struct launch *l)
{
    if (l->signal)
        warnx("%s was killed by signal %d (%s)%s", l->argv[0], l->signal, strsignal(l->signal),
              l->core ? ", and left a core file" : "");
    else if (l->status != 0)
        warnx("%s ended with status %d", l->argv[0], l->status);
}

static void put_nothing(const struct launch *l)
{
    warnx("%s left no trace: is it linked with weft, and does it make a pool? (Nor is there one if "
          "it "
          "runs as another user, or something on the way to it sets or clears WEFT_TRACE.)",
          l->argv[0]);
}

/* ---- Where the traces stay ---- */

/* FILE with the number in the place of %p; without one, FILE for the process that did most, and
 * FILE.NUMBER for the others. */
static char *place_for(const char *output, pid_t pid, bool is_most)
{
    char *path = NULL;
    const char *number = strstr(output, "%p");
    int size =
        number ? asprintf(&path, "%.*s%d%s", (int)(number - output), output, (int)pid, number + 2)
        : is_most ? asprintf(&path, "%s", output)
                  : asprintf(&path, "%s.%d", output, (int)pid);
    return size < 0 ? NULL : path;
}

/* On the same file system: the folder was made beside FILE. */
static void move(const struct profile *p, struct finding *finding, bool is_most)
{
    char *to = p->output ? place_for(p->output, finding->file->pid, is_most) : NULL;
    if (!to)
        return;
    if (rename(finding->file->path, to) == 0) {
        free(finding->file->path);
        finding->file->path = to;
        return;
    }
    warn("%s: the trace stays in %s", to, finding->file->path);
    free(to);
}

static void explain(struct profile *p, struct folder_list *list, struct finding *findings)
{
    struct finding *most = &findings[0];
    for (size_t i = 0; i < list->count; i++) {
        find(&findings[i], &list->traces[i]);
        if (findings[i].summary && (!most->summary || work_of(&findings[i]) > work_of(most)))
            most = &findings[i];
    }
    for (size_t i = 0; i < list->count; i++)
        move(p, &findings[i], &findings[i] == most);
    if (most->summary)
        put_report(most);
    put_others(findings, list->count, most);
    put_more(most->file->path);
    for (size_t i = 0; i < list->count; i++) {
        if (findings[i].summary)
            summary_free(findings[i].summary);
        if (findings[i].trace)
            trace_close(findings[i].trace);
    }
}

static void look(struct profile *p)
{
    struct folder_list list;
    struct finding *findings = NULL;
    put_end(&p->launch);
    if (!folder_list(&p->folder, &list)) {
        warn("%s", p->folder.path);
    } else if (list.count == 0) {
        put_nothing(&p->launch);
    } else {
        findings = calloc(list.count, sizeof *findings);
        if (findings)
            explain(p, &list, findings);
        else
            warnx("there is no memory");
    }
    free(findings);
    folder_list_free(&list);
}

/* ---- Before it runs ---- */

/* The folder for the traces: where they will stay, or beside it. */
static bool prepare(struct profile *p)
{
    struct stat there;
    const char *temporary = getenv("TMPDIR");
    if (!p->output)
        return folder_make(&p->folder, temporary && *temporary ? temporary : "/tmp");
    if (lstat(p->output, &there) == 0 && !S_ISREG(there.st_mode)) {
        warnx("%s: it is there, and not a file", p->output);
        return false;
    }
    char *copy = strdup(p->output);
    bool made = copy && folder_make(&p->folder, dirname(copy));
    free(copy);
    return made;
}

static bool set_environment(const struct profile *p)
{
    char size[32], *variable = folder_variable(&p->folder);
    snprintf(size, sizeof size, "%u", p->mib);
    bool set = variable && setenv("WEFT_TRACE", variable, 1) == 0 &&
               (p->mib == 0 || setenv("WEFT_TRACE_MB", size, 1) == 0);
    if (!set)
        warnx("there is no memory");
    free(variable);
    return set;
}

static int profile(struct profile *p)
{
    int status = LAUNCH_FAILED;
    if (prepare(p) && set_environment(p)) {
        p->launch.tick = tick;
        p->launch.arg = p;
        p->begun = weft_now();
        launch(&p->launch);
        progress_margin(NULL);
        status = p->launch.status;
        if (p->launch.pid > 0)
            look(p);
    }
    folder_leave(&p->folder);
    return status;
}

int profile_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"size", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct profile p = {0};

    /* +: the options of the program are its own. */
    for (int c; (c = getopt_long(argc, argv, "+o:s:h", options, NULL)) != -1;) {
        switch (c) {
        case 'o':
            p.output = optarg;
            break;
        case 's':
            if (!tool_number("--size", optarg, 1, SIZE_MOST, &p.mib))
                return TOOL_EXIT_USAGE;
            break;
        default:
            return tool_other_option(c, usage);
        }
    }
    if (optind == argc || !argv[optind][0]) {
        warnx("which program? try --help");
        return TOOL_EXIT_USAGE;
    }
    p.launch.argv = argv + optind;
    return profile(&p);
}
