/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <weft/pipeline.h>

enum { BLOCKS = 1000, SIZE = 4096 };

struct block {
    uint64_t sum;
    unsigned char bytes[SIZE];
};

struct stream {
    uint64_t state, all;
    int made;
};

static bool read_block(weft *w, void *item, void *arg)
{
    struct block *b = item;
    struct stream *s = arg;
    (void)w;
    for (int i = 0; i < SIZE; i++)
        b->bytes[i] =
            (unsigned char)((s->state = s->state * 6364136223846793005u + 1442695040888963407u) >>
                            56);
    return s->made++ < BLOCKS;
}

static bool digest(weft *w, void *item, void *arg)
{
    struct block *b = item;
    (void)w, (void)arg;
    b->sum = 14695981039346656037u;
    for (int round = 0; round < 32; round++)
        for (int i = 0; i < SIZE; i++)
            b->sum = (b->sum ^ b->bytes[i]) * 1099511628211u;
    return true;
}

static bool write_block(weft *w, void *item, void *arg)
{
    struct stream *stream = arg;
    (void)w;
    stream->all = stream->all * 31 + ((struct block *)item)->sum;
    return true;
}

static void run(weft *w, void *arg)
{
    static const weft_stage stages[] = {{read_block, false}, {digest, true}, {write_block, false}};
    static const weft_state block = {sizeof(struct block), NULL, NULL};
    int error = weft_pipeline(w, stages, 3, &block, 0, arg);
    if (error)
        weft_fail(w, error);
}

int main(void)
{
    struct stream stream = {.state = 1};
    int error = weft_run(NULL, run, &stream);
    printf("%016llx\n", (unsigned long long)stream.all);
    return error != 0;
}
