/* SPDX-License-Identifier: MIT */
/* Dense couplings read off formulas, against values of the model; and scans that carry fields
 * along, against steps that know of no couplings. */
#include "test.h"

#include <math.h>

#include "alloc_fail.h"
#include "core/object.h"
#include "models/structure/couplings.h"
#include "models/structure/weights.h"
#include "models/tape_model.h"
#include "random_tape.h"
#include "run_helpers.h"
#include "core/object.h"
#include "samplers/blocks/field_scan.h"
#include "samplers/langevin/langevin.h"

/* ---- couplings */

static sali_couplings *couplings_of(const sal_model *model)
{
    sali_couplings *c = NULL;
    sal_error err;
    ck_ok(sali_couplings_create(model, SALI_DENSE_COUPLINGS, &c, &err), &err);
    return c;
}

static sal_model *builtin(const char *specification, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

static double value_by(const sal_model *model, const sali_coupling_values *values,
                       const int32_t *codes)
{
    int64_t N = values->n;
    double *x = malloc((size_t)N * sizeof *x), f = values->constant;
    sali_embed_f64(model->space, 1, codes, x);
    for (int64_t i = 0; i < N; i++) {
        double sum = 0;
        for (int64_t j = 0; j < N; j++) {
            double J = sali_load(model->dtype, values->J, i * N + j);
            ck_assert(J == sali_load(model->dtype, values->J, j * N + i));
            sum += J * x[j];
        }
        f += x[i] * (values->linear[i] + values->scale * sum / 2);
    }
    free(x);
    return f;
}

/* f of a model in double at some states. */
static void check_values(const sal_model *model, sali_couplings *couplings, const char *where)
{
    const sali_coupling_values *values = sali_couplings_values(couplings);
    int64_t V = model->space->n_variables;
    int32_t *codes = malloc((size_t)V * sizeof *codes);
    ck_assert_ptr_nonnull(values);
    for (uint64_t k = 0; k < 12; k++) {
        sali_stream stream = { .seed = k, .purpose = SALI_RNG_TEST };
        double f;
        sal_error err;
        for (int64_t v = 0; v < V; v++) {
            codes[v] = (int32_t)sali_rng_below(&stream, (uint32_t)v,
                                               (uint32_t)model->space->variables[v].states);
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        double got = value_by(model, values, codes);
        ck_assert_msg(fabs(f - got) < 1e-11 * (1 + fabs(f)), "%s: f %.15g, expected %.15g", where,
                      got, f);
    }
    free(codes);
}

/* How many of some random formulas have such couplings, which then give f. */
static int check_random(sali_couplings_wish wish)
{
    int made = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        char where[40];
        sal_expr f;
        sal_model *model = NULL;
        sali_couplings *c = NULL;
        sal_error err;
        sal_tape *tape = random_tape(seed, RANDOM_QUADRATIC, SAL_F64, &f);
        snprintf(where, sizeof where, "random tape %d", (int)seed);
        ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
        ck_ok(sali_couplings_create(model, wish, &c, &err), &err);
        if (c && !model->space->unbounded) {
            check_values(model, c, where);
            made++;
        }
        sali_couplings_destroy(c);
        sal_model_destroy(model);
        sal_tape_destroy(tape);
    }
    return made;
}

START_TEST(random_quadratic_formulas_have_their_values_or_are_refused)
{
    int dense = check_random(SALI_DENSE_COUPLINGS), any = check_random(SALI_ANY_COUPLINGS);
    ck_assert_int_ge(dense, 20);
    ck_assert_int_gt(any, dense);
}
END_TEST

/* Factors of variables of two and of several states: bits and indicators. */
START_TEST(tables_of_pairs_are_couplings)
{
    static const int32_t states[] = { 2, 3, 1, 2 };
    static const int64_t begin[] = { 0, 2, 4, 7, 8 }, scope[] = { 0, 1, 1, 3, 0, 2, 3, 1 };
    double tables[6 + 6 + 4 + 3];
    sal_model *model = NULL;
    sali_couplings *c = NULL;
    sal_error err;
    tiny_normals(40, 19, 1, tables);
    ck_ok(sal_model_from_factors(4, states, 4, begin, scope, tables, SAL_F64, &model, &err), &err);
    ck_ok(sali_couplings_create(model, SALI_ANY_COUPLINGS, &c, &err), &err);
    ck_assert_ptr_nonnull(c);
    check_values(model, c, "factors");
    sali_couplings_destroy(c);
    sal_model_destroy(model);
}
END_TEST

/* Tables over spins beside one-hots: a spin's indicator is of its level, which is not 0 or 1. */
START_TEST(tables_of_spins_and_labels_are_couplings)
{
    static const int64_t begin[] = { 0, 2, 4, 6, 8, 9 };
    static const int64_t scope[] = { 0, 2, 2, 3, 1, 0, 3, 4, 2 };
    double T[3 * 2 + 2 * 2 + 3 * 3 + 2 * 2 + 2];
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sali_couplings *c = NULL;
    sal_error err;
    ck_ok(sal_space_add(
              space, &(sal_block){ .name = "c", .kind = SAL_CATEGORICAL, .count = 2, .states = 3 },
              &err),
          &err);
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 2 }, &err),
          &err);
    ck_ok(sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 1 }, &err),
          &err);
    tiny_normals(62, sizeof T / sizeof *T, 1, T);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr entries = sal_constant(tape, T, SAL_SHAPE((int64_t)(sizeof T / sizeof *T)));
    ck_ok(sal_model_from_tape(tape, sal_table(tape, entries, 5, begin, scope), &model, &err), &err);
    ck_ok(sali_couplings_create(model, SALI_ANY_COUPLINGS, &c, &err), &err);
    ck_assert_ptr_nonnull(c);
    check_values(model, c, "tables of spins and labels");
    sali_couplings_destroy(c);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(the_form_of_a_potts_model_is_read_in_place)
{
    sal_model *model = builtin("potts-dense:dim=5,states=3", SAL_F64);
    const sali_tape_model *tape = sali_model_tape(model);
    sali_couplings *c = couplings_of(model);
    bool found = false;
    ck_assert_ptr_nonnull(c);
    check_values(model, c, "potts-dense");
    for (int32_t i = 0; i < tape->program->n_nodes; i++) {
        found |= tape->params->value[i] == sali_couplings_values(c)->J;
    }
    ck_assert(found);
    sali_couplings_destroy(c);
    sal_model_destroy(model);
}
END_TEST

START_TEST(clamped_variables_become_constants)
{
    static const int64_t variables[] = { 1, 3 };
    static const int32_t codes[] = { 2, 0 };
    sal_model *model = builtin("potts-dense:dim=5,states=3", SAL_F64), *clamped = NULL;
    sal_error err;
    ck_ok(sal_model_clamp(model, 2, variables, codes, &clamped, &err), &err);
    sali_couplings *c = couplings_of(clamped);
    ck_assert_ptr_nonnull(c);
    check_values(clamped, c, "clamped potts-dense");
    sali_couplings_destroy(c);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

START_TEST(new_parameters_are_seen)
{
    sal_model *model = builtin("potts-dense:dim=4,states=3", SAL_F64);
    sali_couplings *c = couplings_of(model);
    double J[144], h[12];
    sal_error err;
    check_values(model, c, "before");
    tiny_normals(30, 144, 1, J);
    tiny_normals(31, 12, 1, h);
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    ck_ok(sal_model_set_params(model, "h", h, &err), &err);
    check_values(model, c, "after");
    sali_couplings_destroy(c);
    sal_model_destroy(model);
}
END_TEST

START_TEST(other_models_are_refused)
{
    static const char *const names[] = { "ising:side=4", "rbm:visible=6,hidden=3",
                                         "hmm:length=3,states=3", "potts:side=3",
                                         "mixture:dim=3,states=2,components=2" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        sal_model *model = builtin(names[k], SAL_F64);
        ck_assert_msg(couplings_of(model) == NULL, "%s", names[k]);
        sal_model_destroy(model);
    }
}
END_TEST

static sali_couplings *swept;

/* (sum s)^2 of a large clique has more couplings than the graph has edges. */
START_TEST(squares_of_long_sums_are_left_to_the_formula)
{
    static const struct {
        const char *model;
        bool coupled;
    } cases[] = { { "clique:nodes=20", true }, { "clique:nodes=100", false } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = builtin(cases[k].model, SAL_F64);
        sali_couplings *bits = NULL, *dense = couplings_of(model);
        sal_error err;
        ck_ok(sali_couplings_create(model, SALI_BIT_COUPLINGS, &bits, &err), &err);
        ck_assert_int_eq(bits != NULL, cases[k].coupled);
        ck_assert_int_eq(dense != NULL, cases[k].coupled);
        ck_assert(sali_is_quadratic(model));
        sali_couplings_destroy(bits);
        sali_couplings_destroy(dense);
        sal_model_destroy(model);
    }
}
END_TEST

/* A formula of n spins in variables s, W [n x n] random. */
static sal_model *model_by(int64_t n, sal_dtype dtype, sal_expr (*formula)(sal_expr s, sal_expr W))
{
    sal_space *space = sal_space_create();
    sal_block block = { .name = "s", .kind = SAL_SPIN, .count = n };
    double *W = malloc((size_t)(n * n) * sizeof *W);
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr f = formula(sal_state(tape), sal_param(tape, "W", SAL_SHAPE(n, n)));
    tiny_normals(60, n * n, 1 / sqrt((double)n), W);
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_ok(sal_model_set_params(model, "W", W, &err), &err);
    free(W);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

static sal_expr squared_products(sal_expr s, sal_expr W)
{
    return sal_sum(sal_square(sal_matvec(W, s)));
}

static sal_expr repeated_products(sal_expr s, sal_expr W)
{
    sal_expr once = sal_add(sal_matvec(W, s), sal_scalar(s.tape, 0.5));
    return sal_dot(s, sal_add(sal_matvec(W, once), sal_scalar(s.tape, 0.25)));
}

/* Long products are products of matrices, not entry by entry: that would take minutes. */
START_TEST(long_products_are_read)
{
    sal_expr (*const formulas[])(sal_expr s, sal_expr W) = { squared_products, repeated_products };
    const int64_t n = 1200;
    sal_model *model = model_by(n, SAL_F64, formulas[_i]);
    sali_couplings *c = NULL;
    sal_error err;
    ck_ok(sali_couplings_create(model, SALI_ANY_COUPLINGS, &c, &err), &err);
    ck_assert_ptr_nonnull(c);
    check_values(model, c, "long products");
    sali_couplings_destroy(c);
    sal_model_destroy(model);
}
END_TEST

/* By the op's own backward: term by term, the cumulative sum of n elements has n^2. */
START_TEST(weights_of_linear_ops_are_read)
{
    static double h[20000];
    const int64_t n = sizeof h / sizeof *h;
    sal_block block = { .name = "s", .kind = SAL_SPIN, .count = n };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    tiny_normals(61, n, 1, h);
    sal_tape *tape = sal_tape_create(space, SAL_F32);
    sal_expr sums = sal_cumsum(sal_state(tape));
    sal_expr f = sal_dot(sal_constant(tape, h, SAL_SHAPE(n)), sal_add(sums, sal_scalar(tape, 1)));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sali_weights weights;
    ck_ok(sali_weights_create(sali_model_tape(model), &weights), &err);
    double constant, sum = 0;
    ck_ok(sali_weights_push(&weights, &constant, NULL, NULL), &err);
    for (int64_t k = n - 1; k >= 0; k--) {
        sum += (double)(float)h[k];
        ck_assert(fabs(weights.node[weights.program->state][k] - sum) < 1e-9);
    }
    sali_weights_free(&weights);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* In single precision 1e8 + 1 is 1e8. */
START_TEST(couplings_in_single_precision_are_summed_in_double)
{
    static const int64_t pairs[] = { 0, 1, 0, 1, 1, 0, 0, 1 };
    static const double weights[] = { 1e8, 1, 1, -1e8 };
    sal_block block = { .name = "s", .kind = SAL_SPIN, .count = 2 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sali_couplings *c = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F32);
    sal_expr w = sal_constant(tape, weights, SAL_SHAPE(4));
    ck_ok(sal_model_from_tape(tape, sal_edges(sal_state(tape), w, 4, pairs), &model, &err), &err);
    ck_ok(sali_couplings_create(model, SALI_ANY_COUPLINGS, &c, &err), &err);
    ck_assert_double_eq(((const float *)sali_couplings_values(c)->J)[1], 2);
    sali_couplings_destroy(c);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* Dense couplings, and tables that forbid neighbours in a row of three variables to be equal: of 27
 * states 12 are left. */
START_TEST(tables_that_forbid_states_are_left_to_the_formula)
{
    static const int64_t begin[] = { 0, 2, 4, 6 }, scope[] = { 0, 1, 1, 2, 0, 2 };
    const sal_block block = { .name = "s", .kind = SAL_CATEGORICAL, .count = 3, .states = 3 };
    double tables[3 * 9], J[9 * 9];
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_run_options options = {
        .sampler = "gibbs", .chains = 2000, .warmup = 600, .draws = 1, .seed = 4
    };
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    tiny_normals(62, 27, 1, tables);
    tiny_normals(63, 81, 0.3, J);
    for (int k = 0; k < 18; k++) {
        tables[k] = k % 9 % 4 == 0 ? -INFINITY : tables[k];
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr quad = sal_quad(sal_state(tape), sal_constant(tape, J, SAL_SHAPE(9, 9)));
    sal_expr T = sal_constant(tape, tables, SAL_SHAPE(27));
    sal_expr f = sal_add(quad, sal_table(tape, T, 3, begin, scope));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sali_couplings *c = couplings_of(model);
    ck_assert(!c || !sali_couplings_values(c));
    sali_couplings_destroy(c);
    sal_run *run = run_it(model, &options);
    ck_assert_double_gt(last_states_p(model, run), 1e-3);
    sal_run_destroy(run);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* Each element of y = W s has many unknowns, and the square of y'J y many terms of two of them. */
START_TEST(forms_of_long_rows_to_a_higher_degree_are_no_couplings)
{
    enum { N = 40, ROWS = 8 };
    double W[ROWS * N], J[ROWS * ROWS];
    const sal_block block = { .name = "s", .kind = SAL_SPIN, .count = N };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    tiny_normals(71, ROWS * N, 0.1, W);
    tiny_normals(72, ROWS * ROWS, 0.1, J);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr y = sal_matvec(sal_constant(tape, W, SAL_SHAPE(ROWS, N)), sal_state(tape));
    sal_expr form = sal_quad(y, sal_constant(tape, J, SAL_SHAPE(ROWS, ROWS)));
    ck_ok(sal_model_from_tape(tape, sal_square(form), &model, &err), &err);
    ck_assert_ptr_null(couplings_of(model));
    ck_assert(!sali_is_quadratic(model));
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(memory_running_out_is_an_error)
{
    sal_model *model = builtin("potts-dense:dim=3,states=2", SAL_F32);
    sal_error err;
    ck_alloc_sweep(sali_couplings_create(model, SALI_DENSE_COUPLINGS, &swept, &err),
                   sali_couplings_destroy(swept));
    sal_model_destroy(model);
}
END_TEST

/* ---- scans */

/* The same f twice: as couplings, and with a term of value 0 that hides them. */
static sal_model *dense_model(const sal_space *space, bool hidden, sal_dtype dtype)
{
    int64_t N = sal_space_width(space);
    double J[TINY_MOST_REALS * TINY_MOST_REALS], b[TINY_MOST_REALS];
    sal_model *model = NULL;
    sal_error err;
    tiny_normals(8, N * N, 0.5, J);
    tiny_normals(9, N, 0.4, b);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape), h = sal_param(tape, "h", SAL_SHAPE(N));
    sal_expr f =
        sal_add(sal_scale(sal_quad(s, sal_param(tape, "J", SAL_SHAPE(N, N))), 0.5), sal_dot(h, s));
    if (hidden) {
        f = sal_add(f, sal_scale(sal_sum(sal_tanh(s)), 0));
    }
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    ck_ok(sal_model_set_params(model, "h", b, &err), &err);
    sal_tape_destroy(tape);
    sali_couplings *c = couplings_of(model);
    ck_assert(hidden == (c == NULL));
    sali_couplings_destroy(c);
    return model;
}

static sali_sampler_settings gibbs_settings(int scan)
{
    return (sali_sampler_settings){ .values = { scan, 1 } };
}

/* Chains of which some are at other steps, if `apart`. */
static bench open_at(const sal_model *model, const sali_sampler_settings *settings, double beta,
                     bool apart)
{
    bench b = bench_open(sali_sampler_find("gibbs"), model, settings, beta, 21, 65536 - 30);
    for (int64_t c = 0; apart && c < b.chains->n; c++) {
        b.chains->step[c] += (uint64_t)(c % 3);
    }
    sali_engine(b.sampler)->refresh(b.self, b.chains);
    return b;
}

/* Both go through the same states; then they are closed. */
static void walk_alike(bench *a, bench *b, const char *where)
{
    size_t bytes = (size_t)(a->chains->n * a->chains->space->n_variables) * sizeof(int32_t);
    for (int step = 0; step < 120; step++) {
        sali_engine(a->sampler)->step(a->self, a->chains);
        sali_engine(b->sampler)->step(b->self, b->chains);
        ck_assert_msg(memcmp(a->chains->codes, b->chains->codes, bytes) == 0, "%s: step %d", where,
                      step);
    }
    for (int64_t c = 0; c < a->chains->n; c++) {
        ck_assert(fabs(a->chains->f[c] - b->chains->f[c]) < 1e-11 * (1 + fabs(b->chains->f[c])));
    }
    bench_close(a);
    bench_close(b);
}

static void move_alike(const sal_space *space, int scan, double beta, bool apart)
{
    sal_model *fast = dense_model(space, false, SAL_F64);
    sal_model *slow = dense_model(space, true, SAL_F64);
    sali_sampler_settings settings = gibbs_settings(scan);
    bench a = open_at(fast, &settings, beta, apart), b = open_at(slow, &settings, beta, apart);
    char where[64];
    snprintf(where, sizeof where, "scan %d, beta %g", scan, beta);
    walk_alike(&a, &b, where);
    sal_model_destroy(fast);
    sal_model_destroy(slow);
}

/* Spaces that pairwise scans do not serve. */
static const char *const spaces[] = { "mixed", "grid", "label", "count", "factors" };

START_TEST(chains_go_where_steps_without_couplings_take_them)
{
    sal_space *space = tiny_space_make(tiny_space_named(spaces[_i]));
    for (int scan = 0; scan < 3; scan++) {
        for (int apart = 0; apart < 2; apart++) {
            move_alike(space, scan, apart ? 1 : 0.6, apart != 0);
        }
    }
    sal_space_destroy(space);
}
END_TEST

/* ---- moves of single sites, paths of them, and blocks */

static const char *const movers[] = { "gwg",
                                      "lb",
                                      "lb:balance=barker,radius=1",
                                      "pas:length=3",
                                      "pafs",
                                      "lsb1",
                                      "lsb2:blocks=3,units=4",
                                      "pas:radius=1",
                                      "gibbs:block=2",
                                      "hamming-ball:block=3,radius=1" };

static void propose_alike(const sal_space *space, const char *specification, double beta)
{
    sal_model *fast = dense_model(space, false, SAL_F64);
    sal_model *slow = dense_model(space, true, SAL_F64);
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose(specification, fast, 0, &sampler, &settings, &err), &err);
    bench a = bench_open(sampler, fast, &settings, beta, 21, 4096 - 30);
    bench b = bench_open(sampler, slow, &settings, beta, 21, 4096 - 30);
    char where[64];
    snprintf(where, sizeof where, "%s, beta %g", specification, beta);
    ck_assert(sali_engine(sampler)->follows(a.self));
    walk_alike(&a, &b, where);
    sal_model_destroy(fast);
    sal_model_destroy(slow);
}

START_TEST(moves_are_those_of_samplers_without_couplings)
{
    sal_space *space = tiny_space_make(tiny_space_named(spaces[_i]));
    for (size_t k = 0; k < sizeof movers / sizeof *movers; k++) {
        propose_alike(space, movers[k], 1);
        propose_alike(space, movers[k], 0.6);
    }
    sal_space_destroy(space);
}
END_TEST

/* ---- moves of all sites at once */

static const char *const langevins[] = { "ncg", "ncg:preconditioner=diagonal",
                                         "dula:schedule=polynomial,decay=0.05,horizon=1" };

static bench open_langevin(const sal_model *model, const char *specification, double step_size,
                           double beta, uint64_t step)
{
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose(specification, model, step_size, &sampler, &settings, &err), &err);
    return bench_open(sampler, model, &settings, beta, 21, step);
}

static const sali_followed_gradient *followed_of(const bench *b)
{
    return &((const sali_langevin *)b->self)->followed;
}

/* A step; whether it took the product by all of J, which alone writes the chains' gradients. */
static bool took_product(bench *b)
{
    sali_store(b->chains->model->dtype, b->chains->gradient, 0, NAN);
    sali_engine(b->sampler)->step(b->self, b->chains);
    return !isnan(sali_load(b->chains->model->dtype, b->chains->gradient, 0));
}

/* f and the gradients that are followed, against new ones. */
static void check_followed(const bench *b, double most, const char *where)
{
    sali_chains *chains = b->chains;
    const sal_dtype dtype = chains->model->dtype;
    const int64_t n = chains->n, N = chains->space->width;
    sali_gradient(chains->evaluator, n, chains->codes, chains->x, chains->f_new, chains->gradient);
    for (int64_t c = 0; c < n; c++) {
        const void *now = sali_followed_gradient_now(followed_of(b), chains, c);
        sali_chains_temper(chains, c, N, sali_row(chains, chains->gradient, c, N));
        ck_assert_msg(fabs(chains->f[c] - chains->f_new[c]) < most, "%s: f %.15g, expected %.15g",
                      where, chains->f[c], chains->f_new[c]);
        for (int64_t k = 0; k < N; k++) {
            double is = sali_load(dtype, now, k);
            double fresh = sali_load(dtype, chains->gradient, c * N + k);
            ck_assert_msg(fabs(is - fresh) < most, "%s: gradient %.15g, expected %.15g", where, is,
                          fresh);
        }
    }
}

/* Both models' chains go through the same states; how many steps took the product. */
static int langevin_alike(const sal_space *space, const char *specification, double step_size,
                          double beta)
{
    sal_model *fast = dense_model(space, false, SAL_F64);
    sal_model *slow = dense_model(space, true, SAL_F64);
    bench a = open_langevin(fast, specification, step_size, beta, 4096 - 30);
    bench b = open_langevin(slow, specification, step_size, beta, 4096 - 30);
    size_t bytes = (size_t)(a.chains->n * space->n_variables) * sizeof(int32_t);
    int products = 0;
    ck_assert(sali_followed_gradient_active(followed_of(&a)));
    ck_assert(!sali_followed_gradient_active(followed_of(&b)));
    for (int step = 0; step < 100; step++) {
        products += took_product(&a);
        sali_engine(b.sampler)->step(b.self, b.chains);
        ck_assert_msg(memcmp(a.chains->codes, b.chains->codes, bytes) == 0, "%s: step %d",
                      specification, step);
        check_followed(&a, 1e-11, specification);
    }
    bench_close(&a);
    bench_close(&b);
    sal_model_destroy(fast);
    sal_model_destroy(slow);
    return products;
}

/* By rows where little moves, by products where much does, and by turns between. */
START_TEST(langevin_moves_are_those_of_samplers_without_couplings)
{
    sal_space *space = tiny_space_make(tiny_space_named(spaces[_i]));
    int by_rows = 0, by_products = 0;
    for (size_t k = 0; k < sizeof langevins / sizeof *langevins; k++) {
        for (double step_size = 0.02; step_size < 10; step_size *= 2) {
            int products = langevin_alike(space, langevins[k], step_size, k == 1 ? 0.6 : 1);
            by_products += products;
            by_rows += 100 - products;
        }
    }
    ck_assert_int_gt(by_rows, 100);
    ck_assert_int_gt(by_products, 100);
    sal_space_destroy(space);
}
END_TEST

/* In single precision. No error outlasts 256 steps, not one of 100 in f either. */
START_TEST(what_langevin_moves_follow_is_made_anew)
{
    sal_model *model = builtin("potts-dense:dim=40,states=4", SAL_F32);
    bench b = open_langevin(model, "ncg", 0.2, 1, 256);
    int products = 0;
    for (int step = 0; step < 256; step++) {
        products += took_product(&b);
    }
    ck_assert_int_lt(products, 128);
    check_followed(&b, 1e-4, "256 steps");
    for (int64_t c = 0; c < b.chains->n; c++) {
        b.chains->f[c] += 100;
    }
    ck_assert(took_product(&b));
    check_followed(&b, 1e-4, "257 steps");
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* In single precision a gradient times beta can be too small or too large a number; then f is
 * evaluated. */
START_TEST(extreme_temperatures_are_not_followed)
{
    const double betas[] = { 1e-46, 1e-10, 1, 1e10, 1e30 };
    sal_model *model = builtin("potts-dense:dim=40,states=4", SAL_F32);
    for (size_t k = 0; k < sizeof betas / sizeof *betas; k++) {
        bench b = open_langevin(model, "ncg", 0.2, betas[k], 256);
        sali_chains *chains = b.chains;
        ck_assert_int_eq(sali_followed_gradient_active(followed_of(&b)),
                         betas[k] > 1e-12 && betas[k] < 1e12);
        for (int step = 0; step < 100; step++) {
            sali_engine(b.sampler)->step(b.self, chains);
        }
        sali_value(chains->evaluator, chains->n, chains->codes, chains->x, chains->f_new);
        for (int64_t c = 0; c < chains->n; c++) {
            ck_assert_double_eq_tol(chains->f[c], chains->f_new[c], 1e-4);
        }
        bench_close(&b);
    }
    sal_model_destroy(model);
}
END_TEST

/* A scan over f, and chains for it. */
static void check_fields(sal_dtype dtype, double most)
{
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = dense_model(space, false, dtype);
    sali_couplings *c = couplings_of(model);
    sali_sampler_settings settings = gibbs_settings(0);
    bench b = bench_open(sali_sampler_find("gibbs"), model, &settings, 1, 21, 0);
    sali_site_choice how = { .n = space->n_variables };
    double before[21 * TINY_MOST_REALS], f[21], after;
    void *object = sali_object(1);
    sali_field_scan *scan = sali_field_scan_open(object, b.chains, c);
    ck_assert(!sali_object_failed(object));
    ck_assert(sali_field_scan_refresh(scan, b.chains));
    sali_field_scan_steps(scan, b.chains, &how, NULL, 300);
    for (int64_t k = 0; k < 21 * space->width; k++) {
        before[k] = sali_load(dtype, sali_field_scan_row(scan, k / space->width), k % space->width);
    }
    memcpy(f, b.chains->f, sizeof f);
    ck_assert(sali_field_scan_refresh(scan, b.chains));
    for (int64_t k = 0; k < 21 * space->width; k++) {
        after = sali_load(dtype, sali_field_scan_row(scan, k / space->width), k % space->width);
        ck_assert_msg(fabs(before[k] - after) < most, "%d: %g, expected %g", (int)k, before[k],
                      after);
        ck_assert(fabs(f[k / space->width] - b.chains->f[k / space->width]) < 10 * most);
    }
    sali_object_free(object);
    sali_couplings_destroy(c);
    bench_close(&b);
    sal_model_destroy(model);
    sal_space_destroy(space);
}

START_TEST(fields_carried_along_are_fresh_ones)
{
    check_fields(SAL_F64, 1e-12);
    check_fields(SAL_F32, 1e-4);
}
END_TEST

/* As training has it: other parameters, then a refresh. */
START_TEST(a_refresh_takes_new_parameters)
{
    sal_space *space = tiny_space_make(tiny_space_named("label"));
    sal_model *fast = dense_model(space, false, SAL_F64);
    sal_model *slow = dense_model(space, true, SAL_F64);
    sali_sampler_settings settings = gibbs_settings(1);
    bench a = open_at(fast, &settings, 1, true), b = open_at(slow, &settings, 1, true);
    size_t bytes = (size_t)(a.chains->n * space->n_variables) * sizeof(int32_t);
    double J[TINY_MOST_REALS * TINY_MOST_REALS];
    sal_error err;
    for (uint64_t round = 0; round < 4; round++) {
        tiny_normals(40 + round, space->width * space->width, 1.5, J);
        ck_ok(sal_model_set_params(fast, "J", J, &err), &err);
        ck_ok(sal_model_set_params(slow, "J", J, &err), &err);
        sali_engine(a.sampler)->refresh(a.self, a.chains);
        sali_engine(b.sampler)->refresh(b.self, b.chains);
        sali_engine(a.sampler)->steps(a.self, a.chains, 10);
        sali_engine(b.sampler)->steps(b.self, b.chains, 10);
        ck_assert(memcmp(a.chains->codes, b.chains->codes, bytes) == 0);
    }
    bench_close(&a);
    bench_close(&b);
    sal_model_destroy(fast);
    sal_model_destroy(slow);
    sal_space_destroy(space);
}
END_TEST

/* An f that is no number is reported, as without couplings. */
START_TEST(a_parameter_that_is_nan_is_an_error)
{
    sal_model *model = builtin("potts-dense:dim=3,states=3", SAL_F64);
    double J[81];
    sal_run_options options = { .sampler = "gibbs", .chains = 4, .draws = 20 };
    sal_error err;
    tiny_normals(50, 81, 1, J);
    J[5] = NAN;
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    run_refused(model, &options, SAL_ERR_MODEL, "NaN");
    sal_model_destroy(model);
}
END_TEST

static Suite *couplings_suite(void)
{
    Suite *suite = suite_create("couplings");
    TCase *tcase = tcase_create("couplings");
    tcase_add_test(tcase, random_quadratic_formulas_have_their_values_or_are_refused);
    tcase_add_test(tcase, tables_of_pairs_are_couplings);
    tcase_add_test(tcase, tables_of_spins_and_labels_are_couplings);
    tcase_add_test(tcase, the_form_of_a_potts_model_is_read_in_place);
    tcase_add_test(tcase, clamped_variables_become_constants);
    tcase_add_test(tcase, new_parameters_are_seen);
    tcase_add_test(tcase, other_models_are_refused);
    tcase_add_test(tcase, squares_of_long_sums_are_left_to_the_formula);
    tcase_add_loop_test(tcase, long_products_are_read, 0, 2);
    tcase_add_test(tcase, weights_of_linear_ops_are_read);
    tcase_add_test(tcase, couplings_in_single_precision_are_summed_in_double);
    tcase_add_test(tcase, tables_that_forbid_states_are_left_to_the_formula);
    tcase_add_test(tcase, forms_of_long_rows_to_a_higher_degree_are_no_couplings);
    tcase_add_test(tcase, memory_running_out_is_an_error);
    tcase_add_loop_test(tcase, chains_go_where_steps_without_couplings_take_them, 0,
                        (int)(sizeof spaces / sizeof *spaces));
    tcase_add_loop_test(tcase, moves_are_those_of_samplers_without_couplings, 0,
                        (int)(sizeof spaces / sizeof *spaces));
    tcase_add_loop_test(tcase, langevin_moves_are_those_of_samplers_without_couplings, 0,
                        (int)(sizeof spaces / sizeof *spaces));
    tcase_add_test(tcase, what_langevin_moves_follow_is_made_anew);
    tcase_add_test(tcase, extreme_temperatures_are_not_followed);
    tcase_add_test(tcase, fields_carried_along_are_fresh_ones);
    tcase_add_test(tcase, a_refresh_takes_new_parameters);
    tcase_add_test(tcase, a_parameter_that_is_nan_is_an_error);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(couplings_suite());
}
