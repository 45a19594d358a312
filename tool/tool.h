/* SPDX-License-Identifier: MIT */
/* tool.h: what the subcommands of `weft` share. */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>

/* Exit status for a command line that makes no sense; EXIT_FAILURE is for work that failed. */
#define TOOL_EXIT_USAGE 2

/* The subcommands, one file each. argv[0] is "weft NAME"; what they return is the
 * program's exit status. */
int bench_main(int argc, char **argv);
int demo_main(int argc, char **argv);
int check_main(int argc, char **argv);
int info_main(int argc, char **argv);
int profile_main(int argc, char **argv);
int top_main(int argc, char **argv);
int trace_main(int argc, char **argv);

/* Reads a whole decimal number from least to most. On anything else, complains on
 * standard error, naming the option, and returns false. */
bool tool_number(const char *option, const char *text, unsigned least, unsigned most,
                 unsigned *value);

/* What a switch over options does with all others: 'h' shows the usage; getopt_long() has
 * complained of the rest. Returns the exit status. */
int tool_other_option(int option, void (*show)(void));

/* Complains and returns false if arguments are left after the options. */
bool tool_no_more(int argc, char **argv);

#endif
