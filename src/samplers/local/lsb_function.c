/* SPDX-License-Identifier: MIT */
#include "samplers/local/lsb.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* The most values of log t in one evaluation of a tape. */
enum { CHUNK = 256 };

/* Step of the regulariser's finite difference. */
#define EPSILON 1e-3

/* log h stays finite however steep the lines are. */
#define LEAST_LOG_H (-700.0)

/* Spread of the lines at the start: about log(1 + t), whose g lies between min(1, t) and
 * t / (1 + t), with lines enough around it to learn from. */
#define SPREAD_SLOPE 0.3
#define SPREAD_HEIGHT 0.5

/* ---- tapes */

sal_tape *sali_lsb_tape(int64_t count)
{
    sal_block block = { .name = "x", .kind = SAL_ORDINAL, .count = count, .states = 3 };
    sal_space *space = sal_space_create();
    sal_tape *tape = NULL;
    if (space && sal_space_add(space, &block, NULL) == SAL_OK) {
        tape = sal_tape_create(space, SAL_F64);
    }
    sal_space_destroy(space);
    return tape;
}

/* log sum_j softmax(theta)_j g_j(t) of u = log t [1]. */
static sal_expr record_mixture(sal_tape *tape, sal_expr u)
{
    sal_expr theta = sal_param(tape, "theta", SAL_SHAPE(SALI_BALANCES));
    sal_expr zero = sal_scalar(tape, 0), log_g[SALI_BALANCES];
    log_g[SALI_BALANCE_SQRT] = sal_scale(u, 0.5);
    log_g[SALI_BALANCE_BARKER] = sal_neg(sal_softplus(sal_neg(u)));
    log_g[SALI_BALANCE_MIN] = sal_minimum(u, zero);
    log_g[SALI_BALANCE_MAX] = sal_maximum(u, zero);
    sal_expr log_weight = sal_sub(theta, sal_logsumexp(theta));
    return sal_logsumexp(sal_add(sal_concat(log_g, SALI_BALANCES, 0), log_weight));
}

/* log h of u = log t [1]; the lines' slopes are positive. */
static sal_expr record_log_h(sal_tape *tape, sal_expr u, sali_lsb_shape shape)
{
    int64_t n = shape.blocks * shape.units;
    sal_expr log_slope = sal_param(tape, "log_slope", SAL_SHAPE(n));
    sal_expr height = sal_param(tape, "height", SAL_SHAPE(n));
    sal_expr within = sal_clamp(u, -SALI_TABLE_REACH, SALI_TABLE_REACH);
    sal_expr at = shape.lines == SALI_LINES_SHARE
                      ? sal_sub(sal_sigmoid(within), sal_scalar(tape, 0.5))
                      : within;
    sal_expr lines = sal_add(sal_mul(sal_exp(log_slope), at), height);
    sal_expr largest = sal_max_axis(sal_reshape(lines, SAL_SHAPE(shape.blocks, shape.units)), 1);
    sal_expr least = sal_neg(sal_max(sal_neg(largest)));
    return sal_log(sal_softplus(sal_clamp(least, LEAST_LOG_H, INFINITY)));
}

/* max(0, (t h(1/t) - (t + epsilon) h(1/(t + epsilon))) / epsilon): how far t h(1/t) falls
 * (Sansone 2022, supplement, sec. 10). */
static sal_expr record_slope(sal_tape *tape, sali_lsb_shape shape)
{
    sal_expr s = sal_state(tape), value[2];
    for (int k = 0; k < 2; k++) {
        sal_expr u = sal_slice(s, 0, k, 1);
        sal_expr log_value = sal_sub(record_log_h(tape, u, shape), sal_sum(u));
        value[k] = sal_exp(log_value);
    }
    return sal_relu(sal_scale(sal_sub(value[0], value[1]), 1 / EPSILON));
}

static sal_status freeze_formula(sal_tape *tape, sal_expr f, sali_program **program,
                                 sali_params **params, sali_workspace **ws, sal_error *err)
{
    sal_status status = sali_program_create(tape, f, program, err);
    status = status ? status : sali_params_create(*program, params, err);
    return status
               ? status
               : sali_workspace_create(*program, *params, CHUNK, SALI_WANT_PARAM_GRADIENT, ws, err);
}

/* Create programs, parameters and workspaces of log g or log h, and with a network of the
 * regulariser. */
static sal_status make_tapes(sali_lsb_function *g, sal_error *err)
{
    sal_tape *tape = sali_lsb_tape(1), *slopes = sali_lsb_tape(2);
    sal_status status = tape && slopes ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        sal_expr u = sal_state(tape);
        sal_expr f = g->network ? record_log_h(tape, u, g->shape) : record_mixture(tape, u);
        status = freeze_formula(tape, f, &g->program, &g->params, &g->ws, err);
    }
    if (status == SAL_OK && g->network) {
        status = freeze_formula(slopes, record_slope(slopes, g->shape), &g->slope_program,
                                &g->slope_params, &g->slope_ws, err);
    }
    sal_tape_destroy(tape);
    sal_tape_destroy(slopes);
    return status;
}

/* ---- theta */

/* Start values of theta, the same in every run: equal weights, or lines with slopes around 1 and
 * heights around 0. */
static void initialise_theta(sali_lsb_function *g)
{
    sali_stream stream = { .purpose = SALI_RNG_PARAMS };
    if (g->network) {
        sali_rng_normal(&stream, g->n, g->theta);
        for (int64_t k = 0; k < g->n; k++) {
            g->theta[k] *= k < g->n / 2 ? SPREAD_SLOPE : SPREAD_HEIGHT;
        }
    }
}

sal_status sali_lsb_open(sali_lsb_function *g, sali_lsb_shape shape, sal_error *err)
{
    g->network = shape.blocks > 0;
    g->shape = shape;
    g->n = g->network ? 2 * shape.blocks * shape.units : SALI_BALANCES;
    g->theta = SALI_NEW_ARRAY(double, g->n);
    g->slope_gradient = SALI_NEW_ARRAY(double, g->n);
    sal_status status = g->theta && g->slope_gradient ? make_tapes(g, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        initialise_theta(g);
        sali_lsb_set(g, g->theta);
    }
    return status;
}

void sali_lsb_close(sali_lsb_function *g)
{
    sali_workspace_destroy(g->ws);
    sali_workspace_destroy(g->slope_ws);
    sali_params_destroy(g->params);
    sali_params_destroy(g->slope_params);
    sali_program_destroy(g->program);
    sali_program_destroy(g->slope_program);
    sali_free(g->theta);
    sali_free(g->slope_gradient);
}

static double node_log_t(int64_t node)
{
    return (double)node / SALI_TABLE_RATE - SALI_TABLE_REACH;
}

/* Fill the table with log h of the network at every node. */
static void fill_table(sali_lsb_function *g)
{
    double u[CHUNK];
    for (int64_t first = 0; first < SALI_TABLE_NODES; first += CHUNK) {
        int64_t n = SALI_TABLE_NODES - first < CHUNK ? SALI_TABLE_NODES - first : CHUNK;
        for (int64_t k = 0; k < n; k++) {
            u[k] = node_log_t(first + k);
        }
        sali_workspace_value(g->ws, n, NULL, u, g->table.log_h + first);
    }
}

/* Set the weights of the mixture to softmax(theta). */
static void fill_mixture(sali_lsb_function *g)
{
    double largest = -INFINITY, total = 0;
    for (int k = 0; k < SALI_BALANCES; k++) {
        largest = fmax(largest, g->theta[k]);
    }
    for (int k = 0; k < SALI_BALANCES; k++) {
        g->mixture.weight[k] = exp(g->theta[k] - largest);
        total += g->mixture.weight[k];
    }
    for (int k = 0; k < SALI_BALANCES; k++) {
        g->mixture.weight[k] /= total;
    }
}

void sali_lsb_set(sali_lsb_function *g, const double *theta)
{
    memmove(g->theta, theta, (size_t)g->n * sizeof *theta);
    sali_params_set(g->params, g->theta);
    if (g->network) {
        sali_params_set(g->slope_params, g->theta);
        fill_table(g);
    } else {
        fill_mixture(g);
    }
}

sali_balance sali_lsb_balance(const sali_lsb_function *g, sal_dtype dtype)
{
    bool single = dtype == SAL_F32;
    if (g->network) {
        return (sali_balance){ single ? sali_log_table_f32 : sali_log_table_f64, &g->table };
    }
    return (sali_balance){ single ? sali_log_mixture_f32 : sali_log_mixture_f64, &g->mixture };
}

/* ---- the gradient by theta */

void sali_lsb_gradient_begin(sali_lsb_function *g)
{
    memset(g->node_weight, 0, sizeof g->node_weight);
    sali_workspace_param_zero(g->ws);
    if (g->network) {
        sali_workspace_param_zero(g->slope_ws);
    }
}

/* Add weight * d log g(t) / d log h to the two nodes between which log h is interpolated. */
static void add_to_nodes(sali_lsb_function *g, double log_t, double weight)
{
    double mirrored = log_t + sali_table_log_h(&g->table, -log_t), part;
    bool here = sali_table_log_h(&g->table, log_t) < mirrored;
    int32_t node = sali_table_place(here ? log_t : -log_t, &part);
    g->node_weight[node] += (1 - part) * weight;
    g->node_weight[node + 1] += part * weight;
}

void sali_lsb_gradient_add(sali_lsb_function *g, int64_t n, const double *log_t,
                           const double *weight)
{
    double u[CHUNK], w[CHUNK], value[CHUNK];
    int64_t held = 0;
    for (int64_t k = 0; k < n; k++) {
        if (weight[k] == 0) {
            continue;
        }
        if (g->network) {
            add_to_nodes(g, log_t[k], weight[k]);
            continue;
        }
        u[held] = log_t[k];
        w[held++] = weight[k];
        if (held == CHUNK) {
            sali_workspace_param_gradient(g->ws, held, NULL, u, w, value);
            held = 0;
        }
    }
    if (held > 0) {
        sali_workspace_param_gradient(g->ws, held, NULL, u, w, value);
    }
}

double sali_lsb_gradient_slopes(sali_lsb_function *g, int64_t n, const double *t)
{
    double x[2 * CHUNK], w[CHUNK], value[CHUNK], sum = 0;
    for (int64_t first = 0; first < n; first += CHUNK) {
        int64_t some = n - first < CHUNK ? n - first : CHUNK;
        for (int64_t k = 0; k < some; k++) {
            x[2 * k] = -log(t[first + k]);
            x[2 * k + 1] = -log(t[first + k] + EPSILON);
            w[k] = 1 / (double)n;
        }
        sali_workspace_param_gradient(g->slope_ws, some, NULL, x, w, value);
        for (int64_t k = 0; k < some; k++) {
            sum += value[k] / (double)n;
        }
    }
    return sum;
}

/* Carry the gradient from the nodes of the table back to theta. */
static void pull_back(sali_lsb_function *g)
{
    double u[CHUNK], w[CHUNK], value[CHUNK];
    int64_t held = 0;
    for (int64_t node = 0; node < SALI_TABLE_NODES; node++) {
        if (g->node_weight[node] != 0) {
            u[held] = node_log_t(node);
            w[held++] = g->node_weight[node];
        }
        if (held == CHUNK || (held > 0 && node == SALI_TABLE_NODES - 1)) {
            sali_workspace_param_gradient(g->ws, held, NULL, u, w, value);
            held = 0;
        }
    }
}

void sali_lsb_gradient_end(sali_lsb_function *g, double *flat)
{
    if (g->network) {
        pull_back(g);
    }
    sali_workspace_param_reduce(&g->ws, 1, 1, flat);
    if (g->network) {
        sali_workspace_param_reduce(&g->slope_ws, 1, 1, g->slope_gradient);
        for (int64_t k = 0; k < g->n; k++) {
            flat[k] += g->slope_gradient[k];
        }
    }
}
