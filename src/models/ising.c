/* Ising models: a lattice by its list of edges, and dense couplings. */
#include "core/alloc.h"
#include "core/error.h"
#include "models/builtin.h"
#include "models/lattice.h"

/* ---- lattice */

enum { SIDE, THETA, BIAS, CYCLIC };

static sal_status make_lattice(const double *values, sal_dtype dtype, sal_model **out,
                               sal_error *err)
{
    int64_t side = (int64_t)values[SIDE];
    int64_t *pairs = SALI_NEW_ARRAY(int64_t, 4 * side * side);
    double *ones = SALI_NEW_ARRAY(double, 2 * side * side);
    sal_tape *tape = sali_builtin_tape("spin", SAL_SPIN, side * side, 0, dtype);
    sal_status status = SAL_OK;
    if (!pairs || !ones || !tape) {
        sal_tape_destroy(tape);
        status = sali_fail_memory(err);
        goto done;
    }
    int64_t n = sali_lattice_edges(side, values[CYCLIC] != 0, pairs);
    for (int64_t e = 0; e < n; e++) {
        ones[e] = 2.0; /* theta multiplies s'As: each neighbour pair twice */
    }
    sal_expr s = sal_state(tape);
    sal_expr f = sal_mul(sal_param(tape, "bias", SAL_SCALAR), sal_sum(s));
    if (n > 0) {
        sal_expr w =
            sal_mul(sal_param(tape, "theta", SAL_SCALAR), sal_constant(tape, ones, SAL_SHAPE(n)));
        f = sal_add(sal_edges(s, w, n, pairs), f);
    }
    status = sali_builtin_finish(tape, f, "ising", out, err);
    if (status == SAL_OK && n > 0) {
        status = sal_model_set_params(*out, "theta", &values[THETA], err);
    }
    if (status == SAL_OK) {
        status = sal_model_set_params(*out, "bias", &values[BIAS], err);
    }
done:
    sali_free(pairs);
    sali_free(ones);
    return status;
}

const sali_builtin sali_builtin_ising = {
    .name = "ising",
    .doc = "theta s'As + bias sum s, s in {-1,+1}^(side x side), A the lattice's adjacency",
    .source = "Grathwohl et al. 2021 sec. 6; Rhodes & Gutmann 2022 sec. 5.3",
    .dtype = SAL_F32,
    .parameters = { [SIDE] = { "side", 10, 1, 10000, true, "spins along one side", NULL },
                    [THETA] = { "theta", 0.2, -1e6, 1e6, false, "coupling; an edge counts twice",
                                NULL },
                    [BIAS] = { "bias", 0, -1e6, 1e6, false, "linear term of every spin", NULL },
                    [CYCLIC] = { "cyclic", 1, 0, 1, true, "1: a torus, 0: free borders", NULL } },
    .make = make_lattice,
};

/* ---- dense */

enum { DIM, SCALE, SEED };

static sal_status make_dense(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t dim = (int64_t)values[DIM];
    sal_tape *tape = sali_builtin_tape("spin", SAL_SPIN, dim, 0, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr s = sal_state(tape), J = sal_param(tape, "J", SAL_SHAPE(dim, dim));
    sal_expr f =
        sal_add(sal_scale(sal_quad(s, J), 0.5), sal_dot(sal_param(tape, "b", SAL_SHAPE(dim)), s));
    sal_status status = sali_builtin_finish(tape, f, "ising-dense", out, err);
    if (status == SAL_OK) {
        status = sali_builtin_randomise(*out, "J", values[SCALE], (uint64_t)values[SEED], 0, err);
    }
    return status;
}

const sali_builtin sali_builtin_ising_dense = {
    .name = "ising-dense",
    .doc = "s'Js / 2 + b's, s in {-1,+1}^dim, J random normal (symmetrised), b = 0",
    .source = "Rhodes & Gutmann 2022 eq. 23",
    .dtype = SAL_F32,
    .parameters = { [DIM] = { "dim", 100, 1, 20000, true, "number of spins", NULL },
                    [SCALE] = { "scale", 0.1, 0, 1e6, false, "standard deviation of J's entries",
                                NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the random J", NULL } },
    .make = make_dense,
};
