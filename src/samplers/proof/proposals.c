/* SPDX-License-Identifier: MIT */
/* Probabilities of proposals, and draws of them. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/proof/transition.h"

/* Chains that draw side by side. */
#define DRAWN_AT_ONCE 64

/* ---- the sampler that is asked for */

/* *beta = the inverse of the options' last temperature, or 1 without temperatures. */
static sal_status find_temperature(const sal_run_options *o, double *beta, sal_error *err)
{
    if (o->tempering.temperatures && o->tempering.replicas < 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "temperatures are given, but replicas is %lld",
                         (long long)o->tempering.replicas);
    }
    double temperature =
        o->tempering.temperatures ? o->tempering.temperatures[o->tempering.replicas - 1] : 1;
    *beta = 1 / temperature;
    return temperature > 0 && isfinite(temperature) && isfinite(*beta)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "temperature is %g; expected a positive number",
                           temperature);
}

sal_status sali_inspection_of(const sal_model *model, const sal_run_options *options,
                              sali_inspection *inspection, sal_error *err)
{
    sal_run_options o = options ? *options : (sal_run_options){ 0 };
    if (o.clamps.n > 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "a sampler is looked at on a whole model: clamp it first "
                         "(sal_model_clamp)");
    }
    inspection->seed = o.seed;
    sal_status status = find_temperature(&o, &inspection->beta, err);
    if (status == SAL_OK && !o.sampler) {
        status = sali_sampler_usual(model, inspection->beta == 1, &o.sampler, err);
    }
    status = status ? status
                    : sali_sampler_choose_from(o.own_samplers, o.sampler, model, o.step_size,
                                               &inspection->sampler, &inspection->settings, err);
    if (status != SAL_OK) {
        return status;
    }
    if (o.preconditioner && !sali_engine(inspection->sampler)->preconditioned) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s' takes no preconditioner",
                         inspection->sampler->name);
    }
    inspection->settings.preconditioner = o.preconditioner;
    return SAL_OK;
}

/* ---- from one state */

/* SAL_ERR_ARGUMENT, beginning with `name`, unless `codes` are n states of the space. */
static sal_status check_codes(const sal_space *space, const char *name, int64_t n,
                              const int32_t *codes, sal_error *err)
{
    if (n < 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: %lld states; expected 0 or more", name,
                         (long long)n);
    }
    sal_status status = sali_codes_check(space, n, codes, err);
    return status ? sali_fail_prefix(err, status, "%s", name) : SAL_OK;
}

/* Put all chains at the state `from`. SAL_ERR_ARGUMENT if it is forbidden. */
static sal_status start_at(sali_bench *b, const int32_t *from, sal_error *err)
{
    const int64_t V = b->chains->space->n_variables;
    for (int64_t c = 0; c < b->chains->n; c++) {
        memcpy(b->chains->codes + c * V, from, (size_t)V * sizeof *from);
    }
    sali_bench_start(b);
    if (b->chains->bad_chain >= 0) {
        return sali_chains_report(b->chains, b->sampler, 0, err);
    }
    return b->chains->f[0] > -INFINITY
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "from: the state is forbidden (f is -inf)");
}

sal_status sal_sampler_log_q(const sal_model *model, const sal_run_options *options,
                             const int32_t *from, int64_t n, const int32_t *to, double *log_q,
                             sal_error *err)
{
    const int64_t V = model->space->n_variables;
    sali_inspection inspection;
    sali_bench b = { 0 };
    sal_status status = check_codes(model->space, "from", 1, from, err);
    status = status ? status : check_codes(model->space, "to", n, to, err);
    status = status ? status : sali_inspection_of(model, options, &inspection, err);
    if (status != SAL_OK) {
        return status;
    }
    status = sali_bench_open(&inspection, model, 1, 0, &b, err);
    status = status ? status : start_at(&b, from, err);
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        status = sali_bench_log_q(&b, to + k * V, log_q + k, err);
    }
    sali_bench_close(&b);
    return status;
}

/* Make draws k .. k + n - 1 of `to`, by chains with these numbers; n is at most the number of
 * chains. */
static sal_status draw_some(sali_bench *b, const int32_t *from, int64_t k, int64_t n, int32_t *to,
                            sal_error *err)
{
    const int64_t V = b->chains->space->n_variables;
    for (int64_t c = 0; c < b->chains->n; c++) {
        b->chains->id[c] = (uint32_t)(k + c);
        b->chains->step[c] = 0;
    }
    sal_status status = start_at(b, from, err);
    if (status != SAL_OK) {
        return status;
    }
    b->chains->take_all = true;
    sali_engine(b->sampler)->step(b->self, b->chains);
    b->chains->take_all = false;
    if (b->chains->bad_chain >= 0) {
        return sali_chains_report(b->chains, b->sampler, k + b->chains->bad_chain, err);
    }
    memcpy(to + k * V, b->chains->codes, (size_t)(n * V) * sizeof *to);
    return SAL_OK;
}

sal_status sal_sampler_draw_proposals(const sal_model *model, const sal_run_options *options,
                                      const int32_t *from, int64_t n, int32_t *to, sal_error *err)
{
    sali_inspection inspection;
    sali_bench b = { 0 };
    sal_status status = check_codes(model->space, "from", 1, from, err);
    if (status == SAL_OK && (n < 0 || n > UINT32_MAX)) {
        status =
            sali_fail(err, SAL_ERR_ARGUMENT, "%lld draws; expected 0 to 2^32 - 1", (long long)n);
    }
    status = status ? status : sali_inspection_of(model, options, &inspection, err);
    if (status != SAL_OK) {
        return status;
    }
    status = sali_bench_open(&inspection, model, DRAWN_AT_ONCE, 0, &b, err);
    for (int64_t k = 0; status == SAL_OK && k < n; k += DRAWN_AT_ONCE) {
        status = draw_some(&b, from, k, n - k < DRAWN_AT_ONCE ? n - k : DRAWN_AT_ONCE, to, err);
    }
    sali_bench_close(&b);
    return status;
}
