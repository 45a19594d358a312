/* SPDX-License-Identifier: MIT */
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
    enum { SLOTS = 64 }; /* at most so many blocks under way */
    static struct block slots[SLOTS];
    uint64_t state = 1, all = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < BLOCKS; i++) {
        struct block *b = &slots[i % SLOTS];
#pragma omp task depend(inout : state) depend(inout : *b) shared(state) firstprivate(b)
        fill(b, &state);
#pragma omp task depend(inout : *b) firstprivate(b)
        digest(b);
#pragma omp task depend(inout : all) depend(inout : *b) shared(all) firstprivate(b)
        all = all * 31 + b->sum;
    }
    printf("%016llx\n", (unsigned long long)all);
}
