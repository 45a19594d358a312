/* SPDX-License-Identifier: MIT */
/* actors.c: a hundred small requests beside a greedy one. The greedy one could keep all workers
 * busy; the small ones get their turns all the same, and each is over within a few turns. */
#include <stdio.h>
#include <stdlib.h>
#include <weft/actor.h>

enum { REQUESTS = 100 };

struct request {
    long n, result;
    uint64_t begun, ended;
    weft_actor *actor;
};

/* Work that splits, as far as one likes. */
static long fib(weft *w, long n);
WEFT_FORKABLE(long, fib, long n;, fib(w, a->n))

static long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    WEFT_FORK(w, fib, right, n - 2);
    long left = fib(right_in, n - 1);
    return left + WEFT_MERGE(w, fib, right);
}

static int serve(weft *w, void *arg)
{
    struct request *request = arg;
    request->result = fib(w, request->n);
    request->ended = weft_now();
    return 0;
}

static int start(struct request *request, const char *name, long n)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.name = name;
    request->n = n;
    request->begun = weft_now();
    int error = weft_actor_create(&request->actor, NULL, serve, request, &config);
    return error ? error : weft_actor_run(request->actor);
}

static int by_duration(const void *a, const void *b)
{
    const struct request *x = a, *y = b;
    uint64_t left = x->ended - x->begun, right = y->ended - y->begun;
    return (left > right) - (left < right);
}

static void show(const struct request *request, const char *what)
{
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    weft_actor_get_info(request->actor, &info);
    printf("%-17s %8.2f ms, of these %5.0f ms at work; %3llu turns, %3llu right sides given away\n",
           what, (double)(request->ended - request->begun) / 1e6, (double)info.run_ns / 1e6,
           (unsigned long long)info.turns, (unsigned long long)info.delegates);
}

int main(void)
{
    static struct request greedy, small[REQUESTS];
    if (start(&greedy, "greedy", 35))
        return 1;
    for (int i = 0; i < REQUESTS; i++) {
        if (start(&small[i], "small", 15))
            return 1;
        weft_sleep_until(NULL, weft_now() + 300000);
    }
    int errors = 0;
    for (int i = 0; i < REQUESTS; i++)
        errors += weft_actor_wait(NULL, small[i].actor) != 0 || small[i].result != 610;
    errors += weft_actor_wait(NULL, greedy.actor) != 0 || greedy.result != 9227465;

    qsort(small, REQUESTS, sizeof small[0], by_duration);
    show(&greedy, "the greedy one:");
    show(&small[REQUESTS / 2], "half are quicker:");
    show(&small[REQUESTS - 1], "the slowest:");
    for (int i = 0; i < REQUESTS; i++)
        weft_actor_release(small[i].actor);
    weft_actor_release(greedy.actor);
    return errors != 0;
}
