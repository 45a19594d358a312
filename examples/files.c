/* SPDX-License-Identifier: MIT */
/* files.c: a scope with a child per file, the first failure cancels the rest. Counts the
 * lines of the files named on the command line (or of this program, if there are none). */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <weft.h>

struct count {
    char **names;
    int files;
    atomic_long lines;
};

struct file {
    const char *name;
    atomic_long *lines;
};

static void count_file(weft *w, void *arg)
{
    struct file *file = arg;
    FILE *in = fopen(file->name, "r");
    if (!in) {
        fprintf(stderr, "%s: %s\n", file->name, strerror(errno));
        weft_fail(w, -ENOENT);
        return;
    }
    long lines = 0;
    for (int c; (c = getc(in)) != EOF && !weft_cancelled(w);)
        lines += c == '\n';
    fclose(in);
    atomic_fetch_add(file->lines, lines);
}

static void count_all(weft *w, void *arg)
{
    struct count *count = arg;
    struct file files[64];
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < count->files && i < 64; i++) {
        files[i] = (struct file){count->names[i], &count->lines};
        if (weft_spawn(w, &scope, count_file, &files[i]))
            count_file(w, &files[i]); /* no memory: then here and now */
    }
    int error = weft_scope_close(w, &scope);
    if (error)
        weft_fail(w, error); /* a failure goes as far as its scope; pass it on */
}

int main(int argc, char **argv)
{
    struct count count = {argc > 1 ? argv + 1 : argv, argc > 1 ? argc - 1 : 1, 0};
    int error = weft_run(NULL, count_all, &count);
    printf("%ld lines\n", atomic_load(&count.lines));
    return error != 0;
}
