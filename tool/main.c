/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#include "tool.h"

struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
};

static const struct subcommand subcommands[] = {
    {"demo", demo_main, "render a picture, first on one thread, then on all"},
    {"bench", bench_main, "measure the library, beside what the system itself can do"},
    {"check", check_main, "explore the library's protocols under the C11 memory model"},
    {"profile", profile_main, "run a program, and explain what its threads did"},
    {"trace", trace_main, "explain what the threads of a program did, from its trace"},
    {"top", top_main, "show what the threads of running programs do, and who waits for whom"},
    {"info", info_main, "show what the library makes of this machine and its environment"},
};

#define SUBCOMMANDS (sizeof subcommands / sizeof subcommands[0])

static void usage(FILE *out)
{
    fputs("Usage: weft SUBCOMMAND [OPTION]...\n"
          "Fork-join parallelism for C: see the library at work.\n"
          "\n",
          out);
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        fprintf(out, "  %-10s %s\n", subcommands[i].name, subcommands[i].help);
    fputs("  help       show this, or the help of a subcommand\n"
          "\n"
          "  --help     show this\n"
          "  --version  show the version\n"
          "\n"
          "'weft SUBCOMMAND --help' lists the options of a subcommand.\n",
          out);
}

static const struct subcommand *subcommand_find(const char *name)
{
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        if (strcmp(subcommands[i].name, name) == 0)
            return &subcommands[i];
    return NULL;
}

/* getopt_long() and warnx() both begin their messages with the program's name; "weft demo"
 * tells more than "weft". */
static int subcommand_run(const struct subcommand *sub, int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "weft %s", sub->name);
    argv[0] = name;
    program_invocation_short_name = name;
    int status = sub->run(argc, argv);
    program_invocation_short_name = "weft";
    return status;
}

static int unknown(const char *name)
{
    warnx("there is no subcommand '%s'; 'weft --help' lists them", name);
    return TOOL_EXIT_USAGE;
}

static int help(const char *name)
{
    if (!name) {
        usage(stdout);
        return EXIT_SUCCESS;
    }
    const struct subcommand *sub = subcommand_find(name);
    if (!sub)
        return unknown(name);
    char flag[] = "--help", *argv[] = {NULL, flag, NULL};
    return subcommand_run(sub, 2, argv);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(NULL);
    if (strcmp(argv[1], "help") == 0)
        return help(argv[2]);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("weft %s\n", weft_version());
        return EXIT_SUCCESS;
    }
    const struct subcommand *sub = subcommand_find(argv[1]);
    return sub ? subcommand_run(sub, argc - 1, argv + 1) : unknown(argv[1]);
}

int main(int argc, char **argv)
{
    program_invocation_short_name = "weft";
    setlocale(LC_CTYPE, "");
    int status = dispatch(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_SUCCESS) {
        warn("standard output");
        status = EXIT_FAILURE;
    }
    return status;
}

bool tool_number(const char *option, const char *text, unsigned least, unsigned most,
                 unsigned *value)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    /* strtoul() takes blanks and signs, and "-1" for a large number. */
    bool digits = text[0] >= '0' && text[0] <= '9' && *end == '\0';
    if (!digits || errno == ERANGE || n < least || n > most) {
        warnx("%s: '%s' is not a number from %u to %u", option, text, least, most);
        return false;
    }
    *value = (unsigned)n;
    return true;
}

int tool_other_option(int option, void (*show)(void))
{
    if (option != 'h')
        return TOOL_EXIT_USAGE;
    show();
    return EXIT_SUCCESS;
}

bool tool_no_more(int argc, char **argv)
{
    if (optind < argc)
        warnx("don't know what to do with '%s'; try --help", argv[optind]);
    return optind >= argc;
}
