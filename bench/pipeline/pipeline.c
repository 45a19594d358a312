/* SPDX-License-Identifier: MIT */
#include "pipeline.h"

enum { ROUNDS = 16 };

bool pipeline_read(struct pipeline *p, struct pipeline_block *block)
{
    if (p->read == p->count)
        return false;
    *block = p->in[p->read++];
    return true;
}

/* Each word depends on the one before it, so this takes its time. */
void pipeline_work(struct pipeline_block *block)
{
    uint64_t last = block->words[0];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < PIPELINE_WORDS; i++) {
            last = (last ^ block->words[i] ^ last >> 29) * 0xbf58476d1ce4e5b9u;
            block->words[i] = last;
        }
}

void pipeline_write(struct pipeline *p, const struct pipeline_block *block)
{
    p->out[p->written++] = *block;
}
