/* SPDX-License-Identifier: MIT */
/* A small HTTP server in which every request is an actor. README.md says what it shows. */
#include "http.h"
#include "requests.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: example-server [--port N] [--workers N] [--requests N] [--memory MIB]\n"
    "\n"
    "Serves http://127.0.0.1:PORT/, where each request is an actor; the page shows them.\n"
    "Ctrl-C ends it.\n"
    "\n"
    "  --port N      0: any free one; default 8080\n"
    "  --workers N   threads that compute; default: as many as there are processors\n"
    "  --requests N  that are worked on at once, 1 to 900; default 128\n"
    "  --memory MIB  for each request on each worker, stack included, 5 to 65536; default 64\n"
    "  --help        this text\n"
    "\n"
    "  /render?size=N  a picture   /small  a millisecond   /greedy  forks without end\n"
    "  /hog  wants all memory      /stop  ends greedy ones  /kill?id=N  /kill-all  /actors\n";

static unsigned number(const char *option, const char *text, unsigned least, unsigned most)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && value >= least && value <= most)
        return (unsigned)value;
    fprintf(stderr, "server: --%s has to be a number from %u to %u, not \"%s\"\n", option, least,
            most, text);
    exit(2);
}

static void read_options(int argc, char **argv, uint16_t *port, struct requests_config *config)
{
    static const struct option options[] = {
        {"port", required_argument, NULL, 'p'},     {"workers", required_argument, NULL, 'w'},
        {"requests", required_argument, NULL, 'r'}, {"memory", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},           {0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'p':
            *port = (uint16_t)number("port", optarg, 0, UINT16_MAX);
            break;
        case 'w':
            config->workers = number("workers", optarg, 1, WEFT_WORKERS_MAX);
            break;
        case 'r':
            config->most = number("requests", optarg, 1, 900);
            break;
        case 'm':
            config->memory = (size_t)number("memory", optarg, 5, 65536) << 20;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            fputs(usage, stderr);
            exit(2);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "server: \"%s\" is no option\n\n%s", argv[optind], usage);
        exit(2);
    }
}

/* Before any thread starts, so that all of them inherit it: signals are for main() to wait for. */
static void hold_signals(sigset_t *ends)
{
    sigemptyset(ends);
    sigaddset(ends, SIGINT);
    sigaddset(ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, ends, NULL);
    signal(SIGPIPE, SIG_IGN); /* a client that has gone is no reason to end */
}

int main(int argc, char **argv)
{
    uint16_t port = 8080;
    struct requests_config config = {.most = 128, .memory = (size_t)64 << 20};
    read_options(argc, argv, &port, &config);
    sigset_t ends;
    hold_signals(&ends);
    int error = requests_open(&config);
    if (error) {
        fprintf(stderr, "server: can't start %u workers: %s; try --workers 2\n", config.workers,
                strerror(-error));
        return 1;
    }
    error = http_open(&port);
    if (error) {
        fprintf(stderr,
                "server: can't listen on port %u: %s; try another --port, or --port 0 for any\n",
                port, strerror(-error));
        requests_close();
        return 1;
    }
    printf("http://127.0.0.1:%u/\n", port);
    fflush(stdout);
    int signal_number;
    sigwait(&ends, &signal_number);
    requests_close();
    http_close();
    return 0;
}
