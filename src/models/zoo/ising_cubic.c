/* A lattice Ising model with some terms of third order, to see what they do to samplers that build
 * on the second. */
#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/builtin.h"
#include "models/zoo/lattice.h"

enum { SIDE, THETA, ALPHA, TRIPLES, CYCLIC, SEED };

static int64_t choose3(int64_t n)
{
    return n * (n - 1) * (n - 2) / 6;
}

/* The triple i > j > k of rank r = C(i, 3) + C(j, 2) + k. */
static void unrank(int64_t r, int64_t *triple)
{
    int64_t i = 2, j = 1;
    while (choose3(i + 1) <= r) {
        i++;
    }
    r -= choose3(i);
    while ((j + 1) * j / 2 <= r) {
        j++;
    }
    triple[0] = i;
    triple[1] = j;
    triple[2] = r - j * (j - 1) / 2;
}

/* m different triples of n spins, uniformly. */
static sal_status draw_triples(int64_t n, int64_t m, uint64_t seed, int64_t *triples,
                               sal_error *err)
{
    sali_stream stream = { .seed = seed, .purpose = SALI_RNG_PARAMS };
    int64_t all = choose3(n);
    uint32_t *work = SALI_NEW_ARRAY(uint32_t, all), *chosen = SALI_NEW_ARRAY(uint32_t, m);
    sal_status status = work && chosen ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK && m > 0) {
        sali_rng_choose(&stream, (uint32_t)all, (uint32_t)m, work, chosen);
    }
    for (int64_t t = 0; status == SAL_OK && t < m; t++) {
        unrank(chosen[t], triples + 3 * t);
    }
    sali_free(work);
    sali_free(chosen);
    return status;
}

/* sum over triples of s_i s_j s_k, as factors; alpha scales their tables. */
static sal_status cubic(sal_tape *tape, int64_t n, const double *values, sal_expr *f,
                        sal_error *err)
{
    int64_t m = (int64_t)values[TRIPLES];
    int64_t *triples = SALI_NEW_ARRAY(int64_t, 3 * m), *begin = SALI_NEW_ARRAY(int64_t, m + 1);
    double *tables = SALI_NEW_ARRAY(double, 8 * m);
    sal_status status = triples && begin && tables ? SAL_OK : sali_fail_memory(err);
    status = status ? status : draw_triples(n, m, (uint64_t)values[SEED], triples, err);
    for (int64_t t = 0; status == SAL_OK && t < m; t++) {
        begin[t + 1] = 3 * (t + 1);
        for (int k = 0; k < 8; k++) { /* the sign of a product by the number of its ups */
            tables[8 * t + k] = ((k >> 2) + (k >> 1) + k) % 2 ? 1 : -1;
        }
    }
    if (status == SAL_OK && m > 0) {
        sal_expr T = sal_mul(sal_param(tape, "alpha", SAL_SCALAR),
                             sal_constant(tape, tables, SAL_SHAPE(8 * m)));
        *f = sal_add(*f, sal_table(tape, T, m, begin, triples));
    }
    sali_free(triples);
    sali_free(begin);
    sali_free(tables);
    return status;
}

static sal_status make_tape(const double *values, sal_dtype dtype, sal_tape **tape, sal_expr *f,
                            sal_error *err)
{
    int64_t side = (int64_t)values[SIDE], n = side * side;
    int64_t *pairs = SALI_NEW_ARRAY(int64_t, 4 * n);
    double *twos = SALI_NEW_ARRAY(double, 2 * n);
    *tape = sali_builtin_tape("spin", SAL_SPIN, n, 0, dtype);
    sal_status status = pairs && twos && *tape ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        int64_t edges = sali_lattice_edges(side, values[CYCLIC] != 0, pairs);
        for (int64_t e = 0; e < edges; e++) {
            twos[e] = 2.0; /* s'Js: each neighbour pair twice */
        }
        sal_expr w = sal_mul(sal_param(*tape, "theta", SAL_SCALAR),
                             sal_constant(*tape, twos, SAL_SHAPE(edges)));
        *f = sal_edges(sal_state(*tape), w, edges, pairs);
        status = cubic(*tape, n, values, f, err);
    }
    sali_free(pairs);
    sali_free(twos);
    return status;
}

static sal_status make(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t n = (int64_t)(values[SIDE] * values[SIDE]);
    sal_tape *tape = NULL;
    sal_expr f;
    if (values[TRIPLES] > (double)choose3(n)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "ising-cubic: triples=%g, and %lld spins have %lld different ones",
                         values[TRIPLES], (long long)n, (long long)choose3(n));
    }
    sal_status status = make_tape(values, dtype, &tape, &f, err);
    if (status != SAL_OK) {
        sal_tape_destroy(tape);
        return status;
    }
    status = sali_builtin_finish(tape, f, "ising-cubic", out, err);
    status = status ? status : sal_model_set_params(*out, "theta", &values[THETA], err);
    if (status == SAL_OK && values[TRIPLES] > 0) {
        status = sal_model_set_params(*out, "alpha", &values[ALPHA], err);
    }
    return status;
}

const sali_builtin sali_builtin_ising_cubic = {
    .name = "ising-cubic",
    .doc = "theta s'As + alpha sum over random triples of s_i s_j s_k, s in {-1,+1}^(side x side), "
           "A the lattice's adjacency",
    .source = "Rhodes & Gutmann 2022 app. N, eq. 51",
    .dtype = SAL_F32,
    .parameters = { [SIDE] = { "side", 4, 2, 20, true, "spins along one side", NULL },
                    [THETA] = { "theta", 0.2, -1e6, 1e6, false, "coupling; an edge counts twice",
                                NULL },
                    [ALPHA] = { "alpha", 0.3, -1e6, 1e6, false, "weight of the third order", NULL },
                    [TRIPLES] = { "triples", 50, 0, 1e6, true, "different triples of spins", NULL },
                    [CYCLIC] = { "cyclic", 1, 0, 1, true, "1: a torus, 0: free borders", NULL },
                    [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the triples", NULL } },
    .make = make,
};
