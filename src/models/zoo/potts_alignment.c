/* SPDX-License-Identifier: MIT */
/* The Potts model of a family of sequences: the sites of an alignment, each with the letters of its
 * alphabet as states. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/alphabet.h"
#include "models/zoo/alignment.h"
#include "models/zoo/alignment_rows.h"
#include "models/zoo/making.h"

enum { COUPLINGS, IDENTITY, PSEUDOCOUNT, ALPHABET, UNKNOWN, DUPLICATES };

static const char *const couplings[] = { "mean-field", "zero", NULL };

static const char *const alphabets[] = { "auto", "protein", "rna", "dna", NULL };

/* In the order of sal_unknown and sal_duplicates. */
static const char *const unknowns[] = { "gap", "drop", "error", NULL };
static const char *const duplicates[] = { "keep", "drop", NULL };

/* Compute h [N], N = sites x letters, and, if J is not NULL, J [N x N] from the alignment. */
static sal_status fit(sali_making *m, const sali_alignment *a, double *h, double *J)
{
    const double *values = m->values;
    int64_t q = (int64_t)strlen(a->alphabet);
    double effective, *weights = SALI_BORROW(m, double, a->sequences);
    double *f = SALI_BORROW(m, double, a->length *q);
    if (!weights || !f) {
        return sali_fail_memory(m->err);
    }
    sal_status status = sali_alignment_weights(a, values[IDENTITY], weights, &effective, m->err);
    if (status == SAL_OK && J) {
        sali_alignment_pair_frequencies(a, weights, values[PSEUDOCOUNT], J);
        status = sali_alignment_mean_field(a->length, q, J, J, m->err);
    }
    if (status == SAL_OK) {
        sali_alignment_site_frequencies(a, weights, values[PSEUDOCOUNT], f);
        sali_alignment_fields(a->length, q, f, J, h);
    }
    return status;
}

/* Record x'Jx / 2 + h'x of the one-hot x, for the sequences and the alphabet that the settings ask
 * for. These work on a copy: the content of the file is not changed. */
static sal_status potts_alignment(sali_making *m, sal_expr *f)
{
    bool zero = m->values[COUPLINGS] != 0;
    sali_alignment a = m->content->alignment;
    int64_t entries = a.sequences * a.length;
    uint8_t *codes = SALI_BORROW(m, uint8_t, entries);
    if (!codes) {
        return sali_fail_memory(m->err);
    }
    a.codes = memcpy(codes, a.codes, (size_t)entries);
    const sali_alignment_rules rules = { .unknown = (sal_unknown)m->values[UNKNOWN],
                                         .duplicates = (sal_duplicates)m->values[DUPLICATES] };
    sal_status status = sali_alignment_prepare(&a, &rules, &m->remark, m->err);
    if (status != SAL_OK) {
        return status;
    }
    const int q = (int)strlen(a.alphabet);
    if (a.length > SALI_POTTS_MOST / q) {
        return sali_fail(m->err, SAL_ERR_DATA, "the alignment has %lld sites; expected %d at most",
                         (long long)a.length, SALI_POTTS_MOST / q);
    }
    int64_t N = a.length * q;
    double *h = SALI_BORROW(m, double, N), *J = zero ? NULL : SALI_BORROW(m, double, N *N);
    status = h && (zero || J) ? fit(m, &a, h, J) : sali_fail_memory(m->err);
    if (status != SAL_OK) {
        return status;
    }
    sal_expr x = sali_making_sites(m, a.length, q, a.alphabet);
    sal_expr Jx = zero ? sal_param(m->tape, "J", SAL_SHAPE(N, N))
                       : sali_making_param(m, "J", SAL_SHAPE(N, N), J);
    sal_expr hx = sali_making_param(m, "h", SAL_SHAPE(N), h);
    *f = sal_add(sal_scale(sal_quad(x, Jx), 0.5), sal_dot(hx, x));
    return SAL_OK;
}

/* Start at independent sites with the data's frequencies, kept from 0 by a pseudocount of 0.01. */
static sal_status init(sal_model *model, uint64_t seed, const double *mean, sal_error *err)
{
    (void)seed;
    int64_t N = model->space->width, q = model->space->variables[0].states;
    double *h = SALI_NEW_ARRAY(double, N), *f = SALI_NEW_ARRAY(double, N);
    sal_status status = h && f ? SAL_OK : sali_fail_memory(err);
    for (int64_t k = 0; status == SAL_OK && k < N; k++) {
        f[k] = 0.99 * mean[k] + 0.01 / (double)q;
    }
    if (status == SAL_OK) {
        sali_alignment_fields(N / q, q, f, NULL, h);
        status = sal_model_set_params(model, "h", h, err);
    }
    status = status ? status : sali_builtin_fill(model, "J", 0, err);
    sali_free(h);
    sali_free(f);
    return status;
}

/* Plain ascent by persistent chains, each of which makes a sweep in an update. With momentum the
 * correlation of pairs swings; with larger rates the chains follow the data, and samples from
 * scratch do not; with fewer chains their noise keeps proteins below the target. Couplings that are
 * learned one by one want a larger rate. */
static const sali_training training = { .activation_rate = 1,
                                        .options = {
                                            .objective = SAL_PCD,
                                            .sampler = "gibbs",
                                            .steps = -1,
                                            .batch = 10000,
                                            .buffer.chains = 10000,
                                            .optimiser = { .method = SAL_SGD, .momentum = -1 },
                                            .pearson = 0.95,
                                            .report_every = 20,
                                            .iterations = 20000 } };

const sali_builtin sali_builtin_potts_alignment = {
    .name = "potts-alignment",
    .doc = "sum_i h_i(s_i) + sum_{i<j} J_ij(s_i, s_j) of an alignment's sites, with 21 states each "
           "(proteins) or 5 (RNA, DNA), h from frequencies, J by mean-field inversion",
    .source = "Grathwohl et al. 2021 eq. 13, a pair once; Morcos et al. 2011 (weights, parameters)",
    .dtype = SAL_F32,
    .settings = { [COUPLINGS] = { "couplings", 0, 0, 1, true, "J", couplings },
                  [IDENTITY] = { "identity", 0.8, 0, 1, false,
                                 "share of equal sites from which sequences share a weight", NULL },
                  [PSEUDOCOUNT] = { "pseudocount", 0.5, 0.001, 1, false,
                                    "share of uniform letters in the frequencies", NULL },
                  [ALPHABET] = { "alphabet", 0, 0, 3, true,
                                 "of the sequences; auto: the one that their letters tell; or the "
                                 "letters of another one, the gap first: -ABCD",
                                 alphabets },
                  [UNKNOWN] = { "unknown", 0, 0, 2, true,
                                "letters outside the alphabet are gaps, or drop their sequences, "
                                "or are refused",
                                unknowns },
                  [DUPLICATES] = { "duplicates", 0, 0, 1, true,
                                   "sequences that equal an earlier one", duplicates } },
    .content = SALI_CONTENT_ALIGNMENT,
    .formula = potts_alignment,
    .needs_file = true,
    .init = init,
    .training = &training,
};
