/* SPDX-License-Identifier: MIT */
#include "http.h"
#include "requests.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const unsigned char server_page[]; /* page.html, made into C by embed.cmake */
extern const size_t server_page_size;

enum {
    SPARE_CONNECTIONS = 64,  /* for looking and killing while all requests are busy */
    IDLE_SECONDS = 60,       /* a connection that says nothing is closed */
    LAST_ANSWER_SECONDS = 2, /* what the last answers may take when the server ends */
};

static struct MHD_Daemon *daemon_;

/* Requests that have a connection which has not got all of the answer. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t none;
    unsigned count;
} unanswered = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

/* ---- Answers ---- */

/* The caller's response is gone afterwards. */
static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, const char *type,
                             struct MHD_Response *response)
{
    if (!response)
        return MHD_NO; /* no memory: the connection is closed */
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    enum MHD_Result result = MHD_queue_response(c, status, response);
    MHD_destroy_response(response);
    return result;
}

__attribute__((format(printf, 3, 4))) static enum MHD_Result
reply_text(struct MHD_Connection *c, unsigned status, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        return MHD_NO;
    return reply(c, status, "text/plain; charset=utf-8",
                 MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result reply_page(struct MHD_Connection *c)
{
    return reply(c, MHD_HTTP_OK, "text/html; charset=utf-8",
                 MHD_create_response_from_buffer(server_page_size, (void *)server_page,
                                                 MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result reply_actors(struct MHD_Connection *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return MHD_NO;
    requests_write(out);
    if (fclose(out)) {
        free(text);
        return MHD_NO;
    }
    return reply(c, MHD_HTTP_OK, "application/json",
                 MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE));
}

static unsigned mib(size_t bytes)
{
    return (unsigned)(bytes >> 20);
}

/* It could not start. */
static enum MHD_Result reply_refused(struct MHD_Connection *c, const char *name, int error)
{
    switch (error) {
    case -EBUSY:
        return reply_text(c, MHD_HTTP_SERVICE_UNAVAILABLE,
                          "%u requests are being worked on, and more are not allowed: try again, "
                          "kill some, or start the server with a larger --requests.\n",
                          requests_limits()->most);
    case -ESHUTDOWN:
        return reply_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "The server is ending.\n");
    default:
        return reply_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s can't start: %s.\n", name,
                          strerror(-error));
    }
}

/* It is over. */
static enum MHD_Result reply_result(struct MHD_Connection *c, const struct request *request)
{
    const char *name = request->kind->name;
    unsigned id = request->work.id;
    char timing[64];
    switch (request->reason) {
    case 0:
        snprintf(timing, sizeof timing, "actor;dur=%.3f", (double)request->took / 1e6);
        MHD_add_response_header(request->work.response, "Server-Timing", timing);
        return MHD_queue_response(c, MHD_HTTP_OK, request->work.response);
    case -ENOMEM:
        return reply_text(c, MHD_HTTP_INSUFFICIENT_STORAGE,
                          "%s %u needs more memory than the %u MiB that each request may use: ask "
                          "for less, or start the server with a larger --memory.\n",
                          name, id, mib(requests_limits()->memory));
    case -ECANCELED:
        return reply_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s %u was killed.\n", name, id);
    default:
        return reply_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s %u failed: %s.\n", name, id,
                          strerror(-request->reason));
    }
}

/* ---- Requests ---- */

/* The argument, or `usual` if there is none; false: it is no number from least to most. */
static bool read_number(struct MHD_Connection *c, const char *name, unsigned least, unsigned most,
                        unsigned usual, unsigned *number)
{
    const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
    *number = usual;
    if (!text)
        return true;
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < least || value > most)
        return false;
    *number = (unsigned)value;
    return true;
}

static enum MHD_Result start(struct MHD_Connection *c, const struct work_kind *kind, void **state)
{
    unsigned number, detach, id;
    struct request *request;
    if (!read_number(c, kind->argument, kind->least, kind->most, kind->usual, &number))
        return reply_text(c, MHD_HTTP_BAD_REQUEST,
                          "/%s: \"%s\" has to be a number from %u to %u.\n", kind->name,
                          kind->argument, kind->least, kind->most);
    if (!read_number(c, "detach", 0, 1, 0, &detach))
        return reply_text(c, MHD_HTTP_BAD_REQUEST, "/%s: \"detach\" has to be 0 or 1.\n",
                          kind->name);
    int error = request_start(&request, &id, kind, number, detach ? NULL : c);
    if (error)
        return reply_refused(c, kind->name, error);
    if (detach)
        return reply_text(c, MHD_HTTP_ACCEPTED, "%u\n", id);
    *state = request;
    pthread_mutex_lock(&unanswered.lock);
    unanswered.count++;
    pthread_mutex_unlock(&unanswered.lock);
    return MHD_YES; /* the connection is suspended; when it is resumed, handle() is called again */
}

static enum MHD_Result kill_one(struct MHD_Connection *c)
{
    unsigned id;
    if (!read_number(c, "id", 1, UINT32_MAX, 0, &id) || id == 0)
        return reply_text(c, MHD_HTTP_BAD_REQUEST,
                          "/kill: \"id\" has to be the number of a request, as in /actors.\n");
    if (!requests_kill(id))
        return reply_text(c, MHD_HTTP_NOT_FOUND, "No request %u is being worked on.\n", id);
    return reply_text(c, MHD_HTTP_OK, "Request %u will end at its next fork.\n", id);
}

static enum MHD_Result route(struct MHD_Connection *c, const char *path, void **state)
{
    for (const struct work_kind *kind = work_kinds; kind->name; kind++)
        if (!strcmp(path + 1, kind->name))
            return start(c, kind, state);
    if (!strcmp(path, "/"))
        return reply_page(c);
    if (!strcmp(path, "/actors"))
        return reply_actors(c);
    if (!strcmp(path, "/kill"))
        return kill_one(c);
    if (!strcmp(path, "/kill-all"))
        return reply_text(c, MHD_HTTP_OK, "%u killed.\n", requests_kill_all());
    if (!strcmp(path, "/stop")) {
        work_stop_greedy();
        return reply_text(c, MHD_HTTP_OK, "Greedy requests will end.\n");
    }
    return reply_text(c, MHD_HTTP_NOT_FOUND,
                      "There are /, /actors, /render?size=N, /small, /greedy, /hog, /stop, "
                      "/kill?id=N and /kill-all.\n");
}

/* ---- What libmicrohttpd calls ---- */

static int headers_read; /* its address, as a connection's state: this and no more has happened */

static enum MHD_Result handle(void *data, struct MHD_Connection *c, const char *path,
                              const char *method, const char *version, const char *body,
                              size_t *body_size, void **state)
{
    (void)data;
    (void)version;
    (void)body;
    if (!*state) {
        *state = &headers_read;
        return MHD_YES;
    }
    if (*state != &headers_read)
        return reply_result(c, *state);
    if (*body_size > 0) { /* of no interest */
        *body_size = 0;
        return MHD_YES;
    }
    if (strcmp(method, MHD_HTTP_METHOD_GET))
        return reply_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET is understood.\n");
    return route(c, path, state);
}

static void answered(void *data, struct MHD_Connection *c, void **state,
                     enum MHD_RequestTerminationCode how)
{
    (void)data;
    (void)c;
    (void)how;
    if (!*state || *state == &headers_read)
        return;
    request_free(*state);
    *state = NULL;
    pthread_mutex_lock(&unanswered.lock);
    if (--unanswered.count == 0)
        pthread_cond_signal(&unanswered.none);
    pthread_mutex_unlock(&unanswered.lock);
}

/* ---- Its life ---- */

int http_open(uint16_t *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(*port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    errno = 0;
    daemon_ = MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, NULL,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT,
        requests_limits()->most + SPARE_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
        MHD_OPTION_NOTIFY_COMPLETED, answered, NULL, MHD_OPTION_END);
    if (!daemon_)
        return errno ? -errno : -EIO;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
    if (info)
        *port = info->port;
    return 0;
}

void http_close(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LAST_ANSWER_SECONDS;
    int error = 0;
    pthread_mutex_lock(&unanswered.lock);
    while (unanswered.count > 0 && !error)
        error = pthread_cond_timedwait(&unanswered.none, &unanswered.lock, &until);
    pthread_mutex_unlock(&unanswered.lock);
    MHD_stop_daemon(daemon_);
}
