/* sal_model_exact: arguments, and which oracle. */
#include "models/exact.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

#define STANDARD_LIMIT (INT64_C(1) << 20)

static const sali_oracle *const oracles[] = {
    &sali_oracle_forward_backward,
    &sali_oracle_closed_form,
    &sali_oracle_enumeration,
    &sali_oracle_parts,
};

#define N_ORACLES ((int)(sizeof oracles / sizeof *oracles))

static sal_status fill_options(const sal_exact_options *given, sal_exact_options *options,
                               sal_error *err)
{
    *options = given ? *given : (sal_exact_options){ 0 };
    options->limit = options->limit ? options->limit : STANDARD_LIMIT;
    if (options->limit < 1 || options->threads < 0 || options->threads > 4096) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "exact: limit %lld, threads %d; expected a limit of at least 1, and 0 to "
                         "4096 threads",
                         (long long)options->limit, options->threads);
    }
    return SAL_OK;
}

static sal_status unknown_oracle(const char *name, sal_error *err)
{
    char names[200] = "";
    for (int k = 0; k < N_ORACLES; k++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", oracles[k]->name);
    }
    return sali_fail(err, SAL_ERR_ARGUMENT, "exact: there is no oracle '%.100s'; there are: %s",
                     name, names);
}

/* The first oracle that can, of that name if one is given; else the reasons of all. */
static sal_status choose(const sal_model *model, const sal_exact_options *options,
                         const sali_oracle **oracle, sal_error *err)
{
    char reasons[400] = "";
    bool known = false;
    for (int k = 0; k < N_ORACLES; k++) {
        char why[200] = "";
        if (options->oracle && strcmp(options->oracle, oracles[k]->name) != 0) {
            continue;
        }
        known = true;
        if (oracles[k]->serves(model, options, why, sizeof why)) {
            *oracle = oracles[k];
            return SAL_OK;
        }
        size_t used = strlen(reasons);
        snprintf(reasons + used, sizeof reasons - used, "%s%s: %s", used ? "; " : "",
                 oracles[k]->name, why);
    }
    return known ? sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: no exact answers; %s", model->name,
                             reasons)
                 : unknown_oracle(options->oracle, err);
}

/* Scratch for the question: one array of R numbers, or R + R^2. */
static sal_status prepare(sali_question *q, bool with_pairs, sal_error *err)
{
    int64_t R = q->model->space->n_states, size = R;
    if (with_pairs &&
        (__builtin_mul_overflow(R, R, &size) || __builtin_add_overflow(size, R, &size))) {
        return sali_fail_memory(err);
    }
    q->marginals = SALI_NEW_ARRAY(double, size);
    q->pairs = q->marginals && with_pairs ? q->marginals + R : NULL;
    return q->marginals ? SAL_OK : sali_fail_memory(err);
}

static void hand_out(const sali_question *q, double *marginals, double *pairs, double *covariance)
{
    const sal_space *space = q->model->space;
    size_t R = (size_t)space->n_states;
    if (q->pairs) {
        sali_pairs_complete(space, q->marginals, q->pairs);
    }
    if (marginals) {
        memcpy(marginals, q->marginals, R * sizeof *marginals);
    }
    if (pairs) {
        memcpy(pairs, q->pairs, R * R * sizeof *pairs);
    }
    if (covariance) {
        sali_pairs_covariance(space, q->marginals, q->pairs, covariance);
    }
}

sal_status sal_model_exact(const sal_model *model, const sal_exact_options *options,
                           sal_exact *exact, double *marginals, double *pairs, double *covariance,
                           sal_error *err)
{
    if (!model || !exact) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_model_exact: %s is NULL",
                         model ? "exact" : "the model");
    }
    sali_question q = { .model = model };
    const sali_oracle *oracle = NULL;
    sal_status status = fill_options(options, &q.options, err);
    status = status ? status : choose(model, &q.options, &oracle, err);
    status = status ? status : prepare(&q, pairs || covariance, err);
    status = status ? status : oracle->answer(&q, err);
    if (status == SAL_OK) {
        hand_out(&q, marginals, pairs, covariance);
        *exact = (sal_exact){ q.log_z, q.log_prob_mean, oracle->name };
    }
    sali_free(q.marginals);
    return status;
}
