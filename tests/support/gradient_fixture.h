/* SPDX-License-Identifier: MIT */
/* A formula over a batch of states, with its derivatives by the states and by its parameters. */
#ifndef GRADIENT_FIXTURE_H
#define GRADIENT_FIXTURE_H

#include "test.h"

#include <math.h>

#include "ad/workspace.h"
#include "op_cases.h"

#define MOST_CHAINS 33

/* A program over n reals (a binary state), with its parameters and a workspace. */
typedef struct fixture {
    sali_program *program;
    sali_params *params;
    sali_workspace *ws;
    int64_t width;
    double *flat, *x, *f, *gradient, *parameters; /* x and gradient [MOST_CHAINS x width] */
} fixture;

static inline sal_tape *tape_over(int64_t n, sal_dtype dtype)
{
    sal_space *space = sal_space_create();
    sal_error err = { 0 };
    ck_ok(sal_space_add(space, &(sal_block){ .name = "x", .kind = SAL_BINARY, .count = n }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_space_destroy(space);
    return tape;
}

/* Without `layouts`, every node is kept by chain. */
static inline fixture *fixture_create(sal_tape *tape, sal_expr f, bool layouts)
{
    sal_error err = { 0 };
    fixture *made = calloc(1, sizeof *made);
    ck_ok(sali_program_create(tape, f, &made->program, &err), &err);
    for (int32_t i = 0; !layouts && i < made->program->n_nodes; i++) {
        made->program->nodes[i].pixel_major = false;
    }
    ck_ok(sali_params_create(made->program, &made->params, &err), &err);
    ck_ok(sali_workspace_create(made->program, made->params, MOST_CHAINS,
                                SALI_WANT_STATE_GRADIENT | SALI_WANT_PARAM_GRADIENT, &made->ws,
                                &err),
          &err);
    made->width = made->program->space->width;
    int64_t n = made->program->parameters_size;
    made->flat = calloc((size_t)n + 1, sizeof(double));
    made->parameters = calloc((size_t)n + 1, sizeof(double));
    made->x = calloc((size_t)(MOST_CHAINS * made->width), sizeof(double));
    made->gradient = calloc((size_t)(MOST_CHAINS * made->width), sizeof(double));
    made->f = calloc(MOST_CHAINS, sizeof(double));
    for (int64_t k = 0; k < n; k++) {
        made->flat[k] = op_number(k, -1, 1) / 4;
    }
    for (int64_t k = 0; k < MOST_CHAINS * made->width; k++) {
        made->x[k] = op_number(7000 + k, -1, 1);
    }
    sali_params_set(made->params, made->flat);
    return made;
}

static inline void fixture_destroy(fixture *f)
{
    sali_workspace_destroy(f->ws);
    sali_params_destroy(f->params);
    sali_program_destroy(f->program);
    free(f->flat);
    free(f->parameters);
    free(f->x);
    free(f->gradient);
    free(f->f);
    free(f);
}

/* f, its gradient and the gradient of sum f by the parameters, in double. */
static inline void evaluate(fixture *f, int64_t chains)
{
    int64_t n = chains * f->width;
    bool wide = f->program->dtype == SAL_F64;
    double weight[MOST_CHAINS];
    float *x = calloc((size_t)n, sizeof *x), *gradient = calloc((size_t)n, sizeof *gradient);
    for (int64_t k = 0; k < n; k++) {
        x[k] = (float)f->x[k];
    }
    for (int64_t c = 0; c < chains; c++) {
        weight[c] = 1;
    }
    const void *at = wide ? (const void *)f->x : x;
    sali_workspace_gradient(f->ws, chains, NULL, at, f->f, wide ? (void *)f->gradient : gradient);
    for (int64_t k = 0; !wide && k < n; k++) {
        f->gradient[k] = (double)gradient[k];
    }
    sali_workspace_param_zero(f->ws);
    sali_workspace_param_gradient(f->ws, chains, NULL, at, weight, f->f);
    sali_workspace_param_reduce(&f->ws, 1, 1, f->parameters);
    free(x);
    free(gradient);
}

/* To within `tolerance` of the largest, and of `scale`. */
static inline void check_close(const char *what, int64_t n, const double *got, const double *want,
                               double tolerance, double scale)
{
    for (int64_t k = 0; k < n; k++) {
        scale = fmax(scale, fabs(want[k]));
    }
    for (int64_t k = 0; k < n; k++) {
        ck_assert_msg(fabs(got[k] - want[k]) <= tolerance * scale, "%s %lld is %.17g, not %.17g",
                      what, (long long)k, got[k], want[k]);
    }
}

/* A convolution with parameters of this name. */
static inline sal_expr layer(const char *name, sal_expr x, int64_t O, int64_t side, int64_t stride,
                             int64_t padding)
{
    char weight[32], bias[32];
    snprintf(weight, sizeof weight, "%s.W", name);
    snprintf(bias, sizeof bias, "%s.b", name);
    int64_t C = sal_expr_shape(x).dim[0];
    return sal_conv2d(x, sal_param(x.tape, weight, SAL_SHAPE(O, C, side, side)),
                      sal_param(x.tape, bias, SAL_SHAPE(O)), stride, padding);
}

#endif
