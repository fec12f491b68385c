/* SPDX-License-Identifier: MIT */
/* The cellular Potts model: labels are cells, which keep a volume. As printed, eq. 15 of van den
 * Hoek 2022 rewards deviations from the volume; the sign here follows the text around the equation.
 *
 * v_k^2 is written without the squares of single reals, (sum_i x_ik)^2 - sum_i x_ik^2 +
 * sum_i x_ik: the same on the lattice, and multilinear, so that gradients give the exact
 * differences. */
#include "models/zoo/graph_terms.h"
#include "models/zoo/making.h"

enum { SIDE, STATES, COUPLING, KAPPA, VOLUME, CYCLIC };

/* sum_k (v_k - V_k)^2 over the labels k, v_k being the number of sites with label k. */
static sal_expr volume_energy(sali_making *m, int64_t states)
{
    double share = m->values[SIDE] * m->values[SIDE] / m->values[STATES];
    double volume = m->values[VOLUME] > 0 ? m->values[VOLUME] : share;
    sal_expr x = sal_state(m->tape);
    sal_expr V = sali_making_filled(m, "volume", SAL_SHAPE(states), volume);
    sal_expr v = sal_sum_axis(sal_state_block(m->tape, "site"), 0);
    sal_expr squares = sal_sub(sal_dot(x, x), sal_sum(x));
    return sal_sub(sal_sum(sal_square(sal_sub(v, V))), squares);
}

static sal_status cellular_potts(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    int64_t states = (int64_t)values[STATES];
    const sali_graph *lattice;
    sal_expr equal = { 0 };
    sal_status status =
        sali_making_lattice(m, (int64_t)values[SIDE], values[CYCLIC] != 0, &lattice);
    if (status != SAL_OK) {
        return status;
    }
    sali_making_state(m, "site", SAL_CATEGORICAL, lattice->nodes, states);
    sal_expr J = sali_making_number(m, "J", values[COUPLING]);
    status = sali_graph_equal(J, states, lattice, &equal, m->err);
    *f = sal_sub(equal,
                 sal_mul(sali_making_number(m, "kappa", values[KAPPA]), volume_energy(m, states)));
    return status;
}

const sali_builtin sali_builtin_cellular_potts = {
    .name = "cellular-potts",
    .doc = "J sum_<ij> [s_i = s_j] - kappa sum_k (v_k - V_k)^2, v_k the number of sites of label "
           "k, on a lattice of side x side sites, V_k = volume",
    .source = "van den Hoek 2022, eq. 15, with the sign that keeps volumes; Graner & Glazier 1992",
    .dtype = SAL_F64,
    .settings = { [SIDE] = { "side", 8, 1, 2000, true, "sites along one side", NULL },
                  [STATES] = { "states", 4, 1, 256, true, "labels: cells", NULL },
                  [COUPLING] = { "J", 1, -1e6, 1e6, false,
                                 "coupling; a pair of neighbours counts once", NULL },
                  [KAPPA] = { "kappa", 0.1, 0, 1e6, false, "how strictly volumes are kept", NULL },
                  [VOLUME] = { "volume", 0, 0, 4e6, false, "target of every label; 0: equal shares",
                               NULL },
                  [CYCLIC] = SALI_CYCLIC(1) },
    .formula = cellular_potts,
};
