/* SPDX-License-Identifier: MIT */
/* pipeline.c: read, work, write. Blocks of a file are read one after the other, summed up on
 * all workers, and reported in their order; with any number of blocks, only a few are in
 * memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>
#include <weft/parallel.h>
#include <weft/pipeline.h>

enum { BLOCK = 1 << 16 };

struct file {
    FILE *in;
    size_t blocks; /* read so far */
    uint64_t all;
};

struct block {
    size_t number, size;
    uint64_t sum;
    unsigned char *bytes; /* of the place: made once, used again and again */
};

static void make(weft *w, void *item, void *arg)
{
    (void)w;
    (void)arg;
    ((struct block *)item)->bytes = malloc(BLOCK);
}

static void drop(weft *w, void *item, void *arg)
{
    (void)w;
    (void)arg;
    free(((struct block *)item)->bytes);
}

/* May block; a spare thread works meanwhile. */
static bool read_block(weft *w, void *item, void *arg)
{
    struct file *file = arg;
    struct block *block = item;
    if (!block->bytes) {
        weft_fail(w, -ENOMEM);
        return false;
    }
    weft_block_begin(w);
    block->size = fread(block->bytes, 1, BLOCK, file->in);
    weft_block_end(w);
    block->number = file->blocks++;
    if (ferror(file->in))
        weft_fail(w, -EIO);
    return block->size > 0;
}

static bool sum_up(weft *w, void *item, void *arg)
{
    struct block *block = item;
    (void)w;
    (void)arg;
    block->sum = 14695981039346656037u;
    for (size_t i = 0; i < block->size; i++)
        block->sum = (block->sum ^ block->bytes[i]) * 1099511628211u;
    return true;
}

/* In order, so that the sum of sums means something. */
static bool report(weft *w, void *item, void *arg)
{
    struct file *file = arg;
    const struct block *block = item;
    (void)w;
    file->all = file->all * 31 + block->sum;
    if (block->number % 16 == 0)
        printf("block %4zu: %016llx\n", block->number, (unsigned long long)block->sum);
    return true;
}

static void run(weft *w, void *arg)
{
    static const weft_stage stages[] = {{read_block, false}, {sum_up, true}, {report, false}};
    static const weft_state block = {sizeof(struct block), make, drop};
    int error = weft_pipeline(w, stages, 3, &block, 0, arg);
    if (error)
        weft_fail(w, error);
}

/* Something to read, where no file was named. */
static FILE *scratch(void)
{
    FILE *file = tmpfile();
    for (uint32_t i = 0; file && i < 1000000; i++)
        fwrite(&i, sizeof i, 1, file);
    if (file)
        rewind(file);
    return file;
}

int main(int argc, char **argv)
{
    struct file file = {.in = argc > 1 ? fopen(argv[1], "rb") : scratch()};
    if (!file.in) {
        perror(argc > 1 ? argv[1] : "tmpfile");
        return 1;
    }
    int error = weft_run(NULL, run, &file);
    printf("%zu blocks: %016llx\n", file.blocks - 1, (unsigned long long)file.all);
    fclose(file.in);
    return error != 0;
}
