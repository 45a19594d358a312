/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/sync.h>

/* [deadlock] */
struct accounts {
    weft_mutex ours, theirs;
    atomic_int busy;
};

/* Makes sure of what would otherwise happen once in a while. */
static void wait_for_the_other(struct accounts *accounts)
{
    atomic_fetch_add(&accounts->busy, 1);
    while (atomic_load(&accounts->busy) < 2)
        ;
}

static void pay(weft *w, void *arg)
{
    struct accounts *accounts = arg;
    weft_mutex_lock(w, &accounts->ours);
    wait_for_the_other(accounts);
    weft_mutex_lock(w, &accounts->theirs);
    weft_mutex_unlock(w, &accounts->theirs);
    weft_mutex_unlock(w, &accounts->ours);
}

static void be_paid(weft *w, void *arg)
{
    struct accounts *accounts = arg;
    weft_mutex_lock(w, &accounts->theirs);
    wait_for_the_other(accounts);
    weft_mutex_lock(w, &accounts->ours);
    weft_mutex_unlock(w, &accounts->ours);
    weft_mutex_unlock(w, &accounts->theirs);
}
/* [end] */

static void do_both(weft *w, void *arg)
{
    weft_join(w, pay, arg, be_paid, arg);
}

/* [handler] */
static void give_up(weft_pool *pool, const char *report, const char *graph, void *data)
{
    (void)pool, (void)graph, (void)data;
    fputs(report, stdout);
    fflush(stdout);
    _Exit(0); /* here the program is about the report; others would return an error */
}
/* [end] */

int main(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    config.deadlock = give_up;
    weft_pool *pool;
    if (weft_pool_create(&pool, &config))
        return 1;
    struct accounts accounts = {.busy = 0};
    weft_mutex_init(&accounts.ours, "ours");
    weft_mutex_init(&accounts.theirs, "theirs");
    return weft_run(pool, do_both, &accounts) ? 1 : 2; /* it can't come back */
}
