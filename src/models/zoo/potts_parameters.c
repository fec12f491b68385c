/* SPDX-License-Identifier: MIT */
/* A Potts model of sequences with the parameters of a file. */
#include <string.h>

#include "core/error.h"
#include "models/alphabet.h"
#include "models/structure/potts.h"
#include "models/zoo/making.h"

enum { GAUGE, ALPHABET };

/* In the order of sal_gauge. */
static const char *const gauges[] = { "as-is", "zero-sum", "lattice-gas", NULL };

static const char *const alphabets[] = { "auto", "protein", "rna", "dna", NULL };

/* Record x'Jx / 2 + h'x of the one-hot x. A gauge is set in a copy: the content of the file is
 * not changed. */
static sal_status potts_parameters(sali_making *m, sal_expr *f)
{
    const sali_potts *file = &m->content->potts;
    const int64_t N = file->sites * file->states;
    sali_potts p = *file;
    if (m->values[GAUGE] != SAL_GAUGE_AS_IS) {
        p.h = SALI_BORROW(m, double, N);
        p.J = SALI_BORROW(m, double, N *N);
        if (!p.h || !p.J) {
            return sali_fail_memory(m->err);
        }
        memcpy(p.h, file->h, (size_t)N * sizeof *p.h);
        memcpy(p.J, file->J, (size_t)(N * N) * sizeof *p.J);
        sal_status status = sali_potts_set_gauge(&p, (sal_gauge)m->values[GAUGE], m->err);
        if (status != SAL_OK) {
            return status;
        }
    }
    sal_expr x = sali_making_sites(m, p.sites, p.states, sali_alphabet_fits(p.states, p.alphabet));
    sal_expr J = sali_making_param(m, "J", SAL_SHAPE(N, N), p.J);
    sal_expr h = sali_making_param(m, "h", SAL_SHAPE(N), p.h);
    *f = sal_add(sal_scale(sal_quad(x, J), 0.5), sal_dot(h, x));
    return SAL_OK;
}

const sali_builtin sali_builtin_potts_parameters = {
    .name = "potts-parameters",
    .doc = "sum_i h_i(s_i) + sum_{i<j} J_ij(s_i, s_j), h and J from a file of adabmDCA, bmDCA, "
           "CCMpred "
           "or plmc",
    .source = "Morcos et al. 2011; the programs' papers are in docs/formats.md",
    .dtype = SAL_F32,
    .settings = { [GAUGE] = { "gauge", 0, 0, 2, true,
                              "of h and J; f changes by a constant. lattice-gas: 0 for state 0",
                              gauges },
                  [ALPHABET] = { "alphabet", 0, 0, 3, true,
                                 "of the states; auto: the one that the file's letters tell; or "
                                 "the letters of another one, in order, the gap first: -ABCD",
                                 alphabets } },
    .content = SALI_CONTENT_POTTS,
    .formula = potts_parameters,
    .needs_file = true,
};
