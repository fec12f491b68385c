/* SPDX-License-Identifier: MIT */
/* The restricted Boltzmann machine with its hidden units summed out. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/alphabet.h"
#include "models/zoo/making.h"

enum { VISIBLE, HIDDEN, SCALE, SEED, KIND, STATES, HIDDEN_KIND, ALPHABET };

/* Values of KIND; HIDDEN_KIND has the first two, NORMAL and DRELU. */
enum { BINARY, SPIN, CATEGORICAL, ORDINAL };
enum { NORMAL = 2, DRELU };

static const char *const kinds[] = { "binary", "spin", "categorical", "ordinal", NULL };
static const char *const alphabets[] = { "auto", "protein", "rna", "dna", NULL };
static const char *const hidden_kinds[] = { "binary", "spin", "gaussian", "drelu", NULL };

/* Write the letters of the states that the setting alphabet gives, "" for none. *states, if the
 * specification does not give it, becomes their number. SAL_ERR_ARGUMENT if the letters do not suit
 * the states or the kind. */
static sal_status find_letters(const sali_making *m, char letters[SAL_ALPHABET_ROOM],
                               int64_t *states)
{
    sal_status status = sali_builtin_alphabet(m->specification, letters, m->err);
    if (status != SAL_OK || !letters[0]) {
        return status;
    }
    const int kind = (int)m->values[KIND];
    if (kind != CATEGORICAL) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "rbm: the letters of an alphabet are states of categorical units, and the "
                         "units have kind=%s; expected kind=categorical",
                         kinds[kind]);
    }
    const bool given = sali_specification_find(m->specification, "states", strlen("states"));
    *states = given ? *states : (int64_t)strlen(letters);
    const char *fits = sali_alphabet_fits(*states, letters);
    if (!fits) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "rbm: states=%lld, and the alphabet %s has %zu letters; leave states out, "
                         "or give as many%s",
                         (long long)*states, letters, strlen(letters),
                         letters[0] == '-' ? ", or one less to leave out the gap" : "");
    }
    memmove(letters, fits, strlen(fits) + 1);
    return SAL_OK;
}

/* Create the visible units; the levels of ordinal ones go from 0 to 1. SAL_ERR_ARGUMENT if the
 * settings contradict each other. */
static sal_status make_state(sali_making *m, sal_expr *s)
{
    static const sal_kind of[] = { SAL_BINARY, SAL_SPIN, SAL_CATEGORICAL, SAL_ORDINAL };
    const int kind = (int)m->values[KIND];
    int64_t states = (int64_t)m->values[STATES];
    char letters[SAL_ALPHABET_ROOM];
    sal_status status = find_letters(m, letters, &states);
    if (status != SAL_OK) {
        return status;
    }
    if (kind != CATEGORICAL && kind != ORDINAL && states > 2) {
        return sali_fail(m->err, SAL_ERR_ARGUMENT,
                         "rbm: kind=%s has two states, and states=%lld; expected kind=categorical "
                         "or kind=ordinal",
                         kinds[kind], (long long)states);
    }
    double *levels = kind == ORDINAL ? SALI_BORROW(m, double, states) : NULL;
    if (kind == ORDINAL && !levels) {
        return sali_fail_memory(m->err);
    }
    for (int64_t k = 0; levels && k < states; k++) {
        levels[k] = (double)k / (double)(states - 1);
    }
    const sal_block visible = { .name = "visible",
                                .kind = of[kind],
                                .count = (int64_t)m->values[VISIBLE],
                                .states = kind == CATEGORICAL || levels ? states : 0,
                                .levels = levels,
                                .letters = letters[0] ? letters : NULL };
    *s = sali_making_blocks(m, 1, &visible);
    return SAL_OK;
}

/* The sum over the hidden units of log sum_h exp(h a_k), with h in {0, 1}; in {-1, 1}; of log E
 * exp(h a_k), with h standard normal; or of the integral over dReLU units. */
static sal_expr hidden_term(sali_making *m, sal_expr a, int kind)
{
    if (kind == NORMAL) {
        return sal_scale(sal_sum(sal_square(a)), 0.5);
    }
    if (kind == DRELU) {
        const sal_shape units = sal_expr_shape(a);
        sal_expr delta = sal_param(m->tape, "delta", units);
        sal_expr t = sal_param(m->tape, "atanh_eta", units);
        return sal_sum(sal_drelu(a, delta, t));
    }
    return sal_sum(kind == SPIN ? sal_sub(sal_softplus(sal_scale(a, 2)), a) : sal_softplus(a));
}

static sal_status rbm(sali_making *m, sal_expr *f)
{
    const int64_t hidden = (int64_t)m->values[HIDDEN];
    sal_expr s = { 0 };
    sal_status status = make_state(m, &s);
    if (status != SAL_OK || !m->tape) {
        return status; /* variables that could not be made are reported when the model is made */
    }
    const int64_t reals = sal_expr_shape(s).dim[0];
    sal_expr W = sali_making_normal(m, "W", SAL_SHAPE(hidden, reals), m->values[SCALE], 0);
    sal_expr b = sal_param(m->tape, "b", SAL_SHAPE(reals));
    sal_expr c = sal_param(m->tape, "c", SAL_SHAPE(hidden));
    sal_expr a = sal_add(sal_matvec(W, s), c);
    *f = sal_add(hidden_term(m, a, (int)m->values[HIDDEN_KIND]), sal_dot(b, s));
    return SAL_OK;
}

/* ---- starting values */

/* Half the logit of a mean: the field at which a spin is +1 with this probability. */
static double half_logit(double mean)
{
    return sali_builtin_logit(mean) / 2;
}

/* The field b at which a variable with `states` levels from 0 to 1 and p(x) proportional to exp(b
 * x) has this mean, which is first clamped to 0.01 .. 0.99. */
static double field_of_mean(int64_t states, double mean)
{
    const double wanted = fmin(fmax(mean, 0.01), 0.99);
    double low = -1000, high = 1000;
    for (int step = 0; step < 60; step++) {
        const double b = (low + high) / 2;
        double sum = 0, total = 0;
        for (int64_t k = 0; k < states; k++) {
            const double x = (double)k / (double)(states - 1);
            const double weight = exp(b > 0 ? b * (x - 1) : b * x);
            sum += weight;
            total += weight * x;
        }
        *(total < wanted * sum ? &low : &high) = b;
    }
    return (low + high) / 2;
}

/* b [N] of categorical and ordinal units with these means. */
static void find_fields(const sal_space *space, const double *mean, double *b)
{
    const int64_t states = space->variables[0].states;
    for (int64_t k = 0; k < space->width; k++) {
        b[k] = space->variables[0].kind == SAL_CATEGORICAL
                   ? log(0.99 * mean[k] + 0.01 / (double)states)
                   : field_of_mean(states, mean[k]);
    }
}

static sal_status init_fields(sal_model *model, const double *mean, sal_error *err)
{
    double *b = SALI_NEW_ARRAY(double, model->space->width);
    if (!b) {
        return sali_fail_memory(err);
    }
    find_fields(model->space, mean, b);
    sal_status status = sal_model_set_params(model, "b", b, err);
    sali_free(b);
    return status;
}

/* Small weights, and b such that visible units without weights have the data's mean (Hinton
 * 2010). */
static sal_status init_rbm(sal_model *model, uint64_t seed, const double *mean, sal_error *err)
{
    const sal_kind kind = model->space->variables[0].kind;
    sal_status status = kind == SAL_BINARY
                            ? sali_builtin_map(model, "b", mean, sali_builtin_logit, err)
                        : kind == SAL_SPIN ? sali_builtin_map(model, "b", mean, half_logit, err)
                                           : init_fields(model, mean, err);
    return status ? status : sali_builtin_randomise(model, "W", 0.01, seed, 0, err);
}

/* Block Gibbs draws whole layers. In centred coordinates plain ascent does as well as Adam. */
static const sali_training training = { .options = {
                                            .objective = SAL_PTT,
                                            .sampler = "block-gibbs",
                                            .steps = 1,
                                            .batch = 500,
                                            .ptt.reservoir = 20000,
                                            .optimiser = { .method = SAL_SGD, .momentum = -1 },
                                            .learning_rate = 0.03,
                                            .rate.cooldown = 0.5,
                                            .iterations = 3600 } };

const sali_builtin sali_builtin_rbm = {
    .name = "rbm",
    .doc = "sum softplus(W s + c) + b's, s in {0,1}^visible, or with units of other kinds",
    .source = "Grathwohl et al. 2021 table 1; Hinton 2010 (starting values); Tubiana, Cocco & "
              "Monasson 2019 (letters, dReLU units)",
    .dtype = SAL_F32,
    .settings = { [VISIBLE] = { "visible", 784, 1, 1e6, true, "visible units", NULL },
                  [HIDDEN] = { "hidden", 500, 1, 1e6, true, "hidden units", NULL },
                  [SCALE] = SALI_DEVIATION(0.05, "W"),
                  [SEED] = SALI_SEED("the random W"),
                  [KIND] = { "kind", BINARY, 0, 3, true,
                             "of visible units: {0,1}, {-1,+1}, one-hot, or levels from 0 to 1",
                             kinds },
                  [STATES] = { "states", 2, 2, 256, true,
                               "of a categorical or ordinal visible unit", NULL },
                  [HIDDEN_KIND] = { "hidden_kind", BINARY, 0, 3, true,
                                    "of hidden units: {0,1}, {-1,+1}, or two kinds of real numbers",
                                    hidden_kinds },
                  [ALPHABET] = { "alphabet", 0, 0, 3, true,
                                 "of the states of categorical visible units; auto: of the "
                                 "alignment in training, else none. Or letters in order, the gap "
                                 "first: -ABCD",
                                 alphabets } },
    .formula = rbm,
    .states_of_data = true,
    .init = init_rbm,
    .training = &training,
};
