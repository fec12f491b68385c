/* SPDX-License-Identifier: MIT */
#include "models/lattice.h"

int64_t sali_lattice_pairs(int sides, const int64_t *side, bool cyclic, int64_t *from, int64_t *to,
                           int64_t step)
{
    int64_t sites = 1, n = 0;
    for (int s = 0; s < sides; s++) {
        sites *= side[s];
    }
    for (int64_t i = 0; i < sites; i++) {
        int64_t stride = 1;
        for (int s = sides - 1; s >= 0; stride *= side[s--]) {
            const int64_t at = i / stride % side[s];
            const bool last = at + 1 == side[s];
            if (!last || (cyclic && at > 1)) { /* a side of two would give the same pair twice */
                from[n * step] = i;
                to[n++ * step] = last ? i - at * stride : i + stride;
            }
        }
    }
    return n;
}
