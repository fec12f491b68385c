/* SPDX-License-Identifier: MIT */
/* Checks of one model: values against a formula in plain C, differences and gradients against
 * differences of values. */
#ifndef MODEL_CHECKS_H
#define MODEL_CHECKS_H

#include <math.h>

#include "core/rng.h"
#include "models/structure/couplings.h"
#include "samplers/start.h"
#include "test.h"

/* f at codes, from the formula and its data. */
typedef double model_formula(const int32_t *codes, const void *data);

static inline void check_close(double a, double b, double tolerance, const char *what)
{
    ck_assert_msg(fabs(a - b) <= tolerance * (1 + fabs(b)), "%s: %.17g, expected %.17g", what, a,
                  b);
}

/* Exact differences of one state, and where `first_order` those that the gradient gives. */
static inline void check_moves(const sal_model *model, int32_t *codes, bool first_order,
                               model_formula *formula, const void *data)
{
    const sal_space *space = model->space;
    int64_t states = 0, at = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        states += space->variables[v].states;
    }
    double *delta = malloc((size_t)states * sizeof *delta), f;
    double *gradient = malloc((size_t)space->width * sizeof *gradient);
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, codes, &f, gradient, delta, &err), &err);
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        const double *g = gradient + variable->offset;
        int32_t now = codes[v];
        for (int32_t c = 0; c < variable->states; c++, at++) {
            codes[v] = c;
            double want = formula(codes, data) - f;
            double slope = variable->width > 1
                               ? g[c] - g[now]
                               : g[0] * (sali_level(variable, c) - sali_level(variable, now));
            check_close(delta[at], want, 1e-9, "difference");
            if (first_order) {
                check_close(slope, want, 1e-9, "first-order difference");
            }
        }
        codes[v] = now;
    }
    free(delta);
    free(gradient);
}

/* A double model against its formula, at a few random states. */
static inline void check_model(const sal_model *model, bool first_order, model_formula *formula,
                               const void *data)
{
    int64_t V = model->space->n_variables;
    int32_t *codes = malloc((size_t)V * sizeof *codes);
    double f;
    sal_error err;
    ck_assert_int_eq(sal_model_dtype(model), SAL_F64);
    for (uint32_t k = 0; k < 6; k++) {
        sali_stream stream = { .seed = 11, .chain = k, .purpose = SALI_RNG_TEST };
        sali_random_codes(model->space, &stream, codes);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        check_close(f, formula(codes, data), 1e-11, "f");
        check_moves(model, codes, first_order, formula, data);
    }
    free(codes);
}

/* Whether the model is seen to be pairwise; its couplings must then give f. */
static inline bool check_pairwise(const sal_model *model)
{
    int64_t V = model->space->n_variables;
    int32_t *codes = malloc((size_t)V * sizeof *codes);
    sali_couplings *couplings = NULL;
    double f;
    sal_error err;
    ck_ok(sali_couplings_create(model, SALI_BIT_COUPLINGS, &couplings, &err), &err);
    const sali_coupling_values *pairwise = couplings ? sali_couplings_values(couplings) : NULL;
    for (uint32_t k = 0; pairwise && k < 4; k++) {
        sali_stream stream = { .seed = 12, .chain = k, .purpose = SALI_RNG_TEST };
        sali_random_codes(model->space, &stream, codes);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        check_close(sali_couplings_value(pairwise, codes), f,
                    sal_model_dtype(model) == SAL_F64 ? 1e-10 : 1e-4, "pairwise f");
    }
    bool there = pairwise != NULL;
    sali_couplings_destroy(couplings);
    free(codes);
    return there;
}

#endif
