/* saltus check: what a model is, whether its gradient is right, and which samplers can sample it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ad/op.h"
#include "cli/cli.h"
#include "models/tape_model.h"
#include "samplers/sampler.h"
#include "samplers/start.h"

#define STATES 4 /* random states to check at */

static void print_space(const sal_model *model)
{
    static const char *const kinds[] = { "", "binary", "spin", "ordinal", "categorical" };
    const sal_space *space = sal_model_space(model);
    printf("model        %s (%s)\n", sal_model_name(model),
           sal_model_dtype(model) == SAL_F32 ? "f32" : "f64");
    printf("variables    %lld, embedding of %lld reals\n", (long long)sal_space_variables(space),
           (long long)sal_space_width(space));
    for (int64_t b = 0; b < sal_space_blocks(space); b++) {
        const sal_block *block = sal_space_block(space, b);
        printf("  block      %-12s %lld x %s, %lld states\n", block->name, (long long)block->count,
               kinds[block->kind], (long long)block->states);
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
        if (sali_sampler_check(sali_sampler_at(k), model, NULL) == SAL_OK) {
            printf(" %s", sali_sampler_at(k)->name);
        }
    }
    putchar('\n');
}

/* Largest error of gradient [N] against central differences at x [N], relative to the largest
 * entry. */
static sal_status gradient_error(const sal_model *model, const double *x, const double *gradient,
                                 double *error, sal_error *err)
{
    int64_t N = sal_space_width(sal_model_space(model));
    double h = sal_model_dtype(model) == SAL_F32 ? 1e-2 : 1e-5, scale = 1e-12;
    double *near = malloc((size_t)N * sizeof *near);
    sal_status status = near ? SAL_OK : SAL_ERR_MEMORY;
    *error = 0;
    for (int64_t i = 0; status == SAL_OK && i < N; i++) {
        double up, down;
        memcpy(near, x, (size_t)N * sizeof *near);
        near[i] = x[i] + h;
        status = sal_model_evaluate_at(model, 1, near, &up, NULL, err);
        near[i] = x[i] - h;
        status = status ? status : sal_model_evaluate_at(model, 1, near, &down, NULL, err);
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
        for (int32_t k = 0; k < variable->states; k++) {
            double taylor =
                variable->kind == SAL_CATEGORICAL
                    ? gradient[variable->offset + k] - gradient[variable->offset + codes[v]]
                    : gradient[variable->offset] *
                          (variable->levels[k] - variable->levels[codes[v]]);
            double exact = *differences++;
            if (k != codes[v] && isfinite(taylor) && isfinite(exact)) {
                error = fmax(error, fabs(taylor - exact));
                scale = fmax(scale, fabs(exact));
            }
        }
    }
    return error / scale;
}

static sal_status check_derivatives(const sal_model *model, int64_t seed, sal_error *err)
{
    const sal_space *space = model->space;
    int64_t N = space->width, row = 0;
    double f, worst_gradient = 0, worst_taylor = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        row += space->variables[v].states;
    }
    int32_t *codes = malloc((size_t)space->n_variables * sizeof *codes);
    double *x = malloc((size_t)N * sizeof *x), *gradient = malloc((size_t)N * sizeof *gradient);
    double *differences = malloc((size_t)row * sizeof *differences);
    sal_status status = codes && x && gradient && differences ? SAL_OK : SAL_ERR_MEMORY;
    for (int64_t k = 0; status == SAL_OK && k < STATES; k++) {
        sali_stream stream = { .seed = (uint64_t)seed,
                               .chain = (uint32_t)k,
                               .purpose = SALI_RNG_INIT };
        double error;
        sali_random_codes(space, &stream, codes);
        status = sal_space_embed(space, 1, codes, x, err);
        status =
            status ? status : sal_model_evaluate(model, 1, codes, &f, gradient, differences, err);
        if (status != SAL_OK || !isfinite(f)) {
            continue;
        }
        status = gradient_error(model, x, gradient, &error, err);
        worst_gradient = fmax(worst_gradient, error);
        worst_taylor = fmax(worst_taylor, taylor_error(model, codes, gradient, differences));
    }
    if (status == SAL_OK) {
        printf("gradient     within %.1e of central differences (relative, %d states)\n",
               worst_gradient, STATES);
        printf("differences  by %s; first-order ones are off by %.1e (relative)\n",
               model->multilinear ? "the gradient (f is multilinear)" : "evaluating neighbours",
               worst_taylor);
    }
    free(codes);
    free(x);
    free(gradient);
    free(differences);
    return status;
}

static int run_check(const cli_command *command, int argc, char **argv)
{
    const char *dtype = NULL, *params = NULL, *specification = NULL;
    int64_t seed = 0;
    const cli_option table[] = {
        { "params", CLI_TEXT, &params, "FILE", "parameters from .safetensors" },
        { "dtype", CLI_TEXT, &dtype, "f32|f64", "type of the computation [the model's]" },
        { "seed", CLI_INT, &seed, "N", "of the random states [0]" },
        { 0 },
    };
    sal_model *model = NULL;
    sal_error err = { 0 };
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    code = code ? code : cli_open(specification, dtype, params, &model);
    if (code != CLI_OK) {
        return code;
    }
    print_space(model);
    print_program(model);
    sal_status status = check_derivatives(model, seed, &err);
    if (status == SAL_OK) {
        print_samplers(model);
    } else {
        code = cli_fail(status, &err);
    }
    sal_model_destroy(model);
    return code;
}

const cli_command cli_check = { "check", "MODEL", "gradient, differences, sizes, samplers",
                                run_check };
