/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <deque>
#include <tbb/flow_graph.h>

enum { L = 16384, B = 256, BLOCKS = L / B };
static unsigned char a[L], b[L];
static int h[L], v[L], corner[BLOCKS + 1][BLOCKS + 1]; /* the edges between blocks */

/* The longest common subsequence: a block needs the block above and the block on its left. */
static void block(int row, int column)
{
    int corner_of_row = corner[row][column];
    for (int y = row * B; y < (row + 1) * B; y++) {
        int diagonal = corner_of_row, left = corner_of_row = v[y];
        for (int x = column * B; x < (column + 1) * B; x++) {
            int up = h[x], longer = up > left ? up : left;
            left = h[x] = a[y] == b[x] ? diagonal + 1 : longer;
            diagonal = up;
        }
        v[y] = left;
    }
    corner[row + 1][column + 1] = v[(row + 1) * B - 1];
}

int main()
{
    for (int i = 0; i < L; i++) {
        a[i] = (unsigned char)((unsigned)i * 2654435761u >> 24 & 3);
        b[i] = (unsigned char)((unsigned)i * 2246822519u >> 24 & 3);
    }
    using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
    tbb::flow::graph graph;
    std::deque<node> nodes; // stay where they are
    for (int i = 0; i < BLOCKS * BLOCKS; i++) {
        nodes.emplace_back(graph,
                           [i](const tbb::flow::continue_msg &) { block(i / BLOCKS, i % BLOCKS); });
        if (i / BLOCKS > 0)
            tbb::flow::make_edge(nodes[i - BLOCKS], nodes[i]);
        if (i % BLOCKS > 0)
            tbb::flow::make_edge(nodes[i - 1], nodes[i]);
    }
    nodes[0].try_put(tbb::flow::continue_msg());
    graph.wait_for_all();
    std::printf("%d\n", h[L - 1]);
}
