/* The Potts model of a family of sequences: the sites of an alignment, each with the letters of its
 * alphabet as states. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/alignment.h"
#include "models/alphabet.h"
#include "models/zoo/builtin.h"

enum { COUPLINGS, IDENTITY, PSEUDOCOUNT, ALPHABET };

static const char *const couplings[] = { "mean-field", "zero", NULL };

/* In the order of sal_alphabet. */
static const char *const alphabets[] = { "auto", "protein", "rna", "dna", NULL };

#define MOST_REALS 20000 /* J is dense: 3 GB in double */

/* What the parameters are made of and their values; matrices only if there are couplings. */
typedef struct work {
    double *weights, *f, *h;
    double *J; /* pair frequencies, then couplings */
} work;

static void work_free(work *w)
{
    sali_free(w->weights);
    sali_free(w->f);
    sali_free(w->h);
    sali_free(w->J);
}

static sal_status fit(const sali_alignment *a, const double *values, work *w, sal_error *err)
{
    int64_t q = sali_alphabet_states(a->alphabet), N = a->length * q;
    double effective;
    bool zero = values[COUPLINGS] != 0;
    *w = (work){ .weights = SALI_NEW_ARRAY(double, a->sequences),
                 .f = SALI_NEW_ARRAY(double, N),
                 .h = SALI_NEW_ARRAY(double, N),
                 .J = zero ? NULL : SALI_NEW_ARRAY(double, N *N) };
    if (!w->weights || !w->f || !w->h || (!zero && !w->J)) {
        return sali_fail_memory(err);
    }
    sal_status status = sali_alignment_weights(a, values[IDENTITY], w->weights, &effective, err);
    if (status == SAL_OK && !zero) {
        sali_alignment_pair_frequencies(a, w->weights, values[PSEUDOCOUNT], w->J);
        status = sali_alignment_mean_field(a->length, q, w->J, w->J, err);
    }
    if (status == SAL_OK) {
        sali_alignment_site_frequencies(a, w->weights, values[PSEUDOCOUNT], w->f);
        sali_alignment_fields(a->length, q, w->f, w->J, w->h);
    }
    return status;
}

/* x'Jx / 2 + h'x of the one-hot x. */
static sal_status record(int64_t length, int64_t q, sal_dtype dtype, sal_model **out,
                         sal_error *err)
{
    int64_t N = length * q;
    sal_tape *tape = sali_builtin_tape("site", SAL_CATEGORICAL, length, q, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr x = sal_state(tape), J = sal_param(tape, "J", SAL_SHAPE(N, N));
    sal_expr h = sal_param(tape, "h", SAL_SHAPE(N));
    sal_expr f = sal_add(sal_scale(sal_quad(x, J), 0.5), sal_dot(h, x));
    return sali_builtin_finish(tape, f, "potts-alignment", out, err);
}

static sal_status make_of(const double *values, const sali_alignment *a, sal_dtype dtype,
                          sal_model **out, sal_error *err)
{
    int q = sali_alphabet_states(a->alphabet);
    if (a->length > MOST_REALS / q) {
        return sali_fail(err, SAL_ERR_DATA, "the alignment has %lld sites; expected %d at most",
                         (long long)a->length, MOST_REALS / q);
    }
    work w;
    sal_model *model = NULL;
    sal_status status = fit(a, values, &w, err);
    status = status ? status : record(a->length, q, dtype, &model, err);
    status = status ? status : sal_model_set_params(model, "h", w.h, err);
    if (status == SAL_OK && w.J) {
        status = sal_model_set_params(model, "J", w.J, err);
    }
    work_free(&w);
    if (status != SAL_OK) {
        sal_model_destroy(model);
        return status;
    }
    *out = model;
    return SAL_OK;
}

/* In the alphabet that is asked for: what is read keeps the one that its letters tell. */
static sal_status make_from(const double *values, const sali_content *content, sal_dtype dtype,
                            sal_model **out, sal_error *err)
{
    sali_alignment a = content->alignment;
    a.codes = sali_memdup(a.codes, a.sequences, (size_t)a.length);
    if (!a.codes) {
        return sali_fail_memory(err);
    }
    sali_alignment_recode(&a, (sal_alphabet)values[ALPHABET]);
    sal_status status = make_of(values, &a, dtype, out, err);
    sali_free(a.codes);
    return status;
}

/* Independent sites with the data's frequencies, kept from zero by a pseudocount of 0.01. */
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

static const sali_training training = { .options = { .objective = SAL_PTT,
                                                     .sampler = "gibbs",
                                                     .steps = -1,
                                                     .batch = 1000,
                                                     .reservoir = 20000,
                                                     .optimiser = SAL_SGD,
                                                     .momentum = -1,
                                                     .learning_rate = 0.02,
                                                     .rate_cooldown = 0.5,
                                                     .iterations = 6000 } };

const sali_builtin sali_builtin_potts_alignment = {
    .name = "potts-alignment",
    .doc = "sum_i h_i(s_i) + sum_{i<j} J_ij(s_i, s_j) of an alignment's sites, with 21 states each "
           "(proteins) or 5 (RNA, DNA), h from frequencies, J by mean-field inversion",
    .source = "Grathwohl et al. 2021 eq. 13, a pair once; Morcos et al. 2011 (weights, parameters)",
    .dtype = SAL_F32,
    .parameters = { [COUPLINGS] = { "couplings", 0, 0, 1, true, "J", couplings },
                    [IDENTITY] = { "identity", 0.8, 0, 1, false,
                                   "share of equal sites from which sequences share a weight",
                                   NULL },
                    [PSEUDOCOUNT] = { "pseudocount", 0.5, 0.001, 1, false,
                                      "share of uniform letters in the frequencies", NULL },
                    [ALPHABET] = { "alphabet", 0, 0, 3, true,
                                   "of the sequences; auto: the one that their letters tell",
                                   alphabets } },
    .content = SALI_CONTENT_ALIGNMENT,
    .make_from = make_from,
    .init = init,
    .training = &training,
};
