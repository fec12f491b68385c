/* saltus check: what a model is, whether its gradient is right, and which samplers can sample it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ad/op.h"
#include "cli/cli.h"
#include "cli/program.h"
#include "models/tape_model.h"
#include "samplers/sampler.h"
#include "samplers/start.h"

#define STATES 4 /* random states to check at */

static void print_space(const sal_model *model)
{
    static const char *const kinds[] = { "", "binary", "spin", "ordinal", "categorical", "count" };
    const sal_space *space = sal_model_space(model);
    printf("model        %s (%s)\n", sal_model_name(model),
           sal_model_dtype(model) == SAL_F32 ? "f32" : "f64");
    printf("variables    %lld, embedding of %lld reals\n", (long long)sal_space_variables(space),
           (long long)sal_space_width(space));
    for (int64_t b = 0; b < sal_space_blocks(space); b++) {
        const sal_block *block = sal_space_block(space, b);
        printf("  block      %-12s %lld x %s", block->name, (long long)block->count,
               kinds[block->kind]);
        if (block->states > 0) {
            printf(", %lld states", (long long)block->states);
        }
        putchar('\n');
    }
}

static void print_program(const sal_model *model)
{
    const sali_tape_model *tape = sali_model_tape(model);
    int64_t counts[SALI_OP_COUNT] = { 0 };
    sal_shape shape;
    if (!tape) {
        return;
    }
    for (int64_t k = 0; k < sal_model_parameters(model); k++) {
        char text[SALI_SHAPE_TEXT];
        const char *name = sal_model_parameter(model, k, &shape);
        printf("  parameter  %-12s %s\n", name, sali_shape_text(&shape, text));
    }
    for (int32_t i = 0; i < tape->program->n_nodes; i++) {
        counts[tape->program->nodes[i].op]++;
    }
    printf("operations  ");
    for (int k = 0; k < SALI_OP_COUNT; k++) {
        if (counts[k] > 0) {
            printf(" %s:%lld", sali_op_f64((sali_op_id)k)->name, (long long)counts[k]);
        }
    }
    putchar('\n');
}

static void print_samplers(const sal_model *model)
{
    printf("samplers    ");
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        if (sali_sampler_serves(sali_sampler_at(k), model)) {
            printf(" %s", sali_sampler_at(k)->name);
        }
    }
    putchar('\n');
}

/* Largest error of gradient [N] against central differences of `exact` at x [N], relative to the
 * largest entry. */
static sal_status gradient_error(const sal_model *exact, const double *x, const double *gradient,
                                 double *error, sal_error *err)
{
    int64_t N = sal_space_width(sal_model_space(exact));
    double h = 1e-5, scale = 1e-12;
    double *near = malloc((size_t)N * sizeof *near);
    sal_status status = near ? SAL_OK : SAL_ERR_MEMORY;
    *error = 0;
    for (int64_t i = 0; status == SAL_OK && i < N; i++) {
        double up, down;
        memcpy(near, x, (size_t)N * sizeof *near);
        near[i] = x[i] + h;
        status = sal_model_evaluate_at(exact, 1, near, &up, NULL, err);
        near[i] = x[i] - h;
        status = status ? status : sal_model_evaluate_at(exact, 1, near, &down, NULL, err);
        if (status == SAL_OK && isfinite(up) && isfinite(down) && isfinite(gradient[i])) {
            *error = fmax(*error, fabs((up - down) / (2 * h) - gradient[i]));
            scale = fmax(scale, fabs(gradient[i]));
        }
    }
    *error /= scale;
    free(near);
    return status;
}

/* Largest error of the first-order differences against the exact ones, relative to the largest. */
static double taylor_error(const sal_model *model, const int32_t *codes, const double *gradient,
                           const double *differences)
{
    const sal_space *space = sal_model_space(model);
    double error = 0, scale = 1e-12;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        for (int32_t k = 0; k < sali_entries(variable->states); k++) {
            int32_t code = sali_entry_code(variable->states, codes[v], k);
            double exact = *differences++;
            if (code == codes[v] || !sali_has_code(variable, code)) {
                continue;
            }
            double taylor =
                variable->kind == SAL_CATEGORICAL
                    ? gradient[variable->offset + code] - gradient[variable->offset + codes[v]]
                    : gradient[variable->offset] *
                          (sali_level(variable, code) - sali_level(variable, codes[v]));
            if (isfinite(taylor) && isfinite(exact)) {
                error = fmax(error, fabs(taylor - exact));
                scale = fmax(scale, fabs(exact));
            }
        }
    }
    return error / scale;
}

/* Differences at one state by a strategy, as rows with one entry a state. */
static sal_status differences_by(const sal_model *model, sali_strategy strategy,
                                 const int32_t *codes, double *rows, sal_error *err)
{
    const sal_space *space = model->space;
    sali_evaluator *e = NULL;
    double *x = malloc((size_t)space->width * sizeof *x), f;
    double *slots = malloc((size_t)space->slots * sizeof *slots);
    sal_status status = x && slots ? SAL_OK : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        status = sali_evaluator_create_by(model, 1, SALI_WANT_DIFFERENCES, strategy, &e, err);
    }
    if (status == SAL_OK) {
        sali_model_embed(model, 1, codes, x);
        sali_differences(e, 1, codes, x, &f, slots);
        sali_spread_slots(model, 1, codes, slots, rows);
    }
    sali_evaluator_destroy(e);
    free(x);
    free(slots);
    return status;
}

/* Largest disagreement of any strategy that applies with `differences`, relative to the largest
 * difference. */
static sal_status strategies_error(const sal_model *model, const int32_t *codes,
                                   const double *differences, double *error, sal_error *err)
{
    int64_t R = model->space->n_states;
    double scale = 1e-12;
    double *rows = malloc((size_t)R * sizeof *rows);
    sal_status status = rows ? SAL_OK : SAL_ERR_MEMORY;
    *error = 0;
    for (int s = 0; status == SAL_OK && s < SALI_STRATEGIES; s++) {
        sali_strategy strategy = (sali_strategy)s;
        if (strategy == sali_strategy_best(model) || !sali_strategy_applies(model, strategy)) {
            continue;
        }
        status = differences_by(model, strategy, codes, rows, err);
        for (int64_t k = 0; status == SAL_OK && k < R; k++) {
            if (rows[k] != differences[k]) {
                *error = fmax(*error, fabs(rows[k] - differences[k]));
            }
            scale = isfinite(rows[k]) ? fmax(scale, fabs(rows[k])) : scale;
        }
    }
    *error /= scale;
    free(rows);
    return status;
}

typedef struct derivative_errors {
    int states; /* of finite f */
    double gradient, taylor, strategies;
} derivative_errors;

/* At one state: the gradient against central differences of `exact`, the same model in double, and
 * against its exact differences: single precision would lose those of an f that is large beside
 * them. Work space: x [N], gradient [N], differences [states of all variables]. */
static sal_status measure_at(const sal_model *model, const sal_model *exact, const int32_t *codes,
                             double *x, double *gradient, double *differences,
                             derivative_errors *worst, sal_error *err)
{
    double f, error = 0;
    sal_status status = sal_space_embed(model->space, 1, codes, x, err);
    status = status ? status : sal_model_evaluate(model, 1, codes, &f, gradient, differences, err);
    if (status != SAL_OK || !isfinite(f)) {
        return status;
    }
    worst->states++;
    status = strategies_error(model, codes, differences, &error, err);
    worst->strategies = fmax(worst->strategies, error);
    status = status ? status : gradient_error(exact, x, gradient, &error, err);
    worst->gradient = fmax(worst->gradient, error);
    status = status ? status : sal_model_evaluate(exact, 1, codes, &f, NULL, differences, err);
    if (status == SAL_OK) {
        worst->taylor = fmax(worst->taylor, taylor_error(model, codes, gradient, differences));
    }
    return status;
}

/* The worst errors over STATES random states. */
static sal_status measure_errors(const sal_model *model, const sal_model *exact, int64_t seed,
                                 derivative_errors *worst, sal_error *err)
{
    const sal_space *space = model->space;
    int64_t N = space->width;
    int32_t *codes = malloc((size_t)space->n_variables * sizeof *codes);
    double *x = malloc((size_t)N * sizeof *x), *gradient = malloc((size_t)N * sizeof *gradient);
    double *differences = malloc((size_t)space->n_states * sizeof *differences);
    sal_status status = codes && x && gradient && differences ? SAL_OK : SAL_ERR_MEMORY;
    for (int64_t k = 0; status == SAL_OK && k < STATES; k++) {
        sali_stream stream = { .seed = (uint64_t)seed,
                               .chain = (uint32_t)k,
                               .purpose = SALI_RNG_INIT };
        sali_random_codes(space, &stream, codes);
        status = measure_at(model, exact, codes, x, gradient, differences, worst, err);
    }
    free(codes);
    free(x);
    free(gradient);
    free(differences);
    return status;
}

static sal_status check_derivatives(const sal_model *model, const sal_model *exact, int64_t seed,
                                    sal_error *err)
{
    derivative_errors worst = { 0 };
    sal_status status = measure_errors(model, exact, seed, &worst, err);
    if (status != SAL_OK) {
        return status;
    }
    if (worst.states == 0) {
        printf("derivatives  not checked: f is -inf at all of %d random states\n", STATES);
        return SAL_OK;
    }
    printf("gradient     within %.1e of central differences (relative, %d states)\n",
           worst.gradient, worst.states);
    printf("differences  by %s; first-order ones are off by %.1e (relative)\n",
           sali_strategy_name(sali_strategy_best(model)), worst.taylor);
    for (int s = 0; s < SALI_STRATEGIES; s++) {
        sali_strategy strategy = (sali_strategy)s;
        if (strategy != sali_strategy_best(model) && sali_strategy_applies(model, strategy)) {
            printf("  against    %s: within %.1e (relative)\n", sali_strategy_name(strategy),
                   worst.strategies);
        }
    }
    return SAL_OK;
}

static int run_check(const cli_command *command, int argc, char **argv)
{
    const char *dtype = NULL, *params = NULL, *specification = NULL;
    int64_t seed = 0;
    bool program = false;
    const cli_option table[] = {
        { "params", CLI_TEXT, &params, "FILE", "parameters from .safetensors" },
        { "dtype", CLI_TEXT, &dtype, "f32|f64", "type of the computation [the model's]" },
        { "seed", CLI_INT, &seed, "N", "of the random states [0]" },
        { "program", CLI_FLAG, &program, NULL, "print the program before and after its passes" },
        { 0 },
    };
    sal_model *model = NULL, *exact = NULL;
    sal_error err = { 0 };
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    code = code ? code : cli_open(specification, dtype, params, &model);
    code = code ? code : cli_open(specification, "f64", params, &exact);
    if (code != CLI_OK) {
        sal_model_destroy(model);
        return code;
    }
    print_space(model);
    print_program(model);
    sal_status status = check_derivatives(model, exact, seed, &err);
    if (status == SAL_OK) {
        print_samplers(model);
    }
    if (status == SAL_OK && program) {
        status = cli_print_program(model, &err);
    }
    if (status != SAL_OK) {
        code = cli_fail(status, &err);
    }
    sal_model_destroy(model);
    sal_model_destroy(exact);
    return code;
}

const cli_command cli_check = { "check", "MODEL", "gradient, differences, sizes, samplers",
                                run_check };
