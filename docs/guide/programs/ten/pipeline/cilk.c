/* SPDX-License-Identifier: MIT */
#include <cilk/cilk.h>
#include <stdint.h>
#include <stdio.h>

enum { BLOCKS = 1000, SIZE = 4096 };

struct block {
    uint64_t sum;
    unsigned char bytes[SIZE];
};

static void fill(struct block *b, uint64_t *state) /* in order */
{
    for (int i = 0; i < SIZE; i++)
        b->bytes[i] =
            (unsigned char)((*state = *state * 6364136223846793005u + 1442695040888963407u) >> 56);
}

static void digest(struct block *b) /* of any number at the same time */
{
    b->sum = 14695981039346656037u;
    for (int round = 0; round < 32; round++)
        for (int i = 0; i < SIZE; i++)
            b->sum = (b->sum ^ b->bytes[i]) * 1099511628211u;
}

int main(void)
{
    /* OpenCilk has no pipeline: batches keep the order. Nothing is read while they are digested. */
    enum { SLOTS = 50 };
    static struct block slots[SLOTS];
    uint64_t state = 1, all = 0;
    for (int i = 0; i < BLOCKS; i += SLOTS) {
        for (int k = 0; k < SLOTS; k++)
            fill(&slots[k], &state);
        cilk_for (int k = 0; k < SLOTS; k++)
            digest(&slots[k]);
        for (int k = 0; k < SLOTS; k++)
            all = all * 31 + slots[k].sum;
    }
    printf("%016llx\n", (unsigned long long)all);
}
