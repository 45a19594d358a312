/* SPDX-License-Identifier: MIT */
/* graph: a matrix is factorised, A = L U, block by block, by tasks that name the blocks they read
 * and write. Then the steps of a small build run in the order of their graph, and the graph is
 * drawn: `graph | dot -Tsvg > graph.svg`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/graph.h>

enum { BLOCK = 32, BLOCKS = 8, N = BLOCK * BLOCKS };

static double a[N][N]; /* then L, without its diagonal of ones, and U */

struct step {
    int i, j, k; /* takes block (i, k) times block (k, j) from block (i, j) */
};

static int least(int x, int y)
{
    return x < y ? x : y;
}

/* The last step of a block, where k is i or j, needs parts of the block itself, and ends it. */
static void run_step(weft *w, void *arg)
{
    const struct step *s = arg;
    bool last = s->k == least(s->i, s->j);
    (void)w;
    for (int row = s->i * BLOCK; row < (s->i + 1) * BLOCK; row++)
        for (int column = s->j * BLOCK; column < (s->j + 1) * BLOCK; column++) {
            int end = last ? least(row, column) : (s->k + 1) * BLOCK;
            for (int t = s->k * BLOCK; t < end; t++)
                a[row][column] -= a[row][t] * a[t][column];
            if (last && row > column)
                a[row][column] /= a[column][column];
        }
}

static void factorise(weft *w, void *arg)
{
    static struct step steps[BLOCKS * BLOCKS * BLOCKS];
    struct step *s = steps;
    weft_flow flow;
    int error = 0;
    (void)arg;
    weft_flow_open(w, &flow);
    for (int k = 0; k < BLOCKS; k++)
        for (int i = k; i < BLOCKS; i++)
            for (int j = k; j < BLOCKS && !error; j++, s++) {
                *s = (struct step){i, j, k};
                weft_dep deps[] = {{&a[i * BLOCK][j * BLOCK], WEFT_INOUT},
                                   {&a[i * BLOCK][k * BLOCK], WEFT_IN},
                                   {&a[k * BLOCK][j * BLOCK], WEFT_IN}};
                error = weft_flow_spawn(w, &flow, deps, 3, run_step, s);
            }
    int failure = weft_flow_close(w, &flow);
    if (error || failure)
        weft_fail(w, error ? error : failure);
}

static void say(weft *w, void *text)
{
    (void)w;
    fprintf(stderr, "%s\n", (const char *)text);
}

static void build(weft *w, void *graph)
{
    int error = weft_graph_run(w, graph);
    if (error)
        weft_fail(w, error);
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i == j ? (double)N : 1.0 / (1 + abs(i - j));
    int error = weft_run(NULL, factorise, NULL);
    double corner = a[N - 1][N - 1]; /* of L U: */
    for (int t = 0; t < N - 1; t++)
        corner += a[N - 1][t] * a[t][N - 1];
    fprintf(stderr, "A = L U, %d times %d; its last element: %.9f\n", N, N, corner);

    weft_graph *graph;
    if (error || fabs(corner - (double)N) > 1e-9 || weft_graph_create(&graph))
        return 1;
    int configure = weft_graph_add(graph, "configure", say, "configure");
    int library = weft_graph_add(graph, "compile the library", say, "compile the library");
    int program = weft_graph_add(graph, "compile the program", say, "compile the program");
    int link = weft_graph_add(graph, "link", say, "link");
    weft_graph_edge(graph, configure, library);
    weft_graph_edge(graph, configure, program);
    weft_graph_edge(graph, library, link);
    weft_graph_edge(graph, program, link);
    error = weft_run(NULL, build, graph);
    weft_graph_dump(graph, stdout);
    weft_graph_destroy(graph);
    return error ? 1 : 0;
}
