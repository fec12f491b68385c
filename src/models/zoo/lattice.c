/* SPDX-License-Identifier: MIT */
#include "models/zoo/lattice.h"

#include "core/alloc.h"
#include "core/error.h"

/* Append the pair {i, j} to n pairs, unless it is a loop or `again`: on a torus with a side of 2
 * the pair was listed before as {j, i}. Returns the number of pairs. */
static int64_t add_edge(int64_t *pairs, int64_t n, int64_t i, int64_t j, bool again)
{
    if (i == j || again) {
        return n;
    }
    pairs[2 * n] = i;
    pairs[2 * n + 1] = j;
    return n + 1;
}

int64_t sali_lattice_rectangle(int64_t rows, int64_t columns, bool cyclic, int64_t *pairs)
{
    int64_t n = 0;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            bool last_r = r == rows - 1, last_c = c == columns - 1;
            if (cyclic || !last_c) {
                n = add_edge(pairs, n, r * columns + c, r * columns + (c + 1) % columns,
                             columns == 2 && last_c);
            }
            if (cyclic || !last_r) {
                n = add_edge(pairs, n, r * columns + c, (r + 1) % rows * columns + c,
                             rows == 2 && last_r);
            }
        }
    }
    return n;
}

sal_status sali_lattice_graph(int64_t side, bool cyclic, sali_graph *graph, sal_error *err)
{
    *graph =
        (sali_graph){ .nodes = side * side, .pairs = SALI_NEW_ARRAY(int64_t, 4 * side * side) };
    if (!graph->pairs) {
        return sali_fail_memory(err);
    }
    graph->edges = sali_lattice_rectangle(side, side, cyclic, graph->pairs);
    return SAL_OK;
}
