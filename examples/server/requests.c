/* SPDX-License-Identifier: MIT */
#include "requests.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RECENT = 16 };

/* What is remembered of a request that is over. */
struct recent {
    const struct work_kind *kind;
    unsigned id;
    int reason;
    uint64_t took;
    weft_actor_info info;
};

static struct {
    struct requests_config config;
    weft_pool *pool;
    pthread_mutex_t lock; /* all that follows. Held for moments only: actors take it, too */
    bool closed;
    unsigned last_id;
    unsigned live;
    struct request *first; /* the newest */
    uint64_t ended, remembered;
    struct recent recent[RECENT]; /* the next one comes to remembered % RECENT */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

int requests_open(const struct requests_config *config)
{
    weft_config pool = WEFT_CONFIG_INIT;
    pool.workers = config->workers;
    all.config = *config;
    int error = weft_pool_create(&all.pool, &pool);
    if (!error)
        all.config.workers = weft_pool_workers(all.pool);
    return error;
}

void requests_close(void)
{
    pthread_mutex_lock(&all.lock);
    all.closed = true;
    pthread_mutex_unlock(&all.lock);
    weft_pool_destroy(all.pool); /* kills them, and waits */
}

const struct requests_config *requests_limits(void)
{
    return &all.config;
}

/* ---- A request's life ---- */

static void enlist(struct request *request)
{
    request->next = all.first;
    if (all.first)
        all.first->prev = request;
    all.first = request;
    all.live++;
}

static void delist(struct request *request)
{
    if (request->prev)
        request->prev->next = request->next;
    else
        all.first = request->next;
    if (request->next)
        request->next->prev = request->prev;
    all.live--;
}

static void remember(const struct request *request)
{
    all.ended++;
    if (request->kind->brief && request->reason == 0)
        return;
    struct recent *recent = &all.recent[all.remembered++ % RECENT];
    recent->kind = request->kind;
    recent->id = request->work.id;
    recent->reason = request->reason;
    recent->took = request->took;
    recent->info = (weft_actor_info)WEFT_ACTOR_INFO_INIT;
    weft_actor_get_info(request->actor, &recent->info);
}

void request_free(struct request *request)
{
    if (request->work.response)
        MHD_destroy_response(request->work.response);
    free(request);
}

/* The actor's supervisor: on whatever thread it ended. */
static void is_over(weft_actor *actor, int reason, void *data)
{
    struct request *request = data;
    struct MHD_Connection *connection = request->connection;
    request->reason = reason;
    request->took = weft_now() - request->began;
    pthread_mutex_lock(&all.lock);
    delist(request);
    remember(request);
    pthread_mutex_unlock(&all.lock);
    weft_actor_release(actor); /* nobody can find it any more */
    if (connection)
        MHD_resume_connection(connection); /* last touch: HTTP's thread goes on with it */
    else
        request_free(request);
}

static int make_actor(struct request *request)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.name = request->kind->name;
    config.memory = all.config.memory;
    config.supervisor = is_over;
    config.data = request;
    return weft_actor_create(&request->actor, all.pool, request->kind->fn, &request->work, &config);
}

/* Under the lock all the way, so that nobody sees, kills or ends one that is only half there. */
static int start(struct request *request)
{
    if (all.closed)
        return -ESHUTDOWN;
    if (all.live >= all.config.most)
        return -EBUSY;
    request->work.id = all.last_id + 1;
    int error = make_actor(request);
    if (error)
        return error;
    all.last_id++;
    request->began = weft_now();
    enlist(request);
    if (request->connection)
        MHD_suspend_connection(request->connection);
    return weft_actor_run(request->actor);
}

int request_start(struct request **out, unsigned *id, const struct work_kind *kind, unsigned number,
                  struct MHD_Connection *connection)
{
    struct request *request = calloc(1, sizeof *request);
    if (!request)
        return -ENOMEM;
    request->kind = kind;
    request->work.number = number;
    request->connection = connection;
    pthread_mutex_lock(&all.lock);
    int error = start(request);
    if (!error) {
        *out = request;
        *id = request->work.id;
    }
    pthread_mutex_unlock(&all.lock);
    if (error)
        free(request);
    return error;
}

/* While the lock is held, those in the list are not freed. */

bool requests_kill(unsigned id)
{
    pthread_mutex_lock(&all.lock);
    struct request *request = all.first;
    while (request && request->work.id != id)
        request = request->next;
    if (request)
        weft_actor_kill(request->actor);
    pthread_mutex_unlock(&all.lock);
    return request;
}

unsigned requests_kill_all(void)
{
    pthread_mutex_lock(&all.lock);
    for (struct request *request = all.first; request; request = request->next)
        weft_actor_kill(request->actor);
    unsigned killed = all.live;
    pthread_mutex_unlock(&all.lock);
    return killed;
}

/* ---- The list ---- */

static const char *state_name(enum weft_actor_state state)
{
    static const char *const names[] = {"new", "runnable", "running", "waiting", "over"};
    return names[state];
}

static const char *result_name(int reason)
{
    switch (reason) {
    case 0:
        return "ok";
    case -ENOMEM:
        return "memory";
    case -ECANCELED:
        return "killed";
    case -EOVERFLOW:
        return "stack";
    default:
        return "error";
    }
}

static void write_info(FILE *out, const weft_actor_info *info)
{
    fprintf(out,
            "\"turns\":%llu,\"steals\":%llu,\"delegates\":%llu,\"given_back\":%llu,"
            "\"moves\":%llu,\"executors\":%u,\"memory\":%zu,\"peak\":%zu,\"limit\":%zu",
            (unsigned long long)info->turns, (unsigned long long)info->steals,
            (unsigned long long)info->delegates, (unsigned long long)info->given_back,
            (unsigned long long)info->moves, info->executors, info->memory, info->memory_peak,
            info->memory_limit);
}

static void write_request(FILE *out, const struct request *request, uint64_t now)
{
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    weft_actor_get_info(request->actor, &info);
    fprintf(out, "{\"id\":%u,\"name\":\"%s\",\"number\":%u,\"state\":\"%s\",\"ms\":%.1f,",
            request->work.id, info.name, request->work.number, state_name(info.state),
            (double)(now - request->began) / 1e6);
    write_info(out, &info);
    fputs("}", out);
}

static void write_recent(FILE *out, const struct recent *recent)
{
    fprintf(out, "{\"id\":%u,\"name\":\"%s\",\"result\":\"%s\",\"ms\":%.1f,", recent->id,
            recent->kind->name, result_name(recent->reason), (double)recent->took / 1e6);
    write_info(out, &recent->info);
    fputs("}", out);
}

void requests_write(FILE *out)
{
    uint64_t now = weft_now();
    pthread_mutex_lock(&all.lock);
    fprintf(out,
            "{\"workers\":%u,\"most\":%u,\"memory\":%zu,\"stack\":%zu,\"ended\":%llu,\"actors\":[",
            all.config.workers, all.config.most, all.config.memory, WEFT_ACTOR_STACK,
            (unsigned long long)all.ended);
    for (const struct request *request = all.first; request; request = request->next) {
        write_request(out, request, now);
        fputs(request->next ? "," : "", out);
    }
    fputs("],\"recent\":[", out);
    for (unsigned i = 1; i <= RECENT && i <= all.remembered; i++) {
        fputs(i > 1 ? "," : "", out);
        write_recent(out, &all.recent[(all.remembered - i) % RECENT]);
    }
    fputs("]}\n", out);
    pthread_mutex_unlock(&all.lock);
}
