/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <weft/sync.h>

/* [channel] */
struct shop {
    weft_channel orders, done;
};

/* A job: takes orders until the channel is closed. */
static void work(weft *w, void *arg)
{
    struct shop *shop = arg;
    int order;
    while (weft_channel_receive(w, &shop->orders, &order) == 0) {
        long result = (long)order * order;
        if (weft_channel_send(w, &shop->done, &result))
            break;
    }
    weft_channel_close(w, &shop->done);
}

/* A thread that is not of the pool: its context is NULL. */
static void *customer(void *arg)
{
    struct shop *shop = arg;
    for (int order = 1; order <= 10; order++)
        if (weft_channel_send(NULL, &shop->orders, &order))
            break;
    weft_channel_close(NULL, &shop->orders);
    return NULL;
}
/* [end] */

int main(void)
{
    struct shop shop;
    if (weft_channel_init(&shop.orders, "orders", sizeof(int), 4) ||
        weft_channel_init(&shop.done, "done", sizeof(long), 4))
        return 1;
    weft_channel_from_outside(&shop.orders); /* threads outside use both */
    weft_channel_from_outside(&shop.done);
    weft_task task;
    pthread_t thread;
    if (weft_submit(NULL, &task, work, &shop) || pthread_create(&thread, NULL, customer, &shop))
        return 1;

    /* [select] */
    long sum = 0, result;
    weft_case cases[] = {{.channel = &shop.done, .item = &result}}; /* there may be several */
    for (;;) {
        int chosen = weft_select(NULL, cases, 1, weft_now() + 60 * UINT64_C(1000000000));
        if (chosen == -ETIMEDOUT)
            return puts("a minute without a result"), 1;
        if (cases[chosen].result == -EPIPE)
            break; /* closed, and all that was sent has come */
        sum += result;
    }
    /* [end] */
    pthread_join(thread, NULL);
    int error = weft_task_wait(&task);
    printf("%ld\n", sum);
    weft_channel_destroy(&shop.orders);
    weft_channel_destroy(&shop.done);
    return error != 0;
}
