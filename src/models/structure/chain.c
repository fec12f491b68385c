/* SPDX-License-Identifier: MIT */
/* Messages along chains, in logarithms: no length and no spread of the potentials underflows. */
#include "models/structure/chain.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"

double sali_chain_states(const sali_chain_shape *shape)
{
    return pow((double)shape->codes, (double)shape->variables);
}

const struct sali_chain_rule *sali_chain_rule_of(const sal_model *model)
{
    const sali_structure *structure = sali_clamp_inner(model)->structure;
    return structure ? structure->chain : NULL;
}

void sali_chain_free(sali_chain *chain)
{
    sali_memory_free(&chain->memory);
    if (chain->sum.tape) {
        sali_sum_reader_close(&chain->sum);
    }
    *chain = (sali_chain){ 0 };
}

/* Set chain->fixed for a model that may be clamped. */
static sal_status find_fixed(const sal_model *model, sali_chain *chain, sal_error *err)
{
    int64_t V = model->space->n_variables;
    int64_t *original = SALI_NEW_ARRAY(int64_t, V);
    int32_t *codes = SALI_NEW_ARRAY(int32_t, V);
    sal_status status = original && codes ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        sali_clamp_variables(model, original);
        sali_clamp_expand(model, 1, codes, chain->fixed);
        for (int64_t v = 0; v < V; v++) {
            chain->fixed[original[v]] = -1;
        }
    }
    sali_free(original);
    sali_free(codes);
    return status;
}

sal_status sali_chain_create(const sal_model *model, sali_chain *chain, sal_error *err)
{
    const sal_model *inner = sali_clamp_inner(model);
    const struct sali_chain_rule *rule = sali_chain_rule_of(model);
    sali_chain_shape shape = rule->shape(inner);
    int64_t states = (int64_t)sali_chain_states(&shape);
    *chain = (sali_chain){ .shape = shape, .states = states };
    chain->emission = SALI_TAKE(&chain->memory, double, shape.length *states);
    chain->transition = SALI_TAKE(&chain->memory, double, shape.codes *shape.codes);
    chain->fixed = SALI_TAKE(&chain->memory, int32_t, shape.length * shape.variables);
    sal_status status = sali_memory_status(&chain->memory, err);
    status = status ? status : find_fixed(model, chain, err);
    if (status == SAL_OK &&
        sali_sum_reader_open(sali_model_tape(inner), rule->form(inner), &chain->sum) != SAL_OK) {
        status = sali_fail_memory(err);
    }
    if (status != SAL_OK) {
        sali_chain_free(chain);
    }
    return status;
}

/* Make the emission of slice t -inf at all states in which variable k has another code. */
static void forbid_others(sali_chain *chain, int64_t t, int64_t k, int32_t code)
{
    double *e = chain->emission + t * chain->states;
    for (int64_t z = 0; z < chain->states; z++) {
        e[z] = sali_chain_code(chain, z, k) == code ? e[z] : -INFINITY;
    }
}

void sali_chain_read(const sal_model *model, sali_chain *chain)
{
    int64_t K = chain->shape.variables;
    sali_sum_reader_update(&chain->sum);
    sali_chain_rule_of(model)->read(sali_clamp_inner(model), chain);
    for (int64_t v = 0; v < chain->shape.length * K; v++) {
        if (chain->fixed[v] >= 0) {
            forbid_others(chain, v / K, v % K, chain->fixed[v]);
        }
    }
}

void sali_chain_emit(const sali_chain *chain, int64_t t, double beta, double *a, double *mean)
{
    const double *e = chain->emission + t * chain->states;
    for (int64_t z = 0; z < chain->states; z++) {
        a[z] += beta * e[z];
        if (mean && a[z] > -INFINITY) {
            mean[z] += e[z];
        }
    }
}

/* log sum_i exp(a_i + beta T_i) over n codes, where T_i = T[i step]. Unless NULL, *mean becomes the
 * mean of a_(n + i) + T_i under these weights. */
static double mix_codes(int64_t n, const double *a, const double *T, int64_t step, double beta,
                        double *mean)
{
    double most = -INFINITY, sum = 0, weighted = 0;
    const double *mean_of = a + n;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, a[i] + beta * T[i * step]);
    }
    for (int64_t i = 0; most > -INFINITY && i < n; i++) {
        double w = exp(a[i] + beta * T[i * step] - most);
        sum += w;
        weighted += mean && w > 0 ? w * (mean_of[i] + T[i * step]) : 0;
    }
    if (mean) {
        *mean = sum > 0 ? weighted / sum : 0;
    }
    return most > -INFINITY ? most + log(sum) : most;
}

/* Pass a message (sali_chain_pass) by the transition of one variable, in place. States that differ
 * only in the code of this variable are `stride` apart. scratch [2 codes]. */
static void pass_variable(const sali_chain *chain, int64_t stride, double beta, bool back,
                          double *a, double *mean, double *scratch)
{
    int64_t n = chain->shape.codes, step = back ? 1 : n, next = back ? n : 1;
    for (int64_t z = 0; z < chain->states; z++) {
        if (z / stride % n != 0) {
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            scratch[i] = a[z + i * stride];
            scratch[n + i] = mean ? mean[z + i * stride] : 0;
        }
        for (int64_t j = 0; j < n; j++) {
            int64_t to = z + j * stride;
            a[to] = mix_codes(n, scratch, chain->transition + j * next, step, beta,
                              mean ? &mean[to] : NULL);
        }
    }
}

void sali_chain_pass(const sali_chain *chain, double beta, bool back, double *a, double *mean,
                     double *scratch)
{
    int64_t stride = 1;
    for (int64_t k = 0; k < chain->shape.variables; k++, stride *= chain->shape.codes) {
        pass_variable(chain, stride, beta, back, a, mean, scratch);
    }
}
