/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <cstdio>
#include <tbb/parallel_pipeline.h>

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

int main()
{
    enum { SLOTS = 64 }; // at most so many blocks under way
    static block slots[SLOTS];
    uint64_t state = 1, all = 0;
    int made = 0;
    tbb::parallel_pipeline(
        SLOTS, tbb::make_filter<void, block *>(tbb::filter_mode::serial_in_order,
                                               [&](tbb::flow_control &control) -> block * {
                                                   if (made == BLOCKS) {
                                                       control.stop();
                                                       return nullptr;
                                                   }
                                                   block *b = &slots[made++ % SLOTS];
                                                   fill(b, &state);
                                                   return b;
                                               }) &
                   tbb::make_filter<block *, block *>(tbb::filter_mode::parallel,
                                                      [](block *b) {
                                                          digest(b);
                                                          return b;
                                                      }) &
                   tbb::make_filter<block *, void>(tbb::filter_mode::serial_in_order,
                                                   [&](block *b) { all = all * 31 + b->sum; }));
    std::printf("%016llx\n", (unsigned long long)all);
}
