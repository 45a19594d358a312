/* SPDX-License-Identifier: MIT */
/* walk.c: jobs that wait for a disk or a network say so. Counts the files below a directory. Each
 * directory takes a millisecond to read, as on a file server. A worker that waits in readdir()
 * computes nothing; between weft_block_begin() and weft_block_end(), a spare worker takes its
 * place, and so many more reads are under way at the same time. WEFT_SPARES says how many.
 *
 *     walk [DIRECTORY]        default: /etc */
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

enum { DELAY_NS = 1000000 };

struct walk {
    weft_scope scope;
    const char *start;
    bool says_so; /* that it waits */
    atomic_long files;
};

struct visit {
    struct walk *walk;
    char path[];
};

static void visit_directory(weft *w, void *arg);

/* Frees the visit, now or when it is over. */
static void visit_later(weft *w, struct walk *walk, const char *parent, const char *name)
{
    size_t size = strlen(parent) + strlen(name) + 2;
    struct visit *visit = malloc(sizeof *visit + size);
    if (!visit) {
        weft_fail(w, -ENOMEM);
        return;
    }
    visit->walk = walk;
    snprintf(visit->path, size, "%s%s%s", parent, *parent ? "/" : "", name);
    if (weft_spawn(w, &walk->scope, visit_directory, visit))
        visit_directory(w, visit); /* no memory: then here and now */
}

static struct dirent *read_entry(DIR *directory)
{
    struct dirent *entry;
    do
        entry = readdir(directory);
    while (entry && entry->d_name[0] == '.');
    return entry;
}

static void visit_directory(weft *w, void *arg)
{
    struct visit *visit = arg;
    struct walk *walk = visit->walk;
    if (walk->says_so)
        weft_block_begin(w);
    nanosleep(&(struct timespec){.tv_nsec = DELAY_NS}, NULL); /* the way to the file server */
    DIR *directory = opendir(visit->path);
    if (walk->says_so)
        weft_block_end(w);
    for (struct dirent *entry; directory && (entry = read_entry(directory));) {
        if (entry->d_type != DT_DIR)
            atomic_fetch_add(&walk->files, 1);
        else
            visit_later(w, walk, visit->path, entry->d_name);
    }
    if (directory)
        closedir(directory);
    free(visit);
}

static void walk_all(weft *w, void *arg)
{
    struct walk *walk = arg;
    weft_scope_open(w, &walk->scope);
    visit_later(w, walk, "", walk->start);
    int error = weft_scope_close(w, &walk->scope);
    if (error)
        weft_fail(w, error);
}

int main(int argc, char **argv)
{
    for (int says_so = 0; says_so < 2; says_so++) {
        struct walk walk = {.start = argc > 1 ? argv[1] : "/etc", .says_so = says_so};
        uint64_t begin = weft_now();
        int error = weft_run(NULL, walk_all, &walk);
        if (error)
            return fprintf(stderr, "walk: %s\n", weft_strerror(error)), 1;
        printf("%-26s %ld files in %.3f s\n",
               says_so ? "with weft_block_begin():" : "without:", atomic_load(&walk.files),
               (double)(weft_now() - begin) / 1e9);
    }
    return 0;
}
