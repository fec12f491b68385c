/* SPDX-License-Identifier: MIT */
/* Properties of programs, on thousands of random tapes: with each pass and without, against
 * differences, in both types, in batches and alone. */
#include "test.h"

#include <math.h>

#include <saltus/model.h>

#include "ad/passes.h"
#include "ad/workspace.h"
#include "alloc_fail.h"
#include "random_tape.h"
#include "slow_tape.h"

enum {
    PARTS = 8,
    TAPES = TEST_SANITIZED ? 120 : 250,
    CHAINS = 5,
    MAX_WIDTH = 32,
    MAX_PARAMS = 2048
};

/* ---- a tape as a program that runs */

typedef struct fixture {
    uint64_t seed;
    sali_program *program;
    sali_params *params;
    sali_workspace *ws;
    double flat[MAX_PARAMS];
} fixture;

/* What a program gives at CHAINS states. */
typedef struct result {
    double f[CHAINS];
    double gradient[CHAINS * MAX_WIDTH];
    double params[MAX_PARAMS];
} result;

static const unsigned both = SALI_WANT_STATE_GRADIENT | SALI_WANT_PARAM_GRADIENT;

/* Rows are short here: without this no run would take more than one tile. */
static void make_tiles_small(sali_program *program)
{
    for (int32_t r = 0; r < program->fusion.n_runs; r++) {
        sali_run *run = &program->fusion.runs[r];
        run->tile = run->tile < INT64_MAX ? 2 : INT64_MAX;
    }
}

static fixture *fixture_create(uint64_t seed, random_style style, sal_dtype dtype, uint32_t passes,
                               int64_t chains, unsigned wants)
{
    sal_error err = { 0 };
    sal_expr f;
    fixture *made = calloc(1, sizeof *made);
    sal_tape *tape = random_tape(seed, style, dtype, &f);
    sal_tape_set_passes(tape, passes);
    made->seed = seed;
    ck_assert_msg(sali_program_create(tape, f, &made->program, &err) == SAL_OK, "tape %d: %s",
                  (int)seed, err.message);
    make_tiles_small(made->program);
    ck_ok(sali_params_create(made->program, &made->params, &err), &err);
    ck_ok(sali_workspace_create(made->program, made->params, chains, wants, &made->ws, &err), &err);
    ck_assert_int_le(made->program->parameters_size, MAX_PARAMS);
    ck_assert_int_le(made->program->space->width, MAX_WIDTH);
    random_numbers(seed, 1, made->program->parameters_size, -1, 1, made->flat);
    sali_params_set(made->params, made->flat);
    sal_tape_destroy(tape);
    return made;
}

static void fixture_destroy(fixture *f)
{
    sali_workspace_destroy(f->ws);
    sali_params_destroy(f->params);
    sali_program_destroy(f->program);
    free(f);
}

/* States of the space, and their embeddings. */
static void random_states(const fixture *f, int64_t chains, int32_t *codes, double *x)
{
    const sal_space *space = f->program->space;
    double numbers[CHAINS * MAX_WIDTH];
    random_numbers(f->seed, 2, chains * space->n_variables, 0, 1, numbers);
    for (int64_t k = 0; k < chains * space->n_variables; k++) {
        codes[k] = (int32_t)(numbers[k] * space->variables[k % space->n_variables].states);
    }
    sali_embed_f64(space, chains, codes, x);
}

/* Points between the states, away from them. */
static void random_points(const fixture *f, int64_t chains, double *x)
{
    const sal_space *space = f->program->space;
    random_numbers(f->seed, 3, chains * space->width, 0.1, 0.9, x);
    for (int64_t k = 0; k < chains * space->width; k++) {
        const sali_variable *v = &space->variables[sali_space_owner(space, k % space->width)];
        double low = v->levels ? v->levels[0] : 0;
        double high = v->levels ? v->levels[v->states - 1] : 1;
        x[k] = low + (high - low) * x[k];
    }
}

static double weight_of(int64_t chain)
{
    return 0.5 - 0.3 * (double)(chain % 4);
}

/* f and both gradients, chains first .. first + chains - 1. */
static void run_part(fixture *f, int64_t first, int64_t chains, const int32_t *codes,
                     const double *x, result *out)
{
    int64_t N = f->program->space->width, n = chains * N;
    float narrow[CHAINS * MAX_WIDTH] = { 0 }, slopes[CHAINS * MAX_WIDTH] = { 0 };
    bool wide = f->program->dtype == SAL_F64;
    double weight[CHAINS], again[CHAINS], *gradient = out->gradient + first * N;
    x += first * N;
    codes = codes ? codes + first * f->program->space->n_variables : NULL;
    for (int64_t k = 0; k < n; k++) {
        narrow[k] = (float)x[k];
    }
    for (int64_t c = 0; c < chains; c++) {
        weight[c] = weight_of(first + c);
    }
    const void *at = wide ? (const void *)x : narrow;
    sali_workspace_gradient(f->ws, chains, codes, at, out->f + first,
                            wide ? (void *)gradient : slopes);
    for (int64_t k = 0; !wide && k < n; k++) {
        gradient[k] = (double)slopes[k];
    }
    sali_workspace_param_gradient(f->ws, chains, codes, at, weight, again);
    ck_assert_mem_eq(out->f + first, again, (size_t)chains * sizeof *again);
}

static void run(fixture *f, const int32_t *codes, const double *x, result *out)
{
    memset(out, 0, sizeof *out);
    sali_workspace_param_zero(f->ws);
    run_part(f, 0, CHAINS, codes, x, out);
    sali_workspace_param_reduce(&f->ws, 1, 1, out->params);
}

/* |got - want| <= tolerance (1 + max |want|), element by element. */
static void check_close(const fixture *f, const char *what, int64_t n, const double *got,
                        const double *want, double tolerance)
{
    double scale = 1;
    for (int64_t k = 0; k < n; k++) {
        scale = fmax(scale, fabs(want[k]));
    }
    for (int64_t k = 0; k < n; k++) {
        ck_assert_msg(fabs(got[k] - want[k]) <= tolerance * scale,
                      "tape %d: %s %d is %.17g, not %.17g", (int)f->seed, what, (int)k, got[k],
                      want[k]);
    }
}

static void check_result(const fixture *f, const char *what, const result *got, const result *want,
                         double tolerance)
{
    check_close(f, what, CHAINS, got->f, want->f, tolerance);
    check_close(f, what, CHAINS * f->program->space->width, got->gradient, want->gradient,
                tolerance);
    check_close(f, what, f->program->parameters_size, got->params, want->params, tolerance);
}

/* ---- passes */

/* Nothing may change but the order of sums in gradients, and in f where edges do the sum. */
START_TEST(passes_keep_values_and_gradients)
{
    for (int k = 0; k < TAPES; k++) {
        uint64_t seed = (uint64_t)(_i * TAPES + k);
        int32_t codes[CHAINS * MAX_WIDTH];
        double x[CHAINS * MAX_WIDTH], between[CHAINS * MAX_WIDTH];
        result want[2], got;
        fixture *plain = fixture_create(seed, RANDOM_ANY, SAL_F64, 0, CHAINS, both);
        random_states(plain, CHAINS, codes, x);
        random_points(plain, CHAINS, between);
        run(plain, codes, x, &want[0]);
        run(plain, NULL, between, &want[1]);
        for (int64_t at = -1; at < 0 || sali_pass_at(at); at++) {
            uint32_t set = at < 0 ? SAL_PASS_DEFAULT : (uint32_t)sali_pass_at(at)->bit;
            if (set == SAL_PASS_CANONICAL) {
                continue;
            }
            fixture *f = fixture_create(seed, RANDOM_ANY, SAL_F64, set, CHAINS, both);
            const char *name = at < 0 ? "all passes" : sali_pass_at(at)->name;
            for (int lattice = 0; lattice < 2; lattice++) {
                run(f, lattice ? codes : NULL, lattice ? x : between, &got);
                check_result(f, name, &got, &want[!lattice], 1e-11);
                ck_assert((set & (SAL_PASS_SPARSE | SAL_PASS_PRODUCTS | SAL_PASS_CONSTANTS)) ||
                          memcmp(got.f, want[!lattice].f, sizeof got.f) == 0);
            }
            ck_assert(set != SAL_PASS_BUFFERS || memcmp(&got, &want[0], sizeof got) == 0);
            fixture_destroy(f);
        }
        fixture_destroy(plain);
    }
}
END_TEST

START_TEST(canonical_form_keeps_f_on_the_lattice)
{
    for (int k = 0; k < TAPES; k++) {
        uint64_t seed = (uint64_t)(_i * TAPES + k);
        for (int style = RANDOM_ANY; style <= RANDOM_QUADRATIC; style++) {
            int32_t codes[CHAINS * MAX_WIDTH];
            double x[CHAINS * MAX_WIDTH];
            result want, got;
            fixture *plain = fixture_create(seed, (random_style)style, SAL_F64, 0, CHAINS, both);
            fixture *f = fixture_create(seed, (random_style)style, SAL_F64,
                                        SAL_PASS_DEFAULT | SAL_PASS_CANONICAL, CHAINS, both);
            random_states(plain, CHAINS, codes, x);
            run(plain, codes, x, &want);
            run(f, codes, x, &got);
            check_close(f, "canonical f", CHAINS, got.f, want.f, 1e-11);
            check_close(f, "parameter derivative", f->program->parameters_size, got.params,
                        want.params, 1e-11);
            fixture_destroy(plain);
            fixture_destroy(f);
        }
    }
}
END_TEST

/* Moves of all variables from codes [V]: what the gradient says, and what happens. */
static void check_slopes(fixture *f, int32_t *codes, const double *gradient, double value)
{
    const sal_space *space = f->program->space;
    double x[MAX_WIDTH], moved;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        int32_t now = codes[v];
        const double *g = gradient + variable->offset;
        for (int32_t code = 0; code < variable->states; code++) {
            codes[v] = code;
            sali_embed_f64(space, 1, codes, x);
            sali_workspace_value(f->ws, 1, codes, x, &moved);
            double slope = variable->levels
                               ? g[0] * (variable->levels[code] - variable->levels[now])
                               : g[code] - g[now];
            ck_assert_msg(fabs(slope - (moved - value)) <= 1e-11 * (1 + fabs(value)),
                          "tape %d: variable %d to %d: %.17g, not %.17g", (int)f->seed, (int)v,
                          (int)code, slope, moved - value);
        }
        codes[v] = now;
    }
}

/* Whenever a program says that it is multilinear, its gradient gives exact differences. */
static int count_multilinear(int part, random_style style, uint32_t passes)
{
    int found = 0;
    for (int k = 0; k < TAPES; k++) {
        fixture *f =
            fixture_create((uint64_t)(part * TAPES + k), style, SAL_F64, passes, CHAINS, both);
        if (sali_program_is_multilinear(f->program)) {
            int32_t codes[CHAINS * MAX_WIDTH];
            double x[CHAINS * MAX_WIDTH];
            result at;
            random_states(f, CHAINS, codes, x);
            run(f, codes, x, &at);
            check_slopes(f, codes, at.gradient, at.f[0]);
            found++;
        }
        fixture_destroy(f);
    }
    return found;
}

START_TEST(gradients_of_multilinear_tapes_are_differences)
{
    count_multilinear(_i, RANDOM_ANY, SAL_PASS_DEFAULT);
    count_multilinear(_i, RANDOM_ANY, SAL_PASS_DEFAULT | SAL_PASS_CANONICAL);
    int plain = count_multilinear(_i, RANDOM_QUADRATIC, SAL_PASS_DEFAULT);
    int canonical = count_multilinear(_i, RANDOM_QUADRATIC, SAL_PASS_DEFAULT | SAL_PASS_CANONICAL);
    ck_assert_int_lt(plain, TAPES);
    ck_assert_int_eq(canonical, TAPES);
}
END_TEST

/* ---- programs */

/* Central differences with one step of Richardson's extrapolation. */
#define H 0x1p-10
static const double steps[] = { H / 2, -H / 2, H, -H };
static const double factors[] = { 4 / (3 * H), -4 / (3 * H), -1 / (6 * H), 1 / (6 * H) };

START_TEST(gradients_match_differences)
{
    for (int k = 0; k < TAPES; k++) {
        uint64_t seed = (uint64_t)(_i * TAPES + k);
        fixture *f =
            fixture_create(seed, RANDOM_SMOOTH, SAL_F64, SAL_PASS_DEFAULT, 4 * MAX_WIDTH, both);
        int64_t N = f->program->space->width, P = f->program->parameters_size;
        double x[CHAINS * MAX_WIDTH], near[4 * MAX_WIDTH * MAX_WIDTH], value[4 * MAX_WIDTH];
        double expected[MAX_WIDTH] = { 0 }, direction[MAX_PARAMS], moved[MAX_PARAMS];
        result at;
        random_points(f, CHAINS, x);
        run(f, NULL, x, &at);
        for (int64_t i = 0; i < 4 * N; i++) {
            memcpy(near + i * N, x, (size_t)N * sizeof *x);
            near[i * N + i / 4] += steps[i % 4];
        }
        sali_workspace_value(f->ws, 4 * N, NULL, near, value);
        for (int64_t i = 0; i < 4 * N; i++) {
            expected[i / 4] += factors[i % 4] * value[i];
        }
        check_close(f, "derivative", N, at.gradient, expected, 1e-7);
        /* Parameters: along one direction. */
        double slope = 0, by_differences = 0;
        random_numbers(seed, 4, P, -1, 1, direction);
        for (int64_t p = 0; p < P; p++) {
            slope += direction[p] * at.params[p];
        }
        for (int s = 0; s < 4; s++) {
            for (int64_t p = 0; p < P; p++) {
                moved[p] = f->flat[p] + steps[s] * direction[p];
            }
            sali_params_set(f->params, moved);
            sali_workspace_value(f->ws, CHAINS, NULL, x, value);
            for (int64_t c = 0; c < CHAINS; c++) {
                by_differences += factors[s] * weight_of(c) * value[c];
            }
        }
        check_close(f, "parameter derivative", 1, &slope, &by_differences, 1e-7);
        fixture_destroy(f);
    }
}
END_TEST

START_TEST(float_agrees_with_double)
{
    for (int k = 0; k < TAPES; k++) {
        uint64_t seed = (uint64_t)(_i * TAPES + k);
        double x[CHAINS * MAX_WIDTH];
        result want, got;
        fixture *wide =
            fixture_create(seed, RANDOM_SMOOTH, SAL_F64, SAL_PASS_DEFAULT, CHAINS, both);
        fixture *narrow =
            fixture_create(seed, RANDOM_SMOOTH, SAL_F32, SAL_PASS_DEFAULT, CHAINS, both);
        random_points(wide, CHAINS, x);
        run(wide, NULL, x, &want);
        run(narrow, NULL, x, &got);
        check_result(wide, "f32", &got, &want, 2e-4);
        fixture_destroy(wide);
        fixture_destroy(narrow);
    }
}
END_TEST

START_TEST(batches_agree_with_single_chains)
{
    for (int k = 0; k < TAPES; k++) {
        uint64_t seed = (uint64_t)(_i * TAPES + k);
        int32_t codes[CHAINS * MAX_WIDTH];
        double x[CHAINS * MAX_WIDTH];
        result want, got = { 0 };
        fixture *f = fixture_create(seed, RANDOM_ANY, SAL_F64, SAL_PASS_DEFAULT, CHAINS, both);
        random_states(f, CHAINS, codes, x);
        run(f, codes, x, &want);
        sali_workspace_param_zero(f->ws);
        for (int64_t c = 0; c < CHAINS; c++) {
            run_part(f, c, 1, codes, x, &got);
        }
        sali_workspace_param_reduce(&f->ws, 1, 1, got.params);
        check_result(f, "single chain", &got, &want, 1e-11);
        fixture_destroy(f);
    }
}
END_TEST

START_TEST(parameter_gradient_has_the_same_bits_without_f)
{
    for (int k = 0; k < TAPES; k++) {
        uint64_t seed = (uint64_t)(_i * TAPES + k);
        int32_t codes[CHAINS * MAX_WIDTH];
        double x[CHAINS * MAX_WIDTH], weight[CHAINS], value[CHAINS];
        result with = { 0 }, without = { 0 };
        fixture *f = fixture_create(seed, RANDOM_ANY, SAL_F64, SAL_PASS_DEFAULT, CHAINS,
                                    SALI_WANT_PARAM_GRADIENT);
        random_states(f, CHAINS, codes, x);
        for (int64_t c = 0; c < CHAINS; c++) {
            weight[c] = weight_of(c);
        }
        for (int skip = 1; skip >= 0; skip--) { /* first nothing is left from a whole pass */
            sali_workspace_param_zero(f->ws);
            sali_workspace_param_gradient(f->ws, CHAINS, codes, x, weight, skip ? NULL : value);
            sali_workspace_param_reduce(&f->ws, 1, 1, skip ? without.params : with.params);
        }
        ck_assert_mem_eq(with.params, without.params, sizeof with.params);
        fixture_destroy(f);
    }
}
END_TEST

START_TEST(value_alone_and_with_gradients_has_the_same_bits)
{
    for (int k = 0; k < TAPES; k++) {
        uint64_t seed = (uint64_t)(_i * TAPES + k);
        int32_t codes[CHAINS * MAX_WIDTH];
        double x[CHAINS * MAX_WIDTH], value[CHAINS];
        result want;
        fixture *full = fixture_create(seed, RANDOM_ANY, SAL_F64, SAL_PASS_DEFAULT, CHAINS, both);
        random_states(full, CHAINS, codes, x);
        run(full, codes, x, &want);
        for (int set = 0; set < 2; set++) {
            unsigned wants = set ? SALI_WANT_ALL_VALUES : 0;
            fixture *f = fixture_create(seed, RANDOM_ANY, SAL_F64, SAL_PASS_DEFAULT, CHAINS, wants);
            int64_t apart, bytes = sali_workspace_bytes(f->ws, &apart);
            ck_assert(set ? bytes == apart : bytes <= apart);
            sali_workspace_value(f->ws, CHAINS, codes, x, value);
            ck_assert_mem_eq(value, want.f, sizeof value);
            fixture_destroy(f);
        }
        fixture_destroy(full);
    }
}
END_TEST

/* A second implementation, which shares no code with the ops, has the same values. */
START_TEST(values_are_those_of_the_formulas)
{
    for (uint64_t seed = 0; seed < TAPES * PARTS; seed++) {
        sal_expr f;
        sal_error err = { 0 };
        sal_model *model = NULL;
        sal_tape *tape = random_tape(seed, RANDOM_ANY, SAL_F64, &f);
        const sal_space *space = tape->space;
        double values[MAX_PARAMS], got, at[MAX_WIDTH];
        int32_t codes[MAX_WIDTH];
        ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
        random_numbers(seed, 1, sal_model_parameters_size(model), -1, 1, values);
        ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
        random_numbers(seed, 2, space->n_variables, 0, 1, at);
        for (int64_t v = 0; v < space->n_variables; v++) {
            codes[v] = (int32_t)(at[v] * space->variables[v].states);
        }
        sali_embed_f64(space, 1, codes, at);
        ck_ok(sal_model_evaluate(model, 1, codes, &got, NULL, NULL, &err), &err);
        double want = slow_value(tape, f, model, codes, at), size = slow_largest();
        ck_assert_msg(fabs(got - want) <= 1e-11 * (1 + size) || (isnan(got) && isnan(want)),
                      "tape %d: %.17g, by its formulas %.17g", (int)seed, got, want);
        sal_model_destroy(model);
        sal_tape_destroy(tape);
    }
}
END_TEST

/* ---- the passes and the generator themselves */

START_TEST(random_tapes_use_every_op)
{
    bool used[SALI_OP_COUNT] = { false };
    for (uint64_t seed = 0; seed < TAPES * PARTS; seed++) {
        sal_expr f;
        sal_error err = { 0 };
        sal_tape *tape = random_tape(seed, RANDOM_ANY, SAL_F64, &f);
        ck_ok(sal_tape_check(tape, &err), &err);
        for (int64_t i = 0; i < tape->n_nodes; i++) {
            used[tape->nodes[i].op] = true;
        }
        sal_tape_destroy(tape);
    }
    for (int id = 0; id < SALI_OP_COUNT; id++) {
        ck_assert_msg(used[id] != random_tape_leaves_out((sali_op_id)id), "%s",
                      sali_op_f64((sali_op_id)id)->name);
    }
}
END_TEST

static sal_tape *spin_tape(void)
{
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 3 }, NULL);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    return tape;
}

static int32_t nodes_with(sal_tape *tape, sal_expr f, uint32_t passes)
{
    sali_program *program = NULL;
    sal_error err = { 0 };
    sal_tape_set_passes(tape, passes);
    ck_ok(sali_program_create(tape, f, &program, &err), &err);
    int32_t n = program->n_nodes;
    sali_program_destroy(program);
    return n;
}

/* f at all states of three spins, as many copies of them as tiles do not hold. */
static void values_with(sal_tape *tape, sal_expr f, uint32_t passes, double values[8])
{
    enum { COPIES = 100 };
    static double x[8 * COPIES * 3], all[8 * COPIES];
    static int32_t codes[8 * COPIES * 3];
    sali_program *program = NULL;
    sali_params *params = NULL;
    sali_workspace *ws = NULL;
    const double w[] = { 0.3, -0.8, 0.1 };
    sal_error err = { 0 };
    sal_tape_set_passes(tape, passes);
    ck_ok(sali_program_create(tape, f, &program, &err), &err);
    make_tiles_small(program);
    ck_ok(sali_params_create(program, &params, &err), &err);
    if (program->parameters_size == 3) {
        sali_params_set(params, w);
    }
    ck_ok(sali_workspace_create(program, params, 8 * COPIES, 0, &ws, &err), &err);
    for (int c = 0; c < 8 * COPIES; c++) {
        for (int v = 0; v < 3; v++) {
            codes[3 * c + v] = c >> v & 1;
            x[3 * c + v] = 2 * codes[3 * c + v] - 1;
        }
    }
    sali_workspace_value(ws, 8 * COPIES, codes, x, all);
    for (int c = 0; c < 8 * COPIES; c++) {
        ck_assert_double_eq(all[c], all[c % 8]);
    }
    memcpy(values, all, 8 * sizeof *values);
    sali_workspace_destroy(ws);
    sali_params_destroy(params);
    sali_program_destroy(program);
}

/* Formulas that passes may take for others. */
START_TEST(what_looks_alike_is_told_apart)
{
    static const uint32_t passes[] = { SAL_PASS_DEFAULT, SAL_PASS_DEFAULT | SAL_PASS_CANONICAL };
    sal_tape *tape = spin_tape();
    sal_expr s = sal_state(tape), w = sal_param(tape, "w", SAL_SHAPE(3));
    sal_expr first = sal_slice(s, 0, 0, 1), second = sal_slice(s, 0, 1, 1);
    const double zeros[3] = { 0 };
    const sal_shape scalar = { 0 };
    sal_expr none = sal_constant(tape, zeros, SAL_SHAPE(3));
    const sal_expr formulas[] = {
        /* differences do not commute */
        sal_add(sal_sum(sal_tanh(sal_sub(s, w))), sal_scale(sal_sum(sal_tanh(sal_sub(w, s))), 2)),
        /* squares of what is twice a spin, of two spins, of one that is repeated */
        sal_sum(sal_square(sal_scale(s, 2))),
        sal_sum(sal_square(sal_add(first, second))),
        sal_sum(sal_mul(sal_square(sal_add(first, none)), w)),
        sal_sum(sal_square(sal_sub(sal_add(first, none), s))),
        /* the output under another name */
        sal_reshape(sal_sum(sal_exp(sal_mul(s, w))), scalar),
        sal_reshape(sal_exp(sal_tanh(sal_scale(first, 0.5))), scalar),
    };
    sali_program *program = NULL;
    sal_error err = { 0 };
    sal_tape_set_passes(tape, 0); /* whose gradient is no difference */
    ck_ok(sali_program_create(tape, formulas[2], &program, &err), &err);
    ck_assert(!sali_program_is_multilinear(program));
    sali_program_destroy(program);
    for (size_t k = 0; k < sizeof formulas / sizeof *formulas; k++) {
        double plain[8], got[8];
        values_with(tape, formulas[k], 0, plain);
        for (int i = 0; i < 2; i++) {
            values_with(tape, formulas[k], passes[i], got);
            for (int c = 0; c < 8; c++) {
                ck_assert_msg(fabs(got[c] - plain[c]) < 1e-12, "formula %d, passes %d: %g, not %g",
                              (int)k, i, got[c], plain[c]);
            }
        }
    }
    sal_tape_destroy(tape);
}
END_TEST

START_TEST(each_pass_drops_what_it_is_for)
{
    sal_tape *tape = spin_tape();
    sal_expr s = sal_state(tape), w = sal_param(tape, "w", SAL_SHAPE(3));
    sal_exp(s);                                                       /* not needed */
    sal_expr a = sal_mul(s, w), b = sal_mul(w, s);                    /* one */
    sal_expr f = sal_add(sal_sum(sal_tanh(a)), sal_sum(sal_tanh(b))); /* and again */
    ck_assert_int_eq(nodes_with(tape, f, 0), 10);
    ck_assert_int_eq(nodes_with(tape, f, SAL_PASS_DEAD_CODE), 9);
    ck_assert_int_eq(nodes_with(tape, f, SAL_PASS_COMMON), 7);
    ck_assert_int_eq(nodes_with(tape, f, SAL_PASS_DEFAULT), 6);
    sal_expr g = sal_add(sal_dot(sal_square(s), w), sal_sum(sal_mul(s, s)));
    ck_assert_int_gt(nodes_with(tape, g, SAL_PASS_DEFAULT), 5);
    /* Squares of spins are ones: state, w, the ones, two sums over them, their sum; the state is no
     * longer read. */
    ck_assert_int_eq(nodes_with(tape, g, SAL_PASS_DEFAULT | SAL_PASS_CANONICAL), 5);
    sal_tape_destroy(tape);
}
END_TEST

/* ---- sparse forms */

enum { RING = 16, COLUMNS = 3 };

/* The state of a tape over RING x COLUMNS spins, or RING. */
static sal_tape *ring_tape(int64_t columns)
{
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = RING * columns },
                  NULL);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    return tape;
}

/* A one-sided ring, and an entry on the diagonal that counts a square. */
static void ring_matrix(double *A)
{
    memset(A, 0, RING * RING * sizeof *A);
    for (int64_t i = 0; i + 1 < RING; i++) {
        A[i * RING + i + 1] = 0.25 * (double)(i + 1);
    }
    A[5 * RING + 5] = -0.5;
}

static sal_expr column(sal_expr s)
{
    return sal_reshape(s, SAL_SHAPE(RING, 1));
}

static sal_expr row(sal_expr s)
{
    return sal_reshape(s, SAL_SHAPE(1, RING));
}

/* s'As, -s'As / 2 and, of a table of columns, sum_c s_c'As_c. */
static sal_expr by_quad(sal_expr s, sal_expr A)
{
    return sal_quad(s, A);
}

static sal_expr by_matvec(sal_expr s, sal_expr A)
{
    return sal_scale(sal_dot(sal_scale(s, 0.5), sal_matvec(A, s)), -1);
}

static sal_expr by_matvec_first(sal_expr s, sal_expr A)
{
    return sal_dot(sal_matvec(A, sal_state_block(s.tape, "s")), s);
}

static sal_expr by_sum(sal_expr s, sal_expr A)
{
    return sal_sum(sal_scale(sal_mul(s, sal_matvec(A, s)), 3));
}

static sal_expr by_matmuls(sal_expr s, sal_expr A)
{
    return sal_sum(sal_matmul(row(s), sal_matmul(A, column(s))));
}

static sal_expr by_matmuls_left(sal_expr s, sal_expr A)
{
    return sal_reshape(sal_matmul(sal_matmul(row(s), A), column(s)), SAL_SCALAR);
}

static sal_expr by_columns(sal_expr s, sal_expr A)
{
    sal_expr S = sal_reshape(s, SAL_SHAPE(RING, COLUMNS));
    return sal_sum(sal_mul(S, sal_matmul(A, S)));
}

static sal_expr by_rows(sal_expr s, sal_expr A)
{
    sal_expr S = sal_reshape(s, SAL_SHAPE(COLUMNS, RING));
    return sal_sum(sal_mul(sal_matmul(S, A), S));
}

typedef struct writing {
    sal_expr (*form)(sal_expr s, sal_expr A);
    int64_t columns;
} writing;

static const writing writings[] = {
    { by_quad, 1 },    { by_matvec, 1 },       { by_matvec_first, 1 },  { by_sum, 1 },
    { by_matmuls, 1 }, { by_matmuls_left, 1 }, { by_columns, COLUMNS }, { by_rows, COLUMNS },
};
enum { WRITINGS = sizeof writings / sizeof *writings };

static int count_op(const sali_program *program, sali_op_id op)
{
    int count = 0;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        count += program->nodes[i].op == op;
    }
    return count;
}

/* f and its gradient at a point that is no state. */
static void check_ring(const sali_program *program, double *f, double *gradient)
{
    sali_params *params = NULL;
    sali_workspace *ws = NULL;
    sal_error err = { 0 };
    double x[RING * COLUMNS];
    random_numbers(3, 1, program->space->width, -1, 1, x);
    ck_ok(sali_params_create(program, &params, &err), &err);
    ck_ok(sali_workspace_create(program, params, 1, SALI_WANT_STATE_GRADIENT, &ws, &err), &err);
    sali_workspace_gradient(ws, 1, NULL, x, f, gradient);
    sali_workspace_destroy(ws);
    sali_params_destroy(params);
}

START_TEST(sparse_forms_become_edges)
{
    const writing *w = &writings[_i];
    sal_error err = { 0 };
    sali_program *program[2] = { NULL };
    double A[RING * RING], f[2], gradient[2][RING * COLUMNS];
    ring_matrix(A);
    sal_tape *tape = ring_tape(w->columns);
    sal_expr form = w->form(sal_state(tape), sal_constant(tape, A, SAL_SHAPE(RING, RING)));
    for (int k = 0; k < 2; k++) {
        sal_tape_set_passes(tape, k ? SAL_PASS_DEFAULT : SAL_PASS_DEFAULT & ~SAL_PASS_SPARSE);
        ck_ok(sali_program_create(tape, form, &program[k], &err), &err);
        check_ring(program[k], &f[k], gradient[k]);
        ck_assert_int_eq(count_op(program[k], SALI_OP_edges), k);
    }
    int products = count_op(program[1], SALI_OP_matvec) + count_op(program[1], SALI_OP_matmul) +
                   count_op(program[1], SALI_OP_quad);
    /* Of the state itself, so that f is seen to be quadratic in it. */
    for (int32_t i = 0; i < program[1]->n_nodes; i++) {
        const sali_node *node = &program[1]->nodes[i];
        ck_assert(node->op != SALI_OP_edges || program[1]->nodes[node->in[0]].op == SALI_OP_state);
    }
    ck_assert_int_eq(products, 0);
    ck_assert_double_eq_tol(f[1], f[0], 1e-12 * (1 + fabs(f[0])));
    for (int64_t i = 0; i < RING * w->columns; i++) {
        ck_assert_double_eq_tol(gradient[1][i], gradient[0][i], 1e-12 * (1 + fabs(gradient[0][i])));
    }
    sali_program_destroy(program[0]);
    sali_program_destroy(program[1]);
    sal_tape_destroy(tape);
}
END_TEST

static int edges_of(sal_tape *tape, sal_expr f)
{
    sali_program *program = NULL;
    sal_error err = { 0 };
    ck_ok(sali_program_create(tape, f, &program, &err), &err);
    int n = count_op(program, SALI_OP_edges);
    sali_program_destroy(program);
    return n;
}

/* The edges of sum S A S of a ring's WIDE labels, one in `every` entries of A being 1. */
static int wide_edges(int64_t every)
{
    enum { WIDE = 20 };
    double A[RING * RING] = { 0 };
    for (int64_t k = 0; k < RING * RING; k += every) {
        A[k] = 1;
    }
    sal_tape *tape = ring_tape(WIDE);
    sal_expr S = sal_reshape(sal_state(tape), SAL_SHAPE(RING, WIDE));
    sal_expr image = sal_matmul(sal_constant(tape, A, SAL_SHAPE(RING, RING)), S);
    int edges = edges_of(tape, sal_sum(sal_mul(S, image)));
    sal_tape_destroy(tape);
    return edges;
}

/* Parameters may change, and what is dense is better multiplied as it is. */
START_TEST(other_forms_stay)
{
    sal_tape *tape = ring_tape(1);
    sal_expr s = sal_state(tape), zeros[2];
    double A[RING * RING];
    ring_matrix(A);
    sal_expr sparse = sal_constant(tape, A, SAL_SHAPE(RING, RING));
    sal_expr part = sal_gather(s, 0, RING, (const int64_t[RING]){ 1 });
    for (int64_t k = 0; k < RING * RING; k += 8) {
        A[k] = 1;
    }
    sal_expr dense = sal_constant(tape, A, SAL_SHAPE(RING, RING));
    sal_expr param = sal_param(tape, "A", SAL_SHAPE(RING, RING));
    ck_assert_int_eq(edges_of(tape, sal_quad(s, dense)), 0);
    ck_assert_int_eq(wide_edges(5), 1);
    ck_assert_int_eq(wide_edges(3), 0);
    ck_assert_int_eq(edges_of(tape, sal_quad(s, param)), 0);
    ck_assert_int_eq(edges_of(tape, sal_dot(s, sal_matvec(param, s))), 0);
    ck_assert_int_eq(edges_of(tape, sal_dot(part, sal_matvec(sparse, s))), 0);
    ck_assert_int_eq(edges_of(tape, sal_sum(sal_square(sal_matvec(sparse, s)))), 0);
    ck_assert_int_eq(edges_of(tape, sal_sum(sal_mul(sal_scalar(tape, 2), sal_matvec(sparse, s)))),
                     0);
    memset(A, 0, sizeof A); /* no entries, or those that cancel: a form that is 0 */
    zeros[0] = sal_constant(tape, A, SAL_SHAPE(RING, RING));
    A[1] = 1;
    A[RING] = -1;
    zeros[1] = sal_constant(tape, A, SAL_SHAPE(RING, RING));
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(edges_of(tape, sal_quad(s, zeros[k])), 0);
        ck_assert_int_eq(nodes_with(tape, sal_quad(s, zeros[k]), SAL_PASS_DEFAULT), 2);
    }
    sal_tape_destroy(tape);
}
END_TEST

/* From tape to workspace, and all away again. */
static sal_status make_and_destroy(const sal_tape *tape, sal_expr f)
{
    sali_program *program = NULL;
    sali_params *params = NULL;
    sali_workspace *ws = NULL;
    sal_error err = { 0 };
    sal_status status = sali_program_create(tape, f, &program, &err);
    status = status ? status : sali_params_create(program, &params, &err);
    status = status ? status : sali_workspace_create(program, params, CHAINS, both, &ws, &err);
    sali_workspace_destroy(ws);
    sali_params_destroy(params);
    sali_program_destroy(program);
    return status;
}

START_TEST(failing_allocations_are_reported)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        for (int style = RANDOM_ANY; style <= RANDOM_QUADRATIC; style++) {
            sal_expr f;
            sal_tape *tape = random_tape(seed, (random_style)style, SAL_F64, &f);
            sal_tape_set_passes(tape, SAL_PASS_DEFAULT | SAL_PASS_CANONICAL);
            ck_alloc_sweep(make_and_destroy(tape, f), (void)0);
            sal_tape_destroy(tape);
        }
    }
    double A[RING * RING];
    ring_matrix(A);
    for (int k = 0; k < WRITINGS; k++) {
        sal_tape *tape = ring_tape(writings[k].columns);
        sal_expr J = sal_constant(tape, A, SAL_SHAPE(RING, RING));
        sal_expr f = writings[k].form(sal_state(tape), J);
        ck_alloc_sweep(make_and_destroy(tape, f), (void)0);
        sal_tape_set_passes(tape, 0); /* the products themselves */
        ck_alloc_sweep(make_and_destroy(tape, f), (void)0);
        sal_tape_destroy(tape);
    }
}
END_TEST

START_TEST(replays_are_bitwise_equal_and_allocate_nothing)
{
    for (uint64_t seed = 0; seed < TAPES; seed++) {
        fixture *f = fixture_create(seed, RANDOM_ANY, SAL_F64, SAL_PASS_DEFAULT, CHAINS, both);
        int32_t codes[CHAINS * MAX_WIDTH];
        double x[CHAINS * MAX_WIDTH];
        result first, again;
        random_states(f, CHAINS, codes, x);
        int64_t before = alloc_count();
        run(f, codes, x, &first);
        run(f, codes, x, &again);
        ck_assert_int_eq(alloc_count(), before);
        ck_assert_mem_eq(&first, &again, sizeof first);
        fixture_destroy(f);
    }
}
END_TEST

START_TEST(unknown_passes_are_a_mistake)
{
    sal_tape *tape = spin_tape();
    sal_error err = { 0 };
    sal_tape_set_passes(NULL, 0);
    sal_tape_set_passes(tape, 1u << 20);
    ck_fails(sal_tape_check(tape, &err), SAL_ERR_ARGUMENT, &err, "SAL_PASS_");
    sal_tape_destroy(tape);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("passes");
    TCase *tapes = tcase_create("random tapes");
    tcase_add_loop_test(tapes, passes_keep_values_and_gradients, 0, PARTS);
    tcase_add_loop_test(tapes, canonical_form_keeps_f_on_the_lattice, 0, PARTS);
    tcase_add_loop_test(tapes, gradients_of_multilinear_tapes_are_differences, 0, PARTS);
    tcase_add_loop_test(tapes, gradients_match_differences, 0, PARTS);
    tcase_add_loop_test(tapes, float_agrees_with_double, 0, PARTS);
    tcase_add_loop_test(tapes, batches_agree_with_single_chains, 0, PARTS);
    tcase_add_loop_test(tapes, parameter_gradient_has_the_same_bits_without_f, 0, PARTS);
    tcase_add_loop_test(tapes, value_alone_and_with_gradients_has_the_same_bits, 0, PARTS);
    tcase_add_test(tapes, values_are_those_of_the_formulas);
    tcase_add_test(tapes, random_tapes_use_every_op);
    suite_add_tcase(suite, tapes);
    TCase *tcase = tcase_create("passes");
    tcase_add_test(tcase, what_looks_alike_is_told_apart);
    tcase_add_test(tcase, each_pass_drops_what_it_is_for);
    tcase_add_loop_test(tcase, sparse_forms_become_edges, 0, WRITINGS);
    tcase_add_test(tcase, other_forms_stay);
    tcase_add_test(tcase, failing_allocations_are_reported);
    tcase_add_test(tcase, replays_are_bitwise_equal_and_allocate_nothing);
    tcase_add_test(tcase, unknown_passes_are_a_mistake);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
