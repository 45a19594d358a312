/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/actor.h>

/* [mailbox] */
struct order {
    int amount;
};

/* Nothing of this needs a lock: one actor alone has the balance. */
static int account(weft *w, void *arg)
{
    int *balance = arg;
    for (;;) {
        void *message;
        int error = weft_receive(w, &message); /* suspends the actor, not the worker */
        if (error)
            return error;
        const struct order *order = message;
        if (order->amount == 0)
            return 0;
        *balance += order->amount;
    }
}
/* [end] */

int main(void)
{
    static struct order orders[] = {{10}, {20}, {-5}, {0}};
    int balance = 0;
    weft_actor *actor;
    if (weft_actor_create(&actor, NULL, account, &balance, NULL))
        return 1;
    for (int i = 0; i < 4; i++)
        if (weft_actor_send(NULL, actor, &orders[i])) /* the first message starts it */
            return 1;
    int reason = weft_actor_wait(NULL, actor);
    weft_actor_release(actor);
    printf("%d\n", balance);
    return reason != 0;
}
