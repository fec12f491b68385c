/* The cellular Potts model: labels are cells, which keep to a volume. As printed, eq. 15 of van den
 * Hoek 2022 rewards leaving it; the sign here is that of the text around it.
 *
 * v_k^2 is written without the squares of single reals, (sum_i x_ik)^2 - sum_i x_ik^2 +
 * sum_i x_ik: the same on the lattice, and multilinear, so that gradients give the exact
 * differences. */
#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/builtin.h"
#include "models/zoo/graph_terms.h"
#include "models/zoo/lattice.h"

enum { SIDE, STATES, COUPLING, KAPPA, VOLUME, CYCLIC };

/* sum_k (v_k - V_k)^2. */
static sal_expr volume_energy(sal_tape *tape, int64_t states)
{
    sal_expr x = sal_state(tape), V = sal_param(tape, "volume", SAL_SHAPE(states));
    sal_expr v = sal_sum_axis(sal_state_block(tape, "site"), 0);
    sal_expr squares = sal_sub(sal_dot(x, x), sal_sum(x));
    return sal_sub(sal_sum(sal_square(sal_sub(v, V))), squares);
}

static sal_status set_params(sal_model *model, const double *values, sal_error *err)
{
    double share = values[SIDE] * values[SIDE] / values[STATES];
    double volume = values[VOLUME] > 0 ? values[VOLUME] : share;
    sal_status status = sal_model_set_params(model, "J", &values[COUPLING], err);
    status = status ? status : sal_model_set_params(model, "kappa", &values[KAPPA], err);
    return status ? status : sali_builtin_fill(model, "volume", volume, err);
}

static sal_status record(const sali_graph *lattice, const double *values, sal_dtype dtype,
                         sal_model **out, sal_error *err)
{
    int64_t states = (int64_t)values[STATES];
    sal_tape *tape = sali_builtin_tape("site", SAL_CATEGORICAL, lattice->nodes, states, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr equal, J = sal_param(tape, "J", SAL_SCALAR);
    sal_status status = sali_graph_equal(J, states, lattice, &equal, err);
    if (status != SAL_OK) {
        sal_tape_destroy(tape);
        return status;
    }
    sal_expr volumes = sal_mul(sal_param(tape, "kappa", SAL_SCALAR), volume_energy(tape, states));
    status = sali_builtin_finish(tape, sal_sub(equal, volumes), "cellular-potts", out, err);
    return status ? status : set_params(*out, values, err);
}

static sal_status make(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sali_graph lattice;
    sal_status status =
        sali_lattice_graph((int64_t)values[SIDE], values[CYCLIC] != 0, &lattice, err);
    status = status ? status : record(&lattice, values, dtype, out, err);
    sali_graph_free(&lattice);
    return status;
}

const sali_builtin sali_builtin_cellular_potts = {
    .name = "cellular-potts",
    .doc = "J sum_<ij> [s_i = s_j] - kappa sum_k (v_k - V_k)^2, v_k the number of sites of label "
           "k, on a lattice of side x side sites, V_k = volume",
    .source = "van den Hoek 2022, eq. 15, with the sign that keeps volumes; Graner & Glazier 1992",
    .dtype = SAL_F64,
    .parameters = { [SIDE] = { "side", 8, 1, 2000, true, "sites along one side", NULL },
                    [STATES] = { "states", 4, 1, 256, true, "labels: cells", NULL },
                    [COUPLING] = { "J", 1, -1e6, 1e6, false,
                                   "coupling; a pair of neighbours counts once", NULL },
                    [KAPPA] = { "kappa", 0.1, 0, 1e6, false, "how strictly volumes are kept",
                                NULL },
                    [VOLUME] = { "volume", 0, 0, 4e6, false,
                                 "target of every label; 0: equal shares", NULL },
                    [CYCLIC] = { "cyclic", 1, 0, 1, true, "1: a torus, 0: free borders", NULL } },
    .make = make,
};
