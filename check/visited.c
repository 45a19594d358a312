/* SPDX-License-Identifier: MIT */
#include "visited.h"

#include <stdlib.h>

struct place {
    struct digest digest;
    unsigned asleep;
    bool used;
};

static struct place *places; /* a hash table, at most half full */
static size_t place_count, place_room;

void visited_forget(void)
{
    free(places);
    places = NULL;
    place_count = place_room = 0;
}

static struct place *place_of(const struct digest *digest)
{
    size_t i = digest->a & (place_room - 1);
    while (places[i].used && (places[i].digest.a != digest->a || places[i].digest.b != digest->b))
        i = (i + 1) & (place_room - 1);
    return &places[i];
}

static void grow(void)
{
    struct place *old = places;
    size_t room = place_room;
    place_room = room ? 2 * room : 1 << 12;
    places = calloc(place_room, sizeof *places);
    if (!places) {
        fputs("weft-check: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < room; i++)
        if (old[i].used)
            *place_of(&old[i].digest) = old[i];
    free(old);
}

bool visited_before(struct digest digest, unsigned *asleep)
{
    if (2 * place_count >= place_room)
        grow();
    struct place *place = place_of(&digest);
    if (!place->used) {
        *place = (struct place){digest, *asleep, true};
        place_count++;
        return false;
    }
    if ((place->asleep & ~*asleep) == 0)
        return true;
    *asleep = place->asleep &= *asleep;
    return false;
}
