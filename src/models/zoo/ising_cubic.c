/* SPDX-License-Identifier: MIT */
/* A lattice Ising model with some terms of third order, to test samplers that rely on second
 * order. */
#include "core/error.h"
#include "core/rng.h"
#include "models/zoo/making.h"

enum { SIDE, THETA, ALPHA, TRIPLES, CYCLIC, SEED };

static int64_t choose3(int64_t n)
{
    return n * (n - 1) * (n - 2) / 6;
}

/* Set triple [3] to the i > j > k whose rank C(i, 3) + C(j, 2) + k is r. */
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

/* Add to *f alpha times the sum of s_i s_j s_k over `count` different triples of the n spins, drawn
 * uniformly, as factors. */
static sal_status cubic(sali_making *m, int64_t n, int64_t count, sal_expr *f)
{
    sali_stream stream = sali_making_stream(m, 0);
    uint32_t *work = SALI_BORROW(m, uint32_t, choose3(n));
    uint32_t *chosen = SALI_BORROW(m, uint32_t, count);
    int64_t *triples = SALI_BORROW(m, int64_t, 3 * count);
    int64_t *begin = SALI_BORROW(m, int64_t, count + 1);
    double *tables = SALI_BORROW(m, double, 8 * count);
    if (!work || !chosen || !triples || !begin || !tables) {
        return sali_fail_memory(m->err);
    }
    sali_rng_choose(&stream, (uint32_t)choose3(n), (uint32_t)count, work, chosen);
    for (int64_t t = 0; t < count; t++) {
        unrank(chosen[t], triples + 3 * t);
        begin[t + 1] = 3 * (t + 1);
        for (int k = 0; k < 8; k++) { /* the product is 1 if an odd number of its spins is 1 */
            tables[8 * t + k] = ((k >> 2) + (k >> 1) + k) % 2 ? 1 : -1;
        }
    }
    sal_expr alpha = sali_making_number(m, "alpha", m->values[ALPHA]);
    sal_expr T = sal_mul(alpha, sal_constant(m->tape, tables, SAL_SHAPE(8 * count)));
    *f = sal_add(*f, sal_table(m->tape, T, count, begin, triples));
    return SAL_OK;
}

static sal_status ising_cubic(sali_making *m, sal_expr *f)
{
    const double *values = m->values;
    int64_t side = (int64_t)values[SIDE], n = side * side, count = (int64_t)values[TRIPLES];
    const sali_graph *lattice;
    if (count > choose3(n)) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "ising-cubic: triples=%g, and %lld spins have %lld different ones",
                         values[TRIPLES], (long long)n, (long long)choose3(n));
    }
    sal_status status = sali_making_lattice(m, side, values[CYCLIC] != 0, &lattice);
    const double *twos = status ? NULL : sali_making_repeat(m, lattice->edges, 2);
    if (!twos) {
        return sali_fail_memory(m->err);
    }
    sal_expr s = sali_making_state(m, "spin", SAL_SPIN, n, 0);
    sal_expr w = sal_constant(m->tape, twos, SAL_SHAPE(lattice->edges)); /* s'Js: each pair twice */
    w = sal_mul(sali_making_number(m, "theta", values[THETA]), w);
    *f = sal_edges(s, w, lattice->edges, lattice->pairs);
    return count > 0 ? cubic(m, n, count, f) : SAL_OK;
}

const sali_builtin sali_builtin_ising_cubic = {
    .name = "ising-cubic",
    .doc = "theta s'As + alpha sum over random triples of s_i s_j s_k, s in {-1,+1}^(side x side), "
           "A the lattice's adjacency",
    .source = "Rhodes & Gutmann 2022 app. N, eq. 51",
    .dtype = SAL_F32,
    .settings = { [SIDE] = { "side", 4, 2, 20, true, "spins along one side", NULL },
                  [THETA] = SALI_THETA(0.2),
                  [ALPHA] = { "alpha", 0.3, -1e6, 1e6, false, "weight of the third order", NULL },
                  [TRIPLES] = { "triples", 50, 0, 1e6, true, "different triples of spins", NULL },
                  [CYCLIC] = SALI_CYCLIC(1),
                  [SEED] = SALI_SEED("the triples") },
    .formula = ising_cubic,
};
