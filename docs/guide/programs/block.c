/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <weft/parallel.h>

enum { PIPES = 8 };
static int pipes[PIPES][2];
static char letters[PIPES];

/* [block] */
static void read_one(weft *w, void *element, void *arg)
{
    int *ends = element;
    (void)arg;
    char letter = '?';
    weft_block_begin(w); /* a spare thread takes the place of this one */
    ssize_t n = read(ends[0], &letter, 1);
    weft_block_end(w);
    letters[(int(*)[2])ends - pipes] = n == 1 ? letter : '?';
}
/* [end] */

/* Not a thread of the pool: something that takes its time. */
static void *write_all(void *arg)
{
    (void)arg;
    for (int i = PIPES; i-- > 0;)
        if (write(pipes[i][1], &"parallel"[i], 1) != 1)
            _exit(1);
    return NULL;
}

static void run(weft *w, void *arg)
{
    (void)arg;
    weft_for_each(w, pipes, PIPES, sizeof pipes[0], read_one, NULL);
}

int main(void)
{
    pthread_t writer;
    for (int i = 0; i < PIPES; i++)
        if (pipe(pipes[i]))
            return 1;
    if (pthread_create(&writer, NULL, write_all, NULL) || weft_run(NULL, run, NULL))
        return 1;
    pthread_join(writer, NULL);
    printf("%.*s\n", PIPES, letters);
}
