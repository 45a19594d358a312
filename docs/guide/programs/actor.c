/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/actor.h>
#include <weft/sort.h>

/* [actor] */
struct request {
    unsigned seed;
    uint64_t median;
};

/* An actor: an independent computation. It may fork, loop and sort like any job. */
static int serve(weft *w, void *arg)
{
    struct request *request = arg;
    size_t n = 10001;
    uint64_t *numbers = weft_alloc(w, n * sizeof *numbers); /* never NULL, freed with the actor */
    for (size_t i = 0; i < n; i++)
        numbers[i] = (i * 7919 + request->seed) % n;
    weft_sort_u64(w, numbers, n);
    request->median = numbers[n / 2];
    return 0;
}

int main(void)
{
    struct request request = {42, 0};
    weft_actor *actor;
    int error = weft_actor_create(&actor, NULL, serve, &request, NULL);
    if (error)
        return fprintf(stderr, "%s\n", weft_strerror(error)), 1;
    weft_actor_run(actor);
    int reason = weft_actor_wait(NULL, actor);
    weft_actor_release(actor);
    printf("%s, %llu\n", weft_strerror(reason), (unsigned long long)request.median);
}
/* [end] */
