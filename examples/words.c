/* SPDX-License-Identifier: MIT */
/* words.c FILE: the words that occur most often. Each thread that takes part has a table of its
 * own; in the end, the smaller table is added to the larger one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>
#include <weft/lines.h>

struct word {
    const char *bytes; /* in the text; NULL: free */
    size_t size, count;
};

struct table { /* zeros are an empty one */
    struct word *words;
    size_t room, used;
};

static void add(struct table *table, struct word word)
{
    if (2 * table->used >= table->room) {
        struct table larger = {.room = table->room ? 2 * table->room : 1024};
        if (!(larger.words = calloc(larger.room, sizeof *larger.words)))
            abort();
        for (size_t i = 0; i < table->room; i++)
            if (table->words[i].bytes)
                add(&larger, table->words[i]);
        free(table->words);
        *table = larger;
    }
    size_t hash = 14695981039346656037u;
    for (size_t i = 0; i < word.size; i++)
        hash = (hash ^ (unsigned char)word.bytes[i]) * 1099511628211u;
    struct word *at = &table->words[hash & (table->room - 1)];
    while (at->bytes && (at->size != word.size || memcmp(at->bytes, word.bytes, word.size)))
        at = &table->words[++hash & (table->room - 1)];
    table->used += !at->bytes;
    *at = (struct word){word.bytes, word.size, at->count + word.count};
}

static void count(weft *w, size_t begin, size_t end, void *table, void *arg)
{
    const weft_text *text = arg;
    const char *stop = text->bytes + end;
    (void)w;
    for (const char *at = text->bytes + begin; at < stop; at++) {
        const char *word = at;
        while (at < stop && (*at | 32) >= 'a' && (*at | 32) <= 'z')
            at++;
        if (at > word)
            add(table, (struct word){word, (size_t)(at - word), 1});
    }
}

static void move(weft *w, void *left, void *right, void *arg)
{
    struct table *to = left, *from = right, small = to->used < from->used ? *to : *from;
    *to = to->used < from->used ? *from : *to;
    (void)w, (void)arg;
    for (size_t i = 0; i < small.room; i++)
        if (small.words[i].bytes)
            add(to, small.words[i]);
    free(small.words);
}

static void drop(weft *w, void *table, void *arg)
{
    (void)w, (void)arg;
    free(((struct table *)table)->words);
}

static int more_often(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

static void job(weft *w, void *arg)
{
    const weft_reducer words = {sizeof(struct table), .fold = count, .drop = drop, .move = move};
    struct table table;
    weft_reduce_lines_unordered(w, arg, &words, arg, &table);
    if (table.used > 0)
        qsort(table.words, table.room, sizeof(struct word), more_often);
    for (size_t i = 0; i < 10 && i < table.used; i++)
        printf("%8zu %.*s\n", table.words[i].count, (int)table.words[i].size, table.words[i].bytes);
    free(table.words);
}

int main(int argc, char **argv)
{
    weft_text text;
    int error = weft_text_map(argc > 1 ? argv[1] : "/proc/self/status", &text);
    if (!error)
        error = weft_run(NULL, job, &text);
    weft_text_unmap(&text);
    return error ? fprintf(stderr, "words: %s\n", weft_strerror(error)), 1 : 0;
}
